// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/iser/iser_session.hpp"

#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "formats/storage/iser_unit.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/storage/iser/iscsi_found.hpp"
#include "kinds/storage/iser/iser_login.hpp"
#include "kinds/storage/iser/iser_session_parse.hpp"
#include "kinds/storage/sessions.hpp"
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
constexpr std::array kIserFiles{
    // A pattern, so that hosts without such entries may have a file of others, or a mask, of that name.
    OwnedFile{
        .path = "/etc/systemd/system/iser-session*.service",
        .what = "Makes open-iscsi log in to iSER targets; other programs' files may have such names, too.",
        .after_write = OwnedFile::AfterWrite::kReloadUnits,
        .ours = is_our_iser_unit},
    OwnedFile{
        .path = kIserBootDropIn,
        .what = "Makes the host log in to iSER targets at boot, once the interfaces are configured.",
        .rendered =
            [](std::string_view text) { return text.empty() ? std::string() : render_iser_boot_drop_in(); },
        .after_write = OwnedFile::AfterWrite::kReloadUnits}};

/// One look for all that a run asks before its first change.
const Result<std::vector<IscsiSession>>& sessions_in(const World& world) {
  return world.once("iscsi sessions", [&] { return world.host().iscsi.observe(); });
}

/// Sessions of ours by portals that no entry has.
Result<LeavingSessions> leaving_sessions(const std::vector<Desired>& desired, const World& world) {
  const auto& all = sessions_in(world);
  if (!all) return base::fail(all.error());
  const auto wanted = ids_of(desired, kIserKind);
  LeavingSessions out;
  for (const auto& session : *all) {
    const auto address = model::IpAddress::parse(session.address);
    if (!address || session.interface != kIserInterface) continue;
    const auto portal = IserPortal{session.target, *address, session.port, session.group}.text();
    if (!wanted.contains(portal)) out.by_id[portal].push_back(session.name);
  }
  return with_use(std::move(out), iscsi_disk_uses(world.host()));
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
      set_derived(desired, "unit", std::string(kIserUnit), section->where);
      for (const auto* field : {"at_boot", "logged_in"}) set_derived(desired, field, true, section->where);
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
    for (const auto& id : world.tracked(kIserKind)) {
      if (auto portal = IserPortal::parse(id)) portals.insert(std::move(*portal));
    }
    // The host itself logs out when it is up.
    if (world.offline())
      std::erase_if(portals, [&](const auto& portal) { return logins.leaving.contains(portal); });
    std::vector<Observed> out;
    if (portals.empty()) return out;
    const auto drop_in = host.files.read(std::string(kIserBootDropIn));
    if (!drop_in) return base::fail(drop_in.error());
    std::vector<IscsiSession> sessions;
    std::optional<system::Unit> unit;
    if (!world.offline()) {
      const auto& seen = sessions_in(world);
      if (!seen) return base::fail(seen.error());
      sessions = *seen;
      auto asked = login_unit(host);
      if (!asked) return base::fail(asked.error());
      unit = std::move(*asked);
    }
    const bool as_written = file->text == render_iser_unit(logins);
    for (const auto& portal : portals) {
      IserSession now, facts;
      if (logins.leaving.contains(portal)) now.unit = std::string(kIserLeaving);
      if (logins.resting.contains(portal)) now.unit = std::string(kIserEdited);
      if (logins.wanted.contains(portal)) {
        now.unit = as_written ? std::string(kIserUnit) : std::string(kIserEdited);
        if (*drop_in == render_iser_boot_drop_in()) now.at_boot = true;
      }
      note_sessions(portal, sessions, now, facts);
      if (logins.wanted.contains(portal) && unit && !unit->job.empty()) {
        now.logged_in = true;  // as far as anybody can make it
        facts.job = unit->job;
      }
      auto settings = model::to_attributes(now);
      if (settings.empty()) continue;  // one that the unit has says so
      out.push_back(observed_in_own_file({std::string(kIserKind), portal.text()}, iser_label(portal),
                                         std::move(settings), model::to_attributes(facts)));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    auto& host = world.host();
    const auto file = read_iser_file(host.files);
    if (!file) return;  // observe() has failed for it
    if (!wants_any(desired, kIserKind)) return;
    const auto why_not = world.offline()
                             ? std::string()
                             : why_no_program({"iscsiadm", "open-iscsi"}, std::string(kIserUnit), host);
    const auto sessions =
        world.offline() ? Result<std::vector<IscsiSession>>(std::vector<IscsiSession>{}) : sessions_in(world);
    if (!sessions) return;  // as above
    for (auto& resource : desired) {
      if (resource.key.kind != kIserKind || resource.settings.empty()) continue;
      const auto portal = IserPortal::parse(resource.key.id);
      if (!portal) continue;
      if (file->others) {
        diagnostics.push_back(
            {Severity::kError,
             resource.where,
             fmt::format("[[iser_session]]: {} exists, and was not written by rdma-configd", kIserUnitFile),
             fmt::format("move it away, or `systemctl unmask {}`", kIserUnit),
             {}});
        return;
      }
      warn_of_record(resource, *portal, host.files, diagnostics);
      if (world.offline()) resource.settings.erase("logged_in");
      auto why = why_not.empty() ? why_another_there(*portal, *sessions, host) : why_not;
      if (!why.empty()) postpone(resource, std::move(why));
    }
    if (why_not.empty()) warn_of_remote_fs(kIserKind, desired, world, diagnostics);
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (changes.empty()) return {};
    const auto file = read_iser_file(world.host().files);
    if (!file) return base::fail(file.error());
    for (auto* change : changes) {
      const bool goes = change->operation == model::Operation::kDelete;
      // Of a session that goes offline it says that there may be a record; one that is undone has none.
      if (model::from_attributes<IserSession>(change->before).unit == kIserEdited ||
          (goes && world.offline()))
        change->carried = {file->text};
    }
    if (world.offline()) return {};
    const auto& sessions = sessions_in(world);
    if (!sessions) return base::fail(sessions.error());
    for (auto* change : changes) {
      const auto portal = IserPortal::parse(change->key.id);
      if (change->operation != model::Operation::kDelete || !portal) continue;
      const auto names = our_sessions(*sessions, *portal);
      if (!names.empty())
        change->interrupts.push_back(fmt::format("{} is logged out ({}); its disks disappear", change->label,
                                                 base::join(names, ", ")));
      if (record_has_secret(*portal, world.host().files))
        change->interrupts.push_back(
            fmt::format("the record of {} is deleted with its CHAP secret, which a rollback restores only "
                        "from iscsid.conf",
                        change->label));
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    return apply_iser_sessions(changes, host);
  }

  /// A run that ended between a file and systemd's reading it leaves that to be done.
  Result<void> recover(std::span<const Change> /*changes*/, system::Host& host) const override {
    return host.offline ? Result<void>{} : reload_iser_units(host);
  }

  Verdict judge(const Desired& desired, const Observed* observed,
                const std::vector<std::string>& /*differing*/, World& world) const override {
    if (observed == nullptr || world.offline()) return {};
    const auto wanted = model::from_attributes<IserSession>(desired.settings);
    if (wanted.logged_in != true) return {};
    const auto facts = model::from_attributes<IserSession>(observed->facts);
    auto sessions = facts.sessions.value_or(std::vector<std::string>{});
    std::erase_if(sessions, [](const std::string& session) { return !is_text_of_ours(session); });
    return judge_sessions(
        sessions, facts.job,
        {.field = "logged_in",
         .live = "LOGGED_IN",
         .unit = kIserUnit,
         .retry = "iscsid is trying to reconnect to the target",
         .missing =
             fmt::format("no session exists; `journalctl -u {}` has the output of iscsiadm", kIserUnit)});
  }

  void watched(const model::ResourceReport& /*resource*/, system::Settings& out) const override {
    out.units.insert(std::string(kIserUnit));
  }

  /// The kernel would take the disks away under a file system.
  [[nodiscard]] std::string why_held(const model::Key& key, const std::vector<Desired>& desired,
                                     const World& world) const override {
    if (key.kind != kIserKind || world.offline()) return {};
    const auto& leaving =
        world.once("iscsi sessions to go", [&] { return leaving_sessions(desired, world); });
    return why_sessions_held(leaving, key.id, iscsi_disk_uses(world.host()),
                             "it is logged out once nothing uses it");
  }

 private:
  static void note_sessions(const IserPortal& portal, const std::vector<IscsiSession>& all, IserSession& now,
                            IserSession& facts) {
    for (const auto& session : all) {
      if (!leads_to(session, portal)) continue;
      if (is_ours(session, portal)) now.logged_in = true;
      if (!facts.sessions) facts.sessions.emplace();
      facts.sessions->push_back(text_of(session));
    }
  }

  /// A second session would bring the target's disks into the host once more.
  static std::string why_another_there(const IserPortal& portal, const std::vector<IscsiSession>& all,
                                       system::Host& host) {
    if (!our_sessions(all, portal).empty()) return {};
    for (const auto& session : all) {
      if (!leads_to(session, portal)) continue;
      if (session.interface != kIserInterface) {
        return fmt::format(
            "{} of another program is logged in there (transport {}, interface {}); once its disks are "
            "free, "
            "`iscsiadm -m session -r {} -u` logs it out",
            session.name, session.transport, session.interface,
            session.name.substr(std::string_view("session").size()));
      }
      // The entry has been changed. Its former session goes first, unless it has to stay.
      const auto why = why_disks_stay({session.name}, {}, iscsi_disk_uses(host));
      if (why && !why->empty())
        return fmt::format("{} is logged in there by port {} and portal group {}, and {}", session.name,
                           session.port, session.group, *why);
    }
    return {};
  }

  static void warn_of_record(const Desired& resource, const IserPortal& portal, system::Files& files,
                             Diagnostics& diagnostics) {
    const auto record = record_of_others(portal, files);
    if (!record) return;
    diagnostics.push_back(
        {Severity::kWarning,
         resource.where,
         fmt::format("{}: open-iscsi logs in there at boot, too", record->file),
         fmt::format(
             "leave one of them out: `iscsiadm -m node -T {} -p {}{} -o update -n node.startup -v manual`",
             portal.target, record->portal,
             record->interface.empty() ? std::string() : " -I " + record->interface),
         {}});
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
