// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nvme/nvme_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "kinds/entry.hpp"
#include "kinds/storage/nvme/nvme_target_parse.hpp"
#include "kinds/storage/target_entry.hpp"
#include "kinds/storage/target_restorers.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using system::NvmeNamespace;
using system::NvmePort;
using system::NvmeSubsystem;
using system::NvmeTargetState;

namespace {

constexpr std::string_view kNvmeTargetKind = "nvme_target";
constexpr auto kNvmeTargetCompetitors = std::to_array<std::string_view>({"nvmetcli"});
constexpr int kLastPort = 0xffff;
constexpr std::string_view kRdmaTransport = "rdma";

using Texts = std::vector<std::string>;

std::string listener_of(const NvmePort& port) {
  const auto address = model::IpAddress::parse(port.address);  // others may spell it in another way
  return (address ? address->text() : port.address) + " " + port.service;
}

constexpr std::string_view kDisabled = " (disabled)";

/// "1 /dev/x (disabled)" → 1, "/dev/x", and that it is not enabled.
NvmeNamespace namespace_of(const std::string& nqn, const std::string& text) {
  const auto space = text.find(' ');
  NvmeNamespace out;
  out.nsid = base::parse_as<int>(text.substr(0, space)).value_or(0);  // of no namespace
  if (space != std::string::npos) out.device = text.substr(space + 1);
  out.enabled = !out.device.ends_with(kDisabled);
  if (!out.enabled) out.device.erase(out.device.size() - kDisabled.size());
  out.uuid = nvme_namespace_uuid(nqn, out.nsid);
  return out;
}

std::string device_of_namespace(const std::string& text) { return namespace_of({}, text).device; }

std::string text_of_namespace(const NvmeNamespace& space) {
  return fmt::format("{} {}{}", space.nsid, space.device, space.enabled ? "" : kDisabled);
}

const NvmeSubsystem* find_subsystem(const NvmeTargetState& state, const std::string& nqn) {
  const auto at = std::find_if(state.subsystems.begin(), state.subsystems.end(),
                               [&](const auto& subsystem) { return subsystem.nqn == nqn; });
  return at == state.subsystems.end() ? nullptr : &*at;
}

/// By NQN: where each subsystem is offered over RDMA, sorted.
std::map<std::string, Texts> listeners_of(const NvmeTargetState& state) {
  std::map<std::string, Texts> out;
  for (const auto& port : state.ports) {
    if (port.transport != kRdmaTransport) continue;
    for (const auto& nqn : port.subsystems) out[nqn].push_back(listener_of(port));
  }
  for (auto& listed : out) std::sort(listed.second.begin(), listed.second.end());
  return out;
}

NvmeTargetSubsystem settings_of(const NvmeSubsystem& subsystem, Texts listeners) {
  NvmeTargetSubsystem out;
  out.any_host = subsystem.any_host;
  if (!subsystem.hosts.empty()) out.hosts = subsystem.hosts;
  Texts namespaces;
  for (const auto& space : subsystem.namespaces) namespaces.push_back(text_of_namespace(space));
  if (!listeners.empty()) out.listeners = std::move(listeners);
  if (!namespaces.empty()) out.namespaces = std::move(namespaces);
  return out;
}

/// Whether a host that is named now is not any more.
bool excludes(const std::optional<Texts>& wanted, const std::optional<Texts>& now) {
  return !missing_from(wanted, now).empty();
}

/// In Change::carried: a namespace that was there, with its UUID, for undoing.
std::string carried_namespace(const NvmeNamespace& space) {
  return fmt::format("{} {}", space.uuid, text_of_namespace(space));
}

std::pair<std::string, std::string> uuid_and_text(const std::string& carried) {
  const auto blank = std::min(carried.find(' '), carried.size());
  return {carried.substr(0, blank), carried.substr(std::min(blank + 1, carried.size()))};
}

/// Brings one subsystem to the settings of a change, whatever it is like. The ports in `state`, which other
/// subsystems may share, are kept up to date.
class SubsystemWriter {
 public:
  SubsystemWriter(system::NvmeTarget& target, const Change& change)
      : target_(target), nqn_(change.key.id), carried_(change.carried) {}

  Result<void> remove(NvmeTargetState& state) {
    const auto* now = find_subsystem(state, nqn_);
    if (now == nullptr) return {};
    // Undoing could not offer it there again.
    for (const auto& port : state.ports) {
      if (port.transport != kRdmaTransport && lists(port.subsystems, nqn_))
        return base::fail(base::Code::kBusy,
                          fmt::format("{}: port {} ({}) offers it, too; withdraw it there first", nqn_,
                                      port.id, port.transport));
    }
    if (auto done = offer_at({}, state); !done) return done;
    if (auto done = name_hosts({}, *now); !done) return done;
    if (auto done = hold_namespaces({}, *now); !done) return done;
    return target_.remove_subsystem(nqn_);
  }

