// SPDX-License-Identifier: Apache-2.0
#include "formats/tmpfiles_conf.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

/// The next word of a line, and what is behind it. Quotes around a word are not a part of it.
std::string next_tmpfiles_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  std::string out;
  char quote = 0;
  std::size_t at = 0;
  for (; at < line.size(); ++at) {
    const char c = line[at];
    if (quote == 0 && (c == ' ' || c == '\t')) break;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      out += c;
    }
  }
  line.remove_prefix(at);
  return out;
}

/// As glob(3) finds files: no pattern stands for "/", nor for "." at the beginning of a name.
bool fits_tmpfiles_path(const std::string& pattern, std::string_view path) {
  return ::fnmatch(pattern.c_str(), std::string(path).c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
}

/// Nothing: of a line that leaves alone what is there.
std::optional<TmpfilesLine> parse_tmpfiles_line(std::string_view line) {
  const auto type = next_tmpfiles_word(line);
  TmpfilesLine out;
  out.path = next_tmpfiles_word(line);
  // Mode, user, group, age.
  for (int i = 0; i < 4; ++i) (void)next_tmpfiles_word(line);
  out.argument = base::trim(line);
  if (type.empty() || !out.path.starts_with('/')) return std::nullopt;
  const bool plus = type.find('+') != std::string::npos;
  switch (type.front()) {
    case 'w':
      out.act = TmpfilesLine::Act::kWrite;
      return out;
    case 'F':
      return out;
    case 'f':
      if (plus) return out;
      return std::nullopt;
    case 'L':
    case 'C':
      out.act = TmpfilesLine::Act::kReplace;
      if (plus) return out;
      return std::nullopt;
    case 'R':
    case 'D':
      out.below = true;
      [[fallthrough]];
    case 'r':
      out.act = TmpfilesLine::Act::kRemove;
      return out;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool TmpfilesLine::concerns(std::string_view other) const {
  if (act == Act::kReplace ? other == path : fits_tmpfiles_path(path, other)) return true;
  if (!below) return false;
  for (auto slash = other.rfind('/'); slash != std::string_view::npos && slash != 0;
       slash = other.rfind('/', slash - 1)) {
    if (fits_tmpfiles_path(path, other.substr(0, slash))) return true;
  }
  return false;
}

std::vector<TmpfilesLine> tmpfiles_lines(system::Files& files) {
  constexpr std::array<std::string_view, 5> kTmpfilesFolders{"/etc/tmpfiles.d", "/run/tmpfiles.d",
                                                             "/usr/local/lib/tmpfiles.d",
                                                             "/usr/lib/tmpfiles.d", "/lib/tmpfiles.d"};
  std::map<std::string, std::string> paths;  // by name: a file masks those of its name in later folders
  for (const auto folder : kTmpfilesFolders) {
    const auto names = files.list(std::string(folder));
    for (const auto& name : names ? *names : std::vector<std::string>()) {
      if (name.ends_with(".conf")) paths.try_emplace(name, fmt::format("{}/{}", folder, name));
    }
  }
  std::vector<TmpfilesLine> out;
  for (const auto& [name, path] : paths) {
    const auto text = files.read_linked(path);
    if (!text || !*text) continue;
    int number = 0;
    for (const auto raw : base::split(**text, '\n')) {
      ++number;
      const auto line = base::trim(raw);
      if (line.empty() || line.front() == '#' || line.front() == ';') continue;
      auto parsed = parse_tmpfiles_line(line);
      if (!parsed) continue;
      parsed->file = path;
      parsed->line = number;
      out.push_back(std::move(*parsed));
    }
  }
  return out;
}

}  // namespace rdmacfg::kinds
