// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/managers/nm_conf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
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

/// The same of a list; ",", ";" and blanks separate devices. One without positive devices is about all that
/// it does not except.
NmMatch match_of_devices(std::string_view list, const Claims& claims) {
  constexpr std::string_view kExcept = "except:";
  auto out = NmMatch::kNone;
  bool any = false;
  for (const auto spec : base::words_of(list, " \t\r,;")) {
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

void tell_unmanaged(const Group& group, Claims& claims) {
  for (const auto& item : group.items) {
    if (item.key != "unmanaged-devices" && item.key != "unmanaged-devices+") continue;
    if (match_of_devices(item.value, claims) != NmMatch::kNone)
      claims.pass({item.file, item.line}, fmt::format("unmanaged-devices: {}", kNotInForce));
  }
}

/// [device…]: devices that NetworkManager leaves alone.
void tell_devices(const Group& group, NmMatch match, Claims& claims) {
  if (match == NmMatch::kNone) return;
  for (const auto& item : group.items) {
    if (item.key == "managed" && yes_or_no(item.value) == false)
      claims.pass({item.file, item.line}, fmt::format("managed: {}", kNotInForce));
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

}  // namespace

bool is_nm_conf(const File& file) {
  const std::string_view path = file.path;
  return path.ends_with("/NetworkManager.conf") ||
         (path.ends_with(".conf") && path.find("/conf.d/") != path.npos);
}

void tell_nm_conf(const File& file, Claims& claims) {
  if (file.path == kinds::kKeepOffNetworkManager) return;
  const auto text = parse_gkeyfile(file);
  for (const auto& group : text.groups) {
    const auto devices = value_of_key(group, "match-device");
    const bool all = std::none_of(group.items.begin(), group.items.end(),
                                  [](const Item& item) { return item.key.starts_with("match-device"); });
    const auto match = all ? NmMatch::kAll : match_of_devices(devices, claims);
    if (group.name == "keyfile") tell_unmanaged(group, claims);
    if (group.name.starts_with("device")) tell_devices(group, match, claims);
    if (group.name.starts_with("connection")) tell_defaults(group, match, claims);
  }
}

}  // namespace rdmacfg::foreign
