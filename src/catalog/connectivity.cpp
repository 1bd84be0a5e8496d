// SPDX-License-Identifier: Apache-2.0
#include "catalog/connectivity.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "kinds/address/profiles/networkd_file.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"
#include "kinds/address/request.hpp"
#include "kinds/address/route.hpp"

namespace rdmacfg::kinds {

using model::Family;

namespace {

std::optional<Connectivity::Route> route_to(std::string_view target, Family family, std::uint32_t table) {
  const auto to = model::RouteTarget::parse(target);
  if (!to) return std::nullopt;
  Connectivity::Route out{family, {}, table};
  out.to = to->any ? model::IpPrefix{{family, {}}, 0} : to->network;
  return out;
}

std::optional<Connectivity::Route> route_to(const system::InetRoute& route) {
  return route_to(route.to.text(), route.family, route.table);
}

/// Lines of [ipv4] or [ipv6] of a keyfile (nm-settings-keyfile(5)): "address1=192.0.2.1/24,192.0.2.254",
/// "route1=0.0.0.0/0,192.0.2.254,50".
void add_lines(const std::vector<std::string>& lines, Family family, Connectivity& out) {
  std::map<std::string, std::string, std::less<>> values;
  for (const auto& line : lines) {
    const auto equals = line.find('=');
    if (equals != std::string::npos) values.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  const auto add_route = [&](std::string_view target, std::uint32_t table) {
    if (auto route = route_to(target, family, table)) out.routes.insert(*route);
  };
  const auto value = [&](std::string_view key) {
    const auto at = values.find(key);
    return at == values.end() ? std::string() : at->second;
  };
  const auto table = base::parse_as<std::uint32_t>(value("route-table")).value_or(Connectivity::kMainTable);
  const auto main = table == 0 ? Connectivity::kMainTable : table;
  bool gateway = values.contains("gateway");
  for (const auto& [key, text] : values) {
    const auto words = base::split(text, ',');
    if (key.starts_with("address")) {
      if (const auto prefix = model::IpPrefix::parse(words.front())) out.addresses.insert(prefix->address);
      if (words.size() > 1 && !words[1].empty()) gateway = true;
    } else if (key.starts_with("route") && key.find_first_not_of("0123456789", 5) == std::string::npos) {
      auto in = main;
      const auto options = value(key + "_options");
      for (const auto option : base::split(options, ',')) {
        if (!option.starts_with("table=")) continue;
        in = base::parse_as<std::uint32_t>(option.substr(6)).value_or(in);
      }
      add_route(words.front(), in);
    }
  }
  if (gateway && value("never-default") != "true") add_route("default", main);
  if (value("method") == "auto" || value("method") == "dhcp") out.dynamic.insert(family);
}

Connectivity connectivity_of_profile(const NmProfile& profile) {
  Connectivity out;
  if (profile.autoconnect == false) return out;
  add_lines(profile.ipv4.value_or(std::vector<std::string>()), Family::kIpv4, out);
  add_lines(profile.ipv6.value_or(std::vector<std::string>()), Family::kIpv6, out);
  return out;
}

Connectivity connectivity_of_network(const NetworkdFile& file) {
  Connectivity out;
  if (file.unmanaged == true) return out;
  for (const auto& prefix : addresses_in(file)) out.addresses.insert(prefix.address);
  for (const auto& text : routes_in(file)) {
    if (auto route = route_to(text)) out.routes.insert(*route);
  }
  if (file.dhcp == true) out.dynamic.insert(Family::kIpv4);
  if (file.router_advertisements == true) out.dynamic.insert(Family::kIpv6);
  return out;
}

bool has_value(const model::Attributes& settings, std::string_view name) {
  return !std::holds_alternative<std::monostate>(model::value_of(settings, name));
}

}  // namespace

bool addresses_by(std::string_view kind) {
  return kind == "address" || kind == "route" || kind == "nm_profile" || kind == "networkd";
}

Connectivity connectivity_of(const model::Key& key, const model::Attributes& settings) {
  if (settings.empty()) return {};
  Connectivity out;
  if (key.kind == "address" && has_value(settings, "address")) {
    const auto prefix = model::IpPrefix::parse(model::text_at(settings, "address"));
    if (prefix) out.addresses.insert(prefix->address);
  } else if (key.kind == "route" && has_value(settings, "via")) {
    const auto route = route_of(key);
    const auto place = route ? route_to(*route) : std::nullopt;
    if (place) out.routes.insert(*place);
  } else if (key.kind == "nm_profile") {
    return connectivity_of_profile(model::from_attributes<NmProfile>(settings));
  } else if (key.kind == "networkd") {
    return connectivity_of_network(model::from_attributes<NetworkdFile>(settings));
  }
  return out;
}

std::string interface_in(const model::Key& key) {
  if (!addresses_by(key.kind) && key.kind != "ipoib" && key.kind != "pkey") return {};
  return key.id.substr(0, key.id.find(' '));
}

}  // namespace rdmacfg::kinds
