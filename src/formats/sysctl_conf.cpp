// SPDX-License-Identifier: Apache-2.0
#include "formats/sysctl_conf.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/managed_block.hpp"
#include "model/types/host_types.hpp"

namespace rdmacfg::kinds {

using base::Result;

namespace {

struct SysctlLine {
  int number = 0;
  std::string_view key;              ///< as it is written
  std::optional<std::string> value;  ///< none for a line "-key", which excludes settings
};

bool is_sysctl_pattern(std::string_view key) { return key.find_first_of("*?[") != std::string_view::npos; }

/// "-key = value" only says that errors do not matter; "-key" alone takes settings out of those that
/// systemd-sysctl sets.
void each_line_of_sysctls(std::string_view text, const std::function<void(const SysctlLine&)>& visit) {
  int number = 0;
  for (const auto whole : base::split(text, '\n')) {
    ++number;
    auto line = base::trim(whole);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    const bool dash = line.front() == '-';
    if (dash) line.remove_prefix(1);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos && !dash) continue;
    SysctlLine out{.number = number, .key = base::trim(line.substr(0, equals)), .value = std::nullopt};
    if (equals != std::string_view::npos) {
      // The kernel takes any blanks between the numbers of a list, and shows tabs.
      const auto value = std::string(base::trim(line.substr(equals + 1)));
      const auto parsed = model::Codec<model::SysctlValue>::parse(value);
      out.value = parsed ? parsed->text : value;
    }
    visit(out);
  }
}

/// Lines that name a setting; `value` is null for a line "-path".
void each_setting(
    std::string_view text,
    const std::function<void(int line, const std::string& path, const std::string* value)>& visit) {
  each_line_of_sysctls(text, [&](const SysctlLine& line) {
    const auto path = model::SysctlPath::parse(line.key);  // refuses patterns
    if (path) visit(line.number, path->text, line.value ? &*line.value : nullptr);
  });
}

/// With slashes between its parts: the first separator decides which of the two separates.
std::string glob_of_sysctls(std::string_view key) {
  std::string out(key);
  const auto first = out.find_first_of("./");
  if (first != std::string::npos && out[first] == '.') {
    for (auto& c : out) c = c == '.' ? '/' : c == '/' ? '.' : c;
  }
  if (out.starts_with('/')) out.erase(0, 1);
  return out;
}

bool fits_sysctl_glob(const std::string& glob, const std::string& path) {
  return ::fnmatch(glob.c_str(), path.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
}

std::string_view name_of_conf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// In the order of reading. Of lines with the same pattern the last counts, also where it is an exclusion,
/// which concerns no other lines; one that only repeats the value leaves the pattern in its place.
std::vector<ForeignSysctlPattern> patterns_in_force(std::vector<ForeignSysctlPattern> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return is_read_later(b.line, a.line); });
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = places.try_emplace(all[i].glob, i).first;
    const auto &line = all[i].line, &earlier = all[at->second].line;
    if (line.value != earlier.value || line.excludes != earlier.excludes) at->second = i;
  }
  std::vector<ForeignSysctlPattern> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (places.at(all[i].glob) == i && !all[i].line.excludes) out.push_back(all[i]);
  }
  return out;
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
    each_line_of_sysctls(**text, [&](const SysctlLine& line) {
      ForeignSysctl found{file, line.number, line.value.value_or(""), wins, !line.value};
      if (is_sysctl_pattern(line.key)) {
        out.patterns.push_back({glob_of_sysctls(line.key), std::move(found)});
      } else if (const auto path = model::SysctlPath::parse(line.key)) {
        out.lines[path->text].push_back(std::move(found));
      }
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
  out.patterns = patterns_in_force(std::move(out.patterns));
  return out;
}

bool is_read_later(const ForeignSysctl& line, const ForeignSysctl& other) {
  const auto name = name_of_conf(line.file), other_name = name_of_conf(other.file);
  return name != other_name ? name > other_name : line.line > other.line;
}

std::optional<ForeignSysctl> foreign_sysctl_in_force(const std::string& path, const ForeignSysctls& foreign) {
  if (const auto named = foreign.lines.find(path); named != foreign.lines.end()) {
    const auto last = std::max_element(named->second.begin(), named->second.end(),
                                       [](const auto& a, const auto& b) { return is_read_later(b, a); });
    return last->excludes ? std::nullopt : std::optional(*last);
  }
  const auto at = std::find_if(foreign.patterns.rbegin(), foreign.patterns.rend(),
                               [&](const auto& pattern) { return fits_sysctl_glob(pattern.glob, path); });
  return at == foreign.patterns.rend() ? std::nullopt : std::optional(at->line);
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
