// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/iser_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.hpp"
#include "formats/iser_unit.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/package_table.hpp"
#include "kinds/storage/iscsi_found.hpp"
#include "kinds/storage/iser_session_parse.hpp"
#include "kinds/storage/surroundings.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;
using system::IscsiSession;

namespace {

constexpr std::string_view kIserKind = "iser_session";
// Of the field "unit", beside its name.
constexpr std::string_view kLeaving = "logging out", kEdited = "edited";
const std::string kLoginUnit(kIserUnit);

constexpr std::array kIserFiles{
    // A pattern, so that hosts without such entries may have a file of others, or a mask, of that name.
    OwnedFile{.path = "/etc/systemd/system/iser-session*.service",
              .what = "Has open-iscsi log in to iSER targets; a file of others may have such a name, too.",
              .after_write = OwnedFile::AfterWrite::kReloadUnits,
              .ours = is_our_iser_unit},
    OwnedFile{
        .path = kIserBootDropIn,
        .what = "Has the host log in to iSER targets at boot, once the interfaces are configured.",
        .rendered =
            [](std::string_view text) { return text.empty() ? std::string() : render_iser_boot_drop_in(); },
        .after_write = OwnedFile::AfterWrite::kReloadUnits}};

struct IserFile {
  IserLogins logins;
  std::string text;     ///< empty: there is none
  bool others = false;  ///< somebody else's is in its place
};

Result<IserFile> read_iser_file(system::Files& files) {
  const auto text = files.read(std::string(kIserUnitFile));
  if (!text && !system::is_unusable(text.error())) return base::fail(text.error());
  IserFile out;
  out.others = !text || (*text && !is_our_iser_unit(**text));
  if (out.others || !*text) return out;
  out.text = **text;
  out.logins = parse_iser_unit(out.text);
  return out;
}

/// Nothing when no systemd answers.
Result<std::optional<system::Unit>> login_unit(system::Host& host) {
  auto units = host.units.observe_units(std::span(&kLoginUnit, 1));
  if (!units) return base::fail(units.error());
  if (!*units || (*units)->empty()) return std::optional<system::Unit>{};
  return std::optional((*units)->front());
}

std::string iser_label(const IserPortal& portal) {
  return fmt::format("iSER session with {} at {}", portal.target, portal.portal());
}

/// Why the disks of these sessions cannot go; empty: they can.
Result<std::string> why_sessions_stay(const std::vector<std::string>& going,
                                      const std::vector<std::string>& others, system::Host& host) {
  return why_disks_stay(going, others, [&](const auto& names) { return host.iscsi.uses(names); });
}

/// Sessions of ours with other portals that no entry has: they are to go, too.
std::vector<std::string> sessions_to_go(const IserPortal& portal, const std::vector<IscsiSession>& all,
                                        const std::vector<Desired>& desired) {
  std::set<std::string_view> wanted;
  for (const auto& one : desired) {
    if (one.key.kind == kIserKind) wanted.insert(one.key.id);
  }
  std::vector<std::string> out;
  for (const auto& one : all) {
    const auto address = model::IpAddress::parse(one.address);
    if (!address || one.interface != kIserInterface) continue;
    const IserPortal at{one.target, *address, one.port, one.group};
    if (at != portal && !wanted.contains(at.text())) out.push_back(one.name);
  }
  return out;
}

class IserSessionKind final : public Kind, public NeedsWatching, public MayBeMeant {
 public:
  IserSessionKind()
      : Kind({.name = kIserKind,
              .fields = model::specs<IserSession>(),
              .traits = {.works_offline = true},
              .files = kIserFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kIserKind)) {
      const auto portal = iser_portal_of(*section, diagnostics);
      if (!portal) continue;
      auto desired =
          desired_of(*section, fields(), {std::string(kIserKind), portal->text()}, iser_label(*portal));
      desired.settings["unit"] = kLoginUnit;
      desired.settings["at_boot"] = true;
      desired.settings["logged_in"] = true;
      for (const auto* field : {"unit", "at_boot", "logged_in"}) desired.origins[field] = section->where;
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto& host = world.host();
    const auto file = read_iser_file(host.files);
    if (!file) return base::fail(file.error());
    const auto& logins = file->logins;
    std::set<IserPortal> portals = logins.wanted;
    portals.insert(logins.leaving.begin(), logins.leaving.end());
    portals.insert(logins.resting.begin(), logins.resting.end());
    for (const auto& id : world.concerned(kIserKind)) {
      if (auto portal = IserPortal::parse(id)) portals.insert(std::move(*portal));
    }
    // The host itself logs out when it is up.
    if (world.offline())
      std::erase_if(portals, [&](const auto& one) { return logins.leaving.contains(one); });
    std::vector<Observed> out;
    if (portals.empty()) return out;
    const auto drop_in = host.files.read(std::string(kIserBootDropIn));
    if (!drop_in) return base::fail(drop_in.error());
    std::vector<IscsiSession> sessions;
    std::optional<system::Unit> unit;
    if (!world.offline()) {
      auto seen = host.iscsi.observe();
      if (!seen) return base::fail(seen.error());
      sessions = std::move(*seen);
      auto asked = login_unit(host);
      if (!asked) return base::fail(asked.error());
      unit = std::move(*asked);
    }
    const bool as_written = file->text == render_iser_unit(logins);
    for (const auto& portal : portals) {
      IserSession now, facts;
      if (logins.leaving.contains(portal)) now.unit = std::string(kLeaving);
      if (logins.resting.contains(portal)) now.unit = std::string(kEdited);
      if (logins.wanted.contains(portal)) {
        now.unit = as_written ? kLoginUnit : std::string(kEdited);
        if (*drop_in == render_iser_boot_drop_in()) now.at_boot = true;
      }
      note_sessions(portal, sessions, now, facts);
      if (logins.wanted.contains(portal) && unit && !unit->job.empty()) {
        now.logged_in = true;  // as far as anybody can make it
        facts.job = unit->job;
      }
      Observed observed;
      observed.key = {std::string(kIserKind), portal.text()};
      observed.label = iser_label(portal);
      observed.ours_by_nature = true;
      observed.settings = model::to_attributes(now);
      observed.facts = model::to_attributes(facts);
      if (observed.settings.empty()) continue;  // one that the unit has says so
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    auto& host = world.host();
    const auto file = read_iser_file(host.files);
    if (!file) return;  // observe() has failed for it
    const bool any = std::any_of(desired.begin(), desired.end(), [](const Desired& one) {
      return one.key.kind == kIserKind && !one.settings.empty();
    });
    if (!any) return;
    const auto why_not = world.offline() ? std::string() : why_nobody_logs_in(host);
    const auto sessions = world.offline() ? Result<std::vector<IscsiSession>>(std::vector<IscsiSession>{})
                                          : host.iscsi.observe();
    if (!sessions) return;  // as above
    for (auto& one : desired) {
      if (one.key.kind != kIserKind || one.settings.empty()) continue;
      const auto portal = IserPortal::parse(one.key.id);
      if (!portal) continue;
      if (file->others) {
        diagnostics.push_back(
            {Severity::kError,
             one.where,
             fmt::format("[[iser_session]]: {} is there already, and not of rdma-configd", kIserUnitFile),
             fmt::format("move it away, or `systemctl unmask {}`", kIserUnit),
             {}});
        return;
      }
      warn_of_record(one, *portal, host.files, diagnostics);
      if (world.offline()) one.settings.erase("logged_in");
      auto why = why_not.empty() ? why_another_there(*portal, *sessions, host) : why_not;
      if (why.empty()) continue;
      one.pending = std::move(why);
      one.settings.clear();
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (changes.empty()) return {};
    const auto file = read_iser_file(world.host().files);
    if (!file) return base::fail(file.error());
    for (auto* change : changes) {
      const bool goes = change->operation == model::Operation::kDelete;
      // Of a session that goes offline it says that there may be a record; one that is undone has none.
      if (model::from_attributes<IserSession>(change->before).unit == kEdited || (goes && world.offline()))
        change->carried = {file->text};
    }
    if (world.offline()) return {};
    const auto sessions = world.host().iscsi.observe();
    if (!sessions) return base::fail(sessions.error());
    for (auto* change : changes) {
      const auto portal = IserPortal::parse(change->key.id);
      if (change->operation != model::Operation::kDelete || !portal) continue;
      const auto names = our_sessions(*sessions, *portal);
      if (!names.empty())
        change->interrupts.push_back(
            fmt::format("{} is logged out ({}); its disks go", change->label, base::join(names, ", ")));
      if (record_has_secret(*portal, world.host().files))
        change->interrupts.push_back(fmt::format(
            "the record of {} goes with its secret of CHAP, which undoing brings back from iscsid.conf alone",
            change->label));
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto file = read_iser_file(host.files);
    if (!file) return base::fail(file.error());
    if (file->others) {
      return base::fail(base::Code::kInvalid,
                        fmt::format("{} is there already, and not of rdma-configd", kIserUnitFile));
    }
    const auto before = file->logins;
    std::set<IserPortal> away, back;
    auto& logins = file->logins;
    for (const auto& change : changes) {
      const auto portal = IserPortal::parse(change.key.id);
      if (!portal) continue;
      const auto wanted = model::from_attributes<IserSession>(change.after);
      const bool undone =
          std::find(change.fields.begin(), change.fields.end(), "logged_in") != change.fields.end();
      if (wanted.logged_in == true || (!undone && stays(wanted))) continue;
      (stays(wanted) ? back : away).insert(*portal);
    }
    if (!host.offline) {
      if (auto done = log_out(away, back, logins, host); !done) return done;
    }
    for (const auto& change : changes) {
      const auto portal = IserPortal::parse(change.key.id);
      if (!portal) continue;
      logins.erase(*portal);
      const auto wanted = model::from_attributes<IserSession>(change.after);
      if (wanted.unit) (stays(wanted) ? logins.wanted : logins.leaving).insert(*portal);
      // The next start of the unit would log in by its record.
      const bool goes = change.operation == model::Operation::kDelete && !change.carried.empty();
      if (host.offline && goes) logins.leaving.insert(*portal);
    }
    if (auto done = write_unit(logins, changes, host.files); !done) return done;
    if (host.offline) return hold_at_boot(logins, changes, host.files);
    if (auto done = reload(host); !done) return done;
    if (auto done = log_in(changes, before, host); !done) return done;
    if (auto done = hold_at_boot(logins, changes, host.files); !done) return done;
    return reload(host);
  }

  /// A run that ended between a file and systemd's reading it leaves that to be done.
  Result<void> recover(std::span<const Change> /*changes*/, system::Host& host) const override {
    return host.offline ? Result<void>{} : reload(host);
  }

  Verdict judge(const Desired& desired, const Observed* observed,
                const std::vector<std::string>& /*differing*/, World& world) const override {
    Verdict verdict;
    if (observed == nullptr || world.offline()) return verdict;
    const auto wanted = model::from_attributes<IserSession>(desired.settings);
    if (wanted.logged_in != true) return verdict;
    const auto facts = model::from_attributes<IserSession>(observed->facts);
    auto sessions = facts.sessions.value_or(std::vector<std::string>{});
    std::erase_if(sessions, [](const std::string& one) { return !is_text_of_ours(one); });
    const auto is_live = [](const std::string& one) { return one.ends_with(" LOGGED_IN"); };
    if (std::any_of(sessions.begin(), sessions.end(), is_live)) return verdict;
    verdict.sort = Verdict::Sort::kPending;
    verdict.fields = {"logged_in"};
    if (facts.job) {
      verdict.reason =
          fmt::format("systemd has the {} job of {} in its queue, behind other jobs", *facts.job, kLoginUnit);
    } else if (!sessions.empty()) {
      verdict.reason = sessions.front() + ": iscsid tries to reach the target again";
    } else {
      verdict.reason =
          fmt::format("nobody is logged in there; `journalctl -u {}` has iscsiadm's word", kIserUnit);
    }
    return verdict;
  }

  void watched(const model::ResourceReport& /*resource*/, system::Settings& out) const override {
    out.units.insert(kLoginUnit);
  }

  /// The kernel would take the disks away under a file system.
  [[nodiscard]] std::string why_held(const model::Key& key, const std::vector<Desired>& desired,
                                     const World& world) const override {
    if (key.kind != kIserKind || world.offline()) return {};
    auto& host = world.host();
    const auto portal = IserPortal::parse(key.id);
    const auto sessions = host.iscsi.observe();
    if (!portal || !sessions) return {};
    const auto why = why_sessions_stay(our_sessions(*sessions, *portal),
                                       sessions_to_go(*portal, *sessions, desired), host);
    return why && !why->empty() ? *why + "; it is logged out once nothing uses it" : std::string();
  }

 private:
  /// Not when the logout of an interrupted run is undone to.
  static bool stays(const IserSession& wanted) { return wanted.unit && *wanted.unit != kLeaving; }

  static void note_sessions(const IserPortal& portal, const std::vector<IscsiSession>& all, IserSession& now,
                            IserSession& facts) {
    for (const auto& one : all) {
      if (!leads_to(one, portal)) continue;
      if (is_ours(one, portal)) now.logged_in = true;
      if (!facts.sessions) facts.sessions.emplace();
      facts.sessions->push_back(text_of(one));
    }
  }

  static std::string why_nobody_logs_in(system::Host& host) {
    const auto unit = login_unit(host);
    if (!unit || !*unit) return "no systemd answers here";
    const auto& package = *find_package("open-iscsi");
    if (is_installed(package, host.packages)) return {};
    return "there is no iscsiadm" + how_to_get(package, host.files);
  }

  /// A second session would bring the target's disks into the host once more.
  static std::string why_another_there(const IserPortal& portal, const std::vector<IscsiSession>& all,
                                       system::Host& host) {
    if (!our_sessions(all, portal).empty()) return {};
    for (const auto& one : all) {
      if (!leads_to(one, portal)) continue;
      if (one.interface != kIserInterface) {
        return fmt::format(
            "{} of others is logged in there (transport {}, interface {}); once its disks are free, "
            "`iscsiadm -m session -r {} -u` logs it out",
            one.name, one.transport, one.interface, one.name.substr(std::string_view("session").size()));
      }
      // The entry has been changed. Its former session goes first, unless it has to stay.
      const auto why = why_sessions_stay({one.name}, {}, host);
      if (why && !why->empty())
        return fmt::format("{} is logged in there by port {} and portal group {}, and {}", one.name, one.port,
                           one.group, *why);
    }
    return {};
  }

  static void warn_of_record(const Desired& one, const IserPortal& portal, system::Files& files,
                             Diagnostics& diagnostics) {
    const auto record = record_of_others(portal, files);
    if (!record) return;
    diagnostics.push_back(
        {Severity::kWarning,
         one.where,
         fmt::format("{}: open-iscsi logs in there at boot, too", record->file),
         fmt::format(
             "leave one of them out: `iscsiadm -m node -T {} -p {}{} -o update -n node.startup -v manual`",
             portal.target, record->portal,
             record->interface.empty() ? std::string() : " -I " + record->interface),
         {}});
  }

  static Result<void> start(system::Host& host) {
    const auto unit = login_unit(host);
    if (!unit) return base::fail(unit.error());
    return *unit ? host.units.act(system::UnitAction::kStart, kLoginUnit) : Result<void>{};
  }

  /// The records of those that are away go, too, also of portals without a session; those of `back` stay.
  static Result<void> log_out(const std::set<IserPortal>& away, const std::set<IserPortal>& back,
                              IserLogins& logins, system::Host& host) {
    auto all = away;
    all.insert(back.begin(), back.end());
    if (all.empty()) return {};
    const auto sessions = host.iscsi.observe();
    if (!sessions) return base::fail(sessions.error());
    std::set<std::string> going;
    bool any = false;
    for (const auto& portal : all) {
      for (auto& name : our_sessions(*sessions, portal)) going.insert(std::move(name));
      any = any || logins.wanted.contains(portal) || logins.leaving.contains(portal) ||
            logins.resting.contains(portal);
    }
    const auto why = why_sessions_stay({going.begin(), going.end()}, {}, host);
    if (!why) return base::fail(why.error());
    if (!why->empty()) return base::fail(base::Code::kBusy, fmt::format("iSER sessions: {}", *why));
    if (!any && going.empty()) return {};
    for (const auto& portal : all) {
      logins.erase(portal);
      (back.contains(portal) ? logins.resting : logins.leaving).insert(portal);
    }
    if (auto done = host.files.write(std::string(kIserUnitFile), render_iser_unit(logins)); !done)
      return done;
    if (auto done = reload(host); !done) return done;
    if (auto done = start(host); !done) return done;
    const auto now = host.iscsi.observe();
    if (!now) return base::fail(now.error());
    for (const auto& portal : all) {
      const auto left = our_sessions(*now, portal);
      if (!left.empty())
        return base::fail(base::Code::kIo,
                          fmt::format("{}: {} is still logged in", iser_label(portal), left.front()));
    }
    return {};
  }

  /// The drop-in goes first, as the unit alone tells whose it is.
  static Result<void> write_unit(const IserLogins& logins, std::span<const Change> changes,
                                 system::Files& files) {
    const std::string unit(kIserUnitFile), drop_in(kIserBootDropIn);
    if (logins.empty()) {
      if (auto done = files.remove(drop_in); !done) return done;
      return files.remove(unit);
    }
    auto content = render_iser_unit(logins);
    for (const auto& change : changes) {  // an undone apply brings back what was in it, whoever wrote it
      const auto wanted = model::from_attributes<IserSession>(change.after);
      if (wanted.unit == kEdited && !change.carried.empty()) content = change.carried.front();
    }
    return files.write(unit, content);
  }

  /// After the unit, since the drop-in alone says nothing of whose it is.
  static Result<void> hold_at_boot(const IserLogins& logins, std::span<const Change> changes,
                                   system::Files& files) {
    const std::string drop_in(kIserBootDropIn);
    if (logins.empty()) return {};
    bool at_boot = false, undone = false;
    for (const auto& change : changes) {
      const bool wanted = model::from_attributes<IserSession>(change.after).at_boot == true;
      at_boot = at_boot || wanted;
      undone =
          undone || (!wanted && change.operation == model::Operation::kUpdate &&
                     std::find(change.fields.begin(), change.fields.end(), "at_boot") != change.fields.end());
    }
    if (at_boot) return files.write(drop_in, render_iser_boot_drop_in());
    return undone ? files.remove(drop_in) : Result<void>{};
  }

  static Result<void> reload(system::Host& host) {
    const std::vector<std::string> names{kLoginUnit, "remote-fs.target"};
    const auto units = host.units.observe_units(names);
    if (!units) return base::fail(units.error());
    const bool stale = *units && std::any_of((*units)->begin(), (*units)->end(), [](const auto& unit) {
      return unit.there() && unit.needs_reload;
    });
    return stale ? host.units.reload_manager() : Result<void>{};
  }

  static std::vector<std::string> without_session(std::span<const Change> changes,
                                                  const std::vector<IscsiSession>& sessions) {
    std::vector<std::string> out;
    for (const auto& change : changes) {
      const auto portal = IserPortal::parse(change.key.id);
      const auto wanted = model::from_attributes<IserSession>(change.after);
      if (portal && wanted.logged_in == true && our_sessions(sessions, *portal).empty())
        out.push_back(change.label);
    }
    return out;
  }

  /// The unit ends well although a target does not answer. For an administrator it is pending, and judge()
  /// says so; a hold fails, and is tried again.
  static Result<void> log_in(std::span<const Change> changes, const IserLogins& before, system::Host& host) {
    auto sessions = host.iscsi.observe();
    if (!sessions) return base::fail(sessions.error());
    // One that is there may have no record.
    const bool fresh = std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
      const auto portal = IserPortal::parse(change.key.id);
      const auto wanted = model::from_attributes<IserSession>(change.after);
      return portal && wanted.logged_in == true && !before.wanted.contains(*portal);
    });
    if (!fresh && without_session(changes, *sessions).empty()) return {};
    const auto started = start(host);
    sessions = host.iscsi.observe();
    if (!sessions) return base::fail(sessions.error());
    const auto missing = without_session(changes, *sessions);
    if (missing.empty()) return {};
    if (!started) return started;
    const auto unit = login_unit(host);
    if (!host.holding || (unit && *unit && !(*unit)->job.empty())) return {};
    return base::fail(base::Code::kTimeout, base::join(missing, ", ") + ": iscsiadm has not logged in");
  }
};

}  // namespace

model::SectionSpec iser_session_section() {
  model::SectionSpec section{
      .name = kIserKind,
      .doc = "An iSCSI target over RDMA (iSER): open-iscsi logs this host in to it, at once and at boot.",
      .identities = {{"target", "address"}}};
  add_written(section.fields, model::specs<IserSession>());
  return section;
}

const Kind& iser_session() {
  static const IserSessionKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
