// SPDX-License-Identifier: Apache-2.0
#include "formats/sysctl_conf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "base/text.hpp"
#include "formats/managed_block.hpp"
#include "model/types/host_types.hpp"

namespace rdmacfg::kinds {

using base::Result;

namespace {

/// `value` is null for a line "-path", which takes the setting out of what systemd-sysctl sets.
void each_setting(
    std::string_view text,
    const std::function<void(int line, const std::string& path, const std::string* value)>& visit) {
  int number = 0;
  for (const auto whole : base::split(text, '\n')) {
    ++number;
    auto line = base::trim(whole);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    const bool dash = line.front() == '-';
    if (dash) line.remove_prefix(1);  // errors do not matter
    const auto equals = line.find('=');
    if (equals == std::string_view::npos && !dash) continue;
    const auto path = model::SysctlPath::parse(base::trim(line.substr(0, equals)));
    if (!path) continue;
    if (equals == std::string_view::npos) {
      visit(number, path->text, nullptr);
      continue;
    }
    // The kernel takes any blanks between the numbers of a list, and shows tabs.
    const auto value = std::string(base::trim(line.substr(equals + 1)));
    const auto parsed = model::Codec<model::SysctlValue>::parse(value);
    visit(number, path->text, parsed ? &parsed->text : &value);
  }
}

}  // namespace

Sysctls parse_sysctls(std::string_view text) {
  Sysctls out;
  each_setting(text, [&](int /*line*/, const std::string& path, const std::string* value) {
    out.erase(path);
    if (value != nullptr) out.emplace(path, *value);
  });
  return out;
}

std::string render_sysctls(const Sysctls& sysctls) {
  if (sysctls.empty()) return {};
  auto text = fmt::format("{}\n", kOurFirstLine);
  for (const auto& [path, value] : sysctls) text += fmt::format("{} = {}\n", path, value);
  return text;
}

Result<Sysctls> read_sysctl_file(system::Files& files) {
  auto text = files.read(std::string(kSysctlFile));
  if (!text) return base::fail(text.error());
  return parse_sysctls(text->value_or(""));
}

Result<void> write_sysctl_file(system::Files& files, const Sysctls& sysctls) {
  const std::string path(kSysctlFile);
  return sysctls.empty() ? files.remove(path) : files.write(path, render_sysctls(sysctls));
}

SysctlConf observe_sysctl_conf(system::Files& files) {
  for (const auto* folder : {"/usr/lib/systemd", "/lib/systemd"}) {
    const auto names = files.list(folder);
    if (names && std::find(names->begin(), names->end(), "systemd-sysctl") != names->end())
      return SysctlConf::kUnread;
  }
  return SysctlConf::kRead;
}

ForeignSysctls read_foreign_sysctls(system::Files& files, SysctlConf conf) {
  constexpr std::array<std::string_view, 5> kSysctlFolders{
      "/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"};
  const auto own_name = kSysctlFile.substr(kSysctlFile.rfind('/') + 1);
  ForeignSysctls out;
  std::set<std::string> seen;  // a file masks those of its name in later folders
  enum class Order { kBeforeOurs, kAfterOurs };
  const auto look = [&](const std::string& file, Order order) {
    const bool wins = order == Order::kAfterOurs;
    const auto text = files.read_linked(file);
    if (!text || !*text) return;  // a link, or not there
    each_setting(**text, [&](int line, const std::string& other, const std::string* value) {
      out[other].push_back({file, line, value == nullptr ? std::string() : *value, wins, value == nullptr});
    });
  };
  for (const auto folder : kSysctlFolders) {
    const auto names = files.list(std::string(folder));
    if (!names) continue;
    for (const auto& name : *names) {
      if (!name.ends_with(".conf") || name == own_name || !seen.insert(name).second) continue;
      look(fmt::format("{}/{}", folder, name), name > own_name ? Order::kAfterOurs : Order::kBeforeOurs);
    }
  }
  if (conf == SysctlConf::kRead) look("/etc/sysctl.conf", Order::kBeforeOurs);
  return out;
}

std::map<std::string, ForeignSysctl> sysctls_in_file(system::Files& files, const std::string& file) {
  std::map<std::string, ForeignSysctl> out;
  const auto text = files.read_linked(file);
  if (!text || !*text) return out;
  each_setting(**text, [&](int line, const std::string& other, const std::string* value) {
    if (value != nullptr) out[other] = {.file = file, .line = line, .value = *value, .wins = true};
  });
  return out;
}

}  // namespace rdmacfg::kinds
