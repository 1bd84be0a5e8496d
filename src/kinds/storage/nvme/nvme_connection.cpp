// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nvme/nvme_connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/storage/discovery_conf.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/storage/nvme/nvme_connect.hpp"
#include "kinds/storage/nvme/nvme_connection_parse.hpp"
#include "kinds/storage/nvme/nvme_found.hpp"
#include "kinds/storage/sessions.hpp"
#include "kinds/storage/surroundings.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kConnectionKind = "nvme_connection";
/// stacd of nvme-stas disconnects what it does not know.
constexpr auto kConnectionCompetitors = std::to_array<std::string_view>({"stacd"});
constexpr std::size_t kMissingNamed = 3;

constexpr std::array kConnectionFiles{
    OwnedFile{.path = kDiscoveryFile,
              .what = "NVMe targets to connect to, for nvme-cli.",
              .extent = OwnedFile::Extent::kBlock,
              .marks = &kOpensmMarks},
    OwnedFile{
        .path = kAutoconnectDropIn,
        .what = "Makes nvme-cli connect at boot, once the interfaces are configured.",
        .rendered =
            [](std::string_view text) { return text.empty() ? std::string() : render_autoconnect_drop_in(); },
        .after_write = OwnedFile::AfterWrite::kReloadUnits},
    OwnedFile{
        .path = kNvmeBootDropIn,
        .what = "Delays the connection of NVMe targets at boot until the interfaces are configured.",
        .rendered =
            [](std::string_view text) { return text.empty() ? std::string() : render_nvme_boot_drop_in(); },
        .after_write = OwnedFile::AfterWrite::kReloadUnits},
    OwnedFile{.path = kNvmeFoundFile,
              .what = "NVMe controllers that others had connected.",
              .extent = OwnedFile::Extent::kRecord}};

Result<bool> waits_at_boot(system::Files& files) {
  const auto service = files.read(std::string(kAutoconnectDropIn));
  if (!service) return base::fail(service.error());
  const auto target = files.read(std::string(kNvmeBootDropIn));
  if (!target) return base::fail(target.error());
  return *service == render_autoconnect_drop_in() && *target == render_nvme_boot_drop_in();
}

/// Controllers of ours at the addresses of lines that no entry has.
Result<LeavingSessions> leaving_connections(const std::vector<Desired>& desired, system::Host& host) {
  const auto conf = read_discovery_conf(host.files);
  if (!conf) return base::fail(conf.error());
  const auto controllers = observe_nvme_controllers(host);
  if (!controllers) return base::fail(controllers.error());
  const auto wanted = ids_of(desired, kConnectionKind);
  LeavingSessions out;
  NvmeOwners owners(host);
  for (const auto& [address, line] : conf->ours) {
    if (wanted.contains(address)) continue;
    auto names = owners.ours_at(address, *conf, *controllers);
    if (!names) return base::fail(names.error());
    if (!names->empty()) out.by_id.emplace(address, std::move(*names));
  }
  return with_use(std::move(out), nvme_disk_uses(host));
}

/// One look for the report and its verdicts.
const Result<NvmeControllers>& nvme_controllers_in(const World& world) {
  return world.once("nvme controllers", [&] { return observe_nvme_controllers(world.host()); });
}

/// Subsystems and ports of the entry without a connection.
std::vector<std::string> missing_of_entry(const Desired& desired, const NvmeControllers& controllers) {
  const auto entry = model::from_attributes<NvmeConnection>(desired.policy);
  return missing_connections(entry.subsystems.value_or(std::vector<std::string>{}),
                             entry.port ? entry.port->numbers : std::vector<std::int64_t>{}, desired.key.id,
                             controllers);
}

