// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/managers/networkd_network.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

void report_network(Keys& keys, const Item& item, const std::string& why) {
  if (!why.empty()) keys.wrong(item, why);
}

}  // namespace

Unit::Unit(const File& of, const DropIns& drop_ins, Claims& to)
    : file(of), claims(to), groups(groups_with_drop_ins(of, drop_ins, to)) {}

Keys Unit::section(std::string_view name) const {
  std::vector<Item> items;
  for (const auto& group : groups) {
    if (group.name == name) items.insert(items.end(), group.items.begin(), group.items.end());
  }
  return {file.path, std::move(items), claims};
}

bool Unit::has(std::string_view name) const {
  return std::any_of(groups.begin(), groups.end(), [&](const Group& group) { return group.name == name; });
}

void Unit::refuse_others(const std::set<std::string_view>& known) const {
  for (const auto& group : groups) {
    if (!known.contains(group.name) && !group.name.starts_with("X-"))
      claims.miss({group.file, group.line}, fmt::format("[{}]: is not supported", group.name));
  }
}

void ipoib_section(const Unit& unit, Interface& out) {
  auto keys = unit.section("IPoIB");
  if (const auto key = keys.take("PartitionKey")) {
    const auto pkey = pkey_of(key->value);
    if (pkey) {
      out.pkey = *pkey;
    } else {
      keys.wrong(*key, pkey.error().message);
    }
  }
  if (const auto mode = keys.take("Mode")) {
    const auto parsed = model::parse_named_mode(mode->value);
    if (parsed) {
      out.mode = *parsed;
    } else {
      keys.wrong(*mode, parsed.error().message);
    }
  }
  keys.mark(out, "mode", "Mode");
  for (const auto* name : {"IgnoreUserspaceMulticastGroups", "IgnoreUserspaceMulticastGroup"}) {
    if (const auto umcast = keys.flag(name)) out.umcast = umcast;
  }
  keys.finish();
}

bool Network::is_infiniband() const {
  return unit_.has("IPoIB") || !children.empty() || !ports.empty() ||
         unit_.section("Match").peek("Type") == "infiniband" ||
         unit_.section("Match").peek("Kind") == "ipoib";
}

bool Network::fits_by_name_alone() const {
  const auto keys = unit_.section("Match").left();
  return std::all_of(keys.begin(), keys.end(),
                     [](const std::string& key) { return key == "Name" || key == "Type" || key == "Kind"; });
}

bool Network::is_of_another_type() const {
  const auto types = unit_.section("Match").peek("Type");
  const auto words = words_of(types);
  return !words.empty() && std::none_of(words.begin(), words.end(), [](std::string_view word) {
    return word.starts_with('!') || base::matches_glob(word.substr(0, 32), "infiniband");
  });
}

void Network::look() {
  auto match = unit_.section("Match");
  for (const auto& item : match.take_all("Name")) {
    for (const auto word : words_of(item.value)) names.emplace_back(word);
  }
  for (const auto* key : {"MACAddress", "PermanentMACAddress"}) {
    const auto addresses = match.peek(key);
    for (const auto word : words_of(addresses)) {
      const auto guid = guid_of_address(word);
      if (guid && std::find(ports.begin(), ports.end(), *guid) == ports.end()) ports.push_back(*guid);
    }
  }
  for (const auto& group : unit_.groups) {
    if (group.name != "Network") continue;
    for (const auto& item : group.items) {
      if (item.key == "IPoIB") children.push_back(item.value);
    }
  }
}

void Network::parse(Interface& out) {
  of_tables_ = {};
  auto match = unit_.section("Match");
  match.pass({"Name", "Type", "Kind"});
  if (out.guid) match.pass({"MACAddress", "PermanentMACAddress"});
  match.finish();
  auto link = unit_.section("Link");
  const auto mtu = link.number("MTUBytes", model::kMtuConnectedMax);
  const auto state = activation(link);
  const bool unmanaged = link.flag("Unmanaged") == true;
  link.pass({"RequiredForOnline", "RequiredFamilyForOnline"});
  link.usual("ARP", "yes");
  link.finish();
  if (unmanaged)
    return unit_.claims.pass({unit_.file.path, 0}, "Unmanaged=yes: networkd leaves the interface alone");
  if (mtu) out.mtu = mtu;
  link.mark(out, "mtu", "MTUBytes");
  link.mark(out, "state", "ActivationPolicy");
  if (state) out.state = state;
  network(out);
  sections(out);
  vrf(out);
  // systemd-networkd gives the other addresses all the same.
  if (out.ipv6.method == InetMethod::kDisabled && !out.ipv6.addresses.empty()) {
    out.ipv6.method.reset();
    const auto keys = unit_.section("Network");
    unit_.claims.miss(keys.where("LinkLocalAddressing"),
                      "LinkLocalAddressing: the document gives an interface with IPv6 addresses a link-local "
                      "one, too");
  }
  if (listens_to_routers(out)) {
    if (!out.ipv6.addresses.empty()) {
      out.ipv6.method = InetMethod::kAuto;
    } else if (!out.ipv4.addresses.empty() || out.ipv4.method == InetMethod::kAuto) {
      unit_.claims.pass({unit_.file.path, 0}, std::string(kRoutersUnsaid));
    }
  }
  offers(out);
  ipoib_section(unit_, out);
  unit_.refuse_others(
      {"Match", "Link", "Network", "Address", "Route", "IPoIB", "DHCPv4", "DHCPv6", "IPv6AcceptRA", "DHCP"});
  place_search(out);
  settle(out);
}

