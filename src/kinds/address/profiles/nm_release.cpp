// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/profiles/nm_release.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "kinds/address/profiles/nm_keyfile.hpp"
#include "kinds/carried_state.hpp"
#include "kinds/mounts.hpp"

namespace rdmacfg::kinds {

using base::Result;
using system::Link;

namespace {

/// NetworkManager lets go before it answers. An interface that is still held then is held for longer: a list
/// of others says `except:`, or their file cannot be read.
constexpr std::chrono::seconds kLetGo(2);
/// A link that was down joins the fabric again.
constexpr std::chrono::seconds kJoinAgain(10);

const Link* link_with(int index, std::span<const Link> links) {
  const auto at = std::find_if(links.begin(), links.end(),
                               [&](const Link& candidate) { return candidate.index == index; });
  return at == links.end() ? nullptr : &*at;
}

std::vector<std::string> names_of(const std::vector<Link>& links) {
  std::vector<std::string> out;
  for (const auto& link : links) out.push_back(link.name);
  return out;
}

/// Those of the former states of which something is missing now.
Result<std::vector<CarriedState>> with_losses(std::span<const CarriedState> then, std::span<const Link> now,
                                              system::Host& host) {
  std::vector<Link> there;
  for (const auto& state : then) {
    if (const auto* link = link_with(state.carried.index, now)) there.push_back(*link);
  }
  const auto carried = host.links.observe_carried(there);
  if (!carried) return base::fail(carried.error());
  std::vector<CarriedState> out;
  for (const auto& state : then) {
    const auto* link = link_with(state.carried.index, there);
    const auto at = std::find_if(carried->begin(), carried->end(), [&](const auto& candidate) {
      return candidate.index == state.carried.index;
    });
    if (link == nullptr || at == carried->end()) continue;
    if ((state.up && !link->up) || !host.links.lacking(state.carried, *at).empty()) out.push_back(state);
  }
  return out;
}

/// restore() ends at the first failure: nothing of one interface may keep the others from what they carried.
Result<void> restore_each(system::Host& host, std::span<const CarriedState> states) {
  auto done = restore(host, states);
  if (done || states.size() < 2) return done;
  const auto half = states.size() / 2;
  (void)restore_each(host, states.first(half));
  (void)restore_each(host, states.subspan(half));
  return done;
}

Result<void> put_back_lost(std::span<const CarriedState> then, std::span<const Link> before,
                           system::Host& host) {
  if (then.empty()) return {};
  const auto now = host.links.observe_links();
  if (!now) return base::fail(now.error());
  // An MTU that a profile had set goes with the profile. IPv6 addresses need one that is large enough.
  std::vector<system::LinkRequest> sizes;
  std::vector<int> joining;
  for (const auto& link : before) {
    const auto* left = link_with(link.index, *now);
    if (left == nullptr) continue;
    if (left->mtu != link.mtu) sizes.emplace_back(system::SetLink{.index = link.index, .mtu = link.mtu});
    if (link.up && link.carrier && !left->up) joining.push_back(link.index);
  }
  // Addresses are put back whatever becomes of an MTU.
  auto sized = sizes.empty() ? Result<void>{} : host.links.execute(sizes);
  const auto losses = with_losses(then, *now, host);
  if (!losses) return base::fail(losses.error());
  if (auto done = restore_each(host, *losses); !done) return done;
  if (joining.empty()) return sized;
  auto joined = host.links.wait_for_carrier(joining, kJoinAgain).map([](const std::vector<int>&) {});
  return joined ? sized : joined;
}

/// Interfaces that NetworkManager holds.
struct HeldByNm {
  std::set<std::string, std::less<>> all, idle;  ///< idle: without a profile
};

Result<HeldByNm> held_by(system::NetworkManager& manager) {
  const auto state = manager.observe();
  if (!state) return base::fail(state.error());
  HeldByNm out;
  if (!*state) return out;
  for (const auto& device : (*state)->devices) {
    if (device.managed) out.all.insert(device.interface);
    if (device.managed && device.active.empty()) out.idle.insert(device.interface);
  }
  return out;
}

/// Why NetworkManager would break more than comes back; empty: it would not. Without the way to the host's
/// own file systems nobody may be left to put anything back. An interface that NetworkManager holds without a
/// profile goes down as it lets go, and the kernel takes P_Key interfaces that are up down with it; those
/// that carry nothing yet lose nothing. One in a bond leaves that, and the bond has the hardware address of a
/// port, so that it is let go, too, with its addresses.
/// @param states  of what is released
Result<std::string> why_deferred(const NmRelease& links, std::span<const CarriedState> states,
                                 system::Host& host) {
  if (links.takes_some) return std::string();
  std::set<int> in_use;
  for (const auto& state : states) {
    if (state.up && !state.carried.items.empty()) in_use.insert(state.carried.index);
  }
  const auto root = interfaces_to(observe_root_servers(host), host);
  if (!root) return base::fail(root.error());
  const auto carries_root = [&](const Link& link) {
    return fmt::format("this host reaches its own file systems over {}", link.name);
  };
  for (const auto& link : links.given_back) {
    if (root->contains(link.index)) return carries_root(link);
  }
  const bool any = std::any_of(links.released.begin(), links.released.end(), [&](const Link& link) {
    return link.master != 0 || root->contains(link.index) ||
           (link.ipoib->child && in_use.contains(link.index));
  });
  if (!any) return std::string();
  const auto held = held_by(host.network_manager);
  if (!held) return base::fail(held.error());
  for (const auto& link : links.released) {
    const bool holds = held->all.contains(link.name);
    if (holds && root->contains(link.index)) return carries_root(link);
    if (!links.given_back.empty()) continue;
    if (holds && link.master != 0) return fmt::format("{} would leave its bond", link.name);
    const bool child_in_use = link.ipoib->child && in_use.contains(link.index);
    const auto* parent = child_in_use ? link_with(link.parent, links.released) : nullptr;
    if (parent != nullptr && parent->up && held->idle.contains(parent->name))
      return fmt::format("{} would go down with {}", link.name, parent->name);
  }
  return std::string();
}

}  // namespace

Result<void> release_from_nm(const NmRelease& links, system::Host& host) {
  auto& manager = host.network_manager;
  if (!manager.is_running()) return {};
  std::vector<CarriedState> released, given_back;
  for (const auto& [which, states] :
       {std::pair{&links.released, &released}, {&links.given_back, &given_back}}) {
    if (which->empty()) continue;
    auto carried = observe_carried_states(host, *which);
    if (!carried) return base::fail(carried.error());
    *states = std::move(*carried);
  }
  const auto deferred = why_deferred(links, released, host);
  if (!deferred) return base::fail(deferred.error());
  if (!deferred->empty()) return {};
  // An answer that does not come in time says nothing of what was done: all is put back in any case.
  const auto told = manager.reread();
  if (told && !released.empty()) manager.wait_for_release(names_of(links.released), kLetGo);
  if (told && !given_back.empty()) manager.wait_for_ready(names_of(links.given_back), kLetGo);
  // NetworkManager may have a profile for such an interface, and configures it in its own way now.
  (void)put_back_lost(given_back, links.given_back, host);
  auto done = put_back_lost(released, links.released, host);
  // One of them may have gone meanwhile: the others are put back all the same.
  if (!done && done.error().code == base::Code::kNotFound)
    done = put_back_lost(released, links.released, host);
  // One that has just ended reads everything at its next start.
  return told || !manager.is_running() ? done : told;
}

Result<std::map<model::Guid, std::vector<std::string>>> carried_before_release(
    const std::set<model::Guid>& ports, World& world) {
  std::map<model::Guid, std::vector<std::string>> out;
  if (ports.empty() || world.offline() || !world.host().network_manager.is_running()) return out;
  std::set<std::string, std::less<>> ours;
  for (const auto& profile : nm_profiles(world.host().files))
    ours.insert(profile.substr(0, profile.find('/')));
  std::vector<Link> links;
  for (const auto& link : world.snapshot().links) {
    if (link.ipoib && ports.contains(link.ipoib->guid) && !ours.contains(link.ipoib->guid.text()))
      links.push_back(link);
  }
  if (links.empty()) return out;
  const auto states = observe_carried_states(world.host(), links);
  if (!states) return base::fail(states.error());
  for (const auto& state : *states) {
    const auto* link = link_with(state.carried.index, links);
    auto& texts = out[link->ipoib->guid];
    for (auto& text : pack({&state, 1})) texts.push_back(std::move(text));
  }
  return out;
}

Result<ReleaseOutlook> outlook_of(const NmRelease& links, system::Host& host) {
  ReleaseOutlook out;
  if (host.offline || links.released.empty() || !host.network_manager.is_running()) return out;
  const auto states = observe_carried_states(host, links.released);
  if (!states) return base::fail(states.error());
  auto deferred = why_deferred(links, *states, host);
  if (!deferred) return base::fail(deferred.error());
  out.deferred = std::move(*deferred);
  const auto held = held_by(host.network_manager);
  if (!held) return base::fail(held.error());
  for (const auto& link : links.released) {
    if (!held->all.contains(link.name)) continue;
    auto& names = held->idle.contains(link.name) ? out.idle : out.configured;
    if (link.up) names[link.ipoib->guid].push_back(link.name);
    out.held.insert(link.ipoib->guid);
  }
  return out;
}

Result<void> put_back_released(const std::vector<std::string>& carried, system::Host& host) {
  return put_back_lost(unpack(carried), {}, host);
}

}  // namespace rdmacfg::kinds
