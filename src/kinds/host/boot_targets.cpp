// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/boot_targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "formats/boot_command_line.hpp"
#include "formats/drop_ins.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::string_view kDefaultTarget = "default.target";
constexpr std::string_view kOnlyNull = "/dev/null";

/// The target that systemd has for a SysV runlevel; other targets as they are.
std::string without_runlevel(std::string_view target) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kRunlevels{
      {{"runlevel1.target", "rescue.target"},
       {"runlevel2.target", "multi-user.target"},
       {"runlevel3.target", "multi-user.target"},
       {"runlevel4.target", "multi-user.target"},
       {"runlevel5.target", "graphical.target"}}};
  for (const auto& [alias, name] : kRunlevels) {
    if (target == alias) return std::string(name);
  }
  return std::string(target);
}

/// Whether nothing but the default target or a user starts it.
bool is_booted_only(std::string_view target) {
  return target == "graphical.target" || target == "multi-user.target" || target == "rescue.target" ||
         target == "emergency.target";
}

bool is_maintenance(std::string_view target) {
  return target == "rescue.target" || target == "emergency.target";
}

/// Folders that the next boot has. The links that systemd-debug-generator makes for the running kernel's
/// command line are in generator.early.
bool lasts_over_boot(std::string_view folder) {
  return !folder.starts_with("/run/") || folder == "/run/systemd/generator" ||
         folder == "/run/systemd/generator.late";
}

std::string name_behind(std::string_view link) {
  return std::string(link.substr(link.rfind('/') + 1));  // npos + 1 is 0
}

/// "multi-user.target" of "multi-user.target.wants"; empty for other folders.
std::string_view starter_of_folder(std::string_view folder) {
  for (const std::string_view end : {".wants", ".requires", ".upholds"}) {
    if (folder.ends_with(end)) return folder.substr(0, folder.size() - end.size());
  }
  return {};
}

/// "getty@.service" for "getty@tty1.service".
std::string file_of_unit(const std::string& unit) {
  const auto at = unit.find('@'), dot = unit.rfind('.');
  return at == std::string::npos || dot == std::string::npos || dot < at
             ? unit
             : unit.substr(0, at + 1) + unit.substr(dot);
}

std::vector<std::string> names_assigned(std::string_view text, std::string_view key) {
  std::vector<std::string> out;
  for (const auto& value : assigned_values(text, key)) {
    for (const auto word : base::words_of(value)) out.emplace_back(word);
  }
  return out;
}

/// The words of each boot entry. GRUB's variables make one entry together. Where none is known, as of a host
/// that boots over the network: none, or those of the running kernel.
std::vector<std::string> words_of_entries(system::Files& files) {
  std::vector<std::string> out;
  std::optional<std::string> grub;
  for (auto& boot : boot_command_lines(files)) {
    if (boot.file.starts_with("/etc/default/grub"))
      grub = grub.value_or("") + " " + boot.words;
    else
      out.push_back(std::move(boot.words));
  }
  if (grub) out.push_back(std::move(*grub));
  if (out.empty()) out = {std::string(), running_command_line(files)};
  return out;
}

}  // namespace

std::string UnreachedTargets::text() const {
  return fmt::format("enabled for {} alone, and the host starts {}", base::join(wanted_by, " and "),
                     base::join(booted, " or "));
}

std::string UnreachedTargets::remedy(std::string_view unit) const {
  const auto target = std::find_if(booted.begin(), booted.end(),
                                   [](const std::string& name) { return !is_maintenance(name); });
  return target == booted.end() ? fmt::format("have the host start {}", wanted_by.front())
                                : fmt::format("`systemctl add-wants {} {}`", *target, unit);
}

std::optional<UnreachedTargets> BootTargets::unreached(const system::Unit& unit) {
  begin();
  const auto& name = unit.id.empty() ? unit.name : unit.id;
  const auto links = targets_by_unit_.find(name);
  return links == targets_by_unit_.end() ? std::nullopt : judge(name, links->second);
}

std::optional<UnreachedTargets> BootTargets::unreached_once_enabled(const system::Unit& unit) {
  begin();
  const auto& name = unit.id.empty() ? unit.name : unit.id;
  auto targets = targets_by_unit_[name];
  if (unit.file != "enabled" && unit.file != "alias") {
    const auto text = text_of_unit(name).value_or("");
    if (!names_assigned(text, "Alias").empty()) return std::nullopt;  // others may start it by that name
    for (const auto* key : {"WantedBy", "RequiredBy", "UpheldBy"}) {
      for (const auto& target : names_assigned(text, key)) targets.insert(without_runlevel(target));
    }
  }
  return judge(name, targets);
}

