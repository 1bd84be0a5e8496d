// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/profiles/networkd_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/text.hpp"
#include "kinds/address/interface_file_names.hpp"
#include "kinds/address/route.hpp"

namespace rdmacfg::kinds {

using model::Family;
using model::InetMethod;
using system::InetRoute;

namespace {

constexpr InterfaceFileNames kNetworkFileNames{"09-rdma-configd-", ".network"};
constexpr std::uint32_t kMainTable = 254;

using Lines = std::vector<std::string>;

bool is_true(const std::optional<bool>& value) { return value && *value; }

const Lines& all_of(const std::optional<Lines>& lines) {
  static const Lines kNone;
  return lines ? *lines : kNone;
}

/// "ipv6 default via fe80::1 metric 150 table 7"
std::string text_of(const InetRoute& route) {
  std::string out = route.to.any && route.family == Family::kIpv6 ? "ipv6 " : "";
  out += route.to.text();
  if (route.via) out += " via " + route.via->text();
  out += fmt::format(" metric {}", route.metric);
  if (route.table != kMainTable) out += fmt::format(" table {}", route.table);
  return out;
}

std::optional<InetRoute> route_of(std::string_view text) {
  InetRoute out;
  if (text.starts_with("ipv6 ")) {
    out.family = Family::kIpv6;
    text.remove_prefix(5);
  }
  const auto words = base::split(text, ' ');
  const auto to = model::RouteTarget::parse(words[0]);
  if (!to) return std::nullopt;
  out.to = *to;
  if (!to->any) out.family = to->network.address.family;
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    const auto number = base::parse_as<std::uint32_t>(words[i + 1]);
    if (words[i] == "via") {
      const auto via = model::IpAddress::parse(words[i + 1]);
      if (!via) return std::nullopt;
      out.via = *via;
    } else if (number && words[i] == "metric") {
      out.metric = *number;
    } else if (number && words[i] == "table") {
      out.table = *number;
    }
  }
  return out;
}

InetRoute from(const WantedRoute& wanted, Family family) {
  InetRoute out;
  out.family = family;
  out.to = wanted.to;
  out.via = wanted.via;
  out.metric = wanted.metric.value_or(kRouteMetric);
  out.table = wanted.table;
  return out;
}

/// The match of the interface: properties that our udev rules give it.
std::string match_line(std::string_view id) {
  const auto slash = id.find('/');
  const auto port = fmt::format("Property=RDMA_CONFIGD_PORT={}", id.substr(0, slash));
  if (slash == std::string_view::npos) return port + " RDMA_CONFIGD_OF_PORT=1";
  const auto key = model::Pkey::parse(id.substr(slash + 1)).value_or(model::Pkey{}).full();
  return fmt::format(
      "{} RDMA_CONFIGD_BROADCAST=00:ff:ff:ff:ff:12:40:1b:{:02x}:{:02x}:00:00:00:00:00:00:ff:ff:ff:ff", port,
      static_cast<unsigned>(key) >> 8U, static_cast<unsigned>(key) & 0xffU);
}

std::string route_section(const InetRoute& route) {
  const bool four = route.family == Family::kIpv4;
  auto out = fmt::format("\n[Route]\nDestination={}\n",
                         !route.to.any ? route.to.network.text() : std::string(four ? "0.0.0.0/0" : "::/0"));
  if (route.via) out += fmt::format("Gateway={}\n", route.via->text());
  out += fmt::format("Metric={}\n", route.metric);
  if (route.table != kMainTable) out += fmt::format("Table={}\n", route.table);
  return out;
}

/// Sections in their order; there may be several of a name.
struct NetworkSection {
  std::string name;
  std::map<std::string, Lines> keys;

