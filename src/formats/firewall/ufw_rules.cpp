// SPDX-License-Identifier: Apache-2.0
#include "formats/firewall/ufw_rules.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/shell_value.hpp"

namespace rdmacfg::kinds {

namespace {

std::optional<std::string> ufw_file(system::Files& files, const std::string& path) {
  auto text = files.read(path);
  return text ? std::move(*text) : std::nullopt;
}

/// The value of a line KEY=value or KEY="value"; empty without it.
std::string ufw_setting(std::string_view text, std::string_view key) {
  std::string out;
  for (const auto line : base::split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || base::trim(line.substr(0, equals)) != key) continue;
    out = base::lower(base::trim(line.substr(equals + 1)));
    std::erase(out, '"');
  }
  return out;
}

/// Whether "any", "22", "80,443" or "4000:5000" includes the port.
bool ufw_ports_include(std::string_view ports, const FirewallPort& port) {
  if (ports == "any") return true;
  for (const auto part : base::split(ports, ',')) {
    std::string range(part);
    std::replace(range.begin(), range.end(), ':', '-');
    if (port.in(range)) return true;
  }
  return false;
}

/// Of a line "### tuple ### allow udp 4791 0.0.0.0/0 any 0.0.0.0/0 in_eth1": whether it lets packets to the
/// port in, from that interface or from all.
bool tuple_accepts(std::string_view line, std::string_view interface, const FirewallPort& port) {
  constexpr std::string_view kMark = "### tuple ### ";
  constexpr std::size_t kAction = 0, kProtocol = 1, kPorts = 2, kAddresses = 6;
  if (!line.starts_with(kMark)) return false;
  const auto words = base::split(line.substr(kMark.size()), ' ');
  if (words.size() <= kAddresses) return false;
  if (!words[kAction].starts_with("allow") && !words[kAction].starts_with("limit")) return false;
  if (words[kProtocol] != "any" && words[kProtocol] != port.protocol) return false;
  const bool in = std::any_of(words.begin() + kAddresses, words.end(), [&](std::string_view word) {
    return word == "in" || (word.starts_with("in_") && word.substr(3) == interface);
  });
  return in && ufw_ports_include(words[kPorts], port);
}

}  // namespace

bool ufw_refuses(system::Files& files, std::string_view interface, const FirewallPort& port) {
  const auto conf = ufw_file(files, "/etc/ufw/ufw.conf"), defaults = ufw_file(files, "/etc/default/ufw"),
             rules = ufw_file(files, "/etc/ufw/user.rules");
  if (!conf || !defaults || !rules || ufw_setting(*conf, "ENABLED") != "yes") return false;
  const auto policy = ufw_setting(*defaults, "DEFAULT_INPUT_POLICY");
  if (policy != "drop" && policy != "reject") return false;
  // Rules of iptables that the administrator wrote there: those for the interface, or for the port.
  for (const auto* path : {"/etc/ufw/before.rules", "/etc/ufw/after.rules"}) {
    const auto text = ufw_file(files, path);
    if (!text) return false;
    if (text->find(interface) != std::string::npos ||
        text->find(std::to_string(port.number)) != std::string::npos)
      return false;
  }
  const auto lines = base::split(std::string_view(*rules), '\n');
  return std::none_of(lines.begin(), lines.end(),
                      [&](std::string_view line) { return tuple_accepts(line, interface, port); });
}

std::string ufw_sysctl_file(system::Files& files) {
  const auto conf = ufw_file(files, "/etc/ufw/ufw.conf"), defaults = ufw_file(files, "/etc/default/ufw");
  if (!conf || !defaults || ufw_setting(*conf, "ENABLED") != "yes") return {};
  auto file = shell_value(*defaults, "IPT_SYSCTL").value_or("");
  return file.starts_with('/') ? file : std::string();
}

}  // namespace rdmacfg::kinds
