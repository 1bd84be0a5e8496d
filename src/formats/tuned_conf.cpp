// SPDX-License-Identifier: Apache-2.0
#include "formats/tuned_conf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::size_t kTunedProfilesMost = 32;

struct TunedOption {
  int line = 0;
  std::string name, value;
};

struct TunedSection {
  std::string name;
  std::vector<TunedOption> options;

  [[nodiscard]] std::optional<std::string> find(std::string_view option) const {
    for (auto at = options.rbegin(); at != options.rend(); ++at) {
      if (at->name == option) return at->value;
    }
    return std::nullopt;
  }
};

/// Python's ConfigParser with "=" between name and value and comments behind "#".
std::vector<TunedSection> tuned_sections(std::string_view text) {
  std::vector<TunedSection> out;
  int number = 0;
  for (const auto raw : base::split(text, '\n')) {
    ++number;
    auto line = base::trim(raw);
    if (line.starts_with('#') || line.starts_with(';')) continue;
    line = base::trim(line.substr(0, line.find(" #")));
    const auto close = line.find(']');
    if (line.starts_with('[') && close != std::string_view::npos) {
      out.push_back({std::string(line.substr(1, close - 1)), {}});
      continue;
    }
    const auto equals = line.find('=');
    if (out.empty() || equals == std::string_view::npos) continue;
    out.back().options.push_back({number, std::string(base::trim(line.substr(0, equals))),
                                  std::string(base::trim(line.substr(equals + 1)))});
  }
  return out;
}

bool is_off(const std::optional<std::string>& value) {
  const auto lower = base::lower(value.value_or("1"));
  return lower == "0" || lower == "false" || lower == "no" || lower == "off";
}

bool is_enabled_at_boot(system::Files& files) {
  const auto names = files.list("/etc/systemd/system/multi-user.target.wants");
  return names && std::find(names->begin(), names->end(), "tuned.service") != names->end();
}

/// One that files of /etc or the distribution have under this name.
std::optional<std::pair<std::string, std::string>> tuned_profile(system::Files& files,
                                                                 std::string_view name) {
  constexpr std::array<std::string_view, 4> kTunedFolders{"/etc/tuned/profiles", "/etc/tuned",
                                                          "/usr/lib/tuned/profiles", "/usr/lib/tuned"};
  if (name.empty() || name.find('/') != std::string_view::npos || name.starts_with('.')) return std::nullopt;
  for (const auto folder : kTunedFolders) {
    auto path = fmt::format("{}/{}/tuned.conf", folder, name);
    auto text = files.read_linked(path);
    if (text && *text) return std::pair(std::move(path), std::move(**text));
  }
  return std::nullopt;
}

/// Options of every section, which are not settings of its plugin.
bool is_of_section(std::string_view option) {
  constexpr std::array<std::string_view, 9> kOfSections{"type",       "enabled",     "replace",
                                                        "devices",    "priority",    "devices_udev_regex",
                                                        "script_pre", "script_post", "uname_regex"};
  return std::find(kOfSections.begin(), kOfSections.end(), option) != kOfSections.end();
}

class TunedProfiles {
 public:
  TunedProfiles(system::Files& files, TunedSysctls& out) : files_(files), out_(out) {}

  /// Those that a profile includes come before it.
  void take(std::string_view name) {
    if (seen_.size() >= kTunedProfilesMost || !seen_.emplace(name).second) return;
    const auto found = tuned_profile(files_, name);
    if (!found) return;
    const auto& [path, text] = *found;
    const auto sections = tuned_sections(text);
    for (const auto& section : sections) {
      if (section.name != "main") continue;
      if (const auto included = section.find("include")) {
        for (const auto part : base::words_of(*included, " \t,;")) take(part);
      }
    }
    for (const auto& section : sections) add(section, path);
  }

 private:
  void add(const TunedSection& section, const std::string& path) {
    if (section.find("type").value_or(section.name) != "sysctl") return;
    if (section.find("replace") && !is_off(section.find("replace"))) out_.settings.clear();
    if (is_off(section.find("enabled"))) {
      out_.settings.clear();
      out_.active = false;
      return;
    }
    out_.active = true;
    for (const auto& option : section.options) {
      if (is_of_section(option.name)) continue;
      auto key = option.name;  // tuned has no spelling for names of interfaces with dots
      std::replace(key.begin(), key.end(), '.', '/');
      std::string_view value = option.value;
      if (value.size() > 1 && value.starts_with('"') && value.ends_with('"'))
        value = value.substr(1, value.size() - 2);
      out_.settings.insert_or_assign(std::move(key), TunedSysctl{path, option.line, std::string(value)});
    }
  }

  system::Files& files_;
  TunedSysctls& out_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace

TunedSysctls read_tuned_sysctls(system::Files& files) {
  TunedSysctls out;
  const auto names = files.read_linked("/etc/tuned/active_profile");
  if (!names || !*names || !is_enabled_at_boot(files)) return out;
  TunedProfiles profiles(files, out);
  for (const auto name : base::words_of(**names, " \t\r\n")) profiles.take(name);
  const auto main = files.read_linked("/etc/tuned/tuned-main.conf");
  if (main && *main) {
    // The file has no sections.
    for (const auto& section : tuned_sections("[main]\n" + **main)) {
      if (const auto reapply = section.find("reapply_sysctl")) out.reapplies = !is_off(reapply);
    }
  }
  return out;
}

}  // namespace rdmacfg::kinds
