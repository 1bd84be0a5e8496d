// SPDX-License-Identifier: Apache-2.0
#include "kinds/managers/nm_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "kinds/abilities.hpp"
#include "kinds/address/backend.hpp"
#include "kinds/address/direct_backend.hpp"
#include "kinds/address/port_backends.hpp"
#include "kinds/address/profiles/foreign_profiles.hpp"
#include "kinds/entry.hpp"
#include "kinds/ipoib/link_settings.hpp"
#include "kinds/managers/manager_boot.hpp"
#include "kinds/managers/nm_forwarding.hpp"
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

constexpr std::string_view kNmProfileKind = "nm_profile";
constexpr auto kNmProfileCompetitors = std::to_array<std::string_view>({"NetworkManager"});

/// Settings that NetworkManager does not support.
void check_expressible(const Addressing& addressing, Diagnostics& diagnostics) {
  const auto error = [&](const model::Location& where, std::string message, std::string hint) {
    diagnostics.push_back({Severity::kError, where, std::move(message), std::move(hint), {}});
  };
  const auto label = addressing.pkey ? "[[ipoib.pkey]]" : "[[ipoib]]";
  if (const auto* umcast = addressing.section->find("umcast")) {
    error(umcast->where, fmt::format("{} umcast: NetworkManager has no such setting", label),
          "leave it out, or use backend = \"direct\"");
  }
  if (!addressing.pkey) return;
  if (addressing.port->name.empty() && !addressing.port->pending) {
    error(addressing.section->where, fmt::format("{}: the name of the port's interface is not known", label),
          "give the [[ipoib]] entry a name: a P_Key profile of NetworkManager needs it");
  }
  const auto* name = addressing.section->find("name");
  const auto only = fmt::format("{}.{:04x}", addressing.port->name, addressing.pkey->full());
  if (name != nullptr && !addressing.port->name.empty() && model::text_of(name->value) != only) {
    error(name->where, fmt::format("{} name: NetworkManager names this interface {}", label, only),
          "leave the name out, or use backend = \"direct\"");
  }
}

/// A setting that is taken and does nothing: NetworkManager 1.42 had such a profile active and gave no
/// address.
void check_nm_method(const WantedFamily& family, Diagnostics& diagnostics) {
  if (!family.is_ipv4_link_local()) return;
  diagnostics.push_back(
      {Severity::kWarning,
       family.place("method"),
       fmt::format(
           "[{}] method: NetworkManager 1.42 accepts this method but gives InfiniBand no such address",
           family.section->path),
       "write addresses = [\"…\"]",
       {}});
}

NmProfile wanted_profile(const Addressing& addressing) {
  NmProfile out;
  const auto* name = addressing.port->section->find("name");
  if (addressing.port->names && name != nullptr) {
    out.name = addressing.pkey ? fmt::format("{}.{:04x}", addressing.port->name, addressing.pkey->full())
                               : addressing.port->name;
  } else {
    // The kernel's name for it may be another one at the next boot.
    out.name = "IPoIB " + addressing.port->id + (addressing.pkey ? " P_Key " + addressing.pkey->text() : "");
  }
  if (addressing.pkey) {
    out.pkey = addressing.pkey;
    out.parent = addressing.port->name;
  }
  const auto written = addressing.section->attributes();
  if (const auto mode = model::Codec<model::IpoibMode>::parse(model::value_of(written, "mode")))
    out.mode = *mode;
  if (const auto mtu = model::Codec<model::Mtu>::parse(model::value_of(written, "mtu"))) out.mtu = *mtu;
  out.autoconnect = !addressing.down;
  out.ipv4 = inet_lines(addressing.ipv4);
  out.ipv6 = inet_lines(addressing.ipv6);
  return out;
}

constexpr std::array kNmProfileFiles{
    OwnedFile{.path = "/etc/NetworkManager/system-connections/rdma-configd-*.nmconnection",
              .what = "Profile of an interface that NetworkManager configures.",
              .access = OwnedFile::Access::kPrivate,
              .after_write = OwnedFile::AfterWrite::kLoadProfile}};

