// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/network_match.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"

namespace rdmacfg::kinds {

namespace {

/// A list of [Match] as systemd-networkd tests it (net_condition_test_strv()): one without entries fits all.
bool fits_list(const std::vector<std::string>& patterns, std::string_view word) {
  bool fits = false, positive = false;
  for (const auto& pattern : patterns) {
    const bool never = pattern.starts_with('!');
    positive = positive || !never;
    if (!base::matches_glob(std::string_view(pattern).substr(never ? 1 : 0), word)) continue;
    if (never) return false;
    fits = true;
  }
  return fits || !positive;
}

/// Adds the words of a line of [Match]; a "!" before the first is one before each
/// (config_parse_match_strv()).
void add_patterns(std::string_view value, std::vector<std::string>& list) {
  if (value.empty()) list.clear();
  const bool never = value.starts_with('!');
  for (const auto word : base::split(value.substr(never ? 1 : 0), ' ')) {
    if (!base::trim(word).empty()) list.push_back((never ? "!" : "") + std::string(base::trim(word)));
  }
}

}  // namespace

bool network_file_is_first(std::string_view path, const std::string& text, const std::string& interface) {
  constexpr std::string_view kOurs = "10-rdma-configd-", kFolder = "/systemd/network/";
  const auto at = path.rfind(kFolder);
  if (at == std::string_view::npos || path.substr(at + kFolder.size()) >= kOurs || interface.empty())
    return false;
  std::vector<std::string> names, types;
  bool inside = false;
  for (const auto line : base::split(text, '\n')) {
    const auto bare = base::trim(line);
    if (bare.starts_with('[')) inside = bare == "[Match]";
    const auto equals = bare.find('=');
    if (!inside || bare.starts_with('#') || bare.starts_with(';') || equals == std::string_view::npos)
      continue;
    const auto key = base::trim(bare.substr(0, equals));
    if (key != "Name" && key != "Type") return false;
    add_patterns(base::trim(bare.substr(equals + 1)), key == "Name" ? names : types);
  }
  return !(names.empty() && types.empty()) && fits_list(names, interface) && fits_list(types, "infiniband");
}

bool network_file_leaves_alone(const std::string& text) {
  constexpr std::array<std::string_view, 6> kTrue{"1", "yes", "y", "true", "t", "on"};  // parse_boolean()
  const auto value = base::lower(keyfile_sections(text)["Link"]["Unmanaged"]);
  return std::find(kTrue.begin(), kTrue.end(), value) != kTrue.end();
}

}  // namespace rdmacfg::kinds
