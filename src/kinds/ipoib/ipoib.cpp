// SPDX-License-Identifier: Apache-2.0
#include "kinds/ipoib/ipoib.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/tmpfiles_conf.hpp"
#include "kinds/abilities.hpp"
#include "kinds/address/backend.hpp"
#include "kinds/address/network_match.hpp"
#include "kinds/address/port_backends.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"
#include "kinds/carried_state.hpp"
#include "kinds/competitors.hpp"
#include "kinds/entry.hpp"
#include "kinds/ipoib/ipoib_module.hpp"
#include "kinds/ipoib/link_settings.hpp"
#include "kinds/ports/held_by_port.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostic;
using model::Diagnostics;
using model::Guid;
using model::Observed;
using model::Severity;
using model::State;
using system::Link;

namespace {

constexpr std::string_view kIpoibKind = "ipoib";

const Link* link_of(const model::Key& key, const World& world) {
  const auto guid = Guid::parse(key.id);
  return guid ? world.parent(*guid) : nullptr;
}

/// udev sets an MTU whenever the interface appears, which may be after us.
void warn_of_link_file(const Desired& resource, const Link* link, World& world, Diagnostics& diagnostics) {
  const auto wanted = model::from_attributes<Ipoib>(resource.settings).mtu;
  const auto guid = Guid::parse(resource.key.id);
  if (!wanted || !guid) return;
  const auto file = link_file_mtu(world.host().files, *guid, link == nullptr ? std::string() : link->name);
  if (!file || file->bytes == wanted->bytes) return;
  const auto place = resource.origins.find("mtu");
  diagnostics.push_back({Severity::kWarning,
                         place == resource.origins.end() ? resource.where : place->second,
                         fmt::format("[[ipoib]] mtu: {}:{} makes udev set {} whenever {} appears", file->file,
                                     file->line, file->bytes, resource.label),
                         "remove MTUBytes= there",
                         {}});
}

/// systemd-tmpfiles writes at boot, once the interface is there.
void warn_of_sysfs_writes(const Desired& resource, const Link* link, std::span<const TmpfilesLine> lines,
                          Diagnostics& diagnostics) {
  if (link == nullptr) return;
  for (const std::string field : {"mode", "mtu"}) {
    if (!resource.settings.contains(field)) continue;
    const auto wanted = model::text_of(model::value_of(resource.settings, field));
    const auto path = fmt::format("/sys/class/net/{}/{}", link->name, field);
    for (const auto& line : lines) {
      const bool writes = line.act == TmpfilesLine::Act::kWrite && line.path.starts_with("/sys/");
      if (!writes || !line.concerns(path) || line.argument == wanted) continue;
      const auto place = resource.origins.find(field);
      diagnostics.push_back({Severity::kWarning,
                             place == resource.origins.end() ? resource.where : place->second,
                             fmt::format("[[ipoib]] {}: {}:{} writes {} to {} at boot", field, line.file,
                                         line.line, line.argument, path),
                             "remove the line there",
                             {}});
    }
  }
}

class IpoibKind final : public Kind,
                        public AwaitsKernel,
                        public TestsLimits,
                        public NeedsWatching,
                        public HeldByPort {
 public:
  IpoibKind()
      : Kind({.name = kIpoibKind,
              .fields = model::specs<Ipoib>(),
              .traits = {.on_rdma_port = true, .shares_entry = true},
              .competitors = kInterfaceManagers}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    const Backends backends(bound);
    for (const auto& port : bound.ports) {
      Desired desired;
      desired.key = {std::string(kIpoibKind), port.id};
      desired.label = port.label;
      desired.where = port.section->where;
      desired.pending = port.pending;
      for (const auto& spec : fields()) {
        const auto* entry = port.section->find(spec.name);
        if (entry == nullptr || spec.role == model::Role::kFact) continue;
        (spec.role == model::Role::kPolicy ? desired.policy : desired.settings)
            .emplace(spec.name, entry->value);
        desired.origins.emplace(spec.name, entry->where);
      }
      const auto wanted = model::from_attributes<Ipoib>(desired.settings);
      check_mode_and_mtu(desired, "[[ipoib]]", diagnostics);
      if (wanted.state == State::kAbsent) {
        diagnostics.push_back(Diagnostic{Severity::kError,
                                         desired.origins.at("state"),
                                         "[[ipoib]] state: the interface of a port cannot be removed",
                                         "use state = \"down\"; only [[ipoib.pkey]] interfaces can be absent",
                                         {}});
      }
      desired.ignore = wanted.state == State::kIgnore;
      if (!wanted.state) desired.settings["state"] = std::string(model::text_of(State::kUp));
      if (desired.ignore) desired.settings.clear();
      // A rename takes the link down and up again: first the name, then what the link should be.
      desired.needs.push_back({"link_name", port.id});
      // NetworkManager sets what its profile says; this only looks.
      const bool theirs = backends.of(port) == model::Backend::kNetworkManager;
      if (desired.pending || theirs) desired.settings.clear();
      if (theirs && port.link != nullptr) describe(*port.link, desired.settings);
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    const auto theirs = nm_profiles(world.host().files);
    for (const auto* link : world.parents()) {
      Observed observed;
      observed.key = {std::string(kIpoibKind), link->ipoib->guid.text()};
      observed.label = link->name;
      observed.instance = world.instance(*link);
      describe(*link, observed.settings);
      if (theirs.contains(observed.key.id))
        observed.settings[std::string(kManagedBy)] =
            std::string(model::text_of(model::Backend::kNetworkManager));
      Ipoib facts;
      facts.carrier = link->carrier;
      facts.connected_capable = link->ipoib->connected_capable;
      facts.pkey = link->ipoib->pkey;
      observed.facts = model::to_attributes(facts);
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    take_from_network_manager(kIpoibKind, desired, observed);
    warn_of_module_at_boot(desired, world, diagnostics);
    const auto now = model::by_key(observed);
    std::optional<std::vector<TmpfilesLine>> writes;  // once they are needed
    for (auto& resource : desired) {
      if (resource.key.kind != kIpoibKind || resource.ignore || resource.pending) continue;
      const auto* link = link_of(resource.key, world);
      const auto at = now.find(resource.key);
      warn_of_link_file(resource, link, world, diagnostics);
      if (!writes) writes = tmpfiles_lines(world.host().files);
      warn_of_sysfs_writes(resource, link, *writes, diagnostics);
      if (link != nullptr) {
        check_capability(resource, at == now.end() ? nullptr : at->second, *link, "[[ipoib]]",
                         link->ipoib->guid, world, diagnostics);
        warn_of_mtu_in_bond(resource, *link, "[[ipoib]]", world, diagnostics);
      }
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    std::vector<Link> links;
    std::vector<Change*> carrying;
    for (auto* change : changes) {
      const auto* link = link_of(change->key, world);
      if (link == nullptr) continue;
      const auto wanted = model::from_attributes<Ipoib>(change->after);
      const bool goes_down = link->up && wanted.state == State::kDown;
      const bool comes_up = !link->up && wanted.state == State::kUp;
      const bool loses_ipv6 =
          wanted.mtu && wanted.mtu->bytes < model::kMtuIpv6Min && link->mtu >= model::kMtuIpv6Min;
      if (wanted.mode && *wanted.mode != link->ipoib->mode && link->up) {
        change->interrupts.emplace_back("traffic stalls for a moment while paths are set up again");
      }
      if (goes_down) {
        change->interrupts.emplace_back(
            world.children(link->index).empty()
                ? "link down; its IPv6 addresses and routes are removed"
                : "link and its P_Key interfaces down; their IPv6 addresses and routes are removed");
      }
      if (loses_ipv6) {
        change->interrupts.push_back(
            fmt::format("IPv6 stops on {}: it needs an MTU of {}", link->name, model::kMtuIpv6Min));
      }
      if (!goes_down && !comes_up && !loses_ipv6) continue;
      // Also when it comes up: the kernel takes every child up with it, and those that were down have to stay
      // down.
      carrying.push_back(change);
      links.push_back(*link);
      for (const auto* child : world.children(link->index)) links.push_back(*child);
    }
    if (links.empty()) return {};
    auto carried_states = observe_carried_states(world.host(), links);
    if (!carried_states) return base::fail(carried_states.error());
    std::map<int, const CarriedState*> by_index;
    for (const auto& state : *carried_states) by_index.emplace(state.carried.index, &state);
    for (auto* change : carrying) {
      const auto* link = link_of(change->key, world);
      std::vector<CarriedState> mine{*by_index.at(link->index)};
      for (const auto* child : world.children(link->index)) mine.push_back(*by_index.at(child->index));
      change->carried = pack(mine);
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto world = World::observe_links(host);
    if (!world) return base::fail(world.error());
    for (const auto& change : changes) {
      const auto* link = link_of(change.key, *world);
      if (link == nullptr) {
        return base::fail(base::Error{base::Code::kNotFound,
                                      fmt::format("{}: the interface does not exist", change.label), 0});
      }
      const auto wanted = model::from_attributes<Ipoib>(change.after);
      auto rest = reach(*link, change.after, host);
      if (!rest) return base::fail(rest.error());
      if (*rest) {
        const std::vector<system::LinkRequest> request{**rest};
        if (auto done = host.links.execute(request); !done) return done;
      }
      if (change.carried.empty()) continue;
      if (auto done = put_back(unpack(change.carried), link->index,
                               wanted.state == State::kUp ? State::kUp : State::kDown, host);
          !done && !stops_ipv6(change))
        return done;
    }
    return {};
  }

  Result<Waited> await(std::span<const Change> changes, World& now, const TimeLeft& left) const override {
    return await_join(changes, now, left.carrier, link_of);
  }

  Result<std::set<model::Key>> limits_standing(std::span<const Change> limited,
                                               system::Host& host) const override {
    return mtu_limits_standing(limited, host, link_of);
  }

  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<Ipoib>(change.after);
      const auto carried_states = unpack(change.carried);
      if (carried_states.empty()) continue;
      if (auto done = put_back(carried_states, carried_states.front().carried.index,
                               wanted.state == State::kDown ? State::kDown : State::kUp, host);
          !done && !stops_ipv6(change))
        return done;
    }
    return {};
  }

  Verdict judge(const Desired& desired, const Observed* /*observed*/,
                const std::vector<std::string>& differing, World& world) const override {
    const auto* link = link_of(desired.key, world);
    if (link == nullptr || desired.ignore) return {};
    if (std::find(differing.begin(), differing.end(), "mtu") != differing.end()) {
      if (auto why = why_mtu_limited(desired, *link); !why.empty())
        return {Verdict::Sort::kLimited, std::move(why), {"mtu"}, {}};
    }
    const auto port = world.port(link->ipoib->guid);
    if (auto why = why_no_carrier(*link, port, world); !why.empty()) {
      return {Verdict::Sort::kLimited, std::move(why), {}, {}};
    }
    Verdict verdict;
    if (port && (world.thorough || !link->carrier) &&
        membership(*port, link->ipoib->pkey, world) == Membership::kLimited) {
      verdict.warnings.push_back(fmt::format("limited member of partition {}: it reaches full members only",
                                             link->ipoib->pkey.text()));
    }
    return verdict;
  }

  /// A change of mode that leaves the MTU alone, and of umcast, made through sysfs.
  void watched(const model::ResourceReport& resource, system::Settings& out) const override {
    watch_transport(resource, IpoibLink::kPort, out);
  }

  [[nodiscard]] bool returns(std::string_view field, const model::Attributes& before,
                             const model::Attributes& then) const override {
    return field != "state" && mtu_fits_mode(field, before, then);
  }

  [[nodiscard]] bool reachable(const model::Key& key, const World& world) const override {
    return link_of(key, world) != nullptr;
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    return parent_object_on(link_of(change.key, world), world);
  }

 private:
  /// The kernel takes children up and down with their parent. Back in the state in which the carried state
  /// was read, everything is put back as it was; newly up, children that were down stay down; newly down,
  /// they go along.
  static Result<void> put_back(std::vector<CarriedState> carried_states, int parent, State now,
                               system::Host& host) {
    const bool up = now == State::kUp;
    for (auto& state : carried_states) {
      if (state.carried.index != parent) continue;
      if (!up && state.up) return {};
      state.up = up;
    }
    return restore(host, carried_states);
  }
};

}  // namespace

const Kind& ipoib() {
  static const IpoibKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
