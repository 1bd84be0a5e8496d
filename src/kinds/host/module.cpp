// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "formats/modprobe_conf.hpp"
#include "formats/modules_load.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/initramfs_stamp.hpp"
#include "kinds/host/package_table.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostic;
using model::Diagnostics;
using model::ModuleOptions;
using model::Observed;
using model::Severity;

namespace {

constexpr auto kModuleCompetitors = std::to_array<std::string_view>({"openibd"});

using Names = std::set<std::string>;

using Lists = std::map<std::string_view, Names>;  // by file

Result<Lists> read_lists(system::Files& files) {
  Lists lists;
  for (const auto path : {kModulesLoadFile, kRdmaModulesFile}) {
    auto names = read_load_file(files, path);
    if (!names) return base::fail(names.error());
    lists[path] = std::move(*names);
  }
  return lists;
}

ModuleOptions options_of(const model::Attributes& attributes) {
  return model::from_attributes<KernelModule>(attributes).options.value_or(ModuleOptions{});
}

bool is_true(const model::Attributes& attributes, std::string_view field) {
  return model::value_of(attributes, field) == model::Value{true};
}

bool any_lists(const Lists& lists, const std::string& name) {
  return std::any_of(lists.begin(), lists.end(),
                     [&](const auto& list) { return list.second.contains(name); });
}

std::optional<std::string> module_options_after(std::span<const Desired> desired,
                                                std::span<const Observed> /*observed*/) {
  OptionLines lines;
  for (const auto& resource : desired) {
    if (resource.key.kind != kModuleKind) continue;
    if (const auto options = model::from_attributes<KernelModule>(resource.settings).options)
      lines[resource.key.id] = *options;
  }
  return lines.empty() ? std::nullopt : std::optional(render_option_lines(lines));
}

constexpr std::array kModuleFiles{
    OwnedFile{.path = kModuleOptionsFile,
              .what = "Options of modules.",
              .rendered = canonical_option_lines,
              .text_after = module_options_after},
    OwnedFile{.path = kModulesLoadFile, .what = "Modules to load at boot."},
    OwnedFile{.path = kRdmaModulesFile, .what = "Modules over RDMA devices, loaded when hardware appears."}};

class ModuleKind final : public Kind {
 public:
  ModuleKind()
      : Kind({.name = kModuleKind,
              .fields = model::specs<KernelModule>(),
              .traits = {.works_offline = true, .listed_when_foreign = false},
              .files = kModuleFiles,
              .competitors = kModuleCompetitors}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& /*diagnostics*/) const override {
    for (const auto* section : bound.of(kModuleKind)) {
      const auto* name = section->find("name");
      if (name == nullptr) continue;
      const auto id = model::text_of(name->value);
      auto desired = desired_of(*section, fields(), {std::string(kModuleKind), id}, id);
      // Our files hold the document's current values, so other values are not in them.
      if (options_of(desired.settings).list.empty()) desired.settings["options"] = model::Value{};
      desired.settings["at_boot"] = model::Value{};
      if (!desired.policy.contains("load") || is_true(desired.policy, "load")) {
        desired.settings["at_boot"] = true;
        desired.settings["loaded"] = true;
      }
      desired.origins.emplace("at_boot", name->where);
      desired.origins.emplace("loaded", name->where);
      // Options that another kind writes for it must be there when it is loaded.
      desired.needs.push_back({"pfc", id});
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto& host = world.host();
    auto options = read_option_lines(host.files, kModuleOptionsFile);
    if (!options) return base::fail(options.error());
    auto lists = read_lists(host.files);
    if (!lists) return base::fail(lists.error());
    Names loaded, all;
    if (!world.offline()) {
      auto names = host.modules.observe_loaded();
      if (!names) return base::fail(names.error());
      loaded.insert(names->begin(), names->end());
    }
    all = loaded;
    for (const auto& [path, names] : *lists) all.insert(names.begin(), names.end());
    for (const auto& [name, list] : *options) all.insert(name);
    std::vector<Observed> out;
    for (const auto& name : all) {
      Observed observed;
      observed.key = {std::string(kModuleKind), name};
      observed.label = name;
      KernelModule settings;
      if (any_lists(*lists, name)) settings.at_boot = true;
      if (loaded.contains(name)) settings.loaded = true;
      if (const auto at = options->find(name); at != options->end()) {
        settings.options = at->second;
        KernelModule facts;
        facts.running.emplace();
        for (const auto& option : at->second.list) {
          if (world.offline()) break;
          if (auto value = host.modules.parameter(name, option.name))
            facts.running->list.push_back({option.name, std::move(*value), true});
        }
        if (!facts.running->list.empty()) observed.facts = model::to_attributes(facts);
      }
      observed.settings = model::to_attributes(settings);
      observed.ours_by_nature = settings.at_boot || settings.options;
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    std::optional<std::map<std::string, std::vector<ForeignLine>>> foreign;  // by module, once it is needed
    std::map<std::string, std::vector<ForeignLine>> at_next_boot;
    std::vector<TmpfilesLine> writes;
    const auto now = model::by_key(observed);
    for (auto& resource : desired) {
      if (resource.key.kind != kModuleKind) continue;
      drop_empty_settings(resource, now);
      const auto& name = resource.key.id;
      const auto options = options_of(resource.settings);
      const auto options_at =
          resource.origins.contains("options") ? resource.origins.at("options") : resource.where;
      if (!foreign) {
        at_next_boot = next_boot_settings(world.host());
        writes = tmpfiles_lines(world.host().files);
        foreign.emplace();
        for (auto& line : read_foreign_lines(world.host())) {
          auto& lines = (*foreign)[line.module];
          lines.push_back(std::move(line));
        }
      }
      const auto lines = foreign->find(name);
      if (lines != foreign->end()) {
        warn_foreign_options("[[module]] options", name, options, options_at, lines->second, diagnostics);
        if (is_true(resource.settings, "loaded")) check_loadable(resource, lines->second, diagnostics);
      }
      if (const auto at = at_next_boot.find(name); at != at_next_boot.end()) {
        warn_of_options_at_next_boot("[[module]] options", name, options, options_at, at->second,
                                     diagnostics);
        if (is_true(resource.settings, "at_boot"))
          warn_of_blacklist_at_next_boot("[[module]] name", name, options_at, at->second, diagnostics);
      }
      warn_of_parameter_writes(name, options, options_at, writes, diagnostics);
      if (world.offline()) {
        resource.settings.erase("loaded");
        continue;
      }
      if (!check_known("[[module]]", name, options, resource.origins.at("name"), options_at, world,
                       diagnostics))
        continue;
      if (const auto info = world.host().modules.info(name); info && *info && (*info)->builtin) {
        resource.settings.erase("loaded");
        resource.settings.erase("at_boot");
        if (!options.list.empty()) {
          diagnostics.push_back(Diagnostic{
              Severity::kWarning,
              options_at,
              fmt::format(
                  "[[module]] options: {} is built into this kernel, so modprobe.d has no effect on it",
                  name),
              fmt::format("put {}.{} on the kernel command line{}", name, options.list[0].text(),
                          way_to_kernel_arguments(distribution(world.host().files))),
              {}});
        }
      }
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    for (auto* change : changes) {
      // Anything that is not loaded yet gets its options at once.
      if (!is_true(change->before, "loaded")) {
        change->effect = model::Effect::kNow;
        continue;
      }
      const auto wanted = options_of(change->after);
      auto& modules = world.host().modules;
      if (why_not_running(change->key.id, wanted, modules).empty() &&
          untold(change->key.id, wanted, modules).empty())
        change->effect = model::Effect::kNow;
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto options = read_option_lines(host.files, kModuleOptionsFile);
    if (!options) return base::fail(options.error());
    auto lists = read_lists(host.files);
    if (!lists) return base::fail(lists.error());
    bool dropped = false;
    for (const auto& change : changes) {
      const auto& name = change.key.id;
      dropped = dropped || (concerns(change, "options") && !change.origins.contains("options"));
      auto wanted = options_of(change.after);
      if (!concerns(change, "options")) {
      } else if (wanted.list.empty()) {
        options->erase(name);
      } else {
        (*options)[name] = std::move(wanted);
      }
      if (!concerns(change, "at_boot")) {
      } else if (!is_true(change.after, "at_boot")) {
        for (auto& [path, names] : *lists) names.erase(name);
      } else if (!any_lists(*lists, name)) {
        (*lists)[load_file_of(name, host.files)].insert(name);
      }
    }
    if (dropped) {
      const auto remains = options->empty() ? OptionsFile::kGoes : OptionsFile::kStays;
      if (auto done = note_dropped_options(host, kModuleOptionsFile, remains); !done) return done;
    }
    const auto write = [&] { return write_option_lines(host.files, kModuleOptionsFile, *options); };
    if (auto done = write_for_image(host, write); !done) return done;
    for (const auto& [path, names] : *lists) {
      if (auto done = write_load_file(host.files, path, names); !done) return done;
    }
    if (host.offline) return {};
    auto names = host.modules.observe_loaded();
    if (!names) return base::fail(names.error());
    const Names loaded(names->begin(), names->end());
    for (const auto& change : changes) {
      const auto& name = change.key.id;
      if (!concerns(change, "loaded")) continue;
      const bool wanted = is_true(change.after, "loaded");
      if (wanted == loaded.contains(name)) continue;
      // Unloading only undoes a loading: nothing in the document asks for it.
      if (!wanted && !is_true(change.before, "loaded")) continue;
      if (auto done = wanted ? host.modules.load(name) : host.modules.unload(name); !done) return done;
    }
    return {};
  }

  Verdict judge(const Desired& desired, const Observed* observed, const std::vector<std::string>& /*fields*/,
                World& world) const override {
    if (observed == nullptr || !is_true(observed->settings, "loaded")) return {};
    const auto wanted = options_of(desired.settings);
    auto& modules = world.host().modules;
    Verdict verdict;
    if (auto why = why_not_running(desired.key.id, wanted, modules); !why.empty()) {
      verdict.sort = Verdict::Sort::kPending;
      const auto needed = what_it_takes(desired.key.id, wanted, world.host());
      verdict.reason = why + "; " + needed;
      // Some round or cap what they get (send_queue_size of ib_ipoib is a power of two), and no reload helps.
      if (needed == kReloadNeeded && modules.loaded_after(desired.key.id, std::string(kModuleOptionsFile)))
        verdict.reason += ", or the driver adjusted the given value";
    }
    if (const auto hidden = untold(desired.key.id, wanted, modules); !hidden.empty()) {
      verdict.warnings.push_back(
          fmt::format("{} does not expose its value of {}: if it was loaded before the option was set, a "
                      "driver reload or reboot is needed",
                      desired.key.id, base::join(hidden, ", ")));
    }
    return verdict;
  }

  [[nodiscard]] bool returns(std::string_view field, const model::Attributes& /*before*/,
                             const model::Attributes& /*then*/) const override {
    return field != "loaded";
  }

 private:
  /// Options whose parameter has no file in /sys/module (its permissions are 0).
  static std::vector<std::string> untold(const std::string& module, const ModuleOptions& wanted,
                                         system::Modules& modules) {
    std::vector<std::string> out;
    for (const auto& option : wanted.list) {
      // "dyndbg" is not a parameter: the kernel handles it itself.
      if (option.name != "dyndbg" && !modules.parameter(module, option.name)) out.push_back(option.name);
    }
    return out;
  }

  /// An update leaves alone what it does not mention; a creation and a deletion mean all of it.
  static bool concerns(const Change& change, const std::string& field) {
    return change.operation != model::Operation::kUpdate || change.after.contains(field) ||
           change.differs_in(field);
  }

  /// systemd-modules-load and modprobe@.service both keep to blacklists.
  static void check_loadable(const Desired& desired, const std::vector<ForeignLine>& foreign,
                             Diagnostics& diagnostics) {
    for (const auto& line : foreign) {
      if (line.module != desired.key.id) continue;
      if (line.sort == ForeignLine::Sort::kInstall && !line.refuses()) {
        diagnostics.push_back(
            Diagnostic{Severity::kWarning,
                       desired.origins.at("name"),
                       fmt::format("[[module]] name: {}:{} makes modprobe run \"{}\" instead of loading {}",
                                   line.file, line.line, line.command, desired.key.id),
                       "our options only reach the module if that command loads it by modprobe",
                       {}});
      }
      if (!line.keeps_out()) continue;
      diagnostics.push_back(Diagnostic{Severity::kError,
                                       desired.origins.at("name"),
                                       fmt::format("[[module]] name: {}", kept_out_by(line)),
                                       remedy_of_keeping_out(line) + ", or write load = false here",
                                       {}});
    }
  }
};

}  // namespace

model::SectionSpec module_section() {
  model::SectionSpec section{.name = kModuleKind,
                             .doc = "A kernel module, loaded now and at boot, with options.",
                             .identities = {{"name"}}};
  add_written(section.fields, model::specs<KernelModule>());
  return section;
}

const Kind& kernel_module() {
  static const ModuleKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
