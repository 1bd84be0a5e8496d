// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "formats/drop_ins.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/opensm/opensm_file.hpp"
#include "kinds/opensm/opensm_launch.hpp"
#include "kinds/opensm/opensm_obstacles.hpp"
#include "kinds/opensm/opensm_option.hpp"
#include "kinds/opensm/opensm_own.hpp"
#include "kinds/opensm/opensm_running.hpp"
#include "kinds/opensm/opensm_units.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Guid;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kOpensmKind = "opensm";
constexpr std::string_view kInstanceKey = "unit";
/// One that others' lines start; the state has it of those that the document found like that.
constexpr std::string_view kInstanceOfOthers = "unit that others start";
constexpr std::int64_t kPriorityMost = 15;
/// In Change::carried: undoing stops one that ends after each start, too, which does not count as running.
constexpr std::string_view kOpensmAtRest = "it was at rest";

constexpr std::array kOpensmFiles{
    OwnedFile{.path = kOpensmDefaultsFile,
              .what = "Ports of OpenSM (Debian).",
              .extent = OwnedFile::Extent::kBlock,
              .marks = &kOpensmMarks,
              .notes = kOpensmNotes},
    OwnedFile{.path = kOpensmSysconfigFile,
              .what = "Ports of OpenSM (RHEL, Fedora, SUSE).",
              .extent = OwnedFile::Extent::kBlock,
              .marks = &kOpensmMarks,
              .notes = kOpensmNotes},
    OwnedFile{.path = "/etc/systemd/system/opensm@*.service.d/50-rdma-configd.conf",
              .what = "Priority of a subnet manager (Debian).",
              .after_write = OwnedFile::AfterWrite::kReloadUnits}};

