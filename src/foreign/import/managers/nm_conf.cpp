// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/managers/nm_conf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "catalog/withdraw_files.hpp"
#include "foreign/keys.hpp"
#include "foreign/syntax/gkeyfile.hpp"
#include "formats/nm_unmanaged.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr std::string_view kNotInForce =
    "NetworkManager leaves these interfaces to others, so its profiles for them are not in force";

enum class NmMatch { kNone, kAll, kOurs };

/// Whether "interface-name:ib0", "type:infiniband", a hardware address or "*" is about interfaces of ours.
NmMatch match_of_device(std::string_view spec, const Claims& claims) {
  constexpr std::string_view kName = "interface-name:", kType = "type:", kMac = "mac:";
  if (spec == "*") return NmMatch::kAll;
  if (spec.starts_with(kType))
    return spec.substr(kType.size()) == "infiniband" ? NmMatch::kOurs : NmMatch::kNone;
  if (spec.starts_with(kName)) {
    auto name = spec.substr(kName.size());
    name.remove_prefix(name.starts_with('=') || name.starts_with('~') ? 1 : 0);
    return claims.knows(name) ? NmMatch::kOurs : NmMatch::kNone;
  }
  const auto address = spec.starts_with(kMac) ? spec.substr(kMac.size()) : spec;
  return guid_of_address(address) || claims.knows(spec) ? NmMatch::kOurs : NmMatch::kNone;
}

constexpr std::string_view kBetweenDevices = " \t\r,;";

/// The same of a list; ",", ";" and blanks separate devices. One without positive devices is about all that
/// it does not except.
NmMatch match_of_devices(std::string_view list, const Claims& claims) {
  constexpr std::string_view kExcept = "except:";
  auto out = NmMatch::kNone;
  bool any = false;
  for (const auto spec : base::words_of(list, kBetweenDevices)) {
    if (spec.starts_with(kExcept)) {
      if (match_of_device(spec.substr(kExcept.size()), claims) != NmMatch::kNone) return NmMatch::kNone;
      continue;
    }
    any = true;
    out = std::max(out, match_of_device(spec, claims));
  }
  return any || base::trim(list).empty() ? out : NmMatch::kAll;
}

/// The value of a key of a section; "+" and "-" behind a key add to the list and take from it.
std::string value_of_key(const Group& group, std::string_view key) {
  std::string out;
  for (const auto& item : group.items) {
    if (item.key == key) out = item.value;
    if (item.key.size() == key.size() + 1 && item.key.starts_with(key) && item.key.ends_with('+'))
      out.append(";").append(item.value);
  }
  return out;
}

/// A key without its trailing "+" or "-", which adds to or removes from the list.
std::string_view plain_key(std::string_view key) {
  if (key.ends_with('+') || key.ends_with('-')) key.remove_suffix(1);
  return base::trim(key);
}

struct NmSpec {
  Place where;
  std::string spec;
};

/// The devices that all lines of [keyfile] together make unmanaged.
std::vector<NmSpec> unmanaged_devices(const Group& group) {
  std::vector<NmSpec> added;
  std::map<std::string, std::vector<std::size_t>, std::less<>> places;  // in `added`, of devices in force
  std::vector<bool> removed;
  for (const auto& item : group.items) {
    if (plain_key(item.key) != "unmanaged-devices") continue;
    for (const auto spec : base::words_of(item.value, kBetweenDevices)) {
      if (!item.key.ends_with('-')) {
        places[std::string(spec)].push_back(added.size());
        added.push_back({{item.file, item.line}, std::string(spec)});
        removed.push_back(false);
      } else if (const auto held = places.find(spec); held != places.end()) {
        for (const auto place : held->second) removed[place] = true;
        places.erase(held);
      }
    }
  }
  std::vector<NmSpec> out;
  for (std::size_t at = 0; at < added.size(); ++at) {
    if (!removed[at]) out.push_back(std::move(added[at]));
  }
  return out;
}

