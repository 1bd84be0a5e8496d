// SPDX-License-Identifier: Apache-2.0
// Files by which programs write into files of the kernel at boot: sysfs.conf of sysfsutils, tmpfiles.d(5) and
// profiles of tuned (tuned.conf(5)).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "foreign/import/boot/script_sections.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/managers/ifupdown_hooks.hpp"
#include "foreign/inet.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

namespace {

/// Whether a shell would read the word as it is, so that it can stand in a command.
bool is_bare_word(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

std::string_view without_quotes(std::string_view text) {
  const bool quoted =
      text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// Values that are written into files of the kernel.
class KernelWrites {
 public:
  explicit KernelWrites(Claims& claims) : claims_(claims) {}

  void write(const Place& where, std::string_view path, std::string_view value) {
    constexpr std::string_view kProc = "/proc/sys/", kNet = "/sys/class/net/";
    if (path.starts_with(kProc)) return set(where, path.substr(kProc.size()), value);
    if (path.starts_with(kNet) && of_interface(where, path.substr(kNet.size()), value)) return;
    const bool of_port_type = path.find("/mlx4_port") != std::string_view::npos;
    const bool unsupported = (path.starts_with("/sys/class/infiniband/") && !of_port_type) ||
                             path.find("/ecn/roce_") != std::string_view::npos;
    if (unsupported)
      return claims_.pass(where,
                          "the document does not support such settings of RDMA devices; keep this line");
    const std::vector<std::string> words{"echo", std::string(value), ">", std::string(path)};
    if (auto advice = script_advice(words, fmt::format("echo {} > {}", value, path), claims_);
        !advice.empty())
      claims_.miss(where, std::move(advice));
  }

  /// A setting of sysctl(8).
  void set(const Place& where, std::string_view key, std::string_view value) {
    if (sysctls_.empty() || sysctls_.back().first != where.file) sysctls_.push_back({where.file, {}});
    sysctls_.back().second[where.line] = fmt::format("{} = {}", key, value);
  }

  void finish() {
    for (auto& [name, interface] : found_) {
      settle(interface);
      claims_.interfaces.push_back(std::move(interface));
    }
    for (const auto& [path, lines] : sysctls_) {
      File file{path, ""};
      int number = 1;
      for (const auto& [line, text] : lines) {
        file.text.append(static_cast<std::size_t>(line - number), '\n').append(text);
        number = line;
      }
      parse_sysctl(std::span(&file, 1), claims_);
    }
  }

 private:
  /// A file of an interface, "ib0/mode". @return whether it is one of ours
  bool of_interface(const Place& where, std::string_view path, std::string_view value) {
    const auto slash = path.find('/');
    if (slash == std::string_view::npos) return false;
    const auto name = path.substr(0, slash), attribute = path.substr(slash + 1);
    // Files that only IPoIB interfaces have.
    const bool ipoib = attribute == "mode" || attribute == "umcast" || attribute == "create_child";
    if (!ipoib && !claims_.knows(name)) return false;
    if (!ipoib && attribute != "mtu") {
      claims_.pass(where, fmt::format("the document does not support {}; keep this line", attribute));
    } else if (is_pattern(name) || name.find('{') != std::string_view::npos) {
      claims_.miss(where, fmt::format("{}: write the setting into the entry of each interface", path));
    } else if (!is_bare_word(name) || !is_bare_word(value)) {
      claims_.miss(where, fmt::format("{}: is not understood", path));
    } else {
      take(where, std::string(name), fmt::format("echo {} > /sys/class/net/{}", value, path));
    }
    return true;
  }

  void take(const Place& where, const std::string& name, const std::string& command) {
    const auto [at, fresh] = found_.try_emplace(name);
    if (fresh) {
      at->second.name = name;
      at->second.where = where;
      at->second.passive = true;
    }
    const auto why = take_hook({where, "up", command, name, model::Family::kIpv4}, found_);
    if (why.empty()) return claims_.took(where);
    if (fresh) found_.erase(name);
    claims_.miss(where, why);
  }

  Claims& claims_;
  std::map<std::string, Interface, std::less<>> found_;
  std::vector<std::pair<std::string, std::map<int, std::string>>>
      sysctls_;  ///< lines of sysctl.d(5), by file
};

/// The rest of a line behind its first `count` words.
std::string_view behind_words(std::string_view line, int count) {
  for (int at = 0; at < count; ++at) {
    line = base::trim(line);
    line.remove_prefix(std::min(line.find_first_of(" \t"), line.size()));
  }
  return base::trim(line);
}

/// "w /sys/class/net/ib0/mode - - - - connected" of tmpfiles.d(5), "class/net/ib0/mode = connected" of
/// sysfs.conf.
void parse_line_of_writes(const Place& where, std::string_view line, KernelWrites& writes) {
  constexpr int kBeforeArgument = 6;
  const auto words = words_of(line);
  if (words.size() > static_cast<std::size_t>(kBeforeArgument) && words[0].front() == 'w' &&
      without_quotes(words[1]).starts_with('/')) {
    auto value = without_quotes(behind_words(line, kBeforeArgument));
    if (value.ends_with("\\n")) value.remove_suffix(2);
    return writes.write(where, without_quotes(words[1]), value);
  }
  line = line.substr(0, line.find('#'));
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return;
  // Of two words the first is "mode" or "owner": who may write the file.
  const auto left = words_of(line.substr(0, equals));
  if (left.size() != 1) return;
  auto path = left.front();
  for (const std::string_view begin : {"/", "sys/"}) {
    if (path.starts_with(begin)) path.remove_prefix(begin.size());
  }
  writes.write(where, fmt::format("/sys/{}", path), base::trim(line.substr(equals + 1)));
}

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
      } else if (item.key == "enabled" && yes_or_no(value) == false) {
        off_ = true;
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
                     "the script is not read; to take over its commands, write import scripts "
                     "with its path");
      }
    }
  }

 private:
  struct Setting {
    Place where;
    std::string key, value;
  };

  /// Whether it is computed, or depends on the value that is there (assignment modifiers of tuned.conf(5)).
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

