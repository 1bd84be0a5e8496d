// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "formats/opensm/opensm_files.hpp"
#include "formats/opensm/opensm_options.hpp"
#include "formats/opensm/opensm_replaced.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/package_table.hpp"
#include "kinds/opensm/opensm_option_parse.hpp"
#include "kinds/opensm/opensm_own.hpp"
#include "kinds/opensm/opensm_paths.hpp"
#include "kinds/opensm/opensm_running.hpp"
#include "kinds/opensm/opensm_started.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kWasMissing = "# before: there was no file";

constexpr std::array kOpensmOptionFiles{
    OwnedFile{.path = "/etc/opensm/opensm.conf",
              .what = "Options of OpenSM (Debian, SUSE).",
              .extent = OwnedFile::Extent::kBlock,
              .marks = &kOpensmMarks,
              .notes = kOpensmNotes},
    OwnedFile{.path = "/etc/rdma/opensm.conf",
              .what = "Options of OpenSM (RHEL, Fedora).",
              .extent = OwnedFile::Extent::kBlock,
              .marks = &kOpensmMarks,
              .notes = kOpensmNotes},
    OwnedFile{.path = "/etc/opensm/opensm-*.conf",
              .what = "Options of one subnet manager (Debian).",
              .ours = is_our_opensm_file},
    OwnedFile{.path = "/etc/rdma/opensm-*.conf",
              .what = "Options of one subnet manager (OpenSM built for /etc/rdma).",
              .ours = is_our_opensm_file},
    OwnedFile{.path = "/etc/opensm/opensm.conf.*",
              .what = "Options of one subnet manager (SUSE).",
              .ours = is_our_opensm_file},
    OwnedFile{.path = "/etc/rdma/opensm.conf.*",
              .what = "Options of one subnet manager (RHEL, Fedora).",
              .ours = is_our_opensm_file}};

