// SPDX-License-Identifier: Apache-2.0
#include "kinds/managers/networkd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/managed_block.hpp"
#include "kinds/address/backend.hpp"
#include "kinds/address/coming_names.hpp"
#include "kinds/address/direct_backend.hpp"
#include "kinds/address/duplicate_check.hpp"
#include "kinds/address/port_backends.hpp"
#include "kinds/address/profiles/networkd_older.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/sysctl_entry.hpp"
#include "kinds/ipoib/link_settings.hpp"
#include "kinds/managers/manager_boot.hpp"
#include "kinds/ports/held_by_port.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Backend;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Operation;
using model::Severity;

namespace {

constexpr std::string_view kNetworkdKind = "networkd";

void check_networkd_method(const WantedFamily& family, Diagnostics& diagnostics) {
  if (!family.is_ipv4_link_local()) return;
  diagnostics.push_back(
      {Severity::kError,
       family.place("method"),
       fmt::format("[{}] method: systemd-networkd has no IPv4 link-local addresses on InfiniBand",
                   family.section->path),
       "write addresses, or method = \"auto\" or \"disabled\"",
       {}});
}

/// systemd-networkd writes 0 to accept_ra of each interface with IPv6 that it configures, and handles router
/// advertisements itself (link_set_ipv6_accept_ra() of networkd-sysctl.c).
void warn_of_accept_ra(const std::vector<Desired>& desired, World& world, Diagnostics& diagnostics) {
  std::map<std::string, const Desired*> entries;  // of [[sysctl]], by interface
  for (const auto& resource : desired) {
    if (resource.key.kind != kSysctlKind || resource.ignore || !resource.key.id.ends_with("/accept_ra"))
      continue;
    const auto value = model::text_at(resource.settings, "file");
    const auto interface = sysctl_interface(resource.key.id);
    if (!interface.empty() && !value.empty() && !same_sysctl_value(value, "0"))
      entries.emplace(interface, &resource);
  }
  if (entries.empty()) return;
  const ComingNames names(desired, world);
  for (const auto& resource : desired) {
    if (resource.key.kind != kNetworkdKind || resource.ignore) continue;
    if (model::value_of(resource.settings, "link_local") != model::Value{true}) continue;
    const auto name = names.of(resource.key.id);
    const auto entry = entries.find(name);
    if (entry == entries.end()) continue;
    diagnostics.push_back(
        {Severity::kWarning,
         entry->second->where,
         fmt::format("systemd-networkd sets accept_ra of {} to 0 whenever it configures the interface", name),
         "it handles router advertisements itself: leave accept_ra out; with ipv6 = { method = \"auto\" } it "
         "accepts them",
         {}});
  }
}

constexpr std::array kNetworkdFiles{
    OwnedFile{.path = "/etc/systemd/network/09-rdma-configd-*.network",
              .what = "Addresses of an interface that systemd-networkd configures."},
    OwnedFile{.path = "/etc/systemd/network/10-rdma-configd-*.network",
              .what = "Older name of 09-rdma-configd-*.network; the next apply removes the file.",
              .ours = begins_as_ours}};

class NetworkdKind final : public Kind, public AwaitsKernel, public HeldByPort {
 public:
  NetworkdKind()
      : Kind({.name = kNetworkdKind,
              .fields = model::specs<NetworkdFile>(),
              .traits = {.works_offline = true, .listed_when_foreign = false, .left_to_manager = true},
              .files = kNetworkdFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    const Backends backends(bound);
    std::set<const model::Section*> checked;
    for (const auto& addressing : addressing_of(bound, nullptr)) {
      if (addressing.absent || backends.of(*addressing.port) != Backend::kNetworkd) continue;
      if (!addressing.ignore && checked.insert(addressing.section).second)
        check_networkd_method(addressing.ipv4, diagnostics);
      Desired desired;
      desired.key = {std::string(kNetworkdKind), addressing.id()};
      desired.label = "networkd of " + addressing.label;
      desired.where = addressing.section->where;
      desired.ignore = addressing.ignore;
      desired.pending = addressing.port->pending;
      if (addressing.port->guid && !addressing.ignore) {
        desired.settings = model::to_attributes(wanted_network(addressing));
        // Anything that is not mentioned is not in the file.
        for (const auto& spec : fields()) {
          if (spec.name != "active" && spec.role != model::Role::kFact)
            desired.settings.try_emplace(std::string(spec.name));
        }
        if (!addressing.down && !addressing.port->pending) desired.settings["active"] = true;
      }
      for (const auto& [field, value] : desired.settings)
        desired.origins[field] = origin_of(addressing, field);
      desired.needs = {{"backend", addressing.port->id}, {"link_name", addressing.port->id}, addressing.link};
      if (addressing.pkey) desired.needs.push_back({std::string(kNetworkdKind), addressing.port->id});
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto& host = world.host();
    const auto files = host.files.list(std::string(kNetworkdFolder));
    if (!files) return base::fail(files.error());
    std::vector<Observed> out;
    std::vector<int> indexes;
    std::map<std::string, std::string> paths;  // that systemd-networkd is to use, by id
    for (const auto& name : *files) {
      auto id = networkd_id(name);
      if (!id) id = older_networkd_id(name);
      if (!id || paths.contains(*id)) continue;
      const auto now = read_network_files(*id, host.files);
      if (!now) return base::fail(now.error());
      if (!now->used()) continue;
      paths.emplace(*id, now->only_older() ? older_networkd_file(*id) : networkd_file(*id));
      const auto* link = interface_of(*id, world);
      if (link != nullptr) indexes.push_back(link->index);
      out.push_back(observed_in_own_file({std::string(kNetworkdKind), *id},
                                         "networkd of " + (link == nullptr ? *id : link->name),
                                         model::to_attributes(parse_network_files(*id, *now))));
    }
    if (host.offline || indexes.empty()) return out;
    const auto state = host.networkd.observe(indexes);
    if (!state) return base::fail(state.error());
    if (!*state) return out;
    const auto inet_states = detail::observe_inet_states(host);
    if (!inet_states) return base::fail(inet_states.error());
    std::map<int, std::string> used;  // files, by the interface
    for (const auto& now : **state) used.emplace(now.index, now.file);
    for (auto& observed : out) {
      const auto file = model::from_attributes<NetworkdFile>(observed.settings);
      const auto* link = interface_of(observed.key.id, world);
      if (link == nullptr || file.unmanaged == true) continue;
      const auto at = used.find(link->index);
      const bool uses_file = at != used.end() && at->second == paths.at(observed.key.id);
      const auto& inet = inet_states->of(link->index);
      const auto unusable = address_check(addresses_in(file), link->index, inet.addresses);
      NetworkdFile facts;
      facts.duplicate = unusable.duplicate;
      facts.tentative = unusable.tentative;
      observed.facts = model::to_attributes(facts);
      auto missing = detail::missing_of(file, inet);
      observed.settings["active"] = uses_file && missing.empty();
      if (uses_file && !missing.empty()) observed.settings["missing"] = std::move(missing);
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    warn_of_accept_ra(desired, world, diagnostics);
    warn_of_older_drop_ins(desired, world, diagnostics);
    warn_of_manager_at_boot(kNetworkdKind, networkd_units(), desired, world, diagnostics);
    leave_to_networkd(desired, observed, world);
    std::optional<bool> runs;
    std::set<std::string> there, in_part;
    for (const auto& resource : observed) {
      if (resource.key.kind != kNetworkdKind) continue;
      there.insert(resource.key.id);
      if (resource.settings.contains("missing")) in_part.insert(resource.key.id);
    }
    for (auto& resource : desired) {
      if (resource.key.kind != kNetworkdKind) continue;
      // A deletion is not worth a note where there is no file yet.
      if (!there.contains(resource.key.id))
        std::erase_if(resource.settings, [](const auto& field) { return field.second == model::Value{}; });
      if (!resource.settings.contains("active")) continue;
      if (!runs && !world.offline()) {
        const auto state = world.host().networkd.observe({});
        runs = !state || *state;  // what fails is said where it is observed
      }
      // Where only a part is missing that part is named.
      if (!runs || !*runs || in_part.contains(resource.key.id)) resource.settings.erase("active");
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    detail::carry_network_files(changes, world);
    if (world.offline()) return {};
    std::optional<detail::InetStates> now;
    for (auto* change : changes) {
      const auto* link = interface_of(change->key.id, world);
      if (link == nullptr) continue;
      if (change->operation == Operation::kDelete) {
        change->interrupts.emplace_back("the addresses and routes of systemd-networkd are removed");
      } else if (sets_again(*change)) {
        change->interrupts.emplace_back("systemd-networkd sets the interface's addresses and routes again");
      } else if (loses_addresses(*change)) {
        change->interrupts.emplace_back("connections from and to the removed addresses break");
      }
      if (!loses_addresses(*change)) continue;
      if (!now) {
        auto inet_states = detail::observe_inet_states(world.host());
        if (!inet_states) return base::fail(inet_states.error());
        now = std::move(*inet_states);
      }
      for (auto& text : detail::routes_lost(*change, *link, now->of(link->index)))
        change->interrupts.push_back(std::move(text));
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    return detail::apply_networks(changes, host);
  }

  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    return detail::finish_networks(changes, host);
  }

  /// An address is there before the kernel knows whether another host has it.
  Result<Waited> await(std::span<const Change> changes, World& now, const TimeLeft& left) const override {
    std::set<int> indexes;
    for (const auto& change : changes) {
      const auto* link = interface_of(change.key.id, now);
      const auto all = addresses_in(model::from_attributes<NetworkdFile>(change.after));
      const bool six = std::any_of(all.begin(), all.end(), [](const auto& prefix) {
        return prefix.address.family == model::Family::kIpv6;
      });
      if (change.operation != Operation::kDelete && six && link != nullptr) indexes.insert(link->index);
    }
    return await_checks(std::move(indexes), now, left);
  }

  Verdict judge(const Desired& desired, const Observed* observed, const std::vector<std::string>& differing,
                World& world) const override {
    if (desired.ignore || observed == nullptr || world.offline()) return {};
    const auto* link = interface_of(desired.key.id, world);
    if (link == nullptr) return {};
    const auto wanted = model::from_attributes<NetworkdFile>(desired.settings);
    if (wanted.unmanaged == true) return {};
    if (!observed->settings.contains("active"))
      return {Verdict::Sort::kPending, "the file is written, but systemd-networkd is not running", {}, {}};
    std::vector<std::string> waiting;  // for carrier
    for (const auto* field : {"active", "missing"}) {
      if (std::find(differing.begin(), differing.end(), field) != differing.end())
        waiting.emplace_back(field);
    }
    if (link->carrier || waiting.empty()) {
      const auto facts = model::from_attributes<NetworkdFile>(observed->facts);
      return verdict_of({facts.duplicate, facts.tentative}, link->carrier);
    }
    return {Verdict::Sort::kLimited,
            words_for_no_carrier(*link, world) + "; systemd-networkd sets the rest when there is carrier",
            std::move(waiting),
            {}};
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    return port_object(change.key.id, world);
  }

 private:
  /// As after a start of systemd-networkd: to have it configure an interface again would take down what is
  /// coming up. One whose file is another one is not left to it.
  static void leave_to_networkd(std::vector<Desired>& desired, const std::vector<Observed>& observed,
                                World& world) {
    if (world.offline()) return;
    const auto seen = model::by_key(observed);
    std::map<int, Desired*> lacking;  // by the interface
    std::vector<int> indexes;
    for (auto& resource : desired) {
      const auto now = seen.find(resource.key);
      if (resource.key.kind != kNetworkdKind || resource.pending || now == seen.end() ||
          model::value_of(now->second->settings, "active") != model::Value(false) ||
          !is_written(resource, *now->second))
        continue;
      const auto* link = interface_of(resource.key.id, world);
      if (link == nullptr || !link->carrier || !lacking.emplace(link->index, &resource).second) continue;
      indexes.push_back(link->index);
    }
    if (indexes.empty()) return;
    const auto state = world.host().networkd.observe(indexes);
    if (!state || !*state) return;  // what fails is said where it is observed
    for (const auto& now : **state) {
      const auto at = lacking.find(now.index);
      if (at == lacking.end()) continue;
      auto& resource = *at->second;
      // At work with a file of others, which it prefers to ours.
      if (!now.file.empty() && now.file != networkd_file(resource.key.id)) continue;
      const auto wanted = model::from_attributes<NetworkdFile>(resource.settings);
      const auto facts = model::from_attributes<NetworkdFile>(seen.at(resource.key)->facts);
      // For an answer to DHCP, or of a router, it may wait for ever, and for an address that another host has
      // (networkd-link.c, link_check_ready(); address_is_ready()).
      const bool may_last =
          wanted.dhcp == true || wanted.router_advertisements == true || facts.duplicate.has_value();
      if (!detail::is_in_transition(now.state) || (may_last && now.state == "configuring")) continue;
      resource.settings.erase("active");
      resource.settings.erase("missing");
      resource.pending =
          fmt::format("systemd-networkd has not finished with the interface (it is {})", now.state);
    }
  }

  static bool is_written(const Desired& desired, const Observed& observed) {
    return std::all_of(desired.settings.begin(), desired.settings.end(), [&](const auto& setting) {
      return setting.first == "active" || setting.first == "missing" ||
             model::value_of(observed.settings, setting.first) == setting.second;
    });
  }

  static model::Location origin_of(const Addressing& addressing, std::string_view field) {
    const auto first = [&](std::string_view key) {
      for (const auto* family : {&addressing.ipv4, &addressing.ipv6}) {
        if (family->section != nullptr && family->section->find(key) != nullptr) return family->place(key);
      }
      return addressing.section->where;
    };
    if (field == "routes") return first("gateway");
    if (field == "dhcp" && addressing.ipv4.section != nullptr) return addressing.ipv4.place("method");
    if ((field == "router_advertisements" || field == "link_local") && addressing.ipv6.section != nullptr)
      return addressing.ipv6.place("method");
    return first(field);
  }

  /// Whether systemd-networkd begins again with what it had.
  static bool sets_again(const Change& change) {
    if (change.operation != Operation::kUpdate || change.fields.size() != 1) return false;
    const auto& field = change.fields.front();
    return field == "active" || field == "missing" ||
           (field == "older_name" && change.before.contains("active"));
  }

  static bool loses_addresses(const Change& change) {
    const auto after = addresses_in(model::from_attributes<NetworkdFile>(change.after));
    const auto before = addresses_in(model::from_attributes<NetworkdFile>(change.before));
    return std::any_of(before.begin(), before.end(), [&](const auto& item) {
      return std::find(after.begin(), after.end(), item) == after.end();
    });
  }
};

}  // namespace

const Kind& networkd() {
  static const NetworkdKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
