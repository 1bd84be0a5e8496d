// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foreign/export/exporter.hpp"

namespace rdmacfg::foreign {

using model::InetMethod;

namespace {

constexpr std::string_view kNetworkdUnits = "/etc/systemd/network";

std::string route_lines(const Route& route, model::Family family) {
  // "Destination=default" is none.
  const auto* any = family == model::Family::kIpv4 ? "0.0.0.0/0" : "::/0";
  auto out = fmt::format("\n[Route]\nDestination={}\n", route.to.any ? any : route.to.text());
  if (route.via) out += fmt::format("Gateway={}\n", route.via->text());
  if (route.metric) out += fmt::format("Metric={}\n", *route.metric);
  if (route.table != 254) out += fmt::format("Table={}\n", route.table);
  return out;
}

/// @param keep  whether others may have given the interface addresses
std::string network_of(const Interface& interface, const std::vector<Interface>& children, bool keep) {
  auto out = first_line("networkd") + fmt::format("[Match]\nName={}\n", interface.name);
  std::string link;
  if (interface.mtu) link += fmt::format("MTUBytes={}\n", *interface.mtu);
  if (interface.state == model::State::kDown) link += "ActivationPolicy=down\n";
  if (!link.empty()) out += "\n[Link]\n" + link;
  out += "\n[Network]\n";
  for (const auto& child : children) out += fmt::format("IPoIB={}\n", child.name);
  // Else networkd takes away what others have given the interface.
  if (keep) out += "KeepConfiguration=yes\n";
  const bool four = interface.ipv4.method == InetMethod::kAuto,
             six = interface.ipv6.method == InetMethod::kAuto;
  if (four || six) out += fmt::format("DHCP={}\n", four && six ? "yes" : four ? "ipv4" : "ipv6");
  if (interface.ipv4.method == InetMethod::kDisabled && !six) out += "DHCP=no\n";
  out += fmt::format("IPv6AcceptRA={}\n", six ? "yes" : "no");
  if (interface.ipv6.method == InetMethod::kDisabled) out += "LinkLocalAddressing=no\n";
  for (const auto* inet : {&interface.ipv4, &interface.ipv6}) {
    for (const auto& address : inet->addresses) out += fmt::format("Address={}\n", address.text());
    if (inet->gateway) out += fmt::format("Gateway={}\n", inet->gateway->text());
    for (const auto& server : inet->dns) out += fmt::format("DNS={}\n", server.text());
    if (!inet->search.empty()) out += fmt::format("Domains={}\n", fmt::join(inet->search, " "));
  }
  for (const auto family : {model::Family::kIpv4, model::Family::kIpv6}) {
    for (const auto& route : interface.inet(family).routes) out += route_lines(route, family);
  }
  if (!interface.pkey && (interface.mode || interface.umcast)) {
    out += "\n[IPoIB]\n";
    if (interface.mode) out += fmt::format("Mode={}\n", model::text_of(*interface.mode));
    if (interface.umcast)
      out += fmt::format("IgnoreUserspaceMulticastGroups={}\n", *interface.umcast ? "yes" : "no");
  }
  return out;
}

std::string netdev_of(const Interface& interface) {
  auto out = first_line("networkd") + fmt::format("[NetDev]\nName={}\nKind=ipoib\n", interface.name);
  // The kernel passes over the MTU of a P_Key interface in the making: its .network file has it. And an
  // address made from the machine id would hide the port's GUID.
  out += fmt::format("MACAddress=none\n\n[IPoIB]\nPartitionKey={}\n", interface.pkey->text());
  if (interface.mode) out += fmt::format("Mode={}\n", model::text_of(*interface.mode));
  if (interface.umcast)
    out += fmt::format("IgnoreUserspaceMulticastGroups={}\n", *interface.umcast ? "yes" : "no");
  return out;
}

}  // namespace

void render_networkd(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out) {
  render_mode_rules(trees, out);
  for (const auto& tree : trees) {
    const bool keep = leaves_addresses(tree);
    out.files.push_back({fmt::format("{}/30-{}.network", kNetworkdUnits, tree.port.name),
                         network_of(tree.port, tree.children, keep)});
    for (const auto& child : tree.children) {
      out.files.push_back({fmt::format("{}/30-{}.netdev", kNetworkdUnits, child.name), netdev_of(child)});
      out.files.push_back(
          {fmt::format("{}/30-{}.network", kNetworkdUnits, child.name), network_of(child, {}, keep)});
    }
  }
}

}  // namespace rdmacfg::foreign