std::optional<model::State> Network::activation(Keys& link) {
  const auto policy = link.take("ActivationPolicy");
  if (!policy || policy->value == "up" || policy->value == "always-up") return std::nullopt;
  if (policy->value == "manual") {
    link.wrong(*policy, kManualActivation);
  } else if (policy->value != "down" && policy->value != "always-down") {
    link.wrong(*policy, fmt::format("{}: cannot be expressed in the document", policy->value));
    return std::nullopt;
  }
  return model::State::kDown;
}

void Network::network(Interface& out) {
  auto keys = unit_.section("Network");
  keys.pass(
      {"IPoIB", "VRF", "Description", "ConfigureWithoutCarrier", "KeepConfiguration", "LLDP", "EmitLLDP"});
  for (const auto* key :
       {"IPv6PrivacyExtensions", "IPForward", "IPv4Forwarding", "IPv6Forwarding", "DefaultRouteOnDevice"})
    keys.usual(key, "no");
  const auto dhcp = keys.take("DHCP");
  const auto word = dhcp ? base::lower(dhcp->value) : "no";
  const auto flag = yes_or_no(word);
  if (!flag && word != "ipv4" && word != "ipv6")
    report_network(keys, *dhcp, fmt::format("{} is not supported", word));
  if (flag == true || word == "ipv4") out.ipv4.method = InetMethod::kAuto;
  // Without router advertisements DHCPv6 begins only where WithoutRA= says so (systemd.network(5)).
  const auto advertised = keys.flag("IPv6AcceptRA");
  const auto without = base::lower(unit_.section("DHCPv6").peek("WithoutRA"));
  const bool begins = advertised != false || (!without.empty() && without != "no");
  if (((flag == true || word == "ipv6") && begins) || advertised == true) out.ipv6.method = InetMethod::kAuto;
  keys.pass({"IPv6AcceptRA"});
  if (const auto local = keys.take("LinkLocalAddressing")) {
    const auto value = base::lower(local->value);
    const auto both = yes_or_no(value);
    if (!both && value != "ipv4" && value != "ipv6")
      report_network(keys, *local, fmt::format("{} is not supported", value));
    if ((both == true || value == "ipv4") && !out.ipv4.method) out.ipv4.method = InetMethod::kLinkLocal;
    if ((both == false || value == "ipv4") && !out.ipv6.method) out.ipv6.method = InetMethod::kDisabled;
  }
  if (dhcp && flag == false && !out.ipv4.method) out.ipv4.method = InetMethod::kDisabled;
  for (const auto& item : keys.take_all("Address")) {
    report_network(keys, item, add_address(out, item.value, class_length(item.value)));
  }
  keys.mark(out, "ipv4.method", "DHCP");
  keys.mark(out, "ipv6.method", "DHCP");
  for (const auto& item : keys.take_all("Gateway")) {
    const auto family = item.value.find(':') == std::string::npos ? Family::kIpv4 : Family::kIpv6;
    out.at.try_emplace(family == Family::kIpv4 ? "ipv4.gateway" : "ipv6.gateway", keys.place(item));
    report_network(keys, item, add_gateway(out.inet(family), family, item.value));
  }
  for (const auto& item : keys.take_all("DNS")) {
    for (const auto server : words_of(item.value)) report_network(keys, item, add_server(out, server));
  }
  for (const auto& item : keys.take_all("Domains")) add_search(out, item.value);
  keys.finish();
}

/// Routes of an interface in a VRF are in the table of that, unless they have one of their own
/// (systemd.network(5), Table=).
void Network::vrf(Interface& out) const {
  const auto keys = unit_.section("Network");
  if (!is_in_vrf()) return;
  unit_.claims.miss(keys.where("VRF"), fmt::format("VRF: {}: {}", keys.peek("VRF"), kVrf));
  if (drop_routes_of_vrf(out, of_tables_))
    unit_.claims.miss(keys.where("VRF"), fmt::format("VRF: {}", kVrfRoutes));
}

void Network::sections(Interface& out) {
  for (const auto& group : unit_.groups) {
    if (group.name != "Address" && group.name != "Route") continue;
    Keys keys(group.file, group.items, unit_.claims);
    if (group.name == "Address") {
      // The network of the peer would not be reached.
      const auto address = keys.take("Address"), peer = keys.take("Peer");
      if (peer)
        keys.wrong(*peer, fmt::format(
                              "{}: point-to-point addresses cannot be expressed in the document; the address "
                              "is not taken",
                              peer->value));
      if (address && !peer)
        report_network(keys, *address, add_address(out, address->value, class_length(address->value)));
    } else if (keys.has("Destination") || keys.has("Gateway")) {
      route(keys, out);
    } else if (!keys.has("Source") && !keys.has("PreferredSource")) {
      unit_.claims.pass({group.file, group.line},
                        "[Route] without Destination and Gateway: systemd-networkd ignores it");
      keys.pass({"*"});
    }
    keys.finish();
  }
}

