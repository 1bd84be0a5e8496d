// SPDX-License-Identifier: Apache-2.0
#include "config/other_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "config/guard.hpp"

namespace rdmacfg::config {

namespace {

/// A line that is neither empty nor a comment, without the blanks around it.
struct PlainLine {
  int number = 0;
  int column = 0;
  std::string_view words;
};
using PlainLines = std::vector<PlainLine>;

/// A language, and the format of `rdma-configctl import` that reads it; empty where nothing is recognized.
struct OtherTool {
  std::string_view file, format;
};

/// The rest of a line behind its first word, where that is `word` and no key: "ib0" of "auto ib0".
std::string_view behind(std::string_view line, std::string_view word) {
  if (!line.starts_with(word) || line.size() == word.size()) return {};
  const auto rest = line.substr(word.size());
  if (rest.front() != ' ' && rest.front() != '\t') return {};
  const auto bare = base::trim(rest);
  return bare.starts_with('=') ? std::string_view() : bare;
}

bool is_document(std::string_view line) {
  if (line.starts_with("[[")) return true;
  constexpr std::array<std::string_view, 3> kVersion{"version", "\"version\"", "'version'"};
  return std::any_of(kVersion.begin(), kVersion.end(), [&](std::string_view key) {
    return line.starts_with(key) && base::trim(line.substr(key.size())).starts_with('=');
  });
}

/// The lines of a text; none where one of them shows that it is a document.
PlainLines lines_of_other(std::string_view body) {
  PlainLines out;
  int number = 0;
  for (std::size_t start = 0; start < body.size();) {
    const auto end = std::min(body.find('\n', start), body.size());
    const auto whole = body.substr(start, end - start);
    const auto words = base::trim(whole);
    start = end + 1;
    ++number;
    if (words.empty() || words.front() == '#' || words.front() == ';') continue;
    if (is_document(words)) return {};
    out.push_back({number, static_cast<int>(words.data() - whole.data()) + 1, words});
  }
  return out;
}

bool any_is(const PlainLines& lines, std::initializer_list<std::string_view> wanted) {
  return std::any_of(lines.begin(), lines.end(), [&](const PlainLine& line) {
    return std::find(wanted.begin(), wanted.end(), line.words) != wanted.end();
  });
}

/// Files with [sections], whose names are case-sensitive.
OtherTool by_sections(const PlainLines& lines) {
  if (any_is(lines, {"[connection]"})) return {"a NetworkManager keyfile", "nm"};
  if (any_is(lines, {"[NetDev]", "[Network]"})) return {"a systemd-networkd file", "networkd"};
  if (any_is(lines, {"[Match]"}) && any_is(lines, {"[Link]"})) return {"a udev .link file", "udev"};
  const auto any_begins = [&](std::string_view front) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const PlainLine& line) { return line.words.starts_with(front); });
  };
  // The format `limits` reads that one limit alone, and `scripts` the commands.
  const bool commands = any_begins("Exec"), limits = any_begins("Limit");
  if (any_is(lines, {"[Unit]"}) || (any_is(lines, {"[Service]"}) && (limits || commands)))
    return {"a systemd unit", any_begins("LimitMEMLOCK") || (limits && !commands) ? "limits" : "scripts"};
  return {};
}

/// Files of assignments for a shell: NAME=value.
OtherTool by_assignments(const PlainLines& lines) {
  std::vector<std::string_view> names;
  for (const auto& line : lines) {
    const auto name = line.words.substr(0, std::min(line.words.find('='), line.words.size()));
    const bool capital =
        !name.empty() && name.size() < line.words.size() && std::all_of(name.begin(), name.end(), [](char c) {
          return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        });
    if (!capital) return {};
    names.push_back(name);
  }
  const auto has = [&](std::initializer_list<std::string_view> wanted) {
    return std::find_first_of(names.begin(), names.end(), wanted.begin(), wanted.end()) != names.end();
  };
  const bool loads =
      std::any_of(names.begin(), names.end(), [](std::string_view name) { return name.ends_with("_LOAD"); });
  if (has({"SET_IPOIB_CM"}) || (loads && has({"ONBOOT"}))) return {"openib.conf", "openib"};
  if (loads) return {"rdma.conf", "rdma-conf"};
  if (has({"STARTMODE"})) return {"a wicked ifcfg file", "wicked"};
  if (has({"DEVICE", "HWADDR", "BOOTPROTO", "IPADDR", "CONNECTED_MODE", "PKEY_ID"}))
    return {"an ifcfg file", "ifcfg"};
  if (has({"GATEWAY0"}) && has({"ADDRESS0"})) return {"a route file that belongs to an ifcfg file", "ifcfg"};
  if (has({"GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT"}))
    return {"a GRUB configuration file", "cmdline"};
  return {};
}

