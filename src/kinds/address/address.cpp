// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/sysctl_conf.hpp"
#include "kinds/abilities.hpp"
#include "kinds/address/address_exchange.hpp"
#include "kinds/address/address_use.hpp"
#include "kinds/address/backend.hpp"
#include "kinds/address/coming_names.hpp"
#include "kinds/address/direct_backend.hpp"
#include "kinds/address/duplicate_check.hpp"
#include "kinds/address/ipv6_at_boot.hpp"
#include "kinds/competitors.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/module.hpp"
#include "kinds/host/sysctl_entry.hpp"
#include "kinds/ports/held_by_port.hpp"

namespace rdmacfg::kinds {

using base::Result;
using detail::address_id;
using detail::carries;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::IpPrefix;
using model::Observed;
using model::Operation;
using system::InetAddress;
using system::InetRequest;

namespace {

constexpr std::string_view kAddressKind = "address";
constexpr std::string_view kLifetime = "lifetime", kLimited = "limited";

/// Values of the fact `state`: how the kernel's check for another host with the address went, and whether a
/// route leads to its network.
constexpr std::string_view kDuplicate = "duplicate", kTentative = "tentative", kUnrouted = "unrouted",
                           kUsable = "ok";

/// Around the name of an interface, in the path of the switch of its IPv6.
constexpr std::string_view kConf = "net/ipv6/conf/", kOff = "/disable_ipv6";

bool has_address(const std::vector<InetAddress>& all, int index, const IpPrefix& prefix) {
  return std::any_of(all.begin(), all.end(), [&](const InetAddress& address) {
    return address.index == index && address.prefix == prefix && !address.peer_elsewhere;
  });
}

class AddressKind final : public Kind,
                          public AwaitsKernel,
                          public ClearsAway,
                          public MustStay,
                          public PutBackByOthers,
                          public HeldByPort {
 public:
  AddressKind()
      : Kind({.name = kAddressKind,
              .fields = model::specs<InterfaceAddress>(),
              .competitors = kInterfaceManagers}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    const auto& all = addressing_of(bound, &diagnostics);
    for (const auto& addressing : direct_only(all, bound, &diagnostics)) {
      for (const auto* family : {&addressing->ipv4, &addressing->ipv6}) {
        for (std::size_t i = 0; i < family->addresses.size(); ++i) {
          const auto& prefix = family->addresses[i];
          auto desired = start(*addressing, kAddressKind, prefix.text());
          desired.where = desired.origins["address"] = family->place_of("addresses", i);
          // The kernel drops those of IPv6 with the link.
          const bool lost = addressing->down && prefix.address.family == model::Family::kIpv6;
          if (!desired.pending && !desired.ignore && !lost) desired.settings["address"] = prefix.text();
          out.push_back(std::move(desired));
        }
      }
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    const auto interfaces = tracked_interfaces(kAddressKind, world);
    std::vector<Observed> out;
    if (interfaces.empty()) return out;
    const auto all = world.host().inet.observe_addresses();
    if (!all) return base::fail(all.error());
    const auto unrouted = detail::unrouted(*all, interfaces, world);
    if (!unrouted) return base::fail(unrouted.error());
    for (const auto& address : *all) {
      const auto at = interfaces.find(address.index);
      if (at == interfaces.end() || address.peer_elsewhere) continue;
      Observed observed;
      observed.key = {std::string(kAddressKind), fmt::format("{} {}", at->second.id, address.prefix.text())};
      observed.label = fmt::format("{} {}", at->second.name, address.prefix.text());
      observed.settings["address"] = address.prefix.text();
      if (!address.permanent) observed.settings[std::string(kLifetime)] = std::string(kLimited);
      observed.facts["state"] = std::string(address.duplicate                                     ? kDuplicate
                                            : address.tentative                                   ? kTentative
                                            : unrouted->contains({address.index, address.prefix}) ? kUnrouted
                                                                                                  : kUsable);
      // An interface that is re-created gets its addresses back: they are still ours.
      observed.instance = world.host().boot_id;
      out.push_back(std::move(observed));
    }
    return out;
  }

  /// The same address from a DHCP client or a router would go with its lease.
  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    check_ipv6_is_on(desired, world, diagnostics);
    check_other_interfaces(desired, world, diagnostics);
    wait_for_other_lengths(desired, observed, world);
    const std::string lifetime(kLifetime);
    std::set<std::string_view> limited;
    for (const auto& resource : observed) {
      if (resource.key.kind == kAddressKind && resource.settings.contains(lifetime))
        limited.insert(resource.key.id);
    }
    for (auto& resource : desired) {
      if (resource.key.kind != kAddressKind || !resource.settings.contains("address")) continue;
      // One that was limited when it became ours is wanted so from then on.
      if (!limited.contains(resource.key.id) && !world.known_identity(resource.key).before.contains(lifetime))
        continue;
      resource.settings[lifetime] = model::Value{};
      resource.origins[lifetime] = resource.origins.at("address");
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    for (auto* change : changes) {
      if (change->operation == Operation::kDelete)
        change->interrupts.emplace_back("connections from and to this address break");
    }
    return detail::plan_exchanges(changes, world);
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto world = World::observe_links(host);
    if (!world) return base::fail(world.error());
    const auto now = host.inet.observe_addresses();
    if (!now) return base::fail(now.error());
    std::set<std::pair<int, IpPrefix>> going;
    std::vector<InetRequest> additions;
    auto there_then = *now;  // when the deletions come
    for (const auto& change : changes) {
      const auto id = address_id(change.key);
      const auto* link = id ? interface_of(id->interface, *world) : nullptr;
      if (link == nullptr && change.operation == Operation::kDelete) continue;  // it went with its interface
      if (link == nullptr)
        return base::fail(base::Code::kNotFound,
                          fmt::format("{}: the interface does not exist", change.label));
      const bool there = has_address(*now, link->index, id->prefix);
      if (change.operation == Operation::kDelete && there) {
        going.emplace(link->index, id->prefix);
        for (const auto& prefix : detail::first_of(change)) {
          if (has_address(there_then, link->index, prefix)) continue;
          additions.emplace_back(system::AddAddress{link->index, link->name, prefix});
          there_then.push_back({.index = link->index, .prefix = prefix, .broadcast = prefix.broadcast()});
        }
      }
      // Undoing leaves a formerly limited address as it is: nobody knows for how long it was limited.
      const bool stays_limited = model::text_at(change.after, kLifetime) == kLimited;
      const bool limited =
          there && !stays_limited && std::none_of(now->begin(), now->end(), [&](const auto& held) {
            return held.index == link->index && held.prefix == id->prefix && held.permanent &&
                   !held.peer_elsewhere;
          });
      if (change.operation != Operation::kDelete && (!there || limited))
        additions.emplace_back(system::AddAddress{link->index, link->name, id->prefix});
    }
    auto requests = std::move(additions);
    for (auto& request : address_deletions(going, there_then, *world)) requests.push_back(std::move(request));
    if (requests.empty()) return {};
    const auto routes = detail::routes_left_alone(going, there_then, *world, host);
    if (!routes) return base::fail(routes.error());
    requests.insert(requests.end(), routes->begin(), routes->end());
    return host.inet.execute(requests);
  }

  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    if (std::none_of(changes.begin(), changes.end(), carries)) return {};
    auto world = World::observe_links(host);
    if (!world) return base::fail(world.error());
    const auto now = host.inet.observe_addresses();
    if (!now) return base::fail(now.error());
    std::vector<InetRequest> requests;
    for (const auto& change : changes) {
      const auto id = carries(change) ? address_id(change.key) : std::nullopt;
      const auto* link = id ? interface_of(id->interface, *world) : nullptr;
      if (link == nullptr) continue;
      const bool there = has_address(*now, link->index, id->prefix);
      // One that is gone may have gone for good.
      if (!there) {
        for (auto route : detail::alone_in(change)) {
          route.index = link->index;
          requests.emplace_back(system::AddRoute{link->name, route});
        }
      } else if (auto done = detail::restore(change, *link, host); !done) {
        return done;
      }
    }
    return requests.empty() ? Result<void>{} : host.inet.execute(requests);
  }

  std::vector<std::string> clear_away(std::span<const Change> changes, system::Host& host) const override {
    std::vector<std::string> out;
    if (std::none_of(changes.begin(), changes.end(), carries)) return out;
    auto world = World::observe_links(host);
    if (!world) return out;  // said by whoever compares the addresses
    for (const auto& change : changes) {
      const auto id = carries(change) ? address_id(change.key) : std::nullopt;
      const auto* link = id ? interface_of(id->interface, *world) : nullptr;
      if (link == nullptr) continue;
      if (auto done = detail::restore(change, *link, host); !done)
        out.push_back(fmt::format("{}: some routes of other programs over it could not be restored: {}",
                                  link->name, done.error().message));
    }
    return out;
  }

  Result<Waited> await(std::span<const Change> changes, World& now, const TimeLeft& left) const override {
    std::set<int> indexes;
    for (const auto& change : changes) {
      const auto id = address_id(change.key);
      if (!id || change.operation == Operation::kDelete || id->prefix.address.family != model::Family::kIpv6)
        continue;
      if (const auto* link = interface_of(id->interface, now)) indexes.insert(link->index);
    }
    return await_checks(std::move(indexes), now, left);
  }

  Verdict judge(const Desired& desired, const Observed* observed,
                const std::vector<std::string>& /*differing*/, World& world) const override {
    const auto state = observed == nullptr ? std::string() : model::text_at(observed->facts, "state");
    const auto id = address_id(desired.key);
    if (state == kTentative) {
      const auto* link = id ? interface_of(id->interface, world) : nullptr;
      const AddressCheck check{{}, std::vector{model::text_at(observed->settings, "address")}};
      return verdict_of(check, link != nullptr && link->carrier);
    }
    if (state != kDuplicate) return id ? verdict_of_use(*id, state, world) : Verdict{};
    return {
        Verdict::Sort::kLimited,
        "another host has this address (duplicate address detection), so it does not work here; once that "
        "host has released it, run `ip -6 address del` for it here, and apply again",
        {},
        {}};
  }

  [[nodiscard]] bool returns(std::string_view field, const model::Attributes& before,
                             const model::Attributes& /*then*/) const override {
    return field != kLifetime || !before.contains(std::string(kLifetime));
  }

  [[nodiscard]] std::vector<model::Key> put_back_by(const model::Key& key) const override {
    return interface_put_back_by(key.id);
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    return port_object(change.key.id, world);
  }

  [[nodiscard]] bool has_to_stay(const Observed& /*then*/, const World& /*now*/) const override {
    return true;  // an interface that is re-created gets it back
  }

  [[nodiscard]] bool reachable(const model::Key& key, const World& world) const override {
    const auto id = address_id(key);
    return id && interface_of(id->interface, world) != nullptr;
  }

 private:
  /// Of an address that no other host has. `state`: empty where it is not there.
  static Verdict verdict_of_use(const detail::AddressId& id, std::string_view state, const World& world) {
    const auto* link = state.empty() ? nullptr : interface_of(id.interface, world);
    if (link == nullptr) return {};
    auto why = detail::why_in_bond(*link, world);
    if (why.empty() && state == kUnrouted) {
      why = fmt::format(
          "no route leads to its network, since it was added with noprefixroute; run "
          "`ip address del {} dev {}` and apply",
          id.prefix.text(), link->name);
    }
    if (why.empty()) return {};
    return {Verdict::Sort::kLimited, std::move(why), {}, {}};
  }

  static void check_other_interfaces(const std::vector<Desired>& desired, const World& world,
                                     Diagnostics& diagnostics) {
    const bool any = std::any_of(desired.begin(), desired.end(), [](const Desired& resource) {
      return resource.key.kind == kAddressKind && resource.settings.contains("address");
    });
    if (!any || world.offline()) return;
    const auto all = world.host().inet.observe_addresses();
    if (!all) return;  // observing failed for the same reason, and said so
    detail::warn_of_second_holders(desired, *all, world, diagnostics);
  }

  /// An interface has an IPv6 address once: a request for it with another length is granted, and changes
  /// nothing (inet6_addr_modify()). One of ours goes first.
  static void wait_for_other_lengths(std::vector<Desired>& desired, const std::vector<Observed>& observed,
                                     const World& world) {
    std::map<std::pair<std::string, model::IpAddress>, IpPrefix> others;
    for (const auto& resource : observed) {
      const auto id = resource.key.kind == kAddressKind ? address_id(resource.key) : std::nullopt;
      if (!id || id->prefix.address.family != model::Family::kIpv6 || world.known_identity(resource.key).ours)
        continue;
      others.emplace(std::pair(id->interface, id->prefix.address), id->prefix);
    }
    for (auto& resource : desired) {
      const auto id = resource.key.kind == kAddressKind && resource.settings.contains("address")
                          ? address_id(resource.key)
                          : std::nullopt;
      const auto at = id ? others.find({id->interface, id->prefix.address}) : others.end();
      if (at == others.end() || at->second == id->prefix) continue;
      const auto* link = interface_of(id->interface, world);
      const auto name = link == nullptr ? id->interface : link->name;
      postpone(resource, fmt::format("{0} has this address as {1}, which rdma-configd did not set; delete "
                                     "that first: ip -6 address del {1} dev {0}",
                                     name, at->second.text()));
    }
  }

  /// The interfaces for which an entry of the document switches IPv6 on; "all": for each that is there
  /// (addrconf_disable_change() of net/ipv6/addrconf.c).
  static detail::InterfaceNames with_ipv6_on(const std::vector<Desired>& desired) {
    detail::InterfaceNames out;
    for (const auto& resource : desired) {
      const std::string_view path = resource.key.id;
      const bool of_ipv6 = resource.key.kind == "sysctl" && !resource.ignore && path.starts_with(kConf) &&
                           path.ends_with(kOff) && path.size() > kConf.size() + kOff.size();
      if (!of_ipv6) continue;
      // One that is pending has no settings: it may be for a name to come.
      const auto value = model::text_at(resource.settings, "file");
      if (value.empty() || same_sysctl_value(value, "0"))
        out.emplace(path.substr(kConf.size(), path.size() - kConf.size() - kOff.size()));
    }
    return out;
  }

  /// inet6_addr_add() answers "Permission denied" then. An entry of the document may switch it on first.
  static void check_ipv6_is_on(const std::vector<Desired>& desired, World& world, Diagnostics& diagnostics) {
    if (world.offline()) return;
    const auto on = with_ipv6_on(desired);
    if (on.contains("all")) {
      // Written only where it is another value now.
      const auto all = world.host().sysctl.read(fmt::format("{}all{}", kConf, kOff));
      if (all && *all != "0") return;
    }
    const ComingNames names(desired, world);
    std::optional<std::map<std::string, std::vector<ForeignLine>>> at_next_boot;  // once it is needed
    ForeignSysctls foreign;
    std::set<int> seen;
    for (const auto& resource : desired) {
      const auto id = resource.key.kind == kAddressKind && resource.settings.contains("address")
                          ? address_id(resource.key)
                          : std::nullopt;
      if (!id || id->prefix.address.family != model::Family::kIpv6) continue;
      const auto* link = interface_of(id->interface, world);
      if (link == nullptr || !seen.insert(link->index).second) continue;
      const auto name_to_come = names.of(id->interface);
      if (!at_next_boot) {
        at_next_boot = next_boot_settings(world.host());
        foreign = read_foreign_sysctls(world.host().files, observe_sysctl_conf(world.host().files));
      }
      detail::warn_of_no_ipv6_at_boot(resource, name_to_come, on, (*at_next_boot)["ipv6"], foreign,
                                      diagnostics);
      if (on.contains(link->name) || on.contains(name_to_come)) continue;
      const auto path = fmt::format("{}{}{}", kConf, link->name, kOff);
      const auto off = world.host().sysctl.read(path);
      if (!off || *off == "0") continue;
      diagnostics.push_back(
          {model::Severity::kError,
           resource.where,
           fmt::format("{}: IPv6 is off on {} ({} is {})", resource.label, link->name, path, *off),
           fmt::format("write [[sysctl]] key = \"{}\", value = 0, or leave the IPv6 addresses "
                       "out",
                       path),
           {}});
    }
  }
};

}  // namespace

const Kind& address() {
  static const AddressKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
