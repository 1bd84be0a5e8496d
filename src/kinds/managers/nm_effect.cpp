// SPDX-License-Identifier: Apache-2.0
// The kernel's state of a profile.
#include <algorithm>
#include <set>

#include "kinds/address/direct_backend.hpp"
#include "kinds/ipoib/ipoib.hpp"
#include "kinds/ipoib/link_settings.hpp"
#include "kinds/managers/nm_profile.hpp"

namespace rdmacfg::kinds::detail {

using base::Result;

namespace {

std::vector<model::IpPrefix> addresses_of(const NmProfile& profile) {
  std::vector<model::IpPrefix> out;
  for (const auto* lines : {&profile.ipv4, &profile.ipv6}) {
    if (!*lines) continue;
    for (const auto& line : **lines) {
      const auto equals = line.find('=');
      if (!line.starts_with("address") || equals == std::string::npos) continue;
      const auto value = line.substr(equals + 1);
      // One that an administrator wrote otherwise is not ours to understand.
      if (auto prefix = model::IpPrefix::parse(std::string_view(value).substr(0, value.find(','))))
        out.push_back(*prefix);
    }
  }
  return out;
}

template <class Setting>
bool differs(const std::optional<Setting>& live, const std::optional<Setting>& of_profile) {
  return live && of_profile && *live != *of_profile;
}

}  // namespace

NmProfile effect_of(const NmProfile& profile, const system::Link& link,
                    const std::vector<system::InetAddress>& addresses) {
  NmProfile out;
  const auto name = nm_interface_name(profile);
  if (!link.up || (name && *name != link.name)) return out;
  out.live_mode = link.ipoib->mode;
  // A multicast group may have lowered it, which the profile does not see.
  const bool capped = link.ipoib->mode == model::IpoibMode::kDatagram &&
                      profile.mode != model::IpoibMode::kConnected && profile.mtu &&
                      link.mtu < profile.mtu->bytes;
  if (profile.mtu) out.live_mtu = capped ? *profile.mtu : model::Mtu{link.mtu};
  std::vector<std::string> missing;
  for (const auto& prefix : addresses_of(profile)) {
    const bool there = std::any_of(addresses.begin(), addresses.end(), [&](const auto& address) {
      return address.index == link.index && address.prefix == prefix;
    });
    if (!there) missing.push_back(prefix.text());
  }
  if (!missing.empty()) out.missing = std::move(missing);
  return out;
}

AddressCheck unusable_of(const NmProfile& profile, const system::Link& link,
                         const std::vector<system::InetAddress>& addresses) {
  return address_check(addresses_of(profile), link.index, addresses);
}

bool in_effect(const NmProfile& profile, const NmProfile& effect) {
  if (!effect.live_mode || (profile.mode && profile.mode != effect.live_mode)) return false;
  return profile.mtu == effect.live_mtu && !effect.missing;
}

bool was_disturbed(const NmProfile& then) {
  return differs(then.live_mode, then.mode) || differs(then.live_mtu, then.mtu) || then.missing;
}

Result<void> disturb_again(const NmProfile& then, const std::string& id, system::Host& host) {
  const auto world = World::observe_links(host);
  if (!world) return base::fail(world.error());
  const auto* link = interface_of(id, *world);
  if (link == nullptr) return {};
  Ipoib was;
  if (differs(then.live_mode, then.mode)) was.mode = then.live_mode;
  if (was.mode || differs(then.live_mtu, then.mtu)) was.mtu = then.live_mtu;
  const auto set = reach(*link, model::to_attributes(was), host);
  if (!set) return base::fail(set.error());
  if (*set) {
    auto done = host.links.execute(std::vector<system::LinkRequest>{**set});
    if (!done) return done;
  }
  if (!then.missing) return {};
  const auto all = host.inet.observe_addresses();
  if (!all) return base::fail(all.error());
  std::set<std::pair<int, model::IpPrefix>> going;
  for (const auto& text : *then.missing) {
    if (const auto prefix = model::IpPrefix::parse(text)) going.emplace(link->index, *prefix);
  }
  return host.inet.execute(address_deletions(going, *all, *world));
}

}  // namespace rdmacfg::kinds::detail