bool is_mlx4_conf(std::string_view line) {
  constexpr std::string_view kShape = "dddd:dd:dd.d";  // 0000:10:00.0
  if (line.size() <= kShape.size() || line[4] != ':' || line[7] != ':' || line[10] != '.') return false;
  const auto type = base::trim(line.substr(kShape.size()));
  return type.starts_with("ib") || type.starts_with("eth") || type.starts_with("auto");
}

/// "* soft memlock unlimited"
bool is_limits(std::string_view line) {
  std::vector<std::string_view> words;
  for (auto rest = line; !rest.empty();) {
    const auto end = std::min(rest.find_first_of(" \t"), rest.size());
    words.push_back(rest.substr(0, end));
    rest = base::trim(rest.substr(end));
  }
  constexpr std::size_t kWords = 4;
  return words.size() == kWords && (words[1] == "soft" || words[1] == "hard" || words[1] == "-");
}

/// "Default=0x7fff, ipoib : ALL=full;"
bool is_partition_line(std::string_view line) {
  const auto at = line.find("=0x");
  if (at == std::string_view::npos || at == 0) return false;
  const auto name = line.substr(0, at);
  if (name.find_first_of(" \t\"'[{.,") != std::string_view::npos) return false;
  const auto rest = line.substr(at + 3);
  const auto after = std::min(rest.find_first_not_of("0123456789abcdefABCDEF"), rest.size());
  const auto next = base::trim(rest.substr(after));
  return next.starts_with(',') || next.starts_with(':');
}

bool is_kernel_setting(std::string_view line) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return false;
  auto name = base::trim(line.substr(0, equals));
  if (name.starts_with('-')) name.remove_prefix(1);  // "ignore a failure", sysctl.d(5)
  constexpr std::array<std::string_view, 5> kFolders{"net", "kernel", "vm", "fs", "dev"};
  return std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view folder) {
    return name.starts_with(folder) && name.size() > folder.size() &&
           (name[folder.size()] == '.' || name[folder.size()] == '/');
  });
}

/// "a ioc_guid=00a0b80200402bef,queue_size=128"
bool is_srp_rule(std::string_view line) {
  constexpr std::array<std::string_view, 5> kMatches{"id_ext=", "ioc_guid=", "dgid=", "service_id=", "pkey="};
  for (const auto* word : {"a", "d", "A", "D"}) {
    const auto rest = behind(line, word);
    if (std::any_of(kMatches.begin(), kMatches.end(),
                    [&](std::string_view key) { return rest.starts_with(key); }))
      return true;
  }
  return false;
}

/// Files of which the first line is enough.
OtherTool by_first_line(std::string_view line) {
  for (const auto* word : {"options", "install", "blacklist", "alias", "softdep"}) {
    if (!behind(line, word).empty()) return {"a modprobe.d file", "modprobe"};
  }
  for (const auto* word : {"guid", "m_key", "sm_key", "subnet_prefix"}) {
    if (behind(line, word).starts_with("0x")) return {"opensm.conf", "opensm"};
  }
  if (line.front() >= 'A' && line.front() <= 'Z' &&
      (line.find("==\"") != std::string_view::npos || line.find("!=\"") != std::string_view::npos))
    return {"a udev rules file", "udev"};
  if (is_kernel_setting(line)) return {"a sysctl.d file", "sysctl"};
  if (is_mlx4_conf(line)) return {"mlx4.conf", "mlx4-conf"};
  if (is_limits(line)) return {"a limits.d file", "limits"};
  if (line.starts_with("--transport") || line.starts_with("-t rdma"))
    return {"nvme-cli's discovery.conf", "nvme"};
  if (is_srp_rule(line)) return {"srp_daemon.conf", "srp"};
  if (is_partition_line(line)) return {"OpenSM's partitions.conf", "opensm"};
  return {};
}