  /// Namespaces and hosts before it is offered, so that nobody sees it half done.
  Result<void> make(const NvmeTargetSubsystem& wanted, NvmeTargetState& state) {
    const auto* there = find_subsystem(state, nqn_);
    if (there == nullptr) {
      if (auto done = target_.make_subsystem(nqn_); !done) return done;
    }
    const auto now = there == nullptr ? NvmeSubsystem{nqn_, false, {}, {}} : *there;
    if (auto done = admit(wanted, now); !done) return done;
    if (auto done = hold_namespaces(wanted.namespaces.value_or(Texts{}), now); !done) return done;
    return offer_at(wanted.listeners.value_or(Texts{}), state);
  }

 private:
  /// The kernel refuses names while any host may connect, and the other way round.
  Result<void> admit(const NvmeTargetSubsystem& wanted, const NvmeSubsystem& now) {
    const bool any = wanted.any_host.value_or(false);
    excludes_ = !any && (now.any_host || excludes(wanted.hosts, now.hosts));
    if (!any && now.any_host) {
      if (auto done = target_.set_any_host(nqn_, false); !done) return done;
    }
    if (auto done = name_hosts(any ? Texts{} : wanted.hosts.value_or(Texts{}), now); !done) return done;
    return any && !now.any_host ? target_.set_any_host(nqn_, true) : Result<void>{};
  }

  Result<void> name_hosts(const Texts& wanted, const NvmeSubsystem& now) {
    for (const auto& host : now.hosts) {
      if (lists(wanted, host)) continue;
      if (auto done = target_.disallow_host(nqn_, host); !done) return done;
    }
    for (const auto& host : wanted) {
      if (lists(now.hosts, host)) continue;
      if (auto done = target_.allow_host(nqn_, host); !done) return done;
    }
    return {};
  }

  Result<void> hold_namespaces(const Texts& wanted, const NvmeSubsystem& now) {
    std::set<int> kept;
    for (const auto& space : now.namespaces) {
      if (lists(wanted, text_of_namespace(space))) {
        kept.insert(space.nsid);
      } else if (auto done = target_.remove_namespace(nqn_, space.nsid); !done) {
        return done;
      }
    }
    for (const auto& text : wanted) {
      auto space = namespace_of(nqn_, text);
      if (kept.contains(space.nsid)) continue;
      for (const auto& then : carried_) {
        const auto [uuid, is] = uuid_and_text(then);
        if (is == text) space.uuid = uuid;
      }
      if (auto done = target_.make_namespace(nqn_, space); !done) return done;
    }
    return {};
  }

  Result<void> offer_at(const Texts& wanted, NvmeTargetState& state) {
    std::set<int> gone;
    for (auto& port : state.ports) {
      if (port.transport != kRdmaTransport) continue;
      const bool offered = lists(port.subsystems, nqn_), wants = lists(wanted, listener_of(port));
      if (offered && (!wants || excludes_)) {
        if (auto done = target_.withdraw(port.id, nqn_); !done) return done;
        std::erase(port.subsystems, nqn_);
      }
      if (!wants && port.id >= kOurNvmePorts && port.subsystems.empty()) {
        if (auto done = target_.remove_port(port.id); !done) return done;
        gone.insert(port.id);
      }
    }
    std::erase_if(state.ports, [&](const auto& port) { return gone.contains(port.id); });
    for (const auto& listener : wanted) {
      auto at = std::find_if(state.ports.begin(), state.ports.end(), [&](const auto& port) {
        return port.transport == kRdmaTransport && listener_of(port) == listener;
      });
      if (at == state.ports.end()) {
        auto made = make_port(listener, state.ports);
        if (!made) return base::fail(made.error());
        at = state.ports.insert(state.ports.end(), std::move(*made));
      }
      if (lists(at->subsystems, nqn_)) continue;
      if (auto done = target_.offer(at->id, nqn_); !done) return done;
      at->subsystems.push_back(nqn_);
    }
    return {};
  }

  Result<NvmePort> make_port(const std::string& listener, const std::vector<NvmePort>& there) {
    std::set<int> taken;
    for (const auto& port : there) taken.insert(port.id);
    int id = kOurNvmePorts;
    while (id <= kLastPort && taken.contains(id)) ++id;
    if (id > kLastPort) return base::fail(base::Code::kUnsupported, "nvmet has no free port number");
    const auto space = listener.find(' ');
    NvmePort port{.id = id,
                  .transport = std::string(kRdmaTransport),
                  .family = listener.find(':') == std::string::npos ? "ipv4" : "ipv6",
                  .address = listener.substr(0, space),
                  .service = listener.substr(space + 1),
                  .subsystems = {}};
    if (auto done = target_.make_port(port); !done) return base::fail(done.error());
    return port;
  }

