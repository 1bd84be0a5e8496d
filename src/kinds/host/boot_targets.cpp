// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/boot_targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
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

/// Of "getty@tty1.service": "getty", "tty1" and ".service". A unit of no template has no instance.
struct BootedName {
  std::string front, instance, suffix;
};

BootedName booted_name(const std::string& unit) {
  const auto dot = std::min(unit.rfind('.'), unit.size());
  const auto at = std::min(unit.find('@'), dot);
  return {.front = unit.substr(0, at),
          .instance = at < dot ? unit.substr(at + 1, dot - at - 1) : std::string(),
          .suffix = unit.substr(dot)};
}

/// "getty@.service" for "getty@tty1.service"; other units as they are.
std::string template_of_unit(const std::string& unit) {
  const auto name = booted_name(unit);
  return name.instance.empty() ? unit : fmt::format("{}@{}", name.front, name.suffix);
}

/// The unit behind a link that is another name of `unit`: of a template's link the one of the same instance.
std::string unit_behind_alias(std::string_view link, const std::string& unit) {
  auto out = name_behind(link);
  if (const auto at = out.find("@."); at != std::string::npos) out.insert(at + 1, booted_name(unit).instance);
  return out;
}

/// A name in the file of `unit`, with the specifiers of that unit's own name replaced (systemd.unit(5)).
/// Nothing where it has others.
std::optional<std::string> without_specifiers(std::string_view text, const std::string& unit) {
  const auto name = booted_name(unit);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const char specifier = ++i < text.size() ? text[i] : '\0';
    const bool escaped = name.instance.find_first_of("-\\") != std::string::npos;
    if (specifier == 'i' || (specifier == 'I' && !escaped)) {
      out += name.instance;
    } else if (specifier == 'n') {
      out += unit;
    } else if (specifier == 'N') {
      out += unit.substr(0, unit.size() - name.suffix.size());
    } else if (specifier == 'p') {
      out += name.front;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

/// Whether a folder of drop-ins may be one of those of a unit: "foo@.service.d", "foo-.service.d",
/// "service.d".
bool may_be_drop_ins_of(std::string_view folder, std::string_view unit) {
  constexpr std::string_view kEnd = ".d";
  if (!folder.ends_with(kEnd)) return false;
  folder.remove_suffix(kEnd.size());
  const auto dot = folder.rfind('.');
  if (dot == std::string_view::npos) return unit.ends_with(folder);
  return unit.ends_with(folder.substr(dot)) && unit.starts_with(folder.substr(0, dot));
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

void BootTargets::enable(const system::Unit& unit) {
  begin();
  if (unit.file == "enabled" || unit.file == "alias") return;
  const auto& name = unit.id.empty() ? unit.name : unit.id;
  for (const auto& text : texts_of_unit(name)) {
    // Others may start it by an alias, and a socket or timer that is enabled with it may, too.
    if (!names_assigned(text, "Alias").empty() || !names_assigned(text, "Also").empty())
      has_other_names_.insert(name);
    for (const auto* key : {"WantedBy", "RequiredBy", "UpheldBy"}) {
      for (const auto& written : names_assigned(text, key)) {
        const auto target = without_runlevel(written);
        targets_by_unit_[name].insert(target);
        units_by_target_[target].insert(name);
      }
    }
  }
}

std::optional<UnreachedTargets> BootTargets::unreached(const system::Unit& unit) {
  begin();
  const auto& name = unit.id.empty() ? unit.name : unit.id;
  const auto links = targets_by_unit_.find(name);
  if (links == targets_by_unit_.end() || has_other_names_.contains(name)) return std::nullopt;
  return judge(name, links->second);
}

std::optional<UnreachedTargets> BootTargets::judge(const std::string& unit,
                                                   const std::set<std::string>& targets) {
  if (targets.empty() || !std::all_of(targets.begin(), targets.end(), is_booted_only)) return std::nullopt;
  add_starters();
  auto sought = targets;
  sought.insert(unit);
  if (may_reach(sought) || is_started_on_demand(unit)) return std::nullopt;
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
  // Another boot loader than the one whose files are there may have given the running kernel its words.
  const auto running = running_command_line(files_);
  if (const auto target = target_booted_by(running); !target.empty()) add(target);
  for (const auto& unit : units_wanted_by(running)) add(unit);
}

/// Adds devices, and targets that are not judged and that no link starts: udev and others start them beside
/// the default target.
void BootTargets::add_starters() {
  for (const auto& entry : units_by_target_) {
    const auto& starter = entry.first;
    const bool judged =
        is_booted_only(starter) || starter == kDefaultTarget || targets_by_unit_.contains(starter);
    if (!judged && (starter.ends_with(".target") || starter.ends_with(".device"))) add(starter);
  }
}

void BootTargets::read_links() {
  for (const std::string_view root : kUnitLoadPath) {
    const auto folders = files_.list(std::string(root));
    if (!folders) {
      unknown_ = true;
      return;
    }
    std::copy_if(folders->begin(), folders->end(), std::inserter(drop_in_folders_, drop_in_folders_.end()),
                 [](const std::string& folder) { return folder.ends_with(".d"); });
    if (!lasts_over_boot(root)) continue;
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
      if (target != name) break;  // otherwise a link to that of another folder
    } else if (const auto text = files_.read(path); text && *text) {
      target = name;
      break;
    }
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

/// Adds the units that a text of a unit names. Unit= and Service= are those of timers, paths and sockets.
void BootTargets::add_named_by(std::string_view text, const std::string& unit) {
  for (const auto* key : {"Wants", "Requires", "BindsTo", "Upholds", "Unit", "Service", "Sockets"}) {
    for (const auto& written : names_assigned(text, key)) {
      const auto name = without_specifiers(written, unit);
      if (name)
        add(*name);
      else
        unknown_ = true;
    }
  }
}

/// Adds what a unit starts: by its links, its file and drop-ins, as another name of a unit, or as its socket.
void BootTargets::expand(const std::string& unit) {
  if (const auto links = units_by_target_.find(unit); links != units_by_target_.end()) {
    for (const auto& link : links->second) add(link);
  }
  for (const auto& text : texts_of_unit(unit)) add_named_by(text, unit);
  for (const std::string_view type : {".socket", ".timer", ".path"}) {
    if (unit.ends_with(type)) add(unit.substr(0, unit.size() - type.size()) + ".service");
  }
}

/// Of its file and drop-ins.
std::vector<std::string> BootTargets::texts_of_unit(const std::string& unit) {
  std::vector<std::string> out;
  auto own = text_of_file(unit, unit);
  if (const auto of_template = template_of_unit(unit); !own && of_template != unit)
    own = text_of_file(of_template, unit);
  if (own) out.push_back(std::move(*own));
  const bool has_drop_ins =
      std::any_of(drop_in_folders_.begin(), drop_in_folders_.end(),
                  [&](const std::string& folder) { return may_be_drop_ins_of(folder, unit); });
  if (!has_drop_ins) return out;
  for (const auto& drop_in : other_drop_ins(files_, unit, {})) {
    auto text = files_.read_linked(drop_in.path);
    if (!text) unknown_ = true;
    if (text && *text) out.push_back(std::move(**text));
  }
  return out;
}

/// Adds the unit that this is an alias of. Nothing without a file, or where it is masked.
std::optional<std::string> BootTargets::text_of_file(const std::string& file, const std::string& unit) {
  std::optional<std::string> out;
  for (const std::string_view folder : kUnitLoadPath) {
    if (!lasts_over_boot(folder)) continue;
    const auto path = fmt::format("{}/{}", folder, file);
    const auto link = files_.link_target(path);
    if (link == kOnlyNull) break;
    auto text = files_.read_linked(path);
    if (!text) unknown_ = true;
    const auto behind = unit_behind_alias(link, unit);
    if (!link.empty() && reached_.contains(unit)) add(behind);
    if (!text) break;
    const bool is_there = !link.empty() || text->has_value();
    if (!out) out = std::move(*text);
    if (is_there && behind != unit) break;  // otherwise a link to that of another folder, maybe an alias
  }
  return out;
}

/// Whether a rule of udev or a service of the system bus names the unit or its template, which then starts
/// when a device or a caller appears.
bool BootTargets::is_started_on_demand(const std::string& unit) {
  constexpr std::array<std::string_view, 6> kFolders{"/etc/udev/rules.d",
                                                     "/run/udev/rules.d",
                                                     "/usr/lib/udev/rules.d",
                                                     "/lib/udev/rules.d",
                                                     "/usr/share/dbus-1/system-services",
                                                     "/usr/local/share/dbus-1/system-services"};
  const auto name = booted_name(unit);
  const auto named = name.instance.empty() ? unit : name.front + "@";
  for (const auto folder : kFolders) {
    const auto files = files_.list(std::string(folder));
    if (!files) return true;
    for (const auto& file : *files) {
      const auto text = files_.read_linked(fmt::format("{}/{}", folder, file));
      if (text && *text && (*text)->find(named) != std::string::npos) return true;
    }
  }
  return false;
}

bool BootTargets::may_reach(const std::set<std::string>& units) {
  constexpr std::size_t kUnitsMost = 400;
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
