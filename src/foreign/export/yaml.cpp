// SPDX-License-Identifier: Apache-2.0
// netplan and nmstate.
#include <fmt/format.h>

#include "foreign/export/exporter.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

/// Quoted, so that no text is taken for a number, a truth value or a tag.
std::string yaml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string target_text(const Route& route, Family family) {
  if (!route.to.any) return route.to.text();
  return family == Family::kIpv4 ? "0.0.0.0/0" : "::/0";
}

void netplan_inet(const Interface& interface, std::string& out) {
  constexpr std::string_view kIn = "      ";
  if (interface.ipv4.method == InetMethod::kAuto) out += fmt::format("{}dhcp4: true\n", kIn);
  if (interface.ipv4.method == InetMethod::kDisabled) out += fmt::format("{}dhcp4: false\n", kIn);
  const bool six = interface.ipv6.method == InetMethod::kAuto;
  if (six) out += fmt::format("{}dhcp6: true\n", kIn);
  out += fmt::format("{}accept-ra: {}\n", kIn, six);
  if (interface.ipv6.method == InetMethod::kDisabled) out += fmt::format("{}link-local: []\n", kIn);
  std::string addresses, routes, servers, search;
  for (const auto family : {Family::kIpv4, Family::kIpv6}) {
    const auto& inet = interface.inet(family);
    for (const auto& address : inet.addresses)
      addresses += fmt::format("{}  - {}\n", kIn, yaml_quoted(address.text()));
    if (inet.gateway)
      routes += fmt::format("{0}  - to: {1}\n{0}    via: {2}\n", kIn,
                            family == Family::kIpv4 ? "\"0.0.0.0/0\"" : "\"::/0\"",
                            yaml_quoted(inet.gateway->text()));
    for (const auto& route : inet.routes) {
      routes += fmt::format("{}  - to: {}\n", kIn, yaml_quoted(target_text(route, family)));
      if (route.via) routes += fmt::format("{}    via: {}\n", kIn, yaml_quoted(route.via->text()));
      if (!route.via) routes += fmt::format("{}    scope: link\n", kIn);
      if (route.metric) routes += fmt::format("{}    metric: {}\n", kIn, *route.metric);
      if (route.table != 254) routes += fmt::format("{}    table: {}\n", kIn, route.table);
    }
    for (const auto& server : inet.dns)
      servers += fmt::format("{}{}", servers.empty() ? "" : ", ", yaml_quoted(server.text()));
    for (const auto& name : inet.search)
      search += fmt::format("{}{}", search.empty() ? "" : ", ", yaml_quoted(name));
  }
  if (!addresses.empty()) out += fmt::format("{}addresses:\n{}", kIn, addresses);
  if (!routes.empty()) out += fmt::format("{}routes:\n{}", kIn, routes);
  if (servers.empty() && search.empty()) return;
  out += fmt::format("{}nameservers:\n", kIn);
  if (!servers.empty()) out += fmt::format("{}  addresses: [{}]\n", kIn, servers);
  if (!search.empty()) out += fmt::format("{}  search: [{}]\n", kIn, search);
}

std::string nmstate_inet(const Inet& inet, Family family) {
  const bool four = family == Family::kIpv4, automatic = inet.method == InetMethod::kAuto;
  const bool on = four ? automatic || !inet.addresses.empty() : inet.method != InetMethod::kDisabled;
  auto out = fmt::format("    {}:\n      enabled: {}\n", four ? "ipv4" : "ipv6", on);
  if (!on) return out;
  out += fmt::format("      dhcp: {}\n", automatic);
  if (!four) out += fmt::format("      autoconf: {}\n", automatic);
  // Without a list nmstate keeps the addresses that are there, and those of DHCP become static (merge_ip()).
  if (inet.addresses.empty()) return automatic ? out : out + "      address: []\n";
  out += "      address:\n";
  for (const auto& address : inet.addresses)
    out += fmt::format("        - ip: {}\n          prefix-length: {}\n", yaml_quoted(address.address.text()),
                       address.length);
  return out;
}

std::string nmstate_routes(const Interface& interface) {
  std::string out;
  for (const auto family : {Family::kIpv4, Family::kIpv6}) {
    auto routes = interface.inet(family).routes;
    if (const auto& gateway = interface.inet(family).gateway) {
      Route first;
      first.to.any = true;
      first.via = gateway;
      routes.insert(routes.begin(), first);
    }
    for (const auto& route : routes) {
      out += fmt::format("    - destination: {}\n      next-hop-interface: {}\n",
                         yaml_quoted(target_text(route, family)), yaml_quoted(interface.name));
      if (route.via) out += fmt::format("      next-hop-address: {}\n", yaml_quoted(route.via->text()));
      if (route.metric) out += fmt::format("      metric: {}\n", *route.metric);
      if (route.table != 254) out += fmt::format("      table-id: {}\n", route.table);
    }
  }
  return out;
}

/// Where nothing is said of the addresses of the port and its P_Key interfaces (`addressed`: something) they
/// are not mentioned: nmstate leaves them as they are then.
std::string nmstate_interface(const Interface& interface, bool addressed) {
  const auto state = interface.state == model::State::kDown     ? "down"
                     : interface.state == model::State::kAbsent ? "absent"
                                                                : "up";
  auto out =
      fmt::format("  - name: {}\n    type: infiniband\n    state: {}\n", yaml_quoted(interface.name), state);
  if (interface.mtu) out += fmt::format("    mtu: {}\n", *interface.mtu);
  out += "    infiniband:\n";
  out += fmt::format("      pkey: {}\n", yaml_quoted(interface.pkey ? interface.pkey->text() : "0xffff"));
  if (interface.mode) out += fmt::format("      mode: {}\n", model::text_of(*interface.mode));
  if (interface.pkey) out += fmt::format("      base-iface: {}\n", yaml_quoted(interface.parent));
  if (!addressed && interface.ipv4.empty() && interface.ipv6.empty()) return out;
  return out + nmstate_inet(interface.ipv4, Family::kIpv4) + nmstate_inet(interface.ipv6, Family::kIpv6);
}

}  // namespace

void render_netplan(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out) {
  if (trees.empty()) return;
  render_mode_rules(trees, out);
  auto text = first_line("netplan") + "network:\n  version: 2\n  ethernets:\n";
  for (const auto& tree : trees) {
    const auto& port = tree.port;
    text += fmt::format("    {}:\n", yaml_quoted(port.name));
    if (port.mode) text += fmt::format("      infiniband-mode: {}\n", model::text_of(*port.mode));
    if (port.mtu) text += fmt::format("      mtu: {}\n", *port.mtu);
    if (port.state == model::State::kDown) text += "      activation-mode: \"off\"\n";
    // Else systemd-networkd takes away what others have given the interface.
    if (leaves_addresses(tree)) text += "      critical: true\n";
    netplan_inet(port, text);
  }
  out.files.push_back({"/etc/netplan/60-ipoib.yaml", text});
}

void render_nmstate(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out) {
  if (trees.empty()) return;
  auto text = first_line("nmstate") + "interfaces:\n";
  std::string routes;
  for (const auto& tree : trees) {
    const bool addressed = is_addressed(tree);
    text += nmstate_interface(tree.port, addressed);
    routes += nmstate_routes(tree.port);
    for (const auto& child : tree.children) {
      text += nmstate_interface(child, addressed);
      routes += nmstate_routes(child);
    }
  }
  if (!routes.empty()) text += "routes:\n  config:\n" + routes;
  out.files.push_back({"/etc/nmstate/60-ipoib.yml", text});
}

}  // namespace rdmacfg::foreign