/// The profiles of tuned that a host has of its own, and the one that is active.
class TunedProfilesOfHost {
 public:
  void add(const File& file) {
    if (file.path.ends_with(kActive)) {
      any_ = true;
      for (const auto name : words_of(file.text, " \t\r\n")) active_.try_emplace(std::string(name), 0);
      return;
    }
    Claims aside;  // what tuned makes of such lines is its own matter
    profiles_.push_back({&file, name_of(file), parse_groups(file, aside)});
  }

  static bool is_of_tuned(const File& file) {
    return file.path.ends_with(kActive) || file.path.ends_with("/tuned.conf");
  }

  void take(Claims& claims, KernelWrites& writes) {
    include();
    // Those that a profile includes come before it.
    const auto depth = [&](const Profile& profile) {
      const auto at = active_.find(profile.name);
      return at == active_.end() ? 0 : at->second;
    };
    std::stable_sort(profiles_.begin(), profiles_.end(),
                     [&](const Profile& a, const Profile& b) { return depth(a) > depth(b); });
    for (const auto& profile : profiles_) {
      if (any_ && !active_.contains(profile.name)) {
        claims.pass({profile.file->path, 0}, "is not the active profile of tuned");
        continue;
      }
      for (const auto& group : profile.groups) TunedSection(group, claims, writes).take();
    }
  }

 private:
  static constexpr std::string_view kActive = "/active_profile";
  struct Profile {
    const File* file;
    std::string name;
    std::vector<Group> groups;
  };

  /// "hpc" of "/etc/tuned/hpc/tuned.conf".
  static std::string name_of(const File& file) {
    const auto folder = std::string_view(file.path).substr(0, file.path.rfind('/'));
    return std::string(folder.substr(folder.rfind('/') + 1));
  }

  /// Makes those active that active ones include.
  void include() {
    constexpr int kMostDepth = 8;
    for (int depth = 0; depth < kMostDepth; ++depth) {
      const auto before = active_.size();
      for (const auto& profile : profiles_) {
        const auto at = active_.find(profile.name);
        if (at == active_.end() || at->second != depth) continue;
        for (const auto& group : profile.groups) {
          for (const auto& item : group.items) {
            if (group.name != "main" || item.key != "include") continue;
            for (const auto name : words_of(item.value, " \t,;"))
              active_.try_emplace(std::string(name), depth + 1);
          }
        }
      }
      if (active_.size() == before) return;
    }
  }

  std::vector<Profile> profiles_;
  std::map<std::string, int, std::less<>> active_;  ///< by name: over how many profiles one is included
  bool any_ = false;                                ///< whether the host says which one is active
};

}  // namespace

void parse_sysfs(std::span<const File> files, Claims& claims) {
  KernelWrites writes(claims);
  TunedProfilesOfHost profiles;
  for (const auto& file : files) {
    if (TunedProfilesOfHost::is_of_tuned(file)) {
      profiles.add(file);
      continue;
    }
    int number = 0;
    for (const auto raw : base::split(file.text, '\n')) {
      ++number;
      const auto line = base::trim(raw);
      if (!line.empty() && line.front() != '#' && line.front() != ';')
        parse_line_of_writes({file.path, number}, line, writes);
    }
  }
  profiles.take(claims, writes);
  writes.finish();
}

}  // namespace rdmacfg::foreign