  [[nodiscard]] std::string text(const std::string& key) const {
    const auto at = keys.find(key);
    return at == keys.end() ? std::string() : at->second.back();
  }
};

std::vector<NetworkSection> sections_of(std::string_view text) {
  std::vector<NetworkSection> out;
  for (const auto raw : base::split(text, '\n')) {
    const auto line = base::trim(raw);
    if (line.size() > 2 && line.front() == '[' && line.back() == ']')
      out.push_back({std::string(line.substr(1, line.size() - 2)), {}});
    const auto equals = line.find('=');
    if (out.empty() || line.empty() || line.front() == '#' || line.front() == ';' ||
        equals == std::string_view::npos)
      continue;
    out.back().keys[std::string(base::trim(line.substr(0, equals)))].emplace_back(
        base::trim(line.substr(equals + 1)));
  }
  return out;
}

std::optional<InetRoute> route_of(const NetworkSection& section) {
  const auto to = section.text("Destination");
  const auto network = model::IpPrefix::parse(to);
  if (!network) return std::nullopt;
  InetRoute out;
  out.family = network->address.family;
  if (network->length == 0) {
    out.to.any = true;
  } else {
    out.to.network = *network;
  }
  if (const auto via = model::IpAddress::parse(section.text("Gateway"))) out.via = *via;
  if (const auto metric = base::parse_as<std::uint32_t>(section.text("Metric"))) out.metric = *metric;
  if (const auto table = base::parse_as<std::uint32_t>(section.text("Table"))) out.table = *table;
  return out;
}

Lines list_of(const NetworkSection& section, const std::string& key) {
  Lines out;
  const auto at = section.keys.find(key);
  if (at == section.keys.end()) return out;
  for (const auto& line : at->second) {
    for (const auto word : base::split(line, ' ')) {
      if (!word.empty()) out.emplace_back(word);
    }
  }
  return out;
}

void put(std::optional<Lines>& field, std::string text) {
  if (!field) field.emplace();
  field->push_back(std::move(text));
}

/// "+ MTUBytes=9000": the lines that a file has too many or too few.
Lines difference(std::string_view text, std::string_view should) {
  const auto lines_of = [](std::string_view from) {
    Lines lines;
    for (const auto raw : base::split(from, '\n')) {
      const auto line = base::trim(raw);
      if (!line.empty() && line.front() != '#' && line.front() != ';') lines.emplace_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  const auto is = lines_of(text), wanted = lines_of(should);
  Lines more, less, out;
  std::set_difference(is.begin(), is.end(), wanted.begin(), wanted.end(), std::back_inserter(more));
  std::set_difference(wanted.begin(), wanted.end(), is.begin(), is.end(), std::back_inserter(less));
  for (const auto& line : more) out.push_back("+ " + line);
  for (const auto& line : less) out.push_back("- " + line);
  return out;
}

}  // namespace

std::string networkd_file(std::string_view id) {
  return fmt::format("{}/{}", kNetworkdFolder, kNetworkFileNames.name(id));
}

std::optional<std::string> networkd_id(std::string_view file_name) { return kNetworkFileNames.id(file_name); }

std::string render_network(std::string_view id, const NetworkdFile& file) {
  auto out = fmt::format("# Written by rdma-configd from its configuration; do not edit.\n[Match]\n{}\n",
                         match_line(id));
  if (is_true(file.unmanaged)) return out + "\n[Link]\nUnmanaged=yes\n";
  const bool waits = is_true(file.dhcp) || is_true(file.router_advertisements);
  out += fmt::format("\n[Network]\nDHCP={}\nIPv6AcceptRA={}\nLinkLocalAddressing={}\n",
                     is_true(file.dhcp) ? "ipv4" : "no", is_true(file.router_advertisements) ? "yes" : "no",
                     is_true(file.link_local) ? "ipv6" : "no");
  // Settings of others on the interface stay; ours are there without carrier, too.
  out += "KeepConfiguration=static\n";
  if (!waits) out += "ConfigureWithoutCarrier=yes\n";
  for (const auto& server : all_of(file.dns)) out += fmt::format("DNS={}\n", server);
  if (!all_of(file.search).empty()) out += fmt::format("Domains={}\n", fmt::join(*file.search, " "));
  for (const auto& address : all_of(file.addresses)) out += fmt::format("\n[Address]\nAddress={}\n", address);
  for (const auto& route : routes_in(file)) out += route_section(route);
  if (is_true(file.dhcp)) out += fmt::format("\n[DHCPv4]\nRouteMetric={}\n", kRouteMetric);
  if (is_true(file.router_advertisements))
    out += fmt::format("\n[IPv6AcceptRA]\nRouteMetric={}\n", kRouteMetric);
  return out;
}

NetworkdFile parse_network(std::string_view id, std::string_view text) {
  NetworkdFile out;
  for (const auto& section : sections_of(text)) {
    if (section.name == "Link" && section.text("Unmanaged") == "yes") out.unmanaged = true;
    if (section.name == "Address" && !section.text("Address").empty())
      put(out.addresses, section.text("Address"));
    if (section.name == "Route") {
      if (const auto route = route_of(section)) put(out.routes, text_of(*route));
    }
    if (section.name != "Network") continue;
    if (section.text("DHCP") == "ipv4") out.dhcp = true;
    if (section.text("IPv6AcceptRA") == "yes") out.router_advertisements = true;
    out.link_local = section.text("LinkLocalAddressing") == "ipv6";
    if (auto dns = list_of(section, "DNS"); !dns.empty()) out.dns = std::move(dns);
    if (auto search = list_of(section, "Domains"); !search.empty()) out.search = std::move(search);
  }
  if (auto edited = difference(text, render_network(id, out)); !edited.empty())
    out.edited = std::move(edited);
  return out;
}

NetworkdFile wanted_network(const Addressing& interface) {
  NetworkdFile out;
  if (interface.down) {
    out.unmanaged = true;
    return out;
  }
  if (interface.ipv4.section != nullptr && interface.ipv4.method == InetMethod::kAuto) out.dhcp = true;
  if (interface.ipv6.section != nullptr && interface.ipv6.method == InetMethod::kAuto)
    out.router_advertisements = true;
  out.link_local = interface.ipv6.section == nullptr || interface.ipv6.method != InetMethod::kDisabled;
  for (const auto* family : {&interface.ipv4, &interface.ipv6}) {
    for (const auto& address : family->addresses) put(out.addresses, address.text());
    for (const auto& server : family->dns) put(out.dns, server.text());
    for (const auto& domain : family->search) put(out.search, domain);
    if (family->gateway) {
      WantedRoute gateway;
      gateway.to.any = true;
      gateway.via = family->gateway;
      put(out.routes, text_of(from(gateway, family->family)));
    }
    for (const auto& route : family->routes) put(out.routes, text_of(from(route, family->family)));
  }
  return out;
}

std::vector<model::IpPrefix> addresses_in(const NetworkdFile& file) {
  std::vector<model::IpPrefix> out;
  for (const auto& text : all_of(file.addresses)) {
    if (const auto prefix = model::IpPrefix::parse(text)) out.push_back(*prefix);
  }
  return out;
}

std::vector<InetRoute> routes_in(const NetworkdFile& file) {
  std::vector<InetRoute> out;
  for (const auto& text : all_of(file.routes)) {
    if (const auto route = route_of(std::string_view(text))) out.push_back(*route);
  }
  return out;
}

}  // namespace rdmacfg::kinds
