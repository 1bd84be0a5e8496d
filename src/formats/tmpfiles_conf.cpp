// SPDX-License-Identifier: Apache-2.0
#include "formats/tmpfiles_conf.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// The places of "{", of "}", and the choices between them.
struct BraceGroup {
  std::size_t open = 0, close = 0;
  std::vector<std::string> choices;
};

/// The first "{a,b}" of a pattern; "{}" stands for itself, as in glob(3).
std::optional<BraceGroup> first_brace_group(const std::string& pattern) {
  for (auto open = pattern.find('{'); open != std::string::npos; open = pattern.find('{', open + 1)) {
    BraceGroup out{open, 0, {std::string()}};
    int depth = 1;
    for (auto at = open + 1; at < pattern.size(); ++at) {
      const char c = pattern[at];
      if (c == '{') ++depth;
      if (c == '}' && --depth == 0) {
        out.close = at;
        break;
      }
      if (c == ',' && depth == 1) {
        out.choices.emplace_back();
      } else {
        out.choices.back() += c;
      }
    }
    if (out.close > open + 1) return out;
  }
  return std::nullopt;
}

/// The patterns that one with braces stands for (GLOB_BRACE); of very many only some, or none.
std::vector<std::string> without_braces(const std::string& pattern) {
  constexpr std::size_t kMost = 256;
  std::vector<std::string> out, left{pattern};
  while (!left.empty() && out.size() < kMost && left.size() < kMost) {
    auto next = std::move(left.back());
    left.pop_back();
    const auto group = first_brace_group(next);
    if (!group) {
      out.push_back(std::move(next));
      continue;
    }
    for (const auto& choice : group->choices)
      left.push_back(next.substr(0, group->open) + choice + next.substr(group->close + 1));
  }
  return out;
}

/// As glob(3) finds files: no pattern stands for "/", nor for "." at the beginning of a name.
bool fits_tmpfiles_path(const std::string& pattern, std::string_view path) {
  const auto patterns = without_braces(pattern);
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& plain) {
    return ::fnmatch(plain.c_str(), std::string(path).c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
  });
}

/// The specifiers that are the same on every host, and those of this one.
class TmpfilesSpecifiers {
 public:
  explicit TmpfilesSpecifiers(system::Files& files) : files_(files) {}

  /// `text` with the known ones replaced; others stay.
  std::string replaced(std::string_view text);

 private:
  /// Nothing: it is not known. Read at the first question.
  const std::optional<std::string>& of_host(char specifier);
  [[nodiscard]] std::optional<std::string> read(char specifier) const;

  system::Files& files_;
  std::map<char, std::optional<std::string>> of_host_;
};

std::optional<std::string> TmpfilesSpecifiers::read(char specifier) const {
  constexpr std::array<std::pair<char, const char*>, 5> kFiles{{{'H', "/proc/sys/kernel/hostname"},
                                                                {'l', "/proc/sys/kernel/hostname"},
                                                                {'m', "/etc/machine-id"},
                                                                {'b', "/proc/sys/kernel/random/boot_id"},
                                                                {'v', "/proc/sys/kernel/osrelease"}}};
  const auto* const at =
      std::find_if(kFiles.begin(), kFiles.end(), [&](const auto& entry) { return entry.first == specifier; });
  if (at == kFiles.end()) return std::nullopt;
  const auto text = files_.read_linked(at->second);
  if (!text || !*text) return std::nullopt;
  std::string value(base::trim(**text));
  if (specifier == 'l') value.resize(std::min(value.find('.'), value.size()));
  if (specifier == 'b') std::erase(value, '-');
  return value.empty() ? std::nullopt : std::optional(std::move(value));
}

const std::optional<std::string>& TmpfilesSpecifiers::of_host(char specifier) {
  const auto at = of_host_.find(specifier);
  return at != of_host_.end() ? at->second : of_host_.emplace(specifier, read(specifier)).first->second;
}

std::string TmpfilesSpecifiers::replaced(std::string_view text) {
  constexpr std::array<std::pair<char, std::string_view>, 12> kSame{{{'%', "%"},
                                                                     {'t', "/run"},
                                                                     {'S', "/var/lib"},
                                                                     {'C', "/var/cache"},
                                                                     {'L', "/var/log"},
                                                                     {'T', "/tmp"},
                                                                     {'V', "/var/tmp"},
                                                                     {'h', "/root"},
                                                                     {'u', "root"},
                                                                     {'g', "root"},
                                                                     {'U', "0"},
                                                                     {'G', "0"}}};
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = text[i] == '%' && i + 1 < text.size() ? text[i + 1] : '\0';
    const auto* const at =
        std::find_if(kSame.begin(), kSame.end(), [&](const auto& entry) { return entry.first == next; });
    if (at != kSame.end()) {
      out += at->second;
      ++i;
    } else if (next != '\0' && of_host(next)) {
      out += *of_host(next);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// Nothing: of a line that leaves alone what is there.
std::optional<TmpfilesLine> parse_tmpfiles_line(std::string_view line, TmpfilesSpecifiers& specifiers) {
  const auto type = next_tmpfiles_word(line);
  TmpfilesLine out;
  out.path = specifiers.replaced(next_tmpfiles_word(line));
  // Mode, user, group, age.
  for (int i = 0; i < 4; ++i) (void)next_tmpfiles_word(line);
  out.argument = specifiers.replaced(base::trim(line));
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
  TmpfilesSpecifiers specifiers(files);
  for (const auto& [name, path] : paths) {
    const auto text = files.read_linked(path);
    if (!text || !*text) continue;
    int number = 0;
    for (const auto raw : base::split(**text, '\n')) {
      ++number;
      const auto line = base::trim(raw);
      if (line.empty() || line.front() == '#' || line.front() == ';') continue;
      auto parsed = parse_tmpfiles_line(line, specifiers);
      if (!parsed) continue;
      parsed->file = path;
      parsed->line = number;
      out.push_back(std::move(*parsed));
    }
  }
  return out;
}

}  // namespace rdmacfg::kinds
