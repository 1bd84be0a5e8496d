// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nvme/nvme_connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "formats/discovery_conf.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/package_table.hpp"
#include "kinds/storage/nvme/nvme_connection_parse.hpp"
#include "kinds/storage/nvme/nvme_found.hpp"
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
const std::string kConnectUnit(kAutoconnectUnit);

constexpr std::array kConnectionFiles{
    OwnedFile{.path = kDiscoveryFile,
              .what = "NVMe targets to connect to, for nvme-cli.",
              .extent = OwnedFile::Extent::kBlock,
              .marks = &kOpensmMarks},
    OwnedFile{
        .path = kAutoconnectDropIn,
        .what = "Has nvme-cli connect at boot once the interfaces are configured.",
        .rendered =
            [](std::string_view text) { return text.empty() ? std::string() : render_autoconnect_drop_in(); },
        .after_write = OwnedFile::AfterWrite::kReloadUnits},
    OwnedFile{
        .path = kNvmeBootDropIn,
        .what = "Has the interfaces waited for at boot, before NVMe targets are connected.",
        .rendered =
            [](std::string_view text) { return text.empty() ? std::string() : render_nvme_boot_drop_in(); },
        .after_write = OwnedFile::AfterWrite::kReloadUnits},
    OwnedFile{.path = kNvmeFoundFile,
              .what = "NVMe controllers that others had connected.",
              .extent = OwnedFile::Extent::kRecord}};

Result<DiscoveryConf> read_discovery_conf(system::Files& files) {
  auto file = read_marked(files, std::string(kDiscoveryFile));
  if (!file) return base::fail(file.error());
  auto out = parse_discovery_conf(file->text.value_or(""));
  if (file->damage) out.damage = std::move(file->damage);
  return out;
}

Result<bool> waits_at_boot(system::Files& files) {
  const auto service = files.read(std::string(kAutoconnectDropIn));
  if (!service) return base::fail(service.error());
  const auto target = files.read(std::string(kNvmeBootDropIn));
  if (!target) return base::fail(target.error());
  return *service == render_autoconnect_drop_in() && *target == render_nvme_boot_drop_in();
}

