// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/limits_conf.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/memlock.hpp"
#include "kinds/host/memlock_process.hpp"
#include "kinds/host/slurm_limits.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::LockLimit;
using model::Observed;
using model::Severity;
using system::Unit;

namespace {

constexpr std::string_view kMemlockUnitKind = "memlock_unit";
constexpr std::string_view kRestart = "restart";
// In Change::carried, for undoing: the limit of its process then, and the text of a drop-in that is not as we
// write it.
constexpr std::string_view kFormerLimit = "process ", kFormerText = "text ";

constexpr std::array kMemlockUnitFiles{
    OwnedFile{.path = "/etc/systemd/system/*.d/50-rdma-configd-memlock.conf",
              .what = "Memory that a service may lock.",
              .after_write = OwnedFile::AfterWrite::kReloadUnits}};

class MemlockUnitKind final : public Kind, public ClearsAway, public NeedsWatching {
 public:
  MemlockUnitKind()
      : Kind({.name = kMemlockUnitKind,
              .fields = model::specs<MemlockUnit>(),
              .traits = {.works_offline = true, .interrupts_services = true},
              .files = kMemlockUnitFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    std::map<std::string, std::pair<LockLimit, model::Location>> seen;
    for (const auto* section : bound.of("memlock")) {
      const auto wanted = model::from_attributes<Memlock>(section->attributes());
      if (!wanted.limit || !wanted.domain) continue;
      const auto add = [&](const std::string& unit, const model::Location& where) {
        const auto [first, fresh] = seen.try_emplace(unit, *wanted.limit, where);
        if (!fresh) {
          if (first->second.first == *wanted.limit) return;
          auto& d = diagnostics.emplace_back(
              model::Diagnostic{Severity::kError,
                                where,
                                fmt::format("[[memlock]]: {} would get two limits, {} and {}", unit,
                                            first->second.first.text(), wanted.limit->text()),
                                "name a unit in one entry only",
                                {}});
          d.related.push_back({first->second.second, "the first entry with this unit"});
          return;
        }
        Desired desired;
        desired.key = {std::string(kMemlockUnitKind), unit};
        desired.label = unit;
        desired.where = where;
        desired.settings["limit"] = model::Codec<LockLimit>::value(*wanted.limit);
        for (const auto* field : {"limit", "loaded", "process"}) desired.origins[field] = where;
        if (wanted.restart == true) desired.policy[std::string(kRestart)] = true;
        desired.needs.push_back({"memlock", wanted.domain->text});
        out.push_back(std::move(desired));
      };
      const auto units = wanted.units.value_or(std::vector<std::string>{});
      for (std::size_t i = 0; i < units.size(); ++i) {
        const auto& written = units[i];
        const auto& where = section->find("units")->place_of(i);
        const auto unit = model::UnitName::parse(written);
        if (!unit || !unit->text.ends_with(".service")) {
          diagnostics.push_back({Severity::kError,
                                 where,
                                 unit ? fmt::format("[[memlock]] units: {} is not a service", written)
                                      : "[[memlock]] units: " + unit.error().message,
                                 "units = [\"slurmd.service\"]",
                                 {}});
          continue;
        }
        if (is_own_unit(unit->text)) {
          diagnostics.push_back({Severity::kError,
                                 where,
                                 fmt::format("[[memlock]] units: {} locks no memory, and its restart would "
                                             "end the apply",
                                             unit->text),
                                 "remove it",
                                 {}});
          continue;
        }
        add(unit->text, where);
      }
      if (wanted.sessions == true) add(kUserSessions, section->find("sessions")->where);
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    auto& host = world.host();
    std::map<std::string, std::optional<LockLimit>> ours;  // nothing: a file of ours that says none
    auto folders = host.files.list("/etc/systemd/system");
    if (!folders) return base::fail(folders.error());
    for (const auto& folder : *folders) {
      if (!folder.ends_with(".service.d")) continue;
      const auto unit = folder.substr(0, folder.size() - 2);
      auto text = host.files.read(drop_in_path(unit));
      if (!text && text.error().sys_errno == ENOTDIR) continue;  // a file, which systemd passes over
      if (!text) return base::fail(text.error());
      if (!*text) continue;
      // Another line in it would count, too.
      const auto limit = parse_drop_in(**text);
      ours.emplace(unit, limit && render_drop_in(*limit) == **text ? limit : std::nullopt);
    }
    // A dropped entry is only taken away: its process is not checked.
    std::vector<std::string> asked;
    for (const auto& unit : world.tracked(kMemlockUnitKind)) {
      if (ours.contains(unit)) asked.push_back(unit);
    }
    std::map<std::string, Unit> units;
    if (!world.offline() && !asked.empty()) {
      auto found = observe_loaded(host, asked);
      if (!found) return base::fail(found.error());
      units = std::move(*found);
    }
    for (const auto& [name, limit] : ours) {
      MemlockUnit now, facts;
      now.limit = limit;
      if (const auto at = units.find(name); at != units.end() && at->second.there()) {
        now.loaded = !at->second.needs_reload;
        if (at->second.main_pid != 0) {
          now.process = host.units.observe_memlock(at->second.main_pid);
          facts.pid = at->second.main_pid;
        }
      }
      out.push_back(observed_in_own_file({std::string(kMemlockUnitKind), name}, name,
                                         model::to_attributes(now), model::to_attributes(facts)));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    std::vector<std::string> names;
    for (const auto& resource : desired) {
      if (resource.key.kind == kMemlockUnitKind) names.push_back(resource.key.id);
    }
    if (names.empty()) return;
    std::map<std::string, Unit> units;
    if (!world.offline()) {
      if (auto found = observe_loaded(world.host(), names)) units = std::move(*found);
    }
    for (auto& resource : desired) {
      if (resource.key.kind != kMemlockUnitKind) continue;
      if (const auto at = units.find(resource.key.id); at != units.end() && at->second.there()) {
        resource.settings["loaded"] = true;
        // A restart gives a process what systemd makes of all drop-ins, so it is for nothing where ours
        // loses.
        if (at->second.main_pid != 0 && resource.policy.contains(kRestart) &&
            !overruled(resource, world.host())) {
          resource.settings["process"] = resource.settings["limit"];
        }
      }
      if (resource.key.id == "slurmd.service") warn_of_slurm(resource, world.host().files, diagnostics);
      const auto others = foreign_drop_ins(world.host().files, resource.key.id);
      if (!others) continue;
      for (const auto& other : *others) {
        if (!other.wins) continue;
        diagnostics.push_back({Severity::kWarning,
                               resource.where,
                               fmt::format("{}:{} sets the same: \"{}\"", other.file, other.line, other.text),
                               "systemd reads that file after ours, so it wins: remove the line there",
                               {}});
      }
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    for (auto* change : changes) {
      if (!change->before.contains("limit")) {
        const auto text = world.host().files.read(drop_in_path(change->key.id));
        if (!text) return base::fail(text.error());
        if (*text) change->carried.push_back(std::string(kFormerText) + **text);
      }
      const auto wanted = model::from_attributes<MemlockUnit>(change->after);
      if (!wanted.process || world.offline()) continue;
      const auto now = process_limit(change->key.id, world.host());
      if (!now) return base::fail(now.error());
      if (!*now || **now == *wanted.process) continue;
      change->interrupts.push_back(change->label + " is restarted");
      change->carried.push_back(std::string(kFormerLimit) + (*now)->text());
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<MemlockUnit>(change.after);
      const auto path = drop_in_path(change.key.id);
      const auto text = wanted.limit ? render_drop_in(*wanted.limit) : former_text(change);
      auto done = text.empty() ? host.files.remove(path) : host.files.write(path, text);
      if (!done) return done;
    }
    if (host.offline) return {};
    if (auto done = reload(changes, host); !done) return done;
    for (const auto& change : changes) {
      if (auto done = restart(change, host); !done) return done;
    }
    return {};
  }

  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    return reload(changes, host);
  }

  /// A restart that failed must not leave a service down that ran: started once more, with its former limit.
  std::vector<std::string> clear_away(std::span<const Change> changes, system::Host& host) const override {
    std::vector<std::string> out;
    for (const auto& change : changes) {
      if (!former_limit(change)) continue;
      const auto now = process_limit(change.key.id, host);
      if (!now || *now) continue;
      const auto done = host.units.act(system::UnitAction::kStart, change.key.id);
      const auto then = process_limit(change.key.id, host);
      if (then && *then) continue;
      out.push_back(fmt::format("{}: was running and could not be restarted{}", change.key.id,
                                done ? ": exited at once" : " (" + done.error().message + ")"));
    }
    return out;
  }

  Verdict judge(const Desired& desired, const Observed* observed,
                const std::vector<std::string>& /*differing*/, World& world) const override {
    Verdict verdict;
    if (observed == nullptr || world.offline()) return verdict;
    const auto now = model::from_attributes<MemlockUnit>(observed->settings);
    const auto wanted = model::from_attributes<MemlockUnit>(desired.settings);
    const auto facts = model::from_attributes<MemlockUnit>(observed->facts);
    if (is_template(desired.key.id)) {
      verdict.reason = wanted.limit ? why_instances_wait(desired.key.id, *wanted.limit, world.host()) : "";
      if (!verdict.reason.empty()) verdict.sort = Verdict::Sort::kPending;
    } else if (!now.loaded) {
      verdict.sort = Verdict::Sort::kPending;
      verdict.reason = fmt::format("{}; its drop-in is written",
                                   systemd_answers(world.host()) ? "there is no such unit now" : kNoSystemd);
    } else if (now.process && wanted.limit && *now.process != *wanted.limit) {
      const auto other = overruled(desired, world.host());
      verdict.sort = Verdict::Sort::kPending;
      const auto pid = facts.pid.value_or(0);
      const auto limit = words_of(*now.process);
      verdict.reason =
          other ? fmt::format(
                      "{}:{} wins over our drop-in (\"{}\"), so its process {} may lock {}; remove that "
                      "line and restart {}",
                      other->file, other->line, other->text, pid, limit, desired.key.id)
                : fmt::format("a restart of {} is needed: its process {} may lock {}", desired.key.id, pid,
                              limit);
    }
    return verdict;
  }

  /// A process that has the old limit may be replaced by one that has the new one.
  void watched(const model::ResourceReport& resource, system::Settings& out) const override {
    if (resource.key.id != kUserSessions) out.units.insert(resource.key.id);
  }

 private:
  static void warn_of_slurm(const Desired& resource, system::Files& files, Diagnostics& diagnostics) {
    const auto file = slurm_conf_that_propagates(files);
    if (file.empty()) return;
    diagnostics.push_back(
        {Severity::kWarning,
         resource.where,
         fmt::format("{}: Slurm gives jobs the limit of the session that submits them, not that of {}", file,
                     resource.key.id),
         "write PropagateResourceLimitsExcept=MEMLOCK there, and run `scontrol reconfigure`",
         {}});
  }

  static std::optional<ForeignLimit> overruled(const Desired& desired, system::Host& host) {
    const auto wanted = model::from_attributes<MemlockUnit>(desired.settings).limit;
    return wanted ? overruling_drop_in(host.files, desired.key.id, *wanted) : std::nullopt;
  }

  /// Of a drop-in that undoing brings back as somebody else had written it; empty for none.
  static std::string former_text(const Change& change) {
    if (change.operation == model::Operation::kDelete) return {};
    for (const auto& text : change.carried) {
      if (text.starts_with(kFormerText)) return text.substr(kFormerText.size());
    }
    return {};
  }

  static std::optional<LockLimit> former_limit(const Change& change) {
    for (const auto& text : change.carried) {
      if (!text.starts_with(kFormerLimit)) continue;
      if (auto former = LockLimit::parse(std::string_view(text).substr(kFormerLimit.size()))) return *former;
    }
    return std::nullopt;
  }

  /// Has systemd read its files again if those of a unit changed since it did.
  static Result<void> reload(std::span<const Change> changes, system::Host& host) {
    std::vector<std::string> names;
    bool sessions = false;
    for (const auto& change : changes) {
      names.push_back(change.key.id);
      sessions = sessions || is_template(change.key.id);
    }
    auto units = observe_loaded(host, names);
    if (!units) return base::fail(units.error());
    const bool stale =
        std::any_of(units->begin(), units->end(), [](const auto& unit) { return unit.second.needs_reload; });
    // Of a template nobody can ask; it has no state of its own, so telling once too often does no harm.
    if (!stale && !sessions) return {};
    auto done = host.units.reload_manager();
    return done || done.error().code != base::Code::kUnsupported ? done : Result<void>{};
  }

  /// To the limit that is wanted of the process, or when this is undone to the one that it had.
  static Result<void> restart(const Change& change, system::Host& host) {
    auto target = model::from_attributes<MemlockUnit>(change.after).process;
    if (!target) target = former_limit(change);
    if (!target) return {};
    const auto now = process_limit(change.key.id, host);
    if (!now) return base::fail(now.error());
    if (*now && **now == *target) return {};
    // It ran when the plan was made: a failed restart must not leave it down.
    return host.units.act(*now ? system::UnitAction::kRestart : system::UnitAction::kStart, change.key.id);
  }
};

}  // namespace

const Kind& memlock_unit() {
  static const MemlockUnitKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