class OpensmKind final : public Kind, public NeedsWatching {
 public:
  OpensmKind()
      : Kind({.name = kOpensmKind,
              .fields = model::specs<Opensm>(),
              .traits = {.listed_when_foreign = false, .interrupts_services = true},
              .files = kOpensmFiles,
              .role_of_port = "subnet manager"}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kOpensmKind)) {
      const auto* guid = section->find("guid");
      if (guid == nullptr) continue;  // reported already, by the grammar
      const auto id = model::text_of(guid->value);
      auto desired = desired_of(*section, fields(), {std::string(kOpensmKind), id}, "opensm on " + id);
      const auto* priority = section->find("priority");
      const auto number = priority == nullptr ? 0 : std::get<std::int64_t>(priority->value);
      if (const auto why = why_out_of_range(number, 0, kPriorityMost); !why.empty()) {
        diagnostics.push_back({Severity::kError,
                               priority->where,
                               "[[opensm]] priority: " + why,
                               "the highest priority is master",
                               {}});
      }
      for (const auto* field : {"enabled", "running"}) set_derived(desired, field, true, guid->where);
      desired.needs = own_option_keys(*section);
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    if (world.offline()) return out;
    auto& host = world.host();
    std::set<Guid> guids;
    for (const auto& id : world.tracked(kOpensmKind)) {
      if (const auto guid = Guid::parse(id)) guids.insert(*guid);
    }
    if (guids.empty()) return out;
    const auto found = observe_opensm(host, observe_opensm_layout(host.files), guids);
    if (!found) return base::fail(found.error());
    for (const auto& [guid, now] : *found) {
      Observed observed;
      observed.key = {std::string(kOpensmKind), guid.text()};
      observed.label = "opensm on " + guid.text();
      observed.instance = instance(now, world.known_identity(observed.key).instance);
      auto settings = now.settings;
      const auto port = world.port(guid);
      // It runs, and manages nothing: to be started is what it needs.
      if (settings.running == true && port && lost_port(host.files, *port, now.pid)) {
        settings.running = false;
        observed.facts["lost_port"] = true;
      }
      observed.settings = model::to_attributes(settings);
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    if (world.offline()) return;
    auto& files = world.host().files;
    const auto layout = observe_opensm_layout(files);
    const bool rhel = layout == OpensmLayout::kRhel;
    if (rhel) check_priorities(desired, diagnostics);
    check_ports(desired, world, diagnostics);
    if (layout == OpensmLayout::kDebian) warn_overruled(desired, world, diagnostics);
    const auto path = opensm_defaults_path(layout);
    const auto text = files.read(path);
    const auto defaults = parse_opensm_defaults(text ? text->value_or("") : std::string());
    report_damage(defaults.damage, path, kOpensmKind, desired, our_lines(defaults.ports), diagnostics);
    LaunchFiles theirs;
    if (rhel) {
      const auto sysconfig = text ? text->value_or("") : std::string();
      if (auto found = observe_launch_files(files, sysconfig)) theirs = std::move(*found);
      const auto once_empty = observe_launch_files(files, "");
      give_own_confs(desired, sysconfig, once_empty ? *once_empty : theirs, diagnostics);
    }
    std::map<model::Key, Opensm> now;
    for (const auto& resource : observed) {
      if (resource.key.kind != kOpensmKind) continue;
      auto& opensm = now[resource.key] = model::from_attributes<Opensm>(resource.settings);
      // Somebody has started it: nobody is asked again whether it may run.
      if (model::value_of(resource.facts, "lost_port") == model::Value{true}) opensm.running = true;
    }
    std::set<int> ours;  // LIDs of this document's subnet managers
    for (const auto& resource : desired) {
      if (resource.key.kind != kOpensmKind) continue;
      const auto port = port_of(resource.key, world);
      if (port && port->port->lid) ours.insert(*port->port->lid);
    }
    std::map<Guid, std::string> held;  // with files of their own
    for (auto& resource : desired) {
      if (resource.key.kind != kOpensmKind) continue;
      const auto why = why_not_started(resource, now, ours, theirs, world);
      if (why.empty()) continue;
      const auto guid = Guid::parse(resource.key.id);
      if (rhel && guid && !resource.needs.empty()) held.emplace(*guid, why);
      postpone(resource, why);
    }
    if (!held.empty()) hold_own_confs(desired, held);
    if (defaults.damage) hold_dropped(desired, observed, path);
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (auto done = give_back_opensm(changes, world.host()); !done) return done;
    for (auto* change : changes) {
      const auto now = model::from_attributes<Opensm>(change->before);
      const auto wanted = model::from_attributes<Opensm>(change->after);
      const auto guid = Guid::parse(change->key.id);
      if (now.running == false && wanted.running == true && guid && port_is_lost(*guid, world)) {
        change->returned = world.port(*guid)->device->instance;
        change->interrupts.push_back(change->label +
                                     " is restarted: its port was removed and re-added after it started");
      } else if (now.running == false && wanted.running == true) {
        change->carried.emplace_back(kOpensmAtRest);
      } else if (now.running == true && wanted.running == false) {
        change->interrupts.push_back(change->label + " is stopped");
      } else if (now.running == true && now.priority != wanted.priority) {
        change->interrupts.push_back(change->label + " is restarted");
      }
      if (!change->origins.empty() && world.known_identity(change->key).instance == kInstanceOfOthers)
        change->carried.emplace_back(kOpensmOfOthers);
    }
    return prepare_opensm(changes, world);
  }

  Verdict judge(const Desired& /*desired*/, const Observed* observed,
                const std::vector<std::string>& /*differing*/, World& /*world*/) const override {
    Verdict verdict;
    if (observed != nullptr && model::value_of(observed->facts, "lost_port") == model::Value{true}) {
      verdict.warnings.emplace_back(
          "its port was removed and re-added after it started, so it manages nothing until it is restarted");
    }
    return verdict;
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    return apply_opensm(changes, host, OpensmFiles::kInForce);
  }

  /// A run that ended between a file and what follows from it leaves that to be done.
  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    return apply_opensm(changes, host, OpensmFiles::kMaybeUnread);
  }

  void watched(const model::ResourceReport& resource, system::Settings& out) const override {
    out.units.insert(kOpensmService);
    if (const auto guid = Guid::parse(resource.key.id)) out.units.insert(opensm_unit(*guid));
  }

 private:
  static std::optional<PortRef> port_of(const model::Key& key, const World& world) {
    const auto guid = Guid::parse(key.id);
    return guid ? world.port(*guid) : std::nullopt;
  }

  static bool port_is_lost(Guid guid, World& world) {
    const auto port = world.port(guid);
    const auto found = observe_opensm(world.host(), observe_opensm_layout(world.host().files), {guid});
    const auto at = found ? found->find(guid) : std::map<Guid, OpensmNow>::const_iterator();
    return port && found && at != found->end() && lost_port(world.host().files, *port, at->second.pid);
  }

  /// The record of one with lines of ours is void when those are gone and others start it: dropped,
  /// or in their hands now. An instance that others started to begin with stays theirs, also while it is
  /// disabled, until nobody names it.
  static std::string instance(const OpensmNow& now, const std::string& known) {
    if (known.empty()) return std::string(now.by_others ? kInstanceOfOthers : kInstanceKey);
    if (now.settings.priority) return known;
    if (known == kInstanceKey && now.by_others) return std::string(kInstanceOfOthers);
    const bool nobodys = !now.named && now.settings.running == false;
    return known == kInstanceOfOthers && nobodys ? std::string(kInstanceKey) : known;
  }

  /// A dropped entry waits until the file is mended, as it was: it is not given back in part, and not
  /// forgotten.
  static void hold_dropped(std::vector<Desired>& desired, const std::vector<Observed>& observed,
                           const std::string& path) {
    std::set<model::Key> wanted;
    for (const auto& resource : desired) wanted.insert(resource.key);
    for (const auto& resource : observed) {
      if (resource.key.kind != kOpensmKind || wanted.contains(resource.key)) continue;
      auto& held = desired.emplace_back();
      held.key = resource.key;
      held.label = resource.label;
      held.settings = resource.settings;
      held.pending = fmt::format("no longer in the document; it is restored when {} is repaired", path);
    }
  }

  /// Omni-Path ports say that they are InfiniBand, and take no datagrams of a subnet manager.
  static void check_ports(const std::vector<Desired>& desired, const World& world, Diagnostics& diagnostics) {
    for (const auto& resource : desired) {
      if (resource.key.kind != kOpensmKind) continue;
      const auto port = port_of(resource.key, world);
      if (!port || !port->device->omni_path) continue;
      diagnostics.push_back(
          {Severity::kError,
           resource.origins.at("enabled"),  // that of guid
           fmt::format("[[opensm]] guid: {}/{} is an Omni-Path port, which OpenSM cannot manage",
                       port->device->name, port->port->number),
           "Omni-Path has its own fabric manager: [[service]] name = \"opafm.service\"",
           {}});
    }
  }

  /// The drop-in of others whose ExecStart= systemd takes in place of ours: of all folders it reads them by
  /// name, and the last one counts (systemd.unit(5)).
  static std::string overruled_by(Guid guid, system::Files& files) {
    const auto ours = opensm_drop_in(guid);
    std::string out;
    for (auto& other : other_drop_ins(files, opensm_unit(guid), ours.substr(ours.rfind('/') + 1))) {
      if (!other.after_ours) continue;
      const auto text = files.read_linked(other.path);
      if (text && *text && !assigned_values(**text, "ExecStart").empty()) out = std::move(other.path);
    }
    return out;
  }

  static void warn_overruled(const std::vector<Desired>& desired, const World& world,
                             Diagnostics& diagnostics) {
    for (const auto& resource : desired) {
      // Of what else an entry wants nothing is in our drop-in.
      if (resource.key.kind != kOpensmKind ||
          (!resource.settings.contains("priority") && resource.needs.empty()))
        continue;
      const auto guid = Guid::parse(resource.key.id);
      if (!guid || !world.port(*guid)) continue;
      const auto path = overruled_by(*guid, world.host().files);
      if (path.empty()) continue;
      diagnostics.push_back(
          {Severity::kWarning,
           resource.where,
           fmt::format(
               "[[opensm]]: systemd takes ExecStart= of {}, so that priority and options of this entry "
               "have no effect",
               path),
           "remove that line; `rdma-configctl import opensm` reads such files",
           {}});
    }
  }

  /// RHEL's /etc/sysconfig/opensm has one PRIORITY.
  static void check_priorities(const std::vector<Desired>& desired, Diagnostics& diagnostics) {
    const Desired* first = nullptr;
    for (const auto& resource : desired) {
      const auto& priority = model::value_of(resource.settings, "priority");
      if (resource.key.kind != kOpensmKind || priority == model::Value{}) continue;
      if (first == nullptr) first = &resource;
      const auto& other = model::value_of(first->settings, "priority");
      if (priority == other) continue;
      auto& d = diagnostics.emplace_back(
          model::Diagnostic{Severity::kError,
                            resource.origins.at("priority"),
                            fmt::format("[[opensm]] priority: {} here and {} on another port",
                                        model::text_of(priority), model::text_of(other)),
                            "on this system all ports share one PRIORITY, that of /etc/sysconfig/opensm",
                            {}});
      d.related.push_back({first->origins.at("priority"), "the other priority"});
    }
  }
};

}  // namespace

model::SectionSpec opensm_section() {
  model::SectionSpec section{
      .name = "opensm", .doc = "A subnet manager (OpenSM) on a port of this host.", .identities = {{"guid"}}};
  add_written(section.fields, model::specs<Opensm>());
  auto option = opensm_option_section(), file = opensm_file_section();
  option.name = "option";
  option.doc =
      "An option of this subnet manager only. A subnet manager with its own options or files reads a "
      "separate file in place of opensm.conf, which also contains those of [[opensm_option]] and "
      "[[opensm_file]].";
  file.name = "file";
  file.doc = "The content of an OpenSM file for this subnet manager only.";
  section.children = {std::move(option), std::move(file)};
  return section;
}

const Kind& opensm() {
  static const OpensmKind kInstanceOfKind;
  return kInstanceOfKind;
}

}  // namespace rdmacfg::kinds