void tell_unmanaged(const Group& group, Claims& claims) {
  const auto devices = unmanaged_devices(group);
  std::string list;
  for (const auto& device : devices) list.append(device.spec).append(";");
  if (match_of_devices(list, claims) == NmMatch::kNone) return;
  const auto text = fmt::format("unmanaged-devices: {}", kNotInForce);
  bool told = false;
  for (const auto& device : devices) {
    if (match_of_device(device.spec, claims) == NmMatch::kNone) continue;
    claims.pass(device.where, text);
    told = true;
  }
  // A list that has only exceptions.
  if (!told && !devices.empty()) claims.pass(devices.front().where, text);
}

/// [device…]: devices that NetworkManager leaves alone, and how it handles those of ours.
void tell_devices(const Group& group, NmMatch match, Claims& claims) {
  if (match == NmMatch::kNone) return;
  for (const auto& item : group.items) {
    const Place where{item.file, item.line};
    if (item.key == "managed") {
      if (yes_or_no(item.value) == false) claims.pass(where, fmt::format("managed: {}", kNotInForce));
    } else if (match == NmMatch::kOurs && item.key.starts_with("sriov-")) {
      claims.miss(where, fmt::format("{}: the document does not support virtual functions", item.key));
    } else if (match == NmMatch::kOurs && item.key != "match-device" && item.key != "stop-match") {
      claims.pass(where, fmt::format("{}: concerns NetworkManager only", item.key));
    }
  }
}

/// [ifupdown]: whether NetworkManager also takes the interfaces of interfaces(5).
void tell_ifupdown(const Group& group, Claims& claims) {
  for (const auto& item : group.items) {
    if (item.key == "managed" && yes_or_no(item.value) == true)
      claims.pass({item.file, item.line},
                  "managed: NetworkManager also activates the interfaces of /etc/network/interfaces; "
                  "`rdma-configctl import ifupdown` reads that file");
  }
}

/// [keyfile]: profiles in another folder than those that are read.
void tell_folder(const Group& group, Claims& claims) {
  for (const auto& item : group.items) {
    auto path = base::trim(item.value);
    while (path.ends_with('/')) path.remove_suffix(1);
    if (item.key == "path" && !path.empty() && path != "/etc/NetworkManager/system-connections")
      claims.miss(
          {item.file, item.line},
          fmt::format("path: the profiles are in another folder; run `rdma-configctl import nm {}`", path));
  }
}

/// [connection…]: defaults of profiles. Of those for all devices, the ones that only InfiniBand has.
void tell_defaults(const Group& group, NmMatch match, Claims& claims) {
  if (match == NmMatch::kNone) return;
  for (const auto& item : group.items) {
    const Place where{item.file, item.line};
    if (item.key == "infiniband.mtu") {
      if (base::trim(item.value) != "0")
        claims.miss(where,
                    "infiniband.mtu: the document has no defaults of profiles; write mtu into the entries "
                    "of these interfaces");
    } else if (match == NmMatch::kOurs && item.key != "match-device" && item.key != "stop-match") {
      claims.miss(where, fmt::format("{}: the document has no defaults of profiles", item.key));
    }
  }
}

/// [main]: what NetworkManager does on the whole host, in one remark where it has interfaces of ours.
void tell_main(const Group& group, Claims& claims) {
  constexpr auto kKept = std::to_array<std::string_view>({"dhcp", "dns", "no-auto-default", "rc-manager"});
  if (claims.interfaces.empty()) return;
  std::vector<std::string> keys;
  Place where;
  for (const auto& item : group.items) {
    const std::string key(plain_key(item.key));
    const bool kept = std::find(kKept.begin(), kKept.end(), key) != kKept.end();
    if (!kept || base::trim(item.value).empty() || std::find(keys.begin(), keys.end(), key) != keys.end())
      continue;
    if (keys.empty()) where = {item.file, item.line};
    keys.push_back(key);
  }
  if (keys.empty()) return;
  claims.pass(where, fmt::format("{}: {} in force for the connections that NetworkManager keeps",
                                 base::join(keys, ", "), keys.size() == 1 ? "stays" : "stay"));
}