class OpensmOptionKind final : public Kind, public PutBackByOthers {
 public:
  OpensmOptionKind()
      : Kind({.name = kOpensmOptionKind,
              .fields = model::specs<OpensmOption>(),
              .traits = {.works_offline = true, .interrupts_services = true},
              .files = kOpensmOptionFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    parse_option_entries(bound, out, diagnostics);
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    auto& files = world.host().files;
    const auto folder = observe_opensm_folder(files);
    if (!folder) return base::fail(folder.error());
    if (!*folder) return out;
    const auto options = read_options(files, opensm_options_path(**folder));
    if (!options) return base::fail(options.error());
    const auto confs = observe_own_confs(files, **folder);
    if (!confs) return base::fail(confs.error());
    const auto add = [&](const OpensmOwner& owner) -> Observed& {
      return out.emplace_back(
          observed_in_own_file({std::string(kOpensmOptionKind), owner.id()}, opensm_option_label(owner), {}));
    };
    for (const auto& [key, value] : options->ours) {
      if (options->damage) break;  // check() says so; our lines are not known
      auto& observed = add({std::nullopt, key});
      const auto below = options->below.find(key);
      const bool counts = below == options->below.end() || below->second == opensm_value(value);
      observed.settings["value"] = counts ? value : below->second;
      if (const auto at = options->theirs.find(key); at != options->theirs.end())
        observed.facts["overrides"] = at->second;
    }
    for (const auto& [port, conf] : *confs) {
      for (const auto& [key, value] : conf.options) {
        auto& observed = add({port, key});
        if (conf.is_read) observed.settings["value"] = value;  // else it holds for nobody
      }
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    auto& files = world.host().files;
    const auto folder = observe_opensm_folder(files);
    if (folder && *folder) {
      complete_paths(desired, **folder);
      if (!world.offline()) check_written_paths(desired, files, diagnostics);
      warn_of_other_conf(desired, files, diagnostics);
      const auto path = opensm_options_path(**folder);
      const auto options = read_options(files, path);
      if (!options) return;  // observe() has failed for it
      check_own(desired, files, **folder, *options, diagnostics);
      warn_of_replaced(desired, *options, diagnostics);
      if (!world.offline()) warn_of_earlier_start(desired, observed, **folder, world, diagnostics);
      std::vector<Desired> common;
      for (const auto& resource : desired) {
        if (resource.key.kind == kOpensmOptionKind && !OpensmOwner::of(resource.key.id).port)
          common.push_back(resource);
      }
      report_damage(options->damage, path, kOpensmOptionKind, common, our_lines(options->ours), diagnostics);
      hold_damaged(options->damage, path, kOpensmOptionKind, our_lines(options->ours), desired);
      return;
    }
    for (auto& resource : desired) {
      if (resource.key.kind != kOpensmOptionKind) continue;
      postpone(resource, without_opensm(world.host().files));
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (world.offline()) return {};
    RunningByPort running(world.host());
    for (auto* change : changes) {
      const auto port = OpensmOwner::of(change->key.id).port;
      const auto units = running.of(port, readers_of(port));
      if (!units) return base::fail(units.error());
      for (const auto& unit : *units) {
        change->interrupts.push_back(unit + " is restarted");
        change->carried.push_back(carried_unit(unit));
      }
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    const auto restart = write_options(changes, host);
    if (!restart) return base::fail(restart.error());
    return host.offline ? Result<void>{} : tell_opensm(host, *restart, {}, units_that_ran(changes));
  }

  /// A run that ended between the file and the restart leaves that to be done. OpenSM ends at options that it
  /// refuses: then it runs again with those of before, and the plan that follows fails with them, as any
  /// does.
  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    if (host.offline) return {};
    OpensmReaders restart;
    for (const auto& change : changes) {
      const auto port = OpensmOwner::of(change.key.id).port;
      if (port) restart.own.insert(*port);
      restart.common = restart.common || !port;
    }
    const auto ran = units_that_ran(changes);
    auto done = tell_opensm(host, restart, {}, ran);
    if (done) return done;
    std::vector<Change> back(changes.begin(), changes.end());
    for (auto& change : back) std::swap(change.before, change.after);
    if (const auto written = write_options(back, host); !written) return base::fail(written.error());
    return tell_opensm(host, restart, {}, ran);
  }

  /// A subnet manager that the plan stops or changes is so before its own options go: it would be restarted
  /// for them.
  [[nodiscard]] std::vector<model::Key> put_back_by(const model::Key& key) const override {
    const auto port = OpensmOwner::of(key.id).port;
    if (!port) return {};
    return {{"opensm", port->text()}};
  }

 private:
  static OpensmReaders readers_of(std::optional<model::Guid> port) {
    OpensmReaders out;
    out.common = !port;
    if (port) out.own.insert(*port);
    return out;
  }

  /// @return whom that concerns
  static Result<OpensmReaders> write_options(std::span<const Change> changes, system::Host& host) {
    const auto found = observe_opensm_folder(host.files);
    if (!found) return base::fail(found.error());
    const auto folder = found->value_or("/etc/opensm");
    OpensmReaders restart;
    const auto common = write_common(changes, host.files, folder);
    if (!common) return base::fail(common.error());
    restart.common = *common;
    const auto confs = observe_own_confs(host.files, folder);
    if (!confs) return base::fail(confs.error());
    std::map<model::Guid, std::map<std::string, std::string>> own;
    for (const auto& change : changes) {
      const auto owner = OpensmOwner::of(change.key.id);
      if (!owner.port) continue;
      const auto [at, fresh] = own.try_emplace(*owner.port);
      if (const auto there = confs->find(*owner.port); fresh && there != confs->end())
        at->second = there->second.options;
      const auto wanted = model::from_attributes<OpensmOption>(change.after);
      if (wanted.value) {
        at->second.insert_or_assign(owner.option, wanted.value->text);
      } else {
        at->second.erase(owner.option);
      }
    }
    for (const auto& [port, options] : own) {
      const auto done = write_own_conf(host.files, folder, port, options);
      if (!done) return base::fail(done.error());
      if (*done) restart.own.insert(port);
    }
    return restart;
  }

  static void complete_paths(std::vector<Desired>& desired, const std::string& folder) {
    for (auto& resource : desired) {
      if (resource.key.kind != kOpensmOptionKind) continue;
      const auto owner = OpensmOwner::of(resource.key.id);
      const auto* file = opensm_side_file(owner.option);
      const auto value = model::text_at(resource.settings, "value");
      if (file != nullptr && (value == file->name || value == opensm_side_name(*file, owner.port)))
        resource.settings["value"] = fmt::format("{}/{}", folder, value);
    }
  }

  /// Reports reasons against files of ports' own, once for each port; its own options come first.
  static void check_own(std::vector<Desired>& desired, system::Files& files, const std::string& folder,
                        const OpensmOptions& common, Diagnostics& diagnostics) {
    const auto layout = observe_opensm_layout(files);
    std::set<model::Guid> seen;
    for (auto& resource : desired) {
      const auto port =
          resource.key.kind == kOpensmOptionKind ? OpensmOwner::of(resource.key.id).port : std::nullopt;
      if (!port) continue;
      if (layout == OpensmLayout::kNone) {
        postpone(resource, kNoWayToStart);
        continue;
      }
      if (!seen.insert(*port).second) continue;
      const auto tell = [&](Severity severity, std::string what, std::string hint) {
        diagnostics.push_back({severity, resource.where, std::move(what), std::move(hint), {}});
      };
      const auto path = own_conf_path(layout, folder, *port);
      if (auto why = why_not_writable(files, path); !why.empty())
        tell(Severity::kError, std::move(why), "move it away; [[opensm.option]] writes it");
      if (!common.theirs.empty())
        tell(Severity::kWarning, unread(common, folder), "write those that it needs, too");
    }
  }

  /// Values that OpenSM replaces because of others in the same file; of options that all files have, once.
  static void warn_of_replaced(const std::vector<Desired>& desired, const OpensmOptions& common,
                               Diagnostics& diagnostics) {
    std::map<std::optional<model::Guid>, std::map<std::string, const Desired*>> by_file;
    for (const auto& resource : desired) {
      if (resource.key.kind != kOpensmOptionKind) continue;
      auto owner = OpensmOwner::of(resource.key.id);
      by_file[owner.port].emplace(std::move(owner.option), &resource);
    }
    std::set<std::pair<model::Location, std::string>> told;
    for (const auto& [port, given] : by_file) {
      auto values = port ? std::map<std::string, std::string>() : common.theirs;
      for (const auto& [option, resource] : given)
        values.insert_or_assign(option, model::text_at(resource->settings, "value"));
      for (auto& replaced : replaced_opensm_options(values)) {
        const auto at = given.find(std::string(replaced.option));
        if (at == given.end()) continue;  // somebody else's line, or a default
        const auto place = at->second->origins.find("value");
        const auto& where = place == at->second->origins.end() ? at->second->where : place->second;
        if (!told.emplace(where, replaced.what).second) continue;
        diagnostics.push_back(
            {Severity::kWarning,
             where,
             fmt::format("[[{}]] value: {}", port ? "opensm.option" : kOpensmOptionKind, replaced.what),
             std::move(replaced.hint),
             {}});
      }
    }
  }

  /// Lines of others in opensm.conf, which a subnet manager with a file of its own does not read.
  static std::string unread(const OpensmOptions& common, const std::string& folder) {
    constexpr std::size_t kShown = 5;
    std::vector<std::string> names;
    names.reserve(common.theirs.size());
    for (const auto& [option, value] : common.theirs) names.push_back(option);
    return fmt::format(
        "[[opensm]]: with its own options it does not read {}, where other programs have set {}",
        opensm_options_path(folder), base::join_first(kShown, names, ", "));
  }

  /// Whether opensm.conf was changed.
  static Result<bool> write_common(std::span<const Change> changes, system::Files& files,
                                   const std::string& folder) {
    const auto path = opensm_options_path(folder);
    const auto is_common = [](const Change& change) { return !OpensmOwner::of(change.key.id).port; };
    if (std::none_of(changes.begin(), changes.end(), is_common)) return false;
    auto text = files.read(path);
    if (!text) return base::fail(text.error());
    auto options = parse_opensm_options(text->value_or(""));
    const auto before = options.ours;
    for (const auto& change : changes) {
      if (!is_common(change)) continue;
      const auto wanted = model::from_attributes<OpensmOption>(change.after);
      if (wanted.value) {
        options.ours.insert_or_assign(change.key.id, wanted.value->text);
      } else {
        options.ours.erase(change.key.id);
      }
    }
    if (options.damage) {
      if (options.ours == before) return false;
      return base::fail(error_of(*options.damage, path));
    }
    options.was_missing = options.was_missing || !*text;
    const auto content = render_opensm_options(options);
    if (content == text->value_or("")) return false;
    const bool goes = content.empty() && options.was_missing;
    auto done = goes ? files.remove(path) : files.edit(path, content);
    if (!done) return base::fail(done.error());
    return true;
  }

  static Result<OpensmOptions> read_options(system::Files& files, const std::string& path) {
    auto file = read_marked(files, path);
    if (!file) return base::fail(file.error());
    auto options = parse_opensm_options(file->text.value_or(""));
    if (file->damage) options.damage = std::move(file->damage);
    return options;
  }
};

}  // namespace

OpensmOptions parse_opensm_options(std::string_view text) {
  OpensmOptions out;
  auto marked = parse_marked(text, kOpensmMarks);
  out.others = std::move(marked.others);
  out.damage = std::move(marked.damage);
  for (const auto& [line, number, ours] : marked.lines) {
    out.was_missing = out.was_missing || (ours && line == kWasMissing);
    const auto parsed = parse_opensm_option_line(line);
    if (!parsed) continue;
    std::string option(parsed->option);
    if (ours) {
      out.below.erase(option);
      out.ours.insert_or_assign(std::move(option), std::string(base::trim(parsed->value)));
      continue;
    }
    std::string value(opensm_value(parsed->value));
    if (out.ours.contains(option)) out.below.insert_or_assign(option, value);
    out.theirs.insert_or_assign(std::move(option), std::move(value));
  }
  return out;
}

std::string render_opensm_options(const OpensmOptions& options) {
  if (options.ours.empty()) return options.others;
  auto text = begin_marked(options.others, kOpensmMarks);
  if (options.was_missing) text += fmt::format("{}\n", kWasMissing);
  for (const auto& [key, value] : options.ours) text += fmt::format("{} {}\n", key, value);
  return text + std::string(kOpensmMarks.end) + "\n";
}

std::optional<std::string> opensm_option_value(std::span<const Desired> desired, system::Files& files,
                                               const std::string& folder, std::string_view option) {
  if (auto value = own_option_value(desired, {std::nullopt, std::string(option)})) return value;
  const auto text = files.read(opensm_options_path(folder));
  if (!text || !*text) return std::nullopt;
  // With a document, a line of ours is one that it does not have any more.
  const auto which = desired.empty() ? OpensmLines::kAll : OpensmLines::kOfOthers;
  auto written = last_opensm_option(parse_marked(**text, kOpensmMarks).lines, option, which);
  return written ? std::optional(std::move(written->value)) : std::nullopt;
}

std::optional<std::string> own_option_value(std::span<const Desired> desired, const OpensmOwner& owner) {
  const auto id = owner.id();
  for (const auto& resource : desired) {
    if (resource.key.kind == kOpensmOptionKind && resource.key.id == id &&
        resource.settings.contains("value"))
      return std::string(opensm_value(model::text_at(resource.settings, "value")));
  }
  return std::nullopt;
}

std::string opensm_options_path(const std::string& folder) { return folder + "/opensm.conf"; }

model::SectionSpec opensm_option_section() {
  model::SectionSpec section{.name = kOpensmOptionKind,
                             .doc =
                                 "An option of opensm.conf; other options are left unchanged. A change "
                                 "restarts running subnet managers.",
                             .identities = {{"key"}}};
  add_written(section.fields, model::specs<OpensmOption>());
  return section;
}

const Kind& opensm_option() {
  static const OpensmOptionKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
