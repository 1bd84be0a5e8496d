// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/templates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

namespace {

/// Formats whose files have no such words. In those of nmstate, cloud-init and roles, and in scripts they
/// have a meaning.
constexpr auto kLiteralFormats =
    std::to_array<std::string_view>({"udev", "nm", "ifcfg", "networkd", "netplan", "wicked", "ifupdown",
                                     "openib", "mlx4-conf", "modprobe", "sysctl", "limits", "opensm", "srp"});

/// "{{ mtu }}" or "{% endif %}" in a line; empty: there is none.
std::string_view placeholder_of(std::string_view line) {
  for (const auto& [begin, end] : {std::pair<std::string_view, std::string_view>{"{{", "}}"}, {"{%", "%}"}}) {
    const auto from = line.find(begin);
    if (from == std::string_view::npos) continue;
    const auto to = line.find(end, from + begin.size());
    if (to != std::string_view::npos) return line.substr(from, to + end.size() - from);
  }
  return {};
}

/// Whether a line is a command, such as "up docker ps --format '{{.Names}}'" of interfaces(5), an `install`
/// of modprobe.d or a RUN of udev's rules.
bool runs_a_command(std::string_view line) {
  constexpr auto kOfCommands = std::to_array<std::string_view>(
      {"up", "down", "pre-up", "pre-down", "post-up", "post-down", "install", "remove"});
  const auto words = words_of(line);
  const bool runs =
      line.find("RUN") != std::string_view::npos || line.find("PROGRAM") != std::string_view::npos;
  return runs || (!words.empty() &&
                  std::find(kOfCommands.begin(), kOfCommands.end(), words.front()) != kOfCommands.end());
}

/// Reports the first placeholder of a file.
/// @return whether there is one
bool tell_template(const File& file, Claims& claims) {
  int number = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    auto line = base::trim(raw);
    if (line.starts_with('#') || line.starts_with(';') || line.starts_with("<!--")) continue;
    line = line.substr(0, line.find(" #"));
    const auto placeholder = placeholder_of(line);
    // Those of Go's programs begin with a dot.
    const bool of_command =
        base::trim(placeholder.substr(std::min<std::size_t>(2, placeholder.size()))).starts_with('.') &&
        runs_a_command(line);
    if (placeholder.empty() || of_command) continue;
    claims.miss({file.path, number},
                fmt::format("{} is computed by Ansible or another program: the file is a template; import "
                            "the file made from it",
                            placeholder));
    return true;
  }
  return false;
}

}  // namespace

std::size_t leave_out_templates(std::string_view format, std::vector<File>& files, Claims& claims) {
  if (std::find(kLiteralFormats.begin(), kLiteralFormats.end(), format) == kLiteralFormats.end()) return 0;
  return std::erase_if(files, [&](const File& file) {
    // A unit may give such words to its program: docker ps --format '{{.Names}}'.
    return !unit_of(file.path).ends_with(".service") && tell_template(file, claims);
  });
}

}  // namespace rdmacfg::foreign
