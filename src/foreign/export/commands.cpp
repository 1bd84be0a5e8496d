// SPDX-License-Identifier: Apache-2.0
// The document as a shell script: the commands that an administrator would type (ip-link(8), ip-address(8),
// Documentation/infiniband/ipoib.rst of Linux).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "config/guard.hpp"
#include "foreign/export/commands_sections.hpp"
#include "foreign/export/exporter.hpp"
#include "formats/udev/udev_netdev_names.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;
using model::IpoibMode;
using model::State;

namespace {

constexpr std::array kFamilies{Family::kIpv4, Family::kIpv6};

constexpr std::string_view kHead = R"sh(#!/bin/sh
# The document as commands, written by rdma-configctl export commands. Run it as root. Running it again
# does no harm. Except for the files that it writes, nothing survives a reboot or a driver reload, and
# a failed command is not rolled back: rdma-configctl apply does both.
set -eu

# The interface of the port with that GUID: the last 8 bytes of its address. P_Key interfaces have no device.
interface_of() {
	for i in /sys/class/net/*; do
		[ -e "$i/device" ] && [ "$(cat "$i/type")" = 32 ] || continue
		case $(cat "$i/address") in *"$1") echo "${i##*/}"; return;; esac
	done
	echo "no interface of port $1: is ib_ipoib loaded?" >&2
	return 1
}
)sh";

class Script {
 public:
  Script(std::string& out, std::vector<Remark>& notes) : out_(out), notes_(notes) {}

  void tree(const ImportedHost::InterfaceTree& tree) {
    const auto& port = tree.port;
    line("");
    line(fmt::format("# {}", config::harmless(port.where.text())));
    if (port.guid) line(fmt::format("dev=$(interface_of {})", port.guid->text()));
    if (port.guid && port.names) rename(port);
    line(fmt::format("dev={}", port.name));
    if (port.mode) line(fmt::format("echo {} >/sys/class/net/$dev/mode", model::text_of(*port.mode)));
    settings(port);
    for (const auto& child : tree.children) make(child);
  }

 private:
  void line(std::string_view text) { out_ += fmt::format("{}\n", text); }

  void note(const Interface& interface, std::string_view what) {
    notes_.push_back({interface.where, fmt::format("{}: {}", interface.name, what)});
    line(fmt::format("# not expressed: {}", what));
  }

  void rename(const Interface& port) {
    line(
        "# The rule sets the name at every boot; these commands set it now. The interface must be down for "
        "that.");
    line(fmt::format("if [ \"$dev\" != {} ]; then", port.name));
    line("\tip link set dev \"$dev\" down");
    line(fmt::format("\tip link set dev \"$dev\" name {}", port.name));
    line("fi");
  }

  void make(const Interface& interface) {
    line("");
    line(fmt::format("# P_Key {}, {}", interface.pkey->text(), config::harmless(interface.where.text())));
    if (interface.state == State::kAbsent) {
      line(fmt::format("[ ! -e /sys/class/net/{0} ] || ip link delete dev {0}", interface.name));
      return;
    }
    line(fmt::format("dev={} parent={}", interface.name, interface.parent));
    line("if [ ! -e /sys/class/net/$dev ]; then");
    if (interface.mode == IpoibMode::kConnected) {
      // Only an interface that was made so has a file `mode`, which is the safe way to change it.
      line(fmt::format("\techo {} >/sys/class/net/$parent/create_child", interface.pkey->text()));
      call(interface);
    } else {
      line(fmt::format("\tip link add link $parent name $dev type ipoib pkey {}", interface.pkey->text()));
    }
    line("fi");
    if (interface.mode)
      line(fmt::format("[ ! -e /sys/class/net/$dev/mode ] || echo {} >/sys/class/net/$dev/mode",
                       model::text_of(*interface.mode)));
    settings(interface);
  }

  /// From the name that the kernel gives at first: of a long parent with 10 characters of its name, before
  /// Linux 6.10 with all of it, cut to 15. Only an interface that was made so has a file `parent`.
  void call(const Interface& interface) {
    constexpr std::size_t kParentPart = 10;
    const auto first = child_name(interface.parent, *interface.pkey);
    if (interface.parent.size() <= kParentPart) {
      if (interface.name != first) line(fmt::format("\tip link set dev {} name $dev", first));
      return;
    }
    line(fmt::format("\tfirst={}", child_name(interface.parent.substr(0, kParentPart), *interface.pkey)));
    line(fmt::format("\t[ -e /sys/class/net/$first/parent ] || first={}", first));
    line("\t[ $first = $dev ] || ip link set dev $first name $dev");
  }

