// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nfs/nfs_mount.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "base/text.hpp"
#include "formats/storage/mount_table.hpp"
#include "formats/storage/mount_unit.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/others_file.hpp"
#include "kinds/storage/nfs/nfs_mount_parse.hpp"
#include "kinds/storage/surroundings.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;
using system::Unit;
using system::UnitAction;

namespace {

constexpr std::string_view kNfsMountKind = "nfs_mount";
constexpr std::string_view kNfsMountInstance = "unit";

constexpr std::array kNfsMountFiles{
    OwnedFile{.path = "/etc/systemd/system/*.mount",
              .what = "Mount of an NFS file system over RDMA; other programs' files have such names, too.",
              .after_write = OwnedFile::AfterWrite::kReloadUnits,
              .ours = is_our_mount_unit},
    OwnedFile{.path = kBootMountsFile,
              .what = "Mounts of NFS file systems at boot.",
              .rendered = [](std::string_view text) { return render_boot_mounts(parse_boot_mounts(text)); },
              .after_write = OwnedFile::AfterWrite::kReloadUnits}};

using MountsByPath = std::map<std::string, Mounted>;

/// Those that systemd knows; empty when none answers.
Result<UnitsByName> observe_mount_units(const std::vector<std::string>& paths, system::Host& host) {
  std::vector<std::string> names;
  for (const auto& path : paths) names.push_back(mount_unit_name(path));
  auto units = observe_units_by_name(names, host);
  if (units) std::erase_if(*units, [](const auto& named) { return !named.second.there(); });
  return units;
}

std::string wanted_source(const NfsMount& mount) {
  if (!mount.server || !mount.exported || !mount.port) return {};
  return fmt::format("{} rdma {}", nfs_source(mount.server->text, mount.exported->text), mount.port->number);
}

Result<std::set<std::string>> read_boot_mounts(system::Files& files) {
  const auto text = files.read(std::string(kBootMountsFile));
  if (!text) return base::fail(text.error());
  return parse_boot_mounts(text->value_or(""));
}

/// Paths of our unit files.
Result<std::set<std::string>> paths_of_files(system::Files& files) {
  std::set<std::string> out;
  const auto names = files.list(std::string(kUnitFolder));
  if (!names) return base::fail(names.error());
  for (const auto& name : *names) {
    if (!name.ends_with(".mount")) continue;
    const auto text = files.read(fmt::format("{}/{}", kUnitFolder, name));
    const auto unit = text && *text ? parse_mount_unit(**text) : std::nullopt;
    if (unit && mount_unit_name(unit->path) == name) out.insert(unit->path);
  }
  return out;
}

NfsMountUnit unit_of(const std::string& path, const NfsMount& mount) {
  return {path, mount.server ? mount.server->text : "", mount.exported ? mount.exported->text : "",
          mount.port ? mount.port->number : kNfsRdmaPort, mount.options.value_or(std::vector<std::string>{})};
}

bool starts(const Unit& unit) {
  return unit.job == "start" || unit.job == "restart" || unit.active == "activating";
}

class NfsMountKind final : public Kind, public NeedsWatching {
 public:
  NfsMountKind()
      : Kind({.name = kNfsMountKind,
              .fields = model::specs<NfsMount>(),
              .traits = {.works_offline = true, .listed_when_foreign = false},
              .files = kNfsMountFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    std::set<std::string, std::less<>> paths;
    for (const auto* section : bound.of(kNfsMountKind)) {
      if (const auto* path = section->find("path")) paths.insert(model::text_of(path->value));
    }
    for (const auto* section : bound.of(kNfsMountKind)) {
      const auto* path = section->find("path");
      if (path == nullptr) continue;  // reported already, by the grammar
      const auto id = model::text_of(path->value);
      check_nfs_mount_entry(*section, diagnostics);
      auto desired = desired_of(*section, fields(), {std::string(kNfsMountKind), id}, id);
      desired.settings.try_emplace("port", kNfsRdmaPort);
      if (desired.settings.contains("options") &&
          model::from_attributes<NfsMount>(desired.settings).options->empty())
        desired.settings.erase("options");
      desired.settings.try_emplace("options", model::Value{});
      desired.settings["unit"] = mount_unit_name(id);
      desired.settings["loaded"] = true;
      const bool mounts = model::value_of(desired.policy, "mount") != model::Value{false};
      desired.settings["at_boot"] = mounts ? model::Value{true} : model::Value{};
      if (mounts)
        desired.settings["mounted"] = wanted_source(model::from_attributes<NfsMount>(desired.settings));
      for (const auto* field : {"port", "options", "unit", "loaded", "at_boot", "mounted"})
        desired.origins.emplace(field, path->where);
      for (auto above = id.rfind('/'); above != 0 && above != std::string::npos;
           above = id.rfind('/', above - 1)) {
        const auto other = paths.find(std::string_view(id).substr(0, above));
        if (other != paths.end()) desired.needs.push_back({std::string(kNfsMountKind), *other});
      }
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto& host = world.host();
    auto paths = paths_of_files(host.files);
    if (!paths) return base::fail(paths.error());
    for (const auto& path : world.tracked(kNfsMountKind)) paths->insert(path);
    std::vector<Observed> out;
    if (paths->empty()) return out;
    const auto at_boot = read_boot_mounts(host.files);
    if (!at_boot) return base::fail(at_boot.error());
    UnitsByName units;
    MountsByPath mounts;
    if (!world.offline()) {
      auto found = observe_mount_units({paths->begin(), paths->end()}, host);
      if (!found) return base::fail(found.error());
      units = std::move(*found);
      mounts = observe_mounts(host.files);
    }
    for (const auto& path : *paths) {
      auto observed = observe_one(path, *at_boot, units, mounts, host.files);
      if (!observed) return base::fail(observed.error());
      if (!(*observed).settings.empty()) out.push_back(std::move(*observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    const auto now = model::by_key(observed);
    std::vector<std::string> paths;
    for (const auto& resource : desired) {
      if (resource.key.kind == kNfsMountKind) paths.push_back(resource.key.id);
    }
    if (paths.empty()) return;
    auto& host = world.host();
    const auto text = host.files.read("/etc/fstab");
    const auto fstab = parse_fstab(text && *text ? **text : std::string());
    UnitsByName units;
    MountsByPath mounts;
    if (!world.offline()) {
      if (auto found = observe_mount_units(paths, host)) units = std::move(*found);
      mounts = observe_mounts(host.files);
    }
    const auto why_not = world.offline()
                             ? std::string()
                             : why_no_program({"mount.nfs", "nfs-common"}, "remote-fs.target", host);
    for (auto& resource : desired) {
      if (resource.key.kind != kNfsMountKind) continue;
      drop_empty_settings(resource, now);
      refuse_others(resource, fstab, units, mounts, host.files, diagnostics);
      if (world.offline()) {
        resource.settings.erase("loaded");
        resource.settings.erase("mounted");
      } else if (!why_not.empty()) {
        postpone(resource, why_not);
      }
    }
    if (why_not.empty()) warn_of_remote_fs(kNfsMountKind, desired, world, diagnostics);
  }

  Result<void> prepare(std::span<Change*> changes, World& /*world*/) const override {
    for (auto* change : changes) {
      const auto now = model::from_attributes<NfsMount>(change->before).mounted;
      const auto then = model::from_attributes<NfsMount>(change->after).mounted;
      if (!now || !concerns(*change, "mounted") || now == then) continue;
      change->interrupts.push_back(then ? change->label + " is unmounted, and mounted from " + *then
                                        : change->label + " is unmounted");
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    std::vector<std::string> paths;
    for (const auto& change : changes) paths.push_back(change.key.id);
    UnitsByName units;
    if (!host.offline) {
      auto found = observe_mount_units(paths, host);
      if (!found) return base::fail(found.error());
      units = std::move(*found);
      for (const auto& change : changes) {  // while systemd knows the unit
        if (auto done = unmount(change, units, host); !done) return done;
      }
    }
    if (auto done = write_units(changes, host.files); !done) return done;
    if (host.offline) return {};
    if (auto done = reload(paths, host); !done) return done;
    const auto mounts = observe_mounts(host.files);
    for (const auto& change : changes) {
      if (auto done = mount(change, mounts, host); !done) return done;
    }
    return {};
  }

  /// A run that ended between a file and systemd's reading it leaves that to be done.
  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    if (host.offline) return {};
    std::vector<std::string> paths;
    for (const auto& change : changes) paths.push_back(change.key.id);
    return reload(paths, host);
  }

  Verdict judge(const Desired& desired, const Observed* observed,
                const std::vector<std::string>& /*differing*/, World& world) const override {
    Verdict verdict;
    if (observed == nullptr || world.offline()) return verdict;
    const auto facts = model::from_attributes<NfsMount>(observed->facts);
    const auto& job = facts.job;
    const auto& others = facts.still;
    const auto wanted = model::from_attributes<NfsMount>(desired.settings);
    if (job && wanted.mounted) {
      verdict.sort = Verdict::Sort::kPending;
      verdict.reason = fmt::format("systemd has queued its {} job behind other jobs", *job);
      return verdict;
    }
    if (!others || !wanted.mounted) return verdict;
    verdict.sort = Verdict::Sort::kPending;
    verdict.reason =
        fmt::format("still mounted with {}; the options take effect at the next mount: systemctl restart {}",
                    base::join(*others, ", "), quoted(mount_unit_name(desired.key.id)));
    return verdict;
  }

  void watched(const model::ResourceReport& resource, system::Settings& out) const override {
    out.units.insert(mount_unit_name(resource.key.id));
  }

 private:
  static bool concerns(const Change& change, std::string_view field) {
    return change.operation != model::Operation::kUpdate || change.differs_in(field);
  }

  /// A backslash of an escaped name is the shell's.
  static std::string quoted(const std::string& name) {
    return name.find('\\') == std::string::npos ? name : "'" + name + "'";
  }

  static Result<Observed> observe_one(const std::string& path, const std::set<std::string>& at_boot,
                                      const UnitsByName& units, const MountsByPath& mounts,
                                      system::Files& files) {
    Observed observed;
    observed.key = {std::string(kNfsMountKind), path};
    observed.label = path;
    observed.instance = kNfsMountInstance;
    NfsMount now, facts;
    const auto name = mount_unit_name(path);
    const auto text = files.read(mount_unit_file(path));
    if (!text && !system::is_unusable(text.error())) return base::fail(text.error());
    const auto ours = text && *text ? parse_mount_unit(**text) : std::nullopt;
    if (ours) {
      now.server = model::ServerName{ours->server};
      now.exported = model::PlainPath{ours->exported};
      now.port = model::ServicePort{ours->port};
      if (!ours->options.empty()) now.options = ours->options;
      if (render_mount_unit(*ours) == **text) now.unit = name;
    }
    if (at_boot.contains(name)) now.at_boot = true;
    if (const auto mount = mounts.find(path); mount != mounts.end() && mount->second.is_nfs()) {
      now.mounted = text_of_nfs(mount->second);
      auto others = ours ? other_options(ours->options, mount->second) : std::vector<std::string>{};
      if (!others.empty()) facts.still = std::move(others);
    }
    const auto unit = units.find(name);
    if (ours && unit != units.end()) {
      now.loaded = !unit->second.needs_reload;
      if (starts(unit->second)) {
        now.mounted = wanted_source(now);  // as far as anybody can make it
        facts.job = unit->second.job.empty() ? "start" : unit->second.job;
      }
    }
    observed.settings = model::to_attributes(now);
    observed.facts = model::to_attributes(facts);
    observed.ours_by_nature = ours.has_value() || now.at_boot.has_value();
    return observed;
  }

  /// A mount of others at the same place stays theirs.
  static void refuse_others(const Desired& resource, const std::map<std::string, int>& fstab,
                            const UnitsByName& units, const MountsByPath& mounts, system::Files& files,
                            Diagnostics& diagnostics) {
    const auto refuse = [&](std::string what, std::string hint) {
      diagnostics.push_back({Severity::kError,
                             resource.origins.at("path"),
                             fmt::format("[[nfs_mount]] path: {}", what),
                             std::move(hint),
                             {}});
    };
    if (const auto line = fstab.find(resource.key.id); line != fstab.end()) {
      refuse(fmt::format("/etc/fstab:{} mounts there, too", line->second), "remove the line from /etc/fstab");
      return;
    }
    const auto name = mount_unit_name(resource.key.id);
    const auto file = mount_unit_file(resource.key.id);
    const auto text = files.read(file);
    const bool ours = text && *text && is_our_mount_unit(**text);
    if (!ours && (!text || *text)) {
      refuse(fmt::format("{} exists, and was not written by rdma-configd", file), "move it away");
      return;
    }
    const auto unit = units.find(name);
    if (unit != units.end() && unit->second.load == "masked") {
      refuse(name + " is masked", "systemctl unmask " + quoted(name) + ", or leave the entry out");
      return;
    }
    const auto mount = mounts.find(resource.key.id);
    if (mount == mounts.end() || mount->second.type == "autofs" || (ours && mount->second.is_nfs())) return;
    const auto now = mount->second.is_nfs()
                         ? text_of_nfs(mount->second)
                         : fmt::format("{} ({})", mount->second.source, mount->second.type);
    if (resource.settings.contains("mounted") && model::text_at(resource.settings, "mounted") == now) return;
    refuse(fmt::format("{} is mounted there now", now), "unmount it first: umount " + resource.key.id);
  }

  static Result<void> unmount(const Change& change, const UnitsByName& units, system::Host& host) {
    const auto wanted = model::from_attributes<NfsMount>(change.after);
    if (wanted.mounted || !change.before.contains("mounted") || !concerns(change, "mounted")) return {};
    const auto unit = units.find(mount_unit_name(change.key.id));
    if (unit == units.end() || unit->second.active == "inactive") return {};
    return host.units.act(UnitAction::kStop, unit->first);
  }

  static Result<void> write_units(std::span<const Change> changes, system::Files& files) {
    auto at_boot = read_boot_mounts(files);
    if (!at_boot) return base::fail(at_boot.error());
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<NfsMount>(change.after);
      const auto path = mount_unit_file(change.key.id);
      const auto now = files.read(path);
      if (!now) return base::fail(now.error());
      const bool goes = !wanted.server || !wanted.exported;
      if (auto mine = refuse_others_file(*now, path, is_our_mount_unit); !goes && !mine) return mine;
      auto done = wanted.server && wanted.exported
                      ? files.write(path, render_mount_unit(unit_of(change.key.id, wanted)))
                      : remove_ours(path, files);
      if (!done) return done;
      if (wanted.at_boot == true) {
        at_boot->insert(mount_unit_name(change.key.id));
      } else {
        at_boot->erase(mount_unit_name(change.key.id));
      }
    }
    const auto text = render_boot_mounts(*at_boot);
    const std::string path(kBootMountsFile);
    return text.empty() ? files.remove(path) : files.write(path, text);
  }

  static Result<void> remove_ours(const std::string& path, system::Files& files) {
    const auto text = files.read(path);
    if (!text) return base::fail(text.error());
    return *text && is_our_mount_unit(**text) ? files.remove(path) : Result<void>{};
  }

  /// Has systemd read its files where those of a unit changed since it did, or of remote-fs.target.
  static Result<void> reload(const std::vector<std::string>& paths, system::Host& host) {
    std::vector<std::string> names{"remote-fs.target"};
    for (const auto& path : paths) names.push_back(mount_unit_name(path));
    return reload_changed_units(names, host);
  }

  static Result<void> mount(const Change& change, const MountsByPath& mounts, system::Host& host) {
    const auto wanted = model::from_attributes<NfsMount>(change.after).mounted;
    if (!wanted) return {};
    const auto at = mounts.find(change.key.id);
    const bool there = at != mounts.end();
    if (there && at->second.is_nfs() && text_of_nfs(at->second) == *wanted) return {};
    return host.units.act(there ? UnitAction::kRestart : UnitAction::kStart, mount_unit_name(change.key.id));
  }
};

}  // namespace

model::SectionSpec nfs_mount_section() {
  model::SectionSpec section{
      .name = kNfsMountKind,
      .doc =
          "An NFS file system that this host mounts over RDMA: a mount unit of systemd, which "
          "waits for the network and for rdma-configd-online.target.",
      .identities = {{"path"}}};
  add_written(section.fields, model::specs<NfsMount>());
  return section;
}

const Kind& nfs_mount() {
  static const NfsMountKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
