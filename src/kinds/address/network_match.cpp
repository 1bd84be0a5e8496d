// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/network_match.hpp"

#include <algorithm>
#include <array>
#include <map>
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

struct LinkFile {
  std::vector<std::string> names, types, addresses;
  bool other_conditions = false;
  std::optional<std::int64_t> mtu;
  int mtu_line = 0;
};

/// "9000", "4K": config_parse_mtu().
std::optional<std::int64_t> mtu_bytes(std::string_view text) {
  const bool kilo = text.ends_with('K');
  const auto number = base::parse_number(text.substr(0, text.size() - (kilo ? 1U : 0U)));
  if (!number || *number > static_cast<std::uint64_t>(model::kMtuConnectedMax)) return std::nullopt;
  return static_cast<std::int64_t>(kilo ? *number * 1024 : *number);
}

LinkFile parse_link_file(std::string_view text) {
  LinkFile out;
  std::string_view section;
  int number = 0;
  for (const auto raw : base::split(text, '\n')) {
    ++number;
    const auto line = base::trim(raw);
    if (line.starts_with('[')) section = line;
    const auto equals = line.find('=');
    if (line.starts_with('#') || line.starts_with(';') || equals == std::string_view::npos) continue;
    const auto key = base::trim(line.substr(0, equals)), value = base::trim(line.substr(equals + 1));
    if (section == "[Match]") {
      if (key == "OriginalName") {
        add_patterns(value, out.names);
      } else if (key == "Type") {
        add_patterns(value, out.types);
      } else if (key == "MACAddress" || key == "PermanentMACAddress") {
        add_patterns(base::lower(value), out.addresses);
      } else {
        out.other_conditions = true;
      }
    } else if (section == "[Link]" && key == "MTUBytes") {
      out.mtu = mtu_bytes(value);
      out.mtu_line = number;
    }
  }
  return out;
}

bool fits_link_file(const LinkFile& file, model::Guid guid, const std::string& interface) {
  if (file.other_conditions || (file.names.empty() && file.types.empty() && file.addresses.empty()))
    return false;
  // The kernel's own name is another one than now where udev has renamed the interface.
  const bool name = fits_list(file.names, interface) ||
                    (std::any_of(file.names.begin(), file.names.end(),
                                 [](const std::string& pattern) { return pattern.ends_with('*'); }) &&
                     fits_list(file.names, "ib0"));
  const bool address =
      file.addresses.empty() ||
      std::any_of(file.addresses.begin(), file.addresses.end(),
                  [&](const std::string& written) { return written.find(guid.text()) != std::string::npos; });
  return name && address && fits_list(file.types, "infiniband");
}

}  // namespace

bool network_file_is_first(std::string_view path, const std::string& text, const std::string& interface) {
  constexpr std::string_view kOurs = "09-rdma-configd-", kFolder = "/systemd/network/";
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

std::optional<LinkFileMtu> link_file_mtu(system::Files& files, model::Guid guid,
                                         const std::string& interface) {
  constexpr std::array<std::string_view, 4> kFolders{"/etc/systemd/network", "/run/systemd/network",
                                                     "/usr/local/lib/systemd/network",
                                                     "/usr/lib/systemd/network"};
  std::map<std::string, std::string> paths;  // by name: a file masks those of its name in later folders
  for (const auto folder : kFolders) {
    const auto names = files.list(std::string(folder));
    for (const auto& name : names ? *names : std::vector<std::string>()) {
      if (name.ends_with(".link")) paths.try_emplace(name, std::string(folder) + "/" + name);
    }
  }
  for (const auto& [name, path] : paths) {
    const auto text = files.read_linked(path);
    if (!text || !*text) continue;
    const auto file = parse_link_file(**text);
    if (!fits_link_file(file, guid, interface)) continue;
    if (!file.mtu) return std::nullopt;  // udev takes no other
    return LinkFileMtu{path, file.mtu_line, *file.mtu};
  }
  return std::nullopt;
}

}  // namespace rdmacfg::kinds
