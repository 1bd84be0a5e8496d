// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/boot/tuned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "base/text.hpp"
#include "foreign/import/boot/script_sections.hpp"
#include "foreign/import/formats.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr std::string_view kActiveProfile = "/active_profile";

/// A section of a profile of tuned, without the keys that every section may have.
class TunedSection {
 public:
  TunedSection(const Group& group, Claims& claims, KernelWrites& writes)
      : claims_(claims), writes_(writes), type_(group.name) {
    constexpr auto kOfAll =
        std::to_array<std::string_view>({"enabled", "replace", "priority", "devices_udev_regex", "script_pre",
                                         "script_post", "uname_regex", "cpuinfo_regex"});
    for (const auto& item : group.items) {
      const Place where{item.file, item.line};
      const auto text = std::string_view(item.value);
      const auto value = std::string(without_quotes(base::trim(text.substr(0, text.find(" #")))));
      if (item.key == "type") {
        type_ = value;
      } else if (item.key == "devices") {
        devices_ = value;
      } else if (item.key == "enabled") {
        off_ = yes_or_no(value) == false;
      } else if (std::find(kOfAll.begin(), kOfAll.end(), item.key) == kOfAll.end()) {
        settings_.push_back({where, item.key, value});
      }
    }
  }

  void take() {
    if (off_) return;
    for (const auto& setting : settings_) {
      if (type_ == "sysctl") {
        sysctl(setting);
      } else if (type_ == "sysfs") {
        sysfs(setting);
      } else if (type_ == "net") {
        net(setting);
      } else if (type_ == "modules") {
        if (is_rdma_module(setting.key)) claims_.miss(setting.where, "write [[module]], with its options");
      } else if (type_ == "bootloader") {
        bootloader(setting);
      } else if (type_ == "script") {
        claims_.pass(setting.where,
                     "the script is not read; to take over its commands, run "
                     "`rdma-configctl import scripts` with its path");
      }
    }
  }

 private:
  struct Setting {
    Place where;
    std::string key, value;
  };

  /// Whether the value is computed or depends on the current one (assignment modifiers of tuned.conf(5)).
  static bool is_computed(std::string_view value) {
    return value.find("${") != std::string_view::npos || value.starts_with('>') || value.starts_with('<');
  }

  void sysctl(const Setting& setting) {
    if (!is_computed(setting.value)) return writes_.set(setting.where, setting.key, setting.value);
    const auto text = fmt::format("{}={}", setting.key, setting.value);
    if (!script_advice({"sysctl", text}, text, claims_).empty())
      claims_.miss(setting.where, fmt::format("{}: tuned computes the value; write [[sysctl]]", setting.key));
  }

  void sysfs(const Setting& setting) {
    if (setting.key.find("${") != std::string::npos || is_computed(setting.value)) {
      if (touches_ipoib(setting.key))
        claims_.miss(setting.where, fmt::format("{}: tuned computes the value", setting.key));
      return;
    }
    writes_.write(setting.where, setting.key, setting.value);
  }

  void net(const Setting& setting) {
    if (setting.key == "dynamic") return;
    for (const auto part : base::split(devices_, ',')) {
      const auto device = base::trim(part);
      if (device.empty() || device.front() == '!' || !claims_.knows(device)) continue;
      if (setting.key == "mtu") {
        writes_.write(setting.where, fmt::format("/sys/class/net/{}/mtu", device), setting.value);
      } else {
        claims_.pass(setting.where,
                     fmt::format("the document does not support {}; keep this profile", setting.key));
      }
    }
  }

  /// Options of modules on the kernel command line.
  void bootloader(const Setting& setting) {
    for (const auto word : words_of(setting.value)) {
      const auto option = without_quotes(word);
      const auto dot = option.substr(0, option.find('=')).find('.');
      if (setting.key.starts_with("cmdline") && dot != std::string_view::npos &&
          is_rdma_module(option.substr(0, dot)))
        claims_.miss(setting.where, fmt::format("{}: write [[module]], with its options", option));
    }
  }

  Claims& claims_;
  KernelWrites& writes_;
  std::string type_, devices_;
  std::vector<Setting> settings_;
  bool off_ = false;
};

/// "hpc" of "/etc/tuned/hpc/tuned.conf".
std::string profile_name(const File& file) {
  const auto folder = std::string_view(file.path).substr(0, file.path.rfind('/'));
  return std::string(folder.substr(folder.rfind('/') + 1));
}

}  // namespace

void TunedProfilesOfHost::add(const File& file) {
  if (file.path.ends_with(kActiveProfile)) {
    any_ = true;
    for (const auto name : words_of(file.text, " \t\r\n")) active_.emplace_back(name);
    return;
  }
  Claims aside;  // remarks about tuned's own lines are dropped
  profiles_.push_back({&file, profile_name(file), parse_groups(file, aside)});
}

bool TunedProfilesOfHost::is_of_tuned(const File& file) {
  return file.path.ends_with(kActiveProfile) || file.path.ends_with("/tuned.conf");
}

void TunedProfilesOfHost::take(Claims& claims, KernelWrites& writes) {
  if (!any_) {
    for (const auto& profile : profiles_) {
      for (const auto& group : profile.groups) TunedSection(group, claims, writes).take();
    }
    return;
  }
  for (const auto& name : active_) load(name, 0);
  std::map<std::string, std::size_t, std::less<>> last;
  for (std::size_t at = 0; at < loads_.size(); ++at) last[loads_[at]] = at;
  Sections sections;
  for (std::size_t at = 0; at < loads_.size(); ++at) {
    if (last.find(loads_[at])->second != at) continue;
    for (const auto& profile : profiles_) {
      if (profile.name == loads_[at]) merge(profile.groups, sections);
    }
  }
  for (const auto& profile : profiles_) {
    if (!last.contains(profile.name))
      claims.pass({profile.file->path, 0}, "is not the active profile of tuned");
  }
  for (const auto& group : sections.groups) TunedSection(group, claims, writes).take();
}

void TunedProfilesOfHost::merge(const std::vector<Group>& groups, Sections& sections) {
  for (const auto& group : groups) {
    const auto [place, fresh] = sections.places.try_emplace(group.name, sections.groups.size());
    if (fresh) sections.groups.push_back({group.name, group.line, {}, group.file});
    auto& items = sections.groups[place->second].items;
    const bool replaces = std::any_of(group.items.begin(), group.items.end(), [](const Item& item) {
      return item.key == "replace" && yes_or_no(item.value) == true;
    });
    if (replaces) items.clear();
    items.insert(items.end(), group.items.begin(), group.items.end());
  }
}

void TunedProfilesOfHost::load(std::string_view name, int depth) {
  constexpr int kMostDepth = 8;
  constexpr std::size_t kMostLoads = 256;
  if (depth > kMostDepth || loads_.size() >= kMostLoads) return;
  for (const auto& profile : profiles_) {
    if (profile.name != name) continue;
    for (const auto& group : profile.groups) {
      for (const auto& item : group.items) {
        if (group.name != "main" || item.key != "include") continue;
        for (const auto included : words_of(item.value, " \t,;")) load(included, depth + 1);
      }
    }
  }
  loads_.emplace_back(name);
}

}  // namespace rdmacfg::foreign
