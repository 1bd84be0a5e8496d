// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/ipv6_at_boot.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/sysctl_conf.hpp"
#include "kinds/host/sysctl_entry.hpp"

namespace rdmacfg::kinds::detail {

namespace {

std::string switch_of_ipv6(std::string_view interface) {
  return fmt::format("net/ipv6/conf/{}/disable_ipv6", interface);
}

bool switches_off(const ForeignSysctl& line) { return !same_sysctl_value(line.value, "0"); }

/// The line that switches IPv6 off. One for the interface, or a pattern that fits it, counts before all lines
/// for `all` and `default`, the document's too: systemd-sysctl sets it when the interface comes. And a write
/// to `all` sets `default` as well (addrconf_disable_ipv6() of net/ipv6/addrconf.c).
std::optional<ForeignSysctl> line_switching_off(const std::string& interface, const InterfaceNames& on,
                                                const ForeignSysctls& foreign) {
  const auto counts = [&](std::string_view name) {
    return foreign_sysctl_in_force(switch_of_ipv6(name), foreign);
  };
  if (on.contains(interface)) return std::nullopt;
  if (auto own = counts(interface)) return switches_off(*own) ? own : std::nullopt;
  if (on.contains("all") || on.contains("default")) return std::nullopt;
  const auto all = counts("all"), initial = counts("default");
  const auto& last = !initial || (all && is_read_later(*all, *initial)) ? all : initial;
  return last && switches_off(*last) ? last : std::nullopt;
}

}  // namespace

void warn_of_no_ipv6_at_boot(const model::Desired& address, const std::string& interface,
                             const InterfaceNames& on, std::span<const ForeignLine> at_next_boot,
                             const ForeignSysctls& foreign, model::Diagnostics& diagnostics) {
  const auto warn = [&](std::string what, std::string hint) {
    diagnostics.push_back({model::Severity::kWarning, address.where, std::move(what), std::move(hint), {}});
  };
  const bool switched_on = on.contains(interface) || on.contains("all") || on.contains("default");
  for (const auto& line : at_next_boot) {
    if (line.sort != ForeignLine::Sort::kOption || same_sysctl_value(line.option.value, "0")) continue;
    const bool for_good = line.option.name == "disable";
    if (!for_good && (line.option.name != "disable_ipv6" || switched_on)) continue;
    warn(fmt::format("{}: {} switches IPv6 off from the next boot on: \"ipv6.{}\"", address.label,
                     line.place(), line.option.text()),
         "remove the word there, or leave the IPv6 addresses out");
  }
  const auto line = line_switching_off(interface, on, foreign);
  if (!line) return;
  warn(fmt::format("{}: {}:{} switches IPv6 off on {} at boot", address.label, line->file, line->line,
                   interface),
       fmt::format("remove the line there, or write [[sysctl]] key = \"{}\", value = 0",
                   switch_of_ipv6(interface)));
}

}  // namespace rdmacfg::kinds::detail