bool Network::listens_to_routers(const Interface& out) const {
  if (out.ipv6.method) return false;
  const auto keys = unit_.section("Network");
  const auto local = base::lower(keys.peek("LinkLocalAddressing")),
             forward = base::lower(keys.peek("IPForward"));
  const bool forwards = yes_or_no(forward) == true || forward == "ipv6" || forward == "kernel" ||
                        yes_or_no(base::lower(keys.peek("IPv6Forwarding"))) == true;
  return keys.peek("IPv6AcceptRA").empty() && !forwards &&
         (local.empty() || local == "ipv6" || yes_or_no(local) == true);
}

void Network::tell_unused(std::string_view section) const {
  for (const auto& group : unit_.groups) {
    if (group.name == section && !group.items.empty())
      unit_.claims.pass(
          {group.file, group.line},
          fmt::format("[{}]: not needed: the document takes no addresses from there", group.name));
  }
}

void Network::offers(const Interface& out) const {
  const bool four = out.ipv4.method == InetMethod::kAuto, six = out.ipv6.method == InetMethod::kAuto;
  for (const auto* name : {"DHCP", "DHCPv4", "DHCPv6", "IPv6AcceptRA"}) {
    auto keys = unit_.section(name);
    const bool used = std::string_view(name) == "DHCP"     ? four || six
                      : std::string_view(name) == "DHCPv4" ? four
                                                           : six;
    if (!used) {
      tell_unused(name);
      keys.pass({"*"});
      continue;
    }
    for (const auto* key : {"UseDNS", "UseRoutes", "UseGateway", "UseAddress", "UseRoutePrefix",
                            "UseAutonomousPrefix", "UseOnLinkPrefix", "DHCPv6Client"})
      keys.usual(key, "yes");
    for (const auto* key : {"UseDomains", "Anonymize"}) keys.usual(key, "no");
    // netplan writes both of these with every lease (netplan's networkd.c), without being asked for either.
    const bool netplan = keys.peek("RouteMetric") == "100" && yes_or_no(keys.peek("UseMTU")) == true;
    if (netplan) {
      keys.pass({"RouteMetric", "UseMTU"});
    } else {
      keys.usual("UseMTU", std::string_view(name) == "IPv6AcceptRA" ? "yes" : "no");
      keys.usual("RouteMetric", "1024");
    }
    // Names, clocks and the DHCP client's options are outside the document.
    keys.pass({"UseNTP", "UseSIP", "UseHostname", "UseTimezone", "SendHostname", "SendRelease", "SendDecline",
               "RapidCommit", "MaxAttempts"});
    keys.finish();
  }
}

void Network::route(Keys& keys, Interface& out) {
  const auto to = keys.take("Destination"), via = keys.take("Gateway");
  const auto metric = keys.text("Metric"), table = keys.text("Table");
  const auto type = keys.take("Type");
  if (const auto wrong = wrong_type(type ? type->value : ""); !wrong.empty())
    return report_network(keys, *type, wrong);
  // Without its gateways it would be a route to hosts on the link.
  bool several = false;
  for (const auto* key : {"MultiPathRoute", "NextHop"}) {
    for (const auto& gateway : keys.take_all(key)) {
      keys.wrong(gateway,
                 "a route over several gateways or next-hop objects cannot be expressed in the document");
      several = true;
    }
  }
  // A gateway of each lease or router advertisement (systemd.network(5)).
  if (via && (via->value.starts_with("_dhcp") || via->value == "_ipv6ra")) {
    keys.wrong(*via, fmt::format("{}: the gateway is known only at run time; the route is not imported",
                                 via->value));
    several = true;
  }
  if (several) return;
  for (const auto* key : {"MTUBytes", "TCPAdvertisedMaximumSegmentSize", "InitialCongestionWindow",
                          "InitialAdvertisedReceiveWindow", "QuickAck", "FastOpenNoCookie", "HopLimit",
                          "TCPCongestionControlAlgorithm", "TCPRetransmissionTimeoutSec", "IPv6Preference",
                          "PreferredSource", "GatewayOnLink"})
    keys.tell(key, kRouteOption);
  const auto& item = to ? to : via;
  if (!item) return;
  const bool six = (to ? to->value : via->value).find(':') != std::string::npos;
  auto words = to ? to->value : std::string("default");
  if (via) words += " via " + via->value;
  if (metric) words += " metric " + *metric;
  if (table) words += " table " + *table;
  const auto family = six ? Family::kIpv6 : Family::kIpv4;
  auto& inet = (table && is_in_vrf() ? of_tables_ : out).inet(family);
  report_network(keys, *item, add_route_words(inet, family, words));
}

}  // namespace rdmacfg::foreign