class NvmeConnectionKind final : public Kind, public NeedsWatching, public MayBeMeant {
 public:
  NvmeConnectionKind()
      : Kind({.name = kConnectionKind,
              .fields = model::specs<NvmeConnection>(),
              .traits = {.works_offline = true},
              .files = kConnectionFiles,
              .competitors = kConnectionCompetitors}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kConnectionKind)) {
      const auto* address = section->find("address");
      if (address == nullptr) continue;  // reported already, by the grammar
      const auto id = model::text_of(address->value);
      auto desired = desired_of(*section, fields(), {std::string(kConnectionKind), id}, "NVMe target " + id);
      set_derived(desired, "line", nvme_line_of(*section, id, diagnostics), section->where);
      for (const auto* field : {"at_boot", "connected"}) set_derived(desired, field, true, section->where);
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    auto& host = world.host();
    const auto conf = read_discovery_conf(host.files);
    if (!conf) return base::fail(conf.error());
    if (conf->damage || conf->ours.empty()) return out;  // check() tells of damage
    const auto at_boot = waits_at_boot(host.files);
    if (!at_boot) return base::fail(at_boot.error());
    NvmeControllers controllers;
    std::optional<system::Unit> unit;
    if (!world.offline()) {
      const auto& seen = nvme_controllers_in(world);
      if (!seen) return base::fail(seen.error());
      controllers = *seen;
      auto asked = observe_unit(kConnectUnit, host);
      if (!asked) return base::fail(asked.error());
      unit = std::move(*asked);
    }
    for (const auto& [address, line] : conf->ours) {
      NvmeConnection now, facts;
      now.line = line;
      if (*at_boot) now.at_boot = true;
      for (auto [at, end] = controllers.equal_range(address); at != end; ++at) {
        now.connected = true;
        if (!facts.controllers) facts.controllers.emplace();
        facts.controllers->push_back(
            fmt::format("{} {} {}", at->second.name, at->second.subsystem, at->second.state));
      }
      if (unit && !unit->job.empty()) {
        now.connected = true;  // as far as anybody can make it
        facts.job = unit->job;
      }
      out.push_back(observed_in_own_file({std::string(kConnectionKind), address}, "NVMe target " + address,
                                         model::to_attributes(now), model::to_attributes(facts)));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    auto& host = world.host();
    const auto conf = read_discovery_conf(host.files);
    if (!conf) return;  // observe() has failed for it
    const auto ours = our_lines(conf->ours);
    report_damage(conf->damage, kDiscoveryFile, kConnectionKind, desired, ours, diagnostics);
    hold_damaged(conf->damage, std::string(kDiscoveryFile), kConnectionKind, ours, desired);
    if (!wants_any(desired, kConnectionKind)) return;
    warn_of_fabrics_file(desired, host.files, diagnostics);
    const auto why_not = world.offline() ? std::string() : why_no_unit(kConnectUnit, "nvme-cli", host);
    for (auto& resource : desired) {
      if (resource.key.kind != kConnectionKind || resource.settings.empty()) continue;
      if (const auto at = conf->others_lead.find(resource.key.id); at != conf->others_lead.end()) {
        diagnostics.push_back(
            {Severity::kWarning,
             resource.where,
             fmt::format("{}:{}: leads to {}, too", kDiscoveryFile, at->second, resource.key.id),
             "remove one of them; connections stay as long as the other exists",
             {}});
      }
      if (world.offline()) resource.settings.erase("connected");
      if (!why_not.empty()) postpone(resource, why_not);
    }
    if (!world.offline()) postpone_ports_in_use(desired, observed, *conf, world);
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (changes.empty() || world.offline()) return {};
    auto& host = world.host();
    const auto conf = read_discovery_conf(host.files);
    const auto controllers = observe_nvme_controllers(host);
    if (!conf || !controllers) return base::fail(conf ? controllers.error() : conf.error());
    NvmeOwners owners(host);
    for (auto* change : changes) {
      if (change->operation == model::Operation::kCreate) continue;
      const bool goes = change->operation == model::Operation::kDelete;
      const auto ports = goes ? std::set<std::string>{}
                              : ports_between(change->key, change->before, change->after, *controllers);
      if (!goes && ports.empty()) continue;
      const auto names = goes ? owners.ours_at(change->key.id, *conf, *controllers)
                              : owners.ours_at_ports(change->key.id, ports, *conf, *controllers);
      if (!names) return base::fail(names.error());
      if (names->empty()) continue;
      const auto which = base::join(*names, ", ");
      change->interrupts.push_back(
          goes ? fmt::format("{} is disconnected ({}); its disks disappear", change->label, which)
               : fmt::format("{} is disconnected at port {} ({}); disks without another path disappear",
                             change->label, listed(ports), which));
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    return apply_nvme_connections(changes, host);
  }

  /// A run that ended between the drop-in and systemd's reading it leaves that to be done.
  Result<void> recover(std::span<const Change> /*changes*/, system::Host& host) const override {
    return host.offline ? Result<void>{} : reload_nvme_units(host);
  }

  Verdict judge(const Desired& desired, const Observed* observed,
                const std::vector<std::string>& /*differing*/, World& world) const override {
    if (observed == nullptr || world.offline()) return {};
    const auto wanted = model::from_attributes<NvmeConnection>(desired.settings);
    if (wanted.connected != true) return {};
    const auto facts = model::from_attributes<NvmeConnection>(observed->facts);
    SessionWords words{
        .field = "connected",
        .live = "live",
        .unit = kConnectUnit,
        .retry = "the kernel is trying to reconnect",
        .missing = fmt::format("nothing is connected there; `nvme discover -t rdma -a {}` queries the target",
                               desired.key.id)};
    auto verdict = judge_sessions(facts.controllers.value_or(std::vector<std::string>{}), facts.job, words);
    const auto& controllers = nvme_controllers_in(world);
    if (verdict.sort != Verdict::Sort::kNone || !controllers) return verdict;
    // nvme-cli ends well although a connection was refused.
    const auto missing = missing_of_entry(desired, *controllers);
    if (missing.empty()) return verdict;
    const auto named = model::from_attributes<NvmeConnection>(desired.policy).subsystems;
    const bool names_none = !named || named->empty();
    words.missing = fmt::format(
        "no connection to {}; `nvme discover -t rdma -a {}` queries the target, `systemctl start {}` "
        "retries{}",
        base::join_first(kMissingNamed, missing, ", "), desired.key.id, kConnectUnit,
        names_none
            ? "; for a port that only has a discovery service, list the required subsystems in subsystems"
            : "");
    return judge_sessions({}, facts.job, words);
  }

  void watched(const model::ResourceReport& /*resource*/, system::Settings& out) const override {
    out.units.insert(kConnectUnit);
  }

  /// The kernel would take the disks away under a file system.
  [[nodiscard]] std::string why_held(const model::Key& key, const std::vector<Desired>& desired,
                                     const World& world) const override {
    if (key.kind != kConnectionKind || world.offline()) return {};
    auto& host = world.host();
    const auto& leaving =
        world.once("nvme connections to go", [&] { return leaving_connections(desired, host); });
    return why_sessions_held(leaving, key.id, nvme_disk_uses(host),
                             "it is disconnected once nothing uses it");
  }

 private:
  static void warn_of_fabrics_file(const std::vector<Desired>& desired, system::Files& files,
                                   Diagnostics& diagnostics) {
    const auto text = files.read(std::string(kNvmeFabricsFile));
    if (!text || !*text) return;
    for (const auto& resource : desired) {
      if (resource.key.kind != kConnectionKind || resource.absent || resource.ignore) continue;
      diagnostics.push_back({Severity::kWarning,
                             resource.where,
                             fmt::format("{} exists: nvme-cli 3 reads it in place of {}, and does not see "
                                         "changes of [[nvme_connection]]",
                                         kNvmeFabricsFile, kDiscoveryFile),
                             fmt::format("remove it and {}.converted: nvme-cli makes it again from {}",
                                         kDiscoveryFile, kDiscoveryFile),
                             {}});
      return;
    }
  }

  static std::set<std::string> ports_between(const model::Key& key, const model::Attributes& before,
                                             const model::Attributes& after,
                                             const NvmeControllers& controllers) {
    const auto now = model::from_attributes<NvmeConnection>(before);
    const auto then = model::from_attributes<NvmeConnection>(after);
    return now.line && then.line ? ports_left(*now.line, *then.line, key.id, controllers)
                                 : std::set<std::string>{};
  }

  static std::string listed(const std::set<std::string>& ports) {
    return base::join(std::vector<std::string>(ports.begin(), ports.end()), ", ");
  }

  /// An entry that leaves a port waits while a disk would go with it.
  static void postpone_ports_in_use(std::vector<Desired>& desired, const std::vector<Observed>& observed,
                                    const DiscoveryConf& conf, World& world) {
    NvmeOwners owners(world.host());
    for (auto& resource : desired) {
      if (resource.key.kind != kConnectionKind || resource.pending) continue;
      const auto now = std::find_if(observed.begin(), observed.end(),
                                    [&](const Observed& seen) { return seen.key == resource.key; });
      if (now == observed.end()) continue;
      const auto& controllers = nvme_controllers_in(world);
      if (!controllers) continue;
      const auto ports = ports_between(resource.key, now->settings, resource.settings, *controllers);
      if (ports.empty()) continue;
      const auto names = owners.ours_at_ports(resource.key.id, ports, conf, *controllers);
      if (!names) continue;
      const auto why = why_disks_stay(*names, {}, nvme_disk_uses(world.host()));
      if (!why || why->empty()) continue;
      postpone(resource, fmt::format("{}; port {} is left once nothing uses it", *why, listed(ports)));
    }
  }
};

}  // namespace

model::SectionSpec nvme_connection_section() {
  model::SectionSpec section{
      .name = kConnectionKind,
      .doc =
          "An NVMe target over RDMA: nvme-cli connects this host to every subsystem that it offers, at once "
          "and at boot.",
      .identities = {{"address"}}};
  add_written(section.fields, model::specs<NvmeConnection>());
  return section;
}

const Kind& nvme_connection() {
  static const NvmeConnectionKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
