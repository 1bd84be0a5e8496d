// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "formats/opensm/opensm_files.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/package_table.hpp"
#include "kinds/opensm/opensm_running.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kOpensmOptionKind = "opensm_option";
constexpr std::string_view kWasMissing = "# before: there was no file";
/// osm_subn_parse_conf_file() reads lines into 1024 bytes.
constexpr std::size_t kLineMost = 1000;

/// Options that have a place of their own in the document.
constexpr std::array<std::array<std::string_view, 2>, 3> kElsewhere{{
    {"guid", "[[opensm]] guid names the port"},
    {"sm_priority", "[[opensm]] has priority"},
    {"partition_config_file", "[[partition]] writes the file that OpenSM reads without this option"},
}};

constexpr std::array kOpensmOptionFiles{OwnedFile{.path = "/etc/opensm/opensm.conf",
                                                  .what = "Options of OpenSM (Debian, SUSE).",
                                                  .extent = OwnedFile::Extent::kBlock,
                                                  .marks = &kOpensmMarks,
                                                  .notes = kOpensmNotes},
                                        OwnedFile{.path = "/etc/rdma/opensm.conf",
                                                  .what = "Options of OpenSM (RHEL, Fedora).",
                                                  .extent = OwnedFile::Extent::kBlock,
                                                  .marks = &kOpensmMarks,
                                                  .notes = kOpensmNotes}};