std::optional<UnreachedTargets> BootTargets::judge(const std::string& unit,
                                                   const std::set<std::string>& targets) {
  if (targets.empty() || !std::all_of(targets.begin(), targets.end(), is_booted_only)) return std::nullopt;
  auto sought = targets;
  sought.insert(unit);
  if (may_reach(sought)) return std::nullopt;
  return UnreachedTargets{std::vector<std::string>(targets.begin(), targets.end()), booted_};
}

void BootTargets::begin() {
  if (std::exchange(begun_, true)) return;
  read_links();
  for (const auto& words : words_of_entries(files_)) {
    auto target = without_runlevel(target_booted_by(words));
    if (target.empty()) {
      add_default_target();
    } else {
      add(target);
      if (std::find(booted_.begin(), booted_.end(), target) == booted_.end())
        booted_.push_back(std::move(target));
    }
    for (const auto& unit : units_wanted_by(words)) add(unit);
  }
}

void BootTargets::read_links() {
  for (const std::string_view root : kUnitLoadPath) {
    if (!lasts_over_boot(root)) continue;
    const auto folders = files_.list(std::string(root));
    if (!folders) {
      unknown_ = true;
      return;
    }
    for (const auto& folder : *folders) {
      const auto starter = without_runlevel(starter_of_folder(folder));
      if (starter.empty()) continue;
      const auto links = files_.list(fmt::format("{}/{}", root, folder));
      if (!links) unknown_ = true;
      for (const auto& link : links ? *links : std::vector<std::string>()) {
        targets_by_unit_[link].insert(starter);
        units_by_target_[starter].insert(link);
      }
    }
  }
}

void BootTargets::add_default_target() {
  const std::string name(kDefaultTarget);
  std::string target;
  for (const std::string_view folder : kUnitLoadPath) {
    if (folder.starts_with("/run/")) continue;
    const auto path = fmt::format("{}/{}", folder, name);
    if (const auto link = files_.link_target(path); !link.empty()) {
      target = without_runlevel(name_behind(link));
    } else if (const auto text = files_.read(path); text && *text) {
      target = name;
    }
    if (!target.empty()) break;
  }
  if (!target.ends_with(".target")) {
    unknown_ = true;  // systemd looks for other ones then
    return;
  }
  add(name);
  add(target);
  if (std::find(booted_.begin(), booted_.end(), target) == booted_.end()) booted_.push_back(target);
}

void BootTargets::add(std::string_view unit) {
  auto name = without_runlevel(unit);
  if (reached_.insert(name).second) queue_.push_back(std::move(name));
}

void BootTargets::add_named_by(std::string_view text) {
  // Unit= and Service= are those of timers, paths and sockets.
  for (const auto* key : {"Wants", "Requires", "BindsTo", "Upholds", "Unit", "Service"}) {
    for (const auto& name : names_assigned(text, key)) add(name);
  }
}

/// Adds what a unit starts: by its links, its file and drop-ins, as another name of a unit, or as its socket.
void BootTargets::expand(const std::string& unit) {
  if (const auto links = units_by_target_.find(unit); links != units_by_target_.end()) {
    for (const auto& link : links->second) add(link);
  }
  if (const auto text = text_of_unit(unit)) add_named_by(*text);
  for (const auto& drop_in : other_drop_ins(files_, unit, {})) {
    const auto text = files_.read_linked(drop_in.path);
    if (!text) unknown_ = true;
    if (text && *text) add_named_by(**text);
  }
  for (const std::string_view type : {".socket", ".timer", ".path"}) {
    if (unit.ends_with(type)) add(unit.substr(0, unit.size() - type.size()) + ".service");
  }
}

/// Adds the unit that this is an alias of. Nothing without a file, or where it is masked.
std::optional<std::string> BootTargets::text_of_unit(const std::string& unit) {
  for (const std::string_view folder : kUnitLoadPath) {
    if (!lasts_over_boot(folder)) continue;
    const auto path = fmt::format("{}/{}", folder, file_of_unit(unit));
    const auto link = files_.link_target(path);
    if (link == kOnlyNull) return std::nullopt;
    auto text = files_.read_linked(path);
    if (!text) unknown_ = true;
    if (!link.empty() && reached_.contains(unit)) add(name_behind(link));
    if (!text) return std::nullopt;
    if (!link.empty() || *text) return std::move(*text);
  }
  return std::nullopt;
}

bool BootTargets::may_reach(const std::set<std::string>& units) {
  constexpr std::size_t kUnitsMost = 200;
  const auto is_reached = [this](const std::string& unit) { return reached_.contains(unit); };
  while (!std::any_of(units.begin(), units.end(), is_reached)) {
    if (unknown_) return true;
    if (queue_.empty()) return false;
    if (expanded_++ == kUnitsMost) unknown_ = true;
    const auto next = std::move(queue_.front());
    queue_.pop_front();
    expand(next);
  }
  return true;
}

}  // namespace rdmacfg::kinds