bool is_ifupdown(const PlainLines& lines) {
  const auto first = lines.front().words;
  if (!behind(first, "auto").empty() || !behind(first, "allow-hotplug").empty()) return true;
  for (const auto* word : {"source", "source-directory"}) {
    if (behind(first, word).starts_with("/etc/network/")) return true;
  }
  return std::any_of(lines.begin(), lines.end(),
                     [](const PlainLine& line) { return !behind(line.words, "iface").empty(); });
}

/// YAML and XML, which are known by their outermost word.
OtherTool by_outermost(const PlainLines& lines) {
  const bool dashes = lines.front().words == "---" && lines.size() > 1;
  const auto first = lines[dashes ? 1 : 0].words;
  if (first == "network:") return {"a netplan file", "netplan"};
  if (first == "interfaces:") return {"an nmstate file", "nmstate"};
  if (any_is(lines, {"network_connections:"}))
    return {"a file for linux-system-roles.network", "system-roles"};
  if (first.starts_with("<interface>") || first.starts_with("<interface "))
    return {"a wicked file", "wicked"};
  return {};
}

/// Files whose first line says what they are, though it is a comment.
OtherTool by_mark(std::string_view body) {
  // A path follows, as the kernel wants it (execve(2)); else it is a comment.
  if (body.starts_with("#!") && base::trim(body.substr(2, body.find('\n') - 2)).starts_with('/'))
    return {"a script", "scripts"};
  if (base::trim(body.substr(0, body.find('\n'))) == "#cloud-config")
    return {"a cloud-init file", "cloud-init"};
  return {};
}

OtherTool tool_of(std::string_view body, const PlainLines& lines) {
  if (auto found = by_mark(body); !found.format.empty()) return found;
  if (auto found = by_sections(lines); !found.format.empty()) return found;
  if (auto found = by_assignments(lines); !found.format.empty()) return found;
  if (auto found = by_outermost(lines); !found.format.empty()) return found;
  if (is_ifupdown(lines)) return {"an ifupdown interfaces file", "ifupdown"};
  return by_first_line(lines.front().words);
}

}  // namespace

std::string_view format_of_other_tool(std::string_view text) {
  const auto body = without_mark(text);
  const auto lines = lines_of_other(body);
  return lines.empty() ? std::string_view() : tool_of(body, lines).format;
}

bool is_own_document(std::string_view text) {
  const auto body = without_mark(text);
  for (std::size_t start = 0; start < body.size();) {
    const auto end = std::min(body.find('\n', start), body.size());
    const auto words = base::trim(body.substr(start, end - start));
    start = end + 1;
    if (!words.empty() && words.front() != '#') return is_document(words);
  }
  return false;
}

std::optional<model::Diagnostic> recognize_other_tool(const Text& text) {
  const auto body = without_mark(text.text);
  const auto lines = lines_of_other(body);
  if (lines.empty()) return std::nullopt;
  const auto tool = tool_of(body, lines);
  if (tool.format.empty()) return std::nullopt;
  const auto& first = lines.front();
  constexpr std::size_t kLongestMark = 80;
  return model::Diagnostic{
      model::Severity::kError,
      {text.name, first.number, first.column, static_cast<int>(std::min(first.words.size(), kLongestMark))},
      fmt::format("this is {}, not an rdma-configd document", tool.file),
      fmt::format("`rdma-configctl import {} FILE` converts it", tool.format),
      {}};
}

}  // namespace rdmacfg::config