/// A line that would be named if no later line replaced it.
void tell_replaced(std::string_view section, const Item& item, const Item& by, Claims& claims) {
  const auto key = plain_key(item.key);
  const bool unmanaged = section == "keyfile" && key == "unmanaged-devices" && !item.key.ends_with('-') &&
                         match_of_devices(item.value, claims) != NmMatch::kNone;
  const bool device = section.starts_with("device") && key == "managed" && yes_or_no(item.value) == false;
  const bool profile = section.starts_with("connection") && key.starts_with("infiniband.");
  if (unmanaged || device || profile)
    claims.pass({item.file, item.line},
                fmt::format("{}: replaced by {}", key, Place{by.file, by.line}.text()));
}

/// Sections with the lines in force; sections with the same name are merged across files (GKeyFile).
std::vector<Group> groups_in_force(const std::vector<const File*>& files, Claims& claims) {
  struct Written {
    std::string section;
    Item item;
  };
  std::vector<Written> lines;
  std::map<std::pair<std::string, std::string>, std::size_t> last;  // in `lines`, by section and key
  for (const auto* file : files) {
    const auto text = parse_gkeyfile(*file);
    for (const auto& group : text.groups) {
      for (const auto& item : group.items) {
        if (plain_key(item.key) == item.key) last[{group.name, item.key}] = lines.size();
        lines.push_back({group.name, item});
        lines.back().item.file = file->path;
      }
    }
  }
  std::vector<Group> out;
  std::map<std::string, std::size_t> places;  // in `out`, by section
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const auto& [section, item] = lines[at];
    const auto later = last.find({section, std::string(plain_key(item.key))});
    if (later != last.end() && later->second > at) {
      tell_replaced(section, item, lines[later->second].item, claims);
      continue;
    }
    const auto [place, fresh] = places.try_emplace(section, out.size());
    if (fresh) out.push_back({section, item.line, {}, item.file});
    out[place->second].items.push_back(item);
  }
  return out;
}

/// The rank of a file in NetworkManager's reading order: vendor files, /run, the main file, conf.d of /etc
/// (read_entire_config() in nm-config.c).
int turn_of(std::string_view path) {
  if (path.starts_with("/usr/lib/")) return 0;
  if (path.starts_with("/run/")) return 1;
  return path.ends_with("/NetworkManager.conf") ? 2 : 3;
}

}  // namespace

bool is_nm_conf(const File& file) {
  const std::string_view path = file.path;
  return path.ends_with("/NetworkManager.conf") ||
         (path.ends_with(".conf") && path.find("/conf.d/") != path.npos);
}

void tell_nm_conf(std::span<const File> files, Claims& claims) {
  std::vector<const File*> confs;
  for (const auto& file : files) {
    if (!is_nm_conf(file) || file.path == kinds::kKeepOffNetworkManager) continue;
    if (kinds::was_left(file.text)) {
      claims.pass({file.path, 0}, std::string(kLeftByWithdraw));
      continue;
    }
    confs.push_back(&file);
  }
  std::stable_sort(confs.begin(), confs.end(),
                   [](const File* a, const File* b) { return turn_of(a->path) < turn_of(b->path); });
  for (const auto& group : groups_in_force(confs, claims)) {
    const auto devices = value_of_key(group, "match-device");
    const bool all = std::none_of(group.items.begin(), group.items.end(),
                                  [](const Item& item) { return item.key.starts_with("match-device"); });
    const auto match = all ? NmMatch::kAll : match_of_devices(devices, claims);
    if (group.name == "keyfile") {
      tell_unmanaged(group, claims);
      tell_folder(group, claims);
    }
    if (group.name == "main") tell_main(group, claims);
    if (group.name == "ifupdown") tell_ifupdown(group, claims);
    if (group.name.starts_with("device")) tell_devices(group, match, claims);
    if (group.name.starts_with("connection")) tell_defaults(group, match, claims);
  }
}

}  // namespace rdmacfg::foreign