/// Users of the disks of controllers, by the controllers' names.
DiskUses nvme_disk_uses(system::Host& host) {
  return [&host](const auto& names) { return host.nvme_host.uses(names); };
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

class NvmeConnectionKind final : public Kind, public NeedsWatching, public MayBeMeant {
 public:
  NvmeConnectionKind()
      : Kind({.name = kConnectionKind,
              .fields = model::specs<NvmeConnection>(),
              .traits = {.works_offline = true},
              .files = kConnectionFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kConnectionKind)) {
      const auto* address = section->find("address");
      if (address == nullptr) continue;  // reported already, by the grammar
      const auto id = model::text_of(address->value);
      auto desired = desired_of(*section, fields(), {std::string(kConnectionKind), id}, "NVMe target " + id);
      desired.settings["line"] = nvme_line_of(*section, id, diagnostics);
      desired.settings["at_boot"] = true;
      desired.settings["connected"] = true;
      for (const auto* field : {"line", "at_boot", "connected"}) desired.origins[field] = section->where;
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
      auto seen = observe_nvme_controllers(host);
      if (!seen) return base::fail(seen.error());
      controllers = std::move(*seen);
      auto asked = observe_unit(kConnectUnit, host);
      if (!asked) return base::fail(asked.error());
      unit = std::move(*asked);
    }
    for (const auto& [address, line] : conf->ours) {
      Observed observed;
      observed.key = {std::string(kConnectionKind), address};
      observed.label = "NVMe target " + address;
      observed.ours_by_nature = true;
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
      observed.settings = model::to_attributes(now);
      observed.facts = model::to_attributes(facts);
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    auto& host = world.host();
    const auto conf = read_discovery_conf(host.files);
    if (!conf) return;  // observe() has failed for it
    const bool ours = !conf->ours.empty();
    report_damage(conf->damage, kDiscoveryFile, kConnectionKind, desired, ours, diagnostics);
    hold_damaged(conf->damage, std::string(kDiscoveryFile), kConnectionKind, ours, desired);
    const bool any = std::any_of(desired.begin(), desired.end(), [](const Desired& resource) {
      return resource.key.kind == kConnectionKind && !resource.settings.empty();
    });
    if (!any) return;
    const auto why_not = world.offline() ? std::string() : why_nothing_connects(host);
    for (auto& resource : desired) {
      if (resource.key.kind != kConnectionKind || resource.settings.empty()) continue;
      if (const auto at = conf->others_lead.find(resource.key.id); at != conf->others_lead.end()) {
        diagnostics.push_back(
            {Severity::kWarning,
             resource.where,
             fmt::format("{}:{}: leads to {}, too", kDiscoveryFile, at->second, resource.key.id),
             "leave one of them out; connections stay as long as the other is there",
             {}});
      }
      if (world.offline()) resource.settings.erase("connected");
      if (why_not.empty()) continue;
      resource.pending = why_not;
      resource.settings.clear();
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (changes.empty() || world.offline()) return {};
    auto& host = world.host();
    const auto conf = read_discovery_conf(host.files);
    const auto controllers = observe_nvme_controllers(host);
    if (!conf || !controllers) return base::fail(conf ? controllers.error() : conf.error());
    NvmeOwners owners(host);
    for (auto* change : changes) {
      if (change->operation != model::Operation::kDelete) continue;
      const auto names = owners.ours_at(change->key.id, *conf, *controllers);
      if (!names) return base::fail(names.error());
      if (!names->empty())
        change->interrupts.push_back(
            fmt::format("{} is disconnected ({}); its disks go", change->label, base::join(*names, ", ")));
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto conf = read_discovery_conf(host.files);
    if (!conf) return base::fail(conf.error());
    if (host.offline) return write_lines(changes, *conf, host);
    const auto before = conf->ours;
    const auto controllers = observe_nvme_controllers(host);
    if (!controllers) return base::fail(controllers.error());
    if (auto done = note_found(changes, *conf, *controllers, host); !done) return done;
    if (auto done = disconnect(changes, *conf, *controllers, host); !done) return done;
    if (auto done = write_lines(changes, *conf, host); !done) return done;
    if (auto done = reload(host); !done) return done;
    if (auto done = connect(changes, before, host); !done) return done;
    return forget_found(changes, host);
  }

  /// A run that ended between the drop-in and systemd's reading it leaves that to be done.
  Result<void> recover(std::span<const Change> /*changes*/, system::Host& host) const override {
    return host.offline ? Result<void>{} : reload(host);
  }

  Verdict judge(const Desired& desired, const Observed* observed,
                const std::vector<std::string>& /*differing*/, World& world) const override {
    Verdict verdict;
    if (observed == nullptr || world.offline()) return verdict;
    const auto wanted = model::from_attributes<NvmeConnection>(desired.settings);
    if (wanted.connected != true) return verdict;
    const auto facts = model::from_attributes<NvmeConnection>(observed->facts);
    const auto controllers = facts.controllers.value_or(std::vector<std::string>{});
    const auto is_live = [](const std::string& one) { return one.ends_with(" live"); };
    if (std::any_of(controllers.begin(), controllers.end(), is_live)) return verdict;
    verdict.sort = Verdict::Sort::kPending;
    verdict.fields = {"connected"};
    if (facts.job) {
      verdict.reason = fmt::format("systemd has the {} job of {} in its queue, behind other jobs", *facts.job,
                                   kConnectUnit);
    } else if (!controllers.empty()) {
      verdict.reason = controllers.front() + ": the kernel tries to reach it again";
    } else {
      verdict.reason = fmt::format(
          "nothing is connected there; `nvme discover -t rdma -a {}` asks the target", desired.key.id);
    }
    return verdict;
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
  static std::string why_nothing_connects(system::Host& host) {
    const auto unit = observe_unit(kConnectUnit, host);
    if (!unit || !*unit) return "no systemd answers here";
    if ((*unit)->there()) return {};
    return fmt::format("there is no {}{}", kConnectUnit, how_to_get(*find_package("nvme-cli"), host.files));
  }

  /// NvmeControllers that are there before our first line for their address are not ours.
  static Result<void> note_found(std::span<const Change> changes, const DiscoveryConf& conf,
                                 const NvmeControllers& controllers, system::Host& host) {
    std::set<std::string> there;
    for (const auto& change : changes) {
      if (change.operation != model::Operation::kCreate || conf.ours.contains(change.key.id)) continue;
      for (auto [at, end] = controllers.equal_range(change.key.id); at != end; ++at)
        there.insert(found_text(at->second, change.key.id));
    }
    if (there.empty()) return {};
    auto found = read_nvme_found(host);
    if (!found) return base::fail(found.error());
    const auto known = found->size();
    found->merge(there);
    return found->size() == known ? Result<void>{} : write_nvme_found(*found, host);
  }

  /// Of what goes, and of connections that are undone. None is disconnected before all of them may be: each
  /// may be the last path to a disk once the others are gone.
  static Result<void> disconnect(std::span<const Change> changes, DiscoveryConf& conf,
                                 const NvmeControllers& controllers, system::Host& host) {
    LeavingSessions leaving;
    std::string label;
    NvmeOwners owners(host);
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<NvmeConnection>(change.after);
      const bool undone =
          std::find(change.fields.begin(), change.fields.end(), "connected") != change.fields.end();
      if (change.operation == model::Operation::kCreate ||
          (wanted.line && (wanted.connected == true || !undone)))
        continue;
      auto names = owners.ours_at(change.key.id, conf, controllers);
      if (!names) return base::fail(names.error());
      if (names->empty()) continue;
      label = leaving.by_id.empty() ? change.label : "NVMe targets";
      leaving.by_id.emplace(change.key.id, std::move(*names));
    }
    if (leaving.by_id.empty()) return {};
    const auto names = leaving.all();
    const auto why = why_disks_stay(names, {}, nvme_disk_uses(host));
    if (!why) return base::fail(why.error());
    if (!why->empty()) return base::fail(base::Code::kBusy, fmt::format("{}: {}", label, *why));
    if (auto done = mark_going(leaving, conf, host); !done) return done;
    for (const auto& name : names) {
      if (auto done = host.nvme_host.disconnect(name); !done) return done;
    }
    const auto now = observe_nvme_controllers(host);
    if (!now) return base::fail(now.error());
    for (const auto& [address, controller] : *now) {
      const auto at = leaving.by_id.find(address);
      if (at == leaving.by_id.end()) continue;
      if (std::find(at->second.begin(), at->second.end(), controller.name) != at->second.end())
        return base::fail(base::Code::kIo,
                          fmt::format("NVMe target {}: {} is still connected", address, controller.name));
    }
    return {};
  }

  static Result<void> mark_going(const LeavingSessions& leaving, DiscoveryConf& conf, system::Host& host) {
    bool marked = false;
    for (const auto& [address, names] : leaving.by_id) {
      const auto at = conf.ours.find(address);
      if (at == conf.ours.end() || at->second.starts_with(kGoingMark)) continue;
      at->second.insert(0, kGoingMark);
      marked = true;
    }
    if (!marked) return {};
    if (conf.damage) return base::fail(error_of(*conf.damage, kDiscoveryFile));
    return host.files.write(std::string(kDiscoveryFile), render_discovery_conf(conf));
  }

  /// A run that ends in between finds a line of ours, and goes on with that.
  static Result<void> write_lines(std::span<const Change> changes, DiscoveryConf& conf, system::Host& host) {
    const auto before = render_discovery_conf(conf);
    bool at_boot = false;
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<NvmeConnection>(change.after);
      if (wanted.line) {
        conf.ours.insert_or_assign(change.key.id, *wanted.line);
      } else {
        conf.ours.erase(change.key.id);
      }
      at_boot = at_boot || wanted.at_boot == true;
    }
    const auto content = render_discovery_conf(conf);
    const auto write_conf = [&]() -> Result<void> {
      if (content == before) return {};
      if (conf.damage) return base::fail(error_of(*conf.damage, kDiscoveryFile));
      const std::string path(kDiscoveryFile);
      if (content.empty()) return host.files.remove(path);
      if (auto done = host.files.write(path, content); !done) return done;
      // Without its line nobody would know whose the drop-ins are.
      const auto written = host.files.read(path);
      if (!written) return base::fail(written.error());
      if (*written == content) return {};
      return base::fail(base::Code::kIo, path + ": it was written, and has another content");
    };
    const std::string drop_in(kAutoconnectDropIn), boot(kNvmeBootDropIn);
    if (conf.ours.empty()) {
      if (auto done = host.files.remove(drop_in); !done) return done;
      if (auto done = host.files.remove(boot); !done) return done;
      return write_conf();
    }
    if (auto done = write_conf(); !done || !at_boot) return done;
    if (auto done = host.files.write(drop_in, render_autoconnect_drop_in()); !done) return done;
    return host.files.write(boot, render_nvme_boot_drop_in());
  }

  static Result<void> reload(system::Host& host) {
    const std::vector<std::string> names{kConnectUnit, "remote-fs.target"};
    return reload_changed_units(names, host);
  }

  static std::vector<std::string> without_connection(std::span<const Change> changes,
                                                     const NvmeControllers& controllers) {
    std::vector<std::string> out;
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<NvmeConnection>(change.after);
      if (wanted.connected == true && !controllers.contains(change.key.id)) out.push_back(change.label);
    }
    return out;
  }

  /// `nvme connect-all` ends well although a target does not answer. For an administrator it is pending, and
  /// judge() says so; a hold fails, and is tried again.
  static Result<void> connect(std::span<const Change> changes,
                              const std::map<std::string, std::string>& before, system::Host& host) {
    auto controllers = observe_nvme_controllers(host);
    if (!controllers) return base::fail(controllers.error());
    const bool fresh = std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
      const auto wanted = model::from_attributes<NvmeConnection>(change.after);
      const auto at = before.find(change.key.id);
      return wanted.connected == true && wanted.line && (at == before.end() || at->second != *wanted.line);
    });
    if (!fresh && without_connection(changes, *controllers).empty()) return {};
    const auto started = host.units.act(system::UnitAction::kStart, kConnectUnit);
    controllers = observe_nvme_controllers(host);
    if (!controllers) return base::fail(controllers.error());
    const auto missing = without_connection(changes, *controllers);
    if (missing.empty()) return {};
    if (!started) return started;
    const auto unit = observe_unit(kConnectUnit, host);
    if (!host.holding || (unit && *unit && !(*unit)->job.empty())) return {};
    return base::fail(base::Code::kTimeout,
                      base::join(missing, ", ") + ": nvme-cli has connected nothing there");
  }

  static Result<void> forget_found(std::span<const Change> changes, system::Host& host) {
    auto found = read_nvme_found(host);
    if (!found) return base::fail(found.error());
    const auto known = found->size();
    std::set<std::string> gone;
    for (const auto& change : changes) {
      if (!model::from_attributes<NvmeConnection>(change.after).line) gone.insert(change.key.id);
    }
    std::erase_if(*found, [&](const auto& one) { return gone.contains(one.substr(0, one.find(' '))); });
    return found->size() == known ? Result<void>{} : write_nvme_found(*found, host);
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