  system::NvmeTarget& target_;
  std::string nqn_;
  const Texts& carried_;
  /// Hosts that may not connect any more stay connected until the subsystem is withdrawn
  /// (nvmet_port_del_ctrls() of drivers/nvme/target/core.c).
  bool excludes_ = false;
};

/// One look for all that a run asks before its first change.
const Result<std::optional<NvmeTargetState>>& nvmet_state_in(const World& world) {
  return world.once("nvmet", [&] { return world.host().nvme_target.observe(); });
}

class NvmeTargetKind final : public Kind {
 public:
  NvmeTargetKind()
      : Kind({.name = kNvmeTargetKind,
              .fields = model::specs<NvmeTargetSubsystem>(),
              .traits = {.listed_when_foreign = false},
              .lost_after_withdraw = "NVMe targets (nvmetcli save, and nvmet.service)",
              .competitors = kNvmeTargetCompetitors}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    parse_targets(bound, *this, "nqn", complete_nvme_target, out, diagnostics);
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    if (world.offline()) return out;
    const auto& state = nvmet_state_in(world);
    if (!state) return base::fail(state.error());
    if (!*state) return out;
    auto listeners = listeners_of(**state);
    for (const auto& subsystem : (*state)->subsystems) {
      const auto settings = settings_of(subsystem, std::move(listeners[subsystem.nqn]));
      out.push_back(observed_target(*this, subsystem.nqn, model::to_attributes(settings), world));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    check_targets(
        desired, observed, *this,
        {.portals = "listeners", .disks = "namespaces", .child = "namespace", .path = device_of_namespace},
        world, diagnostics);
    warn_of_restorers(kNvmeTargetKind, desired, world, diagnostics);
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (changes.empty() || world.offline()) return {};
    const auto& state = nvmet_state_in(world);
    if (!state) return base::fail(state.error());
    for (auto* change : changes) {
      if (const auto* subsystem = *state ? find_subsystem(**state, change->key.id) : nullptr) {
        for (const auto& space : subsystem->namespaces) change->carried.push_back(carried_namespace(space));
      }
      const auto now = model::from_attributes<NvmeTargetSubsystem>(change->before);
      const auto then = change->operation == model::Operation::kDelete ? NvmeTargetSubsystem{}
                                                                       : complete_subsystem(*change);
      for (const auto& text : missing_from(then.namespaces, now.namespaces))
        change->interrupts.push_back(fmt::format("hosts lose namespace {} of {}", text, change->label));
      for (const auto& text : missing_from(then.listeners, now.listeners))
        change->interrupts.push_back(
            fmt::format("hosts that are connected to {} by {} lose it", change->label, text));
      const bool fewer = excludes(then.hosts, now.hosts);
      if (change->operation != model::Operation::kDelete && then.any_host != true &&
          (now.any_host == true || fewer))
        change->interrupts.push_back(
            fmt::format("all hosts lose {} for a moment; hosts that are no longer listed do not get it back",
                        change->label));
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    // One look for all of them; Reach keeps the ports up to date, and else each change is about its own.
    auto state = host.nvme_target.observe();
    if (!state) return base::fail(state.error());
    for (const auto& change : changes) {
      const bool goes = change.after.empty();
      if (!*state && goes) continue;
      if (!*state) {
        if (auto done = host.nvme_target.start(); !done) return done;
        state = host.nvme_target.observe();
        if (!state) return base::fail(state.error());
        if (!*state)
          return base::fail(base::Code::kUnsupported, "nvmet is loaded, but has no folder in configfs");
      }
      SubsystemWriter writer(host.nvme_target, change);
      auto done = goes ? writer.remove(**state) : writer.make(complete_subsystem(change), **state);
      if (!done) return done;
    }
    return {};
  }

 private:
  static NvmeTargetSubsystem complete_subsystem(const Change& change) {
    return model::from_attributes<NvmeTargetSubsystem>(complete_settings(change));
  }
};

}  // namespace

std::string nvme_namespace_uuid(std::string_view nqn, std::int64_t nsid) {
  return base::uuid_of(fmt::format("{} {}", nqn, nsid));
}

model::SectionSpec nvme_target_section() {
  model::SectionSpec space{
      .name = "namespace", .doc = "A block device of the subsystem.", .identities = {{"nsid"}}};
  add_written(space.fields, model::specs<NvmeTargetNamespace>());
  model::SectionSpec section{
      .name = kNvmeTargetKind,
      .doc =
          "A subsystem of the kernel's NVMe target (nvmet): block devices that this host exports over RDMA. "
          "The entry is complete: anything else in the subsystem is removed.",
      .identities = {{"nqn"}}};
  add_written(section.fields, model::specs<NvmeTargetSubsystem>());
  section.children = {std::move(space)};
  return section;
}

const Kind& nvme_target() {
  static const NvmeTargetKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