class NmProfileKind final : public Kind, public AwaitsKernel, public ClearsAway, public HeldByPort {
 public:
  NmProfileKind()
      : Kind({.name = kNmProfileKind,
              .fields = model::specs<NmProfile>(),
              .traits = {.works_offline = true, .listed_when_foreign = false, .left_to_manager = true},
              .files = kNmProfileFiles,
              .competitors = kNmProfileCompetitors}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    const Backends backends(bound);
    std::set<const model::Section*> checked;
    for (const auto& addressing : addressing_of(bound, nullptr)) {
      if (addressing.absent || backends.of(*addressing.port) != Backend::kNetworkManager) continue;
      if (!addressing.ignore) check_expressible(addressing, diagnostics);
      if (!addressing.ignore && checked.insert(addressing.ipv4.section).second)
        check_nm_method(addressing.ipv4, diagnostics);
      Desired desired;
      desired.key = {std::string(kNmProfileKind), addressing.id()};
      desired.label = "profile of " + addressing.label;
      desired.where = addressing.section->where;
      desired.ignore = addressing.ignore;
      desired.pending = addressing.port->pending;
      const bool known = addressing.port->guid && (!addressing.pkey || !addressing.port->name.empty());
      if (known && !addressing.ignore) {
        desired.settings = model::to_attributes(wanted_profile(addressing));
        desired.settings.try_emplace("mtu");  // without one in the document there is none in the profile
        desired.settings.try_emplace("edited");
      }
      for (const auto& [field, value] : desired.settings) {
        const auto* entry = addressing.section->find(field);
        desired.origins[field] = entry == nullptr ? addressing.section->where : entry->where;
      }
      if (addressing.ipv4.section != nullptr) desired.origins["ipv4"] = addressing.ipv4.section->where;
      if (addressing.ipv6.section != nullptr) desired.origins["ipv6"] = addressing.ipv6.section->where;
      desired.needs = {{"backend", addressing.port->id}, {"link_name", addressing.port->id}};
      if (addressing.pkey) desired.needs.push_back({std::string(kNmProfileKind), addressing.port->id});
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto out = observe_keyfiles(world);
    if (!out) return out;
    if (world.host().offline || (out->empty() && world.tracked(kNmProfileKind).empty())) return out;
    const auto& state = world.network_manager();
    if (!state) return base::fail(state.error());
    if (!*state) return out;
    const auto addresses = world.host().inet.observe_addresses();
    if (!addresses) return base::fail(addresses.error());
    for (auto& observed : *out) {
      if (!observed.settings.empty()) add_effect(observed, **state, *addresses, world);
    }
    add_loaded(*out, **state);
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    pass_over_unreadable(desired, observed, diagnostics);
    const auto seen = model::by_key(observed);
    for (auto& resource : desired) {
      const auto now = seen.find(resource.key);
      const bool edited = now != seen.end() && now->second->settings.contains("edited");
      if (resource.key.kind == kNmProfileKind && !edited) resource.settings.erase("edited");
    }
    const bool any = std::any_of(desired.begin(), desired.end(), [](const Desired& resource) {
      return resource.key.kind == kNmProfileKind && !resource.ignore && !resource.settings.empty();
    });
    if (!any) return;
    warn_of_nm_forwarding(desired, world, diagnostics);
    if (!world.offline()) {
      const auto& state = world.network_manager();
      for (auto& resource : desired) {
        // Without its device a profile waits for it by itself.
        if (resource.key.kind != kNmProfileKind || resource.ignore || resource.settings.empty() ||
            resource.pending || !state || !*state)
          continue;
        const auto seen_now = seen.find(resource.key);
        const bool written = seen_now != seen.end() && is_written(resource, *seen_now->second);
        if (written && is_in_transition(**state, resource.key.id)) {
          resource.pending = "NetworkManager has not finished bringing the profile up or down";
          continue;
        }
        resource.settings["active"] = resource.settings["autoconnect"];
        resource.origins["active"] = resource.where;
        if (seen_now != seen.end()) name_what_drifted(resource, *seen_now->second);
        const auto* link = interface_of(resource.key.id.substr(0, resource.key.id.find('/')), world);
        const auto wanted = model::from_attributes<NmProfile>(resource.settings).mode;
        if (link == nullptr || wanted != model::IpoibMode::kConnected || link->ipoib->connected_capable)
          continue;
        diagnostics.push_back({Severity::kError,
                               resource.origins["mode"],
                               fmt::format("{}: the adapter does not support connected mode", resource.label),
                               "use mode = \"datagram\"; on_unsupported has no effect with NetworkManager",
                               {takes_default(resource.where)}});
      }
    }
    warn_of_foreign_profiles(desired, world, diagnostics);
    warn_of_manager_at_boot(kNmProfileKind, network_manager_units(), desired, world, diagnostics);
    warn_of_networking_off(kNmProfileKind, desired, world, diagnostics);
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    detail::carry_keyfiles(changes, world);
    detail::carry_transport(changes, world);
    for (auto* change : changes) {
      const auto* link = interface_of(change->key.id, world);
      if (link == nullptr || world.offline()) continue;
      if (change->operation == Operation::kDelete) {
        change->interrupts.emplace_back(change->key.id.find('/') == std::string::npos
                                            ? "the interface goes down and loses its addresses"
                                            : "the interface is deleted, with its addresses and connections");
      } else if (change->operation == Operation::kCreate && link->up) {
        change->interrupts.emplace_back("NetworkManager takes over the interface: link down for a moment");
      } else if (change->differs_in("parent") && change->key.id.find('/') != std::string::npos) {
        change->interrupts.emplace_back(
            "the interface is re-created under its port's new name, without its connections");
      } else if (change->differs_in("mode") || change->differs_in("parent") || change->differs_in("pkey")) {
        change->interrupts.emplace_back(
            "the profile is activated again: link down for a moment, addresses re-added");
      }
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    return detail::apply_profiles(changes, host);
  }

  /// A killed run may have written a file that NetworkManager has not read.
  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    std::vector<std::string> files;
    for (const auto& change : changes) {
      const auto text = host.files.read(nm_file(change.key.id));
      if (text && *text) files.push_back(nm_file(change.key.id));
    }
    const auto state = host.network_manager.observe();
    if (!state) return base::fail(state.error());
    if (!*state || files.empty()) return {};
    if (auto done = host.network_manager.load(files); !done) return done;
    for (const auto& change : changes) {
      const auto uuid = nm_uuid(change.key.id);
      for (const auto& device : (*state)->devices) {
        if (device.active != uuid) continue;
        // An activation is for the plan that follows.
        auto done = host.network_manager.reapply(device.interface);
        if (!done && done.error().code != base::Code::kUnsupported) return done;
      }
    }
    return {};
  }

  /// NetworkManager that applies a profile again does not wait for the kernel.
  Result<Waited> await(std::span<const Change> changes, World& now, const TimeLeft& left) const override {
    std::set<int> indexes;
    for (const auto& change : changes) {
      const auto* link = interface_of(change.key.id, now);
      const auto lines =
          model::from_attributes<NmProfile>(change.after).ipv6.value_or(std::vector<std::string>());
      const bool any = std::any_of(lines.begin(), lines.end(),
                                   [](const std::string& line) { return line.starts_with("address"); });
      if (change.operation != Operation::kDelete && any && link != nullptr) indexes.insert(link->index);
    }
    return await_checks(std::move(indexes), now, left);
  }

  std::vector<std::string> clear_away(std::span<const Change> changes, system::Host& host) const override {
    return detail::bring_transport_back(changes, host);
  }

  Verdict judge(const Desired& desired, const Observed* observed, const std::vector<std::string>& differing,
                World& world) const override {
    if (desired.ignore || observed == nullptr || world.offline()) return {};
    if (observed->settings.empty())
      return {Verdict::Sort::kPending, "only root may read the profile, so it is not compared", {}, {}};
    if (!observed->settings.contains("active")) {
      return {Verdict::Sort::kPending, "the profile is written, but NetworkManager is not running", {}, {}};
    }
    const auto* link = interface_of(desired.key.id, world);
    std::vector<std::string> waiting;  // for carrier
    for (const auto& field : differing) {
      const bool live = field == "live_mode" || field == "live_mtu";
      if (live || field == "active" || field == "missing") waiting.push_back(field);
    }
    if (link == nullptr) return {};
    if (waiting.empty()) {
      const auto facts = model::from_attributes<NmProfile>(observed->facts);
      return verdict_of({facts.duplicate, facts.tentative}, link->carrier);
    }
    if (!link->carrier) {
      return {
          Verdict::Sort::kLimited,
          words_for_no_carrier(*link, world) + "; NetworkManager activates the profile when there is carrier",
          std::move(waiting),
          {}};
    }
    return {};
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    return port_object(change.key.id, world);
  }

 private:
  /// The profiles as our keyfiles have them.
  static Result<std::vector<Observed>> observe_keyfiles(World& world) {
    auto& files = world.host().files;
    const auto names = files.list(std::string(kNmFolder));
    if (!names) return base::fail(names.error());
    std::vector<Observed> out;
    for (const auto& name : *names) {
      const auto id = nm_id(name);
      if (!id) continue;
      const auto text = files.read(nm_file(*id));
      Observed observed;
      observed.key = {std::string(kNmProfileKind), *id};
      const auto* link = interface_of(*id, world);
      observed.label = "profile of " + (link == nullptr ? *id : link->name);
      if (!text && text.error().code == base::Code::kDenied) {
        out.push_back(std::move(observed));  // the profile exists; check() reports that its state is unknown
        continue;
      }
      if (!text) return base::fail(text.error());
      if (!*text) continue;
      auto profile = parse_keyfile(**text);
      if (auto edited = nm_lines_edited(*id, **text); !edited.empty()) profile.edited = std::move(edited);
      observed.settings = model::to_attributes(profile);
      observed.ours_by_nature = true;
      out.push_back(std::move(observed));
    }
    return out;
  }

  /// Whether NetworkManager has activated the profile, and which of its settings the interface has.
  static void add_effect(Observed& observed, const system::NmState& state,
                         const std::vector<system::InetAddress>& addresses, const World& world) {
    const auto uuid = nm_uuid(observed.key.id);
    const bool up = std::any_of(state.active.begin(), state.active.end(),
                                [&](const auto& active) { return active.uuid == uuid && active.activated; });
    const auto* link = interface_of(observed.key.id, world);
    const auto profile = model::from_attributes<NmProfile>(observed.settings);
    const auto effect = up && link != nullptr ? detail::effect_of(profile, *link, addresses) : NmProfile{};
    observed.settings["active"] = detail::in_effect(profile, effect);
    observed.settings.merge(model::to_attributes(effect));
    if (!up || link == nullptr) return;
    auto unusable = detail::unusable_of(profile, *link, addresses);
    NmProfile facts;
    facts.duplicate = std::move(unusable.duplicate);
    facts.tentative = std::move(unusable.tentative);
    observed.facts = model::to_attributes(facts);
  }

  /// Profiles that NetworkManager still has loaded although their files are gone.
  static void add_loaded(std::vector<Observed>& out, const system::NmState& state) {
    for (const auto& file : state.files) {
      const auto id = file.starts_with(kNmFolder) ? nm_id(file.substr(kNmFolder.size() + 1)) : std::nullopt;
      const bool known = id && std::any_of(out.begin(), out.end(),
                                           [&](const Observed& resource) { return resource.key.id == *id; });
      if (!id || known) continue;
      out.push_back(
          observed_in_own_file({std::string(kNmProfileKind), *id}, "profile of " + *id, {{"active", false}}));
    }
  }

  /// Whether the file is as the document wants it: another one takes an activation to be in effect.
  static bool is_written(const Desired& desired, const Observed& observed) {
    return std::all_of(desired.settings.begin(), desired.settings.end(), [&](const auto& setting) {
      const auto now = observed.settings.find(setting.first);
      return now == observed.settings.end() ? setting.second == model::Value{}
                                            : now->second == setting.second;
    });
  }

  /// As after a start of NetworkManager: to activate the profile would take down what is coming up.
  static bool is_in_transition(const system::NmState& state, const std::string& id) {
    return std::any_of(state.active.begin(), state.active.end(), [uuid = nm_uuid(id)](const auto& active) {
      return active.uuid == uuid && !active.activated;
    });
  }

  /// Of a profile that is up, and of which only a part is not in effect, that part is wanted by name.
  static void name_what_drifted(Desired& desired, const Observed& observed) {
    const auto now = model::from_attributes<NmProfile>(observed.settings);
    const auto wanted = model::from_attributes<NmProfile>(desired.settings);
    if (wanted.active != true || now.active != false || !now.live_mode) return;
    NmProfile live;
    live.live_mode = wanted.mode ? wanted.mode : now.mode;
    live.live_mtu = wanted.mtu;
    desired.settings.erase("active");
    desired.settings.merge(model::to_attributes(live));
    desired.settings.emplace("missing", model::Value{});
    for (const auto* field : {"live_mode", "live_mtu", "missing"}) desired.origins[field] = desired.where;
  }

  /// Profiles have mode 0600: a caller other than root has nothing to compare.
  static void pass_over_unreadable(std::vector<Desired>& desired, const std::vector<Observed>& observed,
                                   Diagnostics& diagnostics) {
    std::map<model::Key, Desired*> wanted;
    for (auto& resource : desired) {
      if (resource.key.kind == kNmProfileKind) wanted.emplace(resource.key, &resource);
    }
    for (const auto& resource : observed) {
      if (resource.key.kind != kNmProfileKind || !resource.settings.empty()) continue;
      model::Diagnostic d{Severity::kWarning,
                          {},
                          fmt::format("{}: {} may be read by root only, so it is not compared",
                                      resource.label, nm_file(resource.key.id)),
                          "run this as root, or ask the daemon",
                          {}};
      if (const auto at = wanted.find(resource.key); at != wanted.end()) {
        d.where = at->second->where;
        at->second->settings.clear();
      }
      diagnostics.push_back(std::move(d));
    }
  }
};

}  // namespace

const Kind& nm_profile() {
  static const NmProfileKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
