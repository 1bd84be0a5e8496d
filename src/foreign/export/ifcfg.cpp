// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foreign/export/exporter.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

constexpr std::string_view kFolder = "/etc/sysconfig/network-scripts";

std::string ipv4_lines(const Inet& inet) {
  auto out = fmt::format("BOOTPROTO={}\n", inet.method == InetMethod::kAuto        ? "dhcp"
                                           : inet.method == InetMethod::kLinkLocal ? "autoip"
                                                                                   : "none");
  for (std::size_t at = 0; at < inet.addresses.size(); ++at) {
    const auto number = at == 0 ? std::string() : std::to_string(at);
    out += fmt::format("IPADDR{0}={1}\nPREFIX{0}={2}\n", number, inet.addresses[at].address.text(),
                       inet.addresses[at].length);
  }
  if (inet.gateway) out += fmt::format("GATEWAY={}\n", inet.gateway->text());
  return out;
}

/// @param name  of the interface, which a link-local gateway needs (ifup-ipv6 of initscripts)
std::string ipv6_lines(const Inet& inet, const std::string& name) {
  if (inet.method == InetMethod::kDisabled) return "IPV6INIT=no\nIPV6_DISABLED=yes\n";
  if (inet.empty()) return "IPV6INIT=yes\nIPV6_AUTOCONF=no\n";
  const bool automatic = inet.method == InetMethod::kAuto;
  auto out = fmt::format("IPV6INIT=yes\nIPV6_AUTOCONF={}\n", automatic ? "yes" : "no");
  std::string more;
  for (std::size_t at = 0; at < inet.addresses.size(); ++at) {
    if (at == 0) {
      out += fmt::format("IPV6ADDR={}\n", inet.addresses[at].text());
    } else {
      more += (more.empty() ? "" : " ") + inet.addresses[at].text();
    }
  }
  if (!more.empty()) out += fmt::format("IPV6ADDR_SECONDARIES=\"{}\"\n", more);
  const bool scoped = inet.gateway && inet.gateway->link_local() && !name.empty();
  if (inet.gateway)
    out += fmt::format("IPV6_DEFAULTGW={}{}\n", inet.gateway->text(), scoped ? "%" + name : std::string());
  return out;
}

std::string routes_of(const Interface& interface, Family family) {
  std::string out;
  for (const auto& route : interface.inet(family).routes) {
    out += route.to.text();
    if (route.via) out += fmt::format(" via {}", route.via->text());
    if (!interface.name.empty()) out += fmt::format(" dev {}", interface.name);
    if (route.metric) out += fmt::format(" metric {}", *route.metric);
    if (route.table != 254) out += fmt::format(" table {}", route.table);
    out += '\n';
  }
  return out;
}

/// Whether a file that is called so would be none of an interface: "ifcfg-ib0-range1", "ifcfg-ib0.bak".
bool is_passed_over(const std::string& name) {
  return is_leftover(name) || name.find("-range") != std::string::npos || name == "lo";
}

/// Of addresses something is said where the document does (`addressed`: of the port or a P_Key interface).
void render(const Interface& interface, bool addressed, Output& out) {
  std::string file = interface.name;
  if ((file.empty() || is_passed_over(file)) && interface.guid) {
    file = interface.guid->text();
    std::erase(file, ':');
    if (interface.pkey) file += "-" + interface.pkey->text().substr(2);
  }
  auto text = first_line("ifcfg") + "TYPE=InfiniBand\n";
  if (!interface.name.empty()) text += fmt::format("DEVICE={}\n", interface.name);
  // NetworkManager and ifup compare the last 8 bytes only.
  if (!interface.pkey && interface.guid)
    text += fmt::format("HWADDR=80:00:00:00:fe:80:00:00:00:00:00:00:{}\n", interface.guid->text());
  text += fmt::format("ONBOOT={}\n", interface.state == model::State::kDown ? "no" : "yes");
  if (interface.mode)
    text +=
        fmt::format("CONNECTED_MODE={}\n", *interface.mode == model::IpoibMode::kConnected ? "yes" : "no");
  if (interface.mtu) text += fmt::format("MTU={}\n", *interface.mtu);
  if (interface.pkey)
    text += fmt::format("PKEY=yes\nPKEY_ID={}\nPHYSDEV={}\n", interface.pkey->text(), interface.parent);
  if (addressed || !interface.ipv4.empty() || !interface.ipv6.empty())
    text += ipv4_lines(interface.ipv4) + ipv6_lines(interface.ipv6, interface.name);
  int number = 0;
  std::vector<std::string> search;
  for (const auto* inet : {&interface.ipv4, &interface.ipv6}) {
    for (const auto& server : inet->dns) text += fmt::format("DNS{}={}\n", ++number, server.text());
    search.insert(search.end(), inet->search.begin(), inet->search.end());
  }
  constexpr int kMostServers = 10;  // make_ip4_setting() of nms-ifcfg-rh-reader.c
  if (number > kMostServers)
    out.notes.push_back(
        {interface.where,
         fmt::format("{}: {} name servers; NetworkManager reads the first {}", file, number, kMostServers)});
  if (!search.empty()) text += fmt::format("DOMAIN=\"{}\"\n", fmt::join(search, " "));
  out.files.push_back({fmt::format("{}/ifcfg-{}", kFolder, file), text});
  for (const auto family : {Family::kIpv4, Family::kIpv6}) {
    const auto routes = routes_of(interface, family);
    if (!routes.empty())
      out.files.push_back(
          {fmt::format("{}/{}-{}", kFolder, family == Family::kIpv4 ? "route" : "route6", file), routes});
  }
}

}  // namespace

void render_ifcfg(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out) {
  for (const auto& tree : trees) {
    const bool addressed = is_addressed(tree);
    render(tree.port, addressed, out);
    for (const auto& child : tree.children) render(child, addressed, out);
  }
}

}  // namespace rdmacfg::foreign