  void settings(const Interface& interface) {
    if (interface.mtu) line(fmt::format("ip link set dev $dev mtu {}", *interface.mtu));
    if (interface.umcast)
      line(fmt::format("ip link set dev $dev type ipoib umcast {}", *interface.umcast ? 1 : 0));
    if (interface.ipv6.method == InetMethod::kDisabled)
      line("echo 1 >/proc/sys/net/ipv6/conf/$dev/disable_ipv6");
    if (interface.state == State::kDown) {
      line("ip link set dev $dev down");
      if (has_addresses(interface))
        note(interface, "addresses, routes and name servers of an interface that is down");
      return;
    }
    line("ip link set dev $dev up");
    for (const auto family : kFamilies) inet(interface, family);
    names(interface);
  }

  /// Whether there is more to say than that there are none.
  static bool has_addresses(const Interface& interface) {
    return std::any_of(kFamilies.begin(), kFamilies.end(), [&](Family family) {
      auto inet = interface.inet(family);
      if (inet.method == InetMethod::kDisabled) inet.method.reset();
      return !inet.empty();
    });
  }

  void inet(const Interface& interface, Family family) {
    const auto& inet = interface.inet(family);
    const auto flag = family == Family::kIpv4 ? "" : "-6 ";
    if (inet.method == InetMethod::kAuto || inet.method == InetMethod::kLinkLocal)
      note(interface, fmt::format("{} addresses by {}: that needs a daemon", model::text_of(family),
                                  model::text_of(*inet.method)));
    for (const auto& address : inet.addresses) {
      // Without brd the kernel makes no broadcast address.
      const bool broadcast = family == Family::kIpv4 && address.length < 31;
      line(fmt::format("ip {}addr replace {}{} dev $dev", flag, address.text(), broadcast ? " brd +" : ""));
    }
    // A next hop may be in the network of a route that has none.
    for (const bool hop : {false, true}) {
      for (const auto& route : inet.routes) {
        if (route.via.has_value() == hop) this->route(route, flag);
      }
    }
    if (inet.gateway)
      line(fmt::format("ip {}route replace default via {} dev $dev proto static metric 150", flag,
                       inet.gateway->text()));
  }

  /// A call replaces what an earlier one gave the interface, so both families are in one.
  void names(const Interface& interface) {
    std::string servers, domains;
    std::set<std::string_view> said;
    for (const auto* inet : {&interface.ipv4, &interface.ipv6}) {
      for (const auto& server : inet->dns) servers += " " + server.text();
      for (const auto& name : inet->search) {
        if (said.insert(name).second) domains += " " + name;
      }
    }
    if (!servers.empty())
      line(fmt::format("! command -v resolvectl >/dev/null || resolvectl dns $dev{}", servers));
    if (!domains.empty())
      line(fmt::format("! command -v resolvectl >/dev/null || resolvectl domain $dev{}", domains));
  }

  void route(const Route& route, std::string_view flag) {
    auto words = route.to.text();
    if (route.via) words += " via " + route.via->text();
    words += fmt::format(" dev $dev proto static metric {}", route.metric.value_or(150));
    if (route.table != 254) words += fmt::format(" table {}", route.table);
    line(fmt::format("ip {}route replace {}", flag, words));
  }

  std::string& out_;
  std::vector<Remark>& notes_;
};

}  // namespace

std::string render_commands(const std::vector<ImportedHost::InterfaceTree>& trees,
                            const std::vector<model::Section>& sections, std::vector<Remark>& notes) {
  std::string out(kHead);
  // Modules that the interfaces may need come first, settings in folders of interfaces last.
  std::vector<model::Section> before, behind;
  for (const auto& section : sections) (section.path == "sysctl" ? behind : before).push_back(section);
  render_section_commands(before, out, notes);
  kinds::Rules rules;
  for (const auto& tree : trees) {
    if (tree.port.guid && tree.port.names) rules.emplace(*tree.port.guid, tree.port.name);
  }
  if (!rules.empty()) {
    out += "\nmkdir -p /etc/udev/rules.d\ncat >/etc/udev/rules.d/70-persistent-ipoib.rules <<'RULES'\n";
    for (const auto& [guid, name] : rules) {
      const auto rendered = kinds::render_rules({{guid, name}});
      out += rendered.substr(rendered.rfind("ACTION"));
    }
    out += "RULES\n";
  }
  Script script(out, notes);
  for (const auto& tree : trees) script.tree(tree);
  render_section_commands(behind, out, notes);
  return out;
}

}  // namespace rdmacfg::foreign
