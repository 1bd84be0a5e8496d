// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/managers/ifupdown_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr std::string_view kMain = "/etc/network/interfaces", kBeside = "/etc/network/interfaces.d/";

}  // namespace

void Sources::add(const Place& where, const std::vector<std::string_view>& words, std::span<const File> files,
                  Claims& claims) {
  const auto beside = where.file.substr(0, where.file.rfind('/') + 1);
  const bool whole = words.front() == "source-directory";
  for (std::size_t at = 1; at < words.size(); ++at) {
    auto pattern = words[at].starts_with('/') ? std::string(words[at]) : beside + std::string(words[at]);
    while (pattern.size() > 1 && pattern.ends_with('/')) pattern.pop_back();
    // An author of stars by the hundred wants only to keep us busy.
    constexpr std::size_t kLongestPattern = 256;
    if (pattern.size() > kLongestPattern) {
      claims.miss(where, "is too long a pattern");
      continue;
    }
    if (whole) {
      folders_.insert(pattern);
    } else if (is_pattern(pattern) || pattern.find('\\') != std::string::npos) {
      patterns_.push_back(pattern);
    } else {
      files_.insert(pattern);
    }
    const auto folder = whole ? pattern + "/" : pattern.substr(0, pattern.rfind('/') + 1);
    const bool at_its_place = where.file == kMain && folder == kBeside;
    const bool read = at_its_place || std::any_of(files.begin(), files.end(), [&](const File& file) {
                        return whole ? file.path.starts_with(folder) : base::matches_glob(pattern, file.path);
                      });
    if (read) {
      claims.pass(where, fmt::format("{}: is read separately", words[at]));
    } else {
      claims.miss(where, fmt::format("{}: is not read; name it after ifupdown", words[at]));
    }
  }
}

bool Sources::has(std::string_view path) const {
  const auto slash = path.rfind('/');
  const auto name = path.substr(slash + 1);
  if (files_.contains(path)) return true;
  // Of a folder only files with such names (interfaces(5), "source-directory").
  const bool plain = std::all_of(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
  if (plain && folders_.contains(path.substr(0, slash))) return true;
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const std::string& pattern) { return base::matches_glob(pattern, path); });
}

bool is_beside_main(const File& file, std::span<const File> files) {
  return file.path.starts_with(kBeside) &&
         std::any_of(files.begin(), files.end(), [](const File& other) { return other.path == kMain; });
}

}  // namespace rdmacfg::foreign