class OpensmOptionKind final : public Kind {
 public:
  OpensmOptionKind()
      : Kind({.name = kOpensmOptionKind,
              .fields = model::specs<OpensmOption>(),
              .traits = {.works_offline = true},
              .files = kOpensmOptionFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kOpensmOptionKind)) {
      const auto* key = section->find("key");
      if (key == nullptr) continue;  // reported already, by the grammar
      const auto id = model::text_of(key->value);
      const auto wrong = [&](const model::Location& where, std::string what, std::string hint) {
        diagnostics.push_back(
            {Severity::kError, where, "[[opensm_option]] " + std::move(what), std::move(hint), {}});
      };
      if (id.empty() ||
          id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
              std::string::npos) {
        wrong(key->where, fmt::format("key: \"{}\" is not an option of OpenSM", id), "letters, digits and _");
        continue;
      }
      for (const auto& [option, place] : kElsewhere) {
        if (id == option) wrong(key->where, fmt::format("key: {} is not set here", id), std::string(place));
      }
      auto desired =
          desired_of(*section, fields(), {std::string(kOpensmOptionKind), id}, "opensm.conf " + id);
      const auto* value = section->find("value");
      if (value == nullptr) {
        wrong(key->where, "value: it is missing", "value = … as `opensm --create-config` would write it");
        continue;
      }
      check_value(id, model::text_of(value->value), value->where, wrong);
      out.push_back(std::move(desired));
    }
    options_of_files(bound, out);
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    auto& files = world.host().files;
    const auto folder = observe_opensm_folder(files);
    if (!folder) return base::fail(folder.error());
    if (!*folder) return out;
    const auto options = read_options(files, opensm_options_path(**folder));
    if (!options) return base::fail(options.error());
    if (options->damage) return out;  // check() says so; our lines are not known
    for (const auto& [key, value] : options->ours) {
      Observed observed;
      observed.key = {std::string(kOpensmOptionKind), key};
      observed.label = "opensm.conf " + key;
      observed.settings["value"] = value;
      if (const auto at = options->theirs.find(key); at != options->theirs.end())
        observed.facts["overrides"] = at->second;
      observed.ours_by_nature = true;
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    auto& files = world.host().files;
    const auto folder = observe_opensm_folder(files);
    if (folder && *folder) {
      complete_paths(desired, **folder);
      const auto path = opensm_options_path(**folder);
      const auto options = read_options(files, path);
      if (!options) return;  // observe() has failed for it
      report_damage(options->damage, path, kOpensmOptionKind, desired, !options->ours.empty(), diagnostics);
      hold_damaged(options->damage, path, kOpensmOptionKind, !options->ours.empty(), desired);
      return;
    }
    for (auto& one : desired) {
      if (one.key.kind != kOpensmOptionKind) continue;
      one.pending = without_opensm(world.host().files);
      one.settings.clear();
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (world.offline()) return {};
    const auto running = running_opensm(world.host());
    if (!running) return base::fail(running.error());
    for (auto* change : changes) {
      for (const auto& unit : *running) change->interrupts.push_back(unit + " is restarted");
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    const auto folder = observe_opensm_folder(host.files);
    if (!folder) return base::fail(folder.error());
    const auto path = opensm_options_path(folder->value_or("/etc/opensm"));
    auto text = host.files.read(path);
    if (!text) return base::fail(text.error());
    auto options = parse_opensm_options(text->value_or(""));
    const auto before = options.ours;
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<OpensmOption>(change.after);
      if (wanted.value) {
        options.ours.insert_or_assign(change.key.id, wanted.value->text);
      } else {
        options.ours.erase(change.key.id);
      }
    }
    if (options.damage) {
      return options.ours == before ? Result<void>{} : base::fail(error_of(*options.damage, path));
    }
    options.was_missing = options.was_missing || !*text;
    const auto content = render_opensm_options(options);
    if (content == text->value_or("")) return {};
    const bool goes = content.empty() && options.was_missing;
    auto done = goes ? host.files.remove(path) : host.files.write(path, content);
    return done && !host.offline ? restart_opensm(host) : done;
  }

  /// A run that ended between the file and the restart leaves that to be done.
  Result<void> recover(std::span<const Change> /*changes*/, system::Host& host) const override {
    return host.offline ? Result<void>{} : restart_opensm(host);
  }

 private:
  /// Each [[opensm_file]] implies the option that names its file; in which folder that is, only the host
  /// tells.
  static void options_of_files(const Bound& bound, std::vector<Desired>& out) {
    std::set<std::string> known;
    for (const auto& one : out) {
      if (one.key.kind == kOpensmOptionKind) known.insert(one.key.id);
    }
    for (const auto* section : bound.of("opensm_file")) {
      const auto* option = section->find("option");
      const auto* file = option == nullptr ? nullptr : opensm_side_file(model::text_of(option->value));
      if (file == nullptr || known.contains(std::string(file->option))) continue;  // reported by its kind
      auto& desired = out.emplace_back();
      desired.key = {std::string(kOpensmOptionKind), std::string(file->option)};
      desired.label = fmt::format("opensm.conf {}", file->option);
      desired.settings["value"] = std::string(file->name);
      desired.origins["value"] = option->where;
      desired.where = section->where;
      desired.needs.push_back({"opensm_file", std::string(file->option)});
    }
  }

  static void complete_paths(std::vector<Desired>& desired, const std::string& folder) {
    for (auto& one : desired) {
      const auto* file = one.key.kind == kOpensmOptionKind ? opensm_side_file(one.key.id) : nullptr;
      if (file != nullptr && model::text_at(one.settings, "value") == file->name)
        one.settings["value"] = fmt::format("{}/{}", folder, file->name);
    }
  }

  static Result<OpensmOptions> read_options(system::Files& files, const std::string& path) {
    auto file = read_marked(files, path);
    if (!file) return base::fail(file.error());
    auto options = parse_opensm_options(file->text.value_or(""));
    if (file->damage) options.damage = std::move(file->damage);
    return options;
  }

  template <class Wrong>
  static void check_value(const std::string& key, const std::string& value, const model::Location& where,
                          const Wrong& wrong) {
    if (value.find_first_of("\n\r#") != std::string::npos) {
      wrong(where, "value: a line of opensm.conf cannot hold it", "no line break and no #");
    } else if (key.size() + value.size() > kLineMost) {
      wrong(where, "value: it is too long for a line that OpenSM reads",
            fmt::format("at most {} characters with the key", kLineMost));
    }
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
    const auto content = base::trim(line.substr(0, line.find('#')));
    const auto space = content.find_first_of(" \t");
    if (content.empty() || space == std::string_view::npos) continue;
    auto& options = ours ? out.ours : out.theirs;
    options.insert_or_assign(std::string(content.substr(0, space)),
                             std::string(base::trim(content.substr(space))));
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
  for (const auto& one : desired) {
    if (one.key.kind == kOpensmOptionKind && one.key.id == option && one.settings.contains("value"))
      return model::text_at(one.settings, "value");
  }
  const auto text = files.read(opensm_options_path(folder));
  if (!text || !*text) return std::nullopt;
  std::optional<std::string> out;
  for (const auto& line : parse_marked(**text, kOpensmMarks).lines) {
    const auto content = base::trim(line.text.substr(0, line.text.find('#')));
    const auto blank = content.find_first_of(" \t");
    if (blank == std::string_view::npos || content.substr(0, blank) != option) continue;
    if (line.ours && !desired.empty()) continue;  // the document does not have it any more
    out = std::string(base::trim(content.substr(blank)));
  }
  return out;
}

std::string opensm_options_path(const std::string& folder) { return folder + "/opensm.conf"; }

model::SectionSpec opensm_option_section() {
  model::SectionSpec section{.name = kOpensmOptionKind,
                             .doc =
                                 "An option of opensm.conf; those that are not given stay as they are. A "
                                 "subnet manager that runs is restarted when one changes.",
                             .identities = {{"key"}}};
  add_written(section.fields, model::specs<OpensmOption>());
  return section;
}

const Kind& opensm_option() {
  static const OpensmOptionKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
