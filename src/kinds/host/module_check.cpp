// SPDX-License-Identifier: Apache-2.0
// Checks of a module and its options against the kernel and other modprobe.d files.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/boot_command_line.hpp"
#include "formats/modprobe_conf.hpp"
#include "kinds/host/module.hpp"
#include "kinds/host/package_table.hpp"
#include "kinds/kernel_release.hpp"

namespace rdmacfg::kinds {

using model::Diagnostic;
using model::Diagnostics;
using model::ModuleOptions;
using model::Severity;

namespace {

std::string hint_near(std::string_view word, const std::vector<std::string>& known,
                      std::string_view otherwise) {
  const auto near = base::nearest(word, known);
  return near ? fmt::format("did you mean \"{}\"?", *near) : std::string(otherwise);
}

/// The hint about a module that the running kernel lacks.
std::string hint_of_no_module(World& world) {
  auto told = package_of_modules(world.host().files, kernel_release(world));
  return told.empty() ? "is the package that contains it installed for this kernel?" : told;
}

constexpr std::string_view kRemoveTheWord =
    "the kernel command line wins over modprobe.d: remove the word there";

std::string remedy_of_option(const ForeignLine& line) {
  if (line.of_command_line())
    return "modprobe reads it after all files, so it wins: remove the option from the boot loader's "
           "configuration";
  return line.later ? "modprobe reads that file after ours, so it wins: remove the option there"
                    : "ours is read later and wins; remove the option there to keep the two from disagreeing";
}

}  // namespace

std::string why_not_running(const std::string& module, const ModuleOptions& wanted,
                            system::Modules& modules) {
  std::vector<std::string> runs, wants;
  for (const auto& option : wanted.list) {
    const auto value = modules.parameter(module, option.name);
    if (!value || same_value(option, *value)) continue;
    runs.push_back(option.name + "=" + *value);
    wants.push_back(option.text());
  }
  if (runs.empty()) return {};
  return fmt::format("{} runs with {}, not {}", module, base::join(runs, " "), base::join(wants, " "));
}

std::string what_it_takes(const std::string& module, const ModuleOptions& wanted, system::Host& host) {
  std::map<std::string, ForeignLine> last;  // modprobe hands all of them on, and the kernel takes the last
  for (auto& line : read_foreign_lines(host)) {
    if (line.sort == ForeignLine::Sort::kOption && line.later && line.module == module)
      last.insert_or_assign(line.option.name, std::move(line));
  }
  for (const auto& option : wanted.list) {
    const auto at = last.find(option.name);
    const auto running = host.modules.parameter(module, option.name);
    if (at == last.end() || !running || same_value(option, *running) || at->second.option == option ||
        same_value(option, at->second.option.value))
      continue;
    const auto& line = at->second;
    return fmt::format("{} sets {} after ours, and wins at every load: {}", line.place(), line.option.text(),
                       line.of_command_line() ? "remove it from the boot loader's configuration and reboot"
                                              : "remove it there, then driver reload or reboot");
  }
  return std::string(kReloadNeeded);
}

void warn_foreign_options(const std::string& section, const std::string& module, const ModuleOptions& wanted,
                          const model::Location& where, std::span<const ForeignLine> lines,
                          Diagnostics& diagnostics) {
  if (wanted.list.empty() || lines.empty()) return;
  std::map<std::string_view, const model::ModuleOption*> options;
  for (const auto& option : wanted.list) options.emplace(option.name, &option);
  for (const auto& line : lines) {
    if (line.sort != ForeignLine::Sort::kOption || line.module != module) continue;
    const auto found = options.find(line.option.name);
    if (found == options.end()) continue;
    const auto* at = found->second;
    if (same_value(*at, line.option.value) || *at == line.option) continue;
    diagnostics.push_back(Diagnostic{Severity::kWarning,
                                     where,
                                     fmt::format("{}: {} sets {} of {} too: \"{}\"", section, line.place(),
                                                 line.option.name, module, line.option.text()),
                                     remedy_of_option(line),
                                     {}});
  }
}

std::map<std::string, std::vector<ForeignLine>> next_boot_settings(system::Host& host) {
  const auto words_of_line = [](const ForeignLine& line) {
    const bool blacklists = line.sort == ForeignLine::Sort::kBlacklist;
    return line.module + " " + (blacklists ? std::string("blacklist") : line.option.text());
  };
  std::set<std::string> known;
  const auto running = host.offline ? std::string() : running_command_line(host.files);
  for (const auto& line : command_line_settings(running, {}, 0)) known.insert(words_of_line(line));
  std::map<std::string, std::vector<ForeignLine>> out;
  for (const auto& boot : boot_command_lines(host.files)) {
    for (auto& line : command_line_settings(boot.words, boot.file, 1)) {
      if (!known.insert(words_of_line(line)).second) continue;
      line.line = boot.line_of(line.sort == ForeignLine::Sort::kBlacklist ? "blacklist=" : line.option.name);
      out[line.module].push_back(std::move(line));
    }
  }
  return out;
}

void warn_of_options_at_next_boot(const std::string& section, const std::string& module,
                                  const ModuleOptions& wanted, const model::Location& where,
                                  std::span<const ForeignLine> settings, Diagnostics& diagnostics) {
  for (const auto& line : settings) {
    if (line.sort != ForeignLine::Sort::kOption) continue;
    const bool differs = std::any_of(wanted.list.begin(), wanted.list.end(), [&](const auto& option) {
      return option.name == line.option.name && !same_value(option, line.option.value) &&
             option != line.option;
    });
    if (!differs) continue;
    diagnostics.push_back(
        Diagnostic{Severity::kWarning,
                   where,
                   fmt::format("{}: {} sets {} of {} from the next boot on: \"{}\"", section, line.place(),
                               line.option.name, module, line.option.text()),
                   std::string(kRemoveTheWord),
                   {}});
  }
}

std::string kept_out_by(const ForeignLine& line, std::string_view what) {
  const bool blacklisted = line.sort == ForeignLine::Sort::kBlacklist;
  return fmt::format("{} keeps {} from being {} ({})", line.place(), line.module, what,
                     blacklisted ? "blacklist" : "install");
}

std::string remedy_of_keeping_out(const ForeignLine& line) {
  return line.of_command_line() ? "remove it from the boot loader's configuration" : "remove that line";
}

void warn_of_blacklist_at_next_boot(const std::string& section, const std::string& module,
                                    const model::Location& where, std::span<const ForeignLine> settings,
                                    Diagnostics& diagnostics) {
  for (const auto& line : settings) {
    if (line.sort != ForeignLine::Sort::kBlacklist) continue;
    diagnostics.push_back(
        Diagnostic{Severity::kWarning,
                   where,
                   fmt::format("{}: {} blacklists {} from the next boot on", section, line.place(), module),
                   std::string(kRemoveTheWord),
                   {}});
  }
}

void warn_of_parameter_writes(const std::string& module, const ModuleOptions& wanted,
                              const model::Location& where, std::span<const TmpfilesLine> lines,
                              Diagnostics& diagnostics) {
  for (const auto& line : lines) {
    if (line.act != TmpfilesLine::Act::kWrite || !line.path.starts_with("/sys/module/")) continue;
    for (const auto& option : wanted.list) {
      const auto path = fmt::format("/sys/module/{}/parameters/{}", module, option.name);
      if (!line.concerns(path) || same_value(option, line.argument)) continue;
      diagnostics.push_back(
          Diagnostic{Severity::kWarning,
                     where,
                     fmt::format("[[module]] options: {}:{} writes {} to {} at boot", line.file, line.line,
                                 line.argument, path),
                     "remove the line there: systemd-tmpfiles sets a parameter of a loaded module",
                     {}});
    }
  }
}

bool check_known(const std::string& section, const std::string& module, const ModuleOptions& options,
                 const model::Location& name_at, const model::Location& options_at, World& world,
                 Diagnostics& diagnostics) {
  auto& modules = world.host().modules;
  if (world.offline() || !modules.has_tree()) return true;
  const auto info = modules.info(module);
  if (!info) return true;  // unreadable: loading will tell
  if (!*info) {
    diagnostics.push_back(
        Diagnostic{Severity::kError,
                   name_at,
                   fmt::format("{} name: the running kernel has no module {}", section, module),
                   hint_near(module, modules.known(), hint_of_no_module(world)),
                   {}});
    return false;
  }
  if ((*info)->builtin && (*info)->parameters.empty()) return true;
  bool good = true;
  for (const auto& option : options.list) {
    const auto& known = (*info)->parameters;
    // "dyndbg" is the kernel's own, every module takes it.
    if (option.name == "dyndbg" || std::binary_search(known.begin(), known.end(), option.name)) continue;
    good = false;
    diagnostics.push_back(
        Diagnostic{Severity::kError,
                   options_at,
                   fmt::format("{} options: {} has no parameter \"{}\"", section, module, option.name),
                   hint_near(option.name, known,
                             known.empty() ? std::string("the module has no parameters")
                                           : "the module has " + base::join(known, ", ")),
                   {}});
  }
  return good;
}

}  // namespace rdmacfg::kinds
