// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/iser/iser_login.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "kinds/storage/iser/iscsi_found.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;

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

Result<std::optional<system::Unit>> login_unit(system::Host& host) {
  return observe_unit(std::string(kIserUnit), host);
}

std::string iser_label(const IserPortal& portal) {
  return fmt::format("iSER session with {} at {}", portal.target, portal.portal());
}

DiskUses iscsi_disk_uses(system::Host& host) {
  return [&host](const auto& names) { return host.iscsi.uses(names); };
}

bool logs_in_again(const IserSession& wanted) { return wanted.unit && *wanted.unit != kIserLeaving; }

Result<void> reload_iser_units(system::Host& host) {
  const std::vector<std::string> names{std::string(kIserUnit), "remote-fs.target"};
  return reload_changed_units(names, host);
}

namespace {

Result<void> start_logins(system::Host& host) {
  const auto unit = login_unit(host);
  if (!unit) return base::fail(unit.error());
  return *unit ? host.units.act(system::UnitAction::kStart, std::string(kIserUnit)) : Result<void>{};
}

/// The records of those that are away go, too, also of portals without a session; those of `back` stay.
Result<void> log_out(const std::set<IserPortal>& away, const std::set<IserPortal>& back, IserLogins& logins,
                     system::Host& host) {
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
  auto unused = require_unused("iSER sessions", {going.begin(), going.end()}, iscsi_disk_uses(host));
  if (!unused) return unused;
  if (!any && going.empty()) return {};
  for (const auto& portal : all) {
    logins.erase(portal);
    (back.contains(portal) ? logins.resting : logins.leaving).insert(portal);
  }
  if (!back.empty()) logins.boot = host.boot_id;
  if (auto done = host.files.write(std::string(kIserUnitFile), render_iser_unit(logins)); !done) return done;
  if (auto done = reload_iser_units(host); !done) return done;
  if (auto done = start_logins(host); !done) return done;
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
Result<void> write_unit(const IserLogins& logins, std::span<const Change> changes, system::Files& files) {
  const std::string unit(kIserUnitFile), drop_in(kIserBootDropIn);
  if (logins.empty()) {
    if (auto done = files.remove(drop_in); !done) return done;
    return files.remove(unit);
  }
  auto content = render_iser_unit(logins);
  for (const auto& change : changes) {  // an undone apply brings back what was in it, whoever wrote it
    const auto wanted = model::from_attributes<IserSession>(change.after);
    if (wanted.unit == kIserEdited && !change.carried.empty()) content = change.carried.front();
  }
  return files.write(unit, content);
}

/// After the unit, since the drop-in alone says nothing of whose it is.
Result<void> hold_at_boot(const IserLogins& logins, std::span<const Change> changes, system::Files& files) {
  const std::string drop_in(kIserBootDropIn);
  if (logins.empty()) return {};
  bool at_boot = false, undone = false;
  for (const auto& change : changes) {
    const bool wanted = model::from_attributes<IserSession>(change.after).at_boot == true;
    at_boot = at_boot || wanted;
    undone =
        undone || (!wanted && change.operation == model::Operation::kUpdate && change.differs_in("at_boot"));
  }
  if (at_boot) return files.write(drop_in, render_iser_boot_drop_in());
  return undone ? files.remove(drop_in) : Result<void>{};
}

Result<std::vector<std::string>> without_session(std::span<const Change> changes, system::Host& host) {
  const auto sessions = host.iscsi.observe();
  if (!sessions) return base::fail(sessions.error());
  std::vector<std::string> out;
  for (const auto& change : changes) {
    const auto portal = IserPortal::parse(change.key.id);
    const auto wanted = model::from_attributes<IserSession>(change.after);
    if (portal && wanted.logged_in == true && our_sessions(*sessions, *portal).empty())
      out.push_back(change.label);
  }
  return out;
}

Result<void> log_in(std::span<const Change> changes, const IserLogins& before, system::Host& host) {
  // One that is there may have no record.
  const bool fresh = std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    const auto portal = IserPortal::parse(change.key.id);
    const auto wanted = model::from_attributes<IserSession>(change.after);
    return portal && wanted.logged_in == true && !before.wanted.contains(*portal);
  });
  return reach_targets({.always = fresh,
                        .missing = [&] { return without_session(changes, host); },
                        .start = [&] { return start_logins(host); },
                        .unit = std::string(kIserUnit),
                        .failed = "iscsiadm has not logged in"},
                       host);
}

}  // namespace

Result<void> apply_iser_sessions(std::span<const Change> changes, system::Host& host) {
  auto file = read_iser_file(host.files);
  if (!file) return base::fail(file.error());
  if (file->others) {
    return base::fail(base::Code::kInvalid,
                      fmt::format("{} exists, and was not written by rdma-configd", kIserUnitFile));
  }
  const auto before = file->logins;
  std::set<IserPortal> away, back;
  auto& logins = file->logins;
  for (const auto& change : changes) {
    const auto portal = IserPortal::parse(change.key.id);
    if (!portal) continue;
    const auto wanted = model::from_attributes<IserSession>(change.after);
    const bool undone = change.differs_in("logged_in");
    if (wanted.logged_in == true || (!undone && logs_in_again(wanted))) continue;
    (logs_in_again(wanted) ? back : away).insert(*portal);
  }
  if (!host.offline) {
    if (auto done = log_out(away, back, logins, host); !done) return done;
  }
  for (const auto& change : changes) {
    const auto portal = IserPortal::parse(change.key.id);
    if (!portal) continue;
    logins.erase(*portal);
    const auto wanted = model::from_attributes<IserSession>(change.after);
    if (wanted.unit) (logs_in_again(wanted) ? logins.wanted : logins.leaving).insert(*portal);
    // The next start of the unit would log in by its record.
    const bool goes = change.operation == model::Operation::kDelete && !change.carried.empty();
    if (host.offline && goes) logins.leaving.insert(*portal);
  }
  if (logins.resting.empty()) logins.boot.clear();
  if (auto done = write_unit(logins, changes, host.files); !done) return done;
  if (host.offline) return hold_at_boot(logins, changes, host.files);
  if (auto done = reload_iser_units(host); !done) return done;
  if (auto done = log_in(changes, before, host); !done) return done;
  if (auto done = hold_at_boot(logins, changes, host.files); !done) return done;
  return reload_iser_units(host);
}

}  // namespace rdmacfg::kinds
