// SPDX-License-Identifier: Apache-2.0
// systemd-networkd's files (systemd.netdev(5), systemd.network(5)).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "foreign/formats.hpp"
#include "foreign/inet.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

/// A file with its sections; those of one name are joined where they may be.
class Unit {
 public:
  Unit(const File& of, Claims& to) : file(of), claims(to), groups(parse_groups(of, to)) {}

  [[nodiscard]] Keys section(std::string_view name) const {
    std::vector<Item> items;
    for (const auto& group : groups) {
      if (group.name == name) items.insert(items.end(), group.items.begin(), group.items.end());
    }
    return {file.path, std::move(items), claims};
  }
  [[nodiscard]] bool has(std::string_view name) const {
    return std::any_of(groups.begin(), groups.end(), [&](const Group& group) { return group.name == name; });
  }
  void refuse_others(const std::set<std::string_view>& known) const {
    for (const auto& group : groups) {
      if (!known.contains(group.name) && !group.name.starts_with("X-"))
        claims.miss({file.path, group.line}, fmt::format("[{}]: is not understood", group.name));
    }
  }

  const File& file;
  Claims& claims;
  std::vector<Group> groups;
};

void report(Keys& keys, const Item& item, const std::string& why) {
  if (!why.empty()) keys.wrong(item, why);
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
    const auto parsed = model::parse_ipoib_mode(mode->value);
    if (parsed) {
      out.mode = *parsed;
    } else {
      keys.wrong(*mode, parsed.error().message);
    }
  }
  for (const auto* name : {"IgnoreUserspaceMulticastGroups", "IgnoreUserspaceMulticastGroup"}) {
    if (const auto umcast = keys.flag(name)) out.umcast = umcast;
  }
  keys.finish();
}

void parse_netdev(const File& file, Claims& claims, std::vector<Interface>& children) {
  const Unit unit(file, claims);
  auto keys = unit.section("NetDev");
  if (keys.peek("Kind") != "ipoib") {
    claims.pass({file.path, 0}, "is not for InfiniBand");
    return;
  }
  Interface out;
  out.where = {file.path, 0};
  out.name = keys.text("Name").value_or("");
  out.names = true;
  out.mtu = keys.number("MTUBytes", model::kMtuConnectedMax);
  keys.pass({"Kind", "Description", "MACAddress"});
  keys.finish();
  ipoib_section(unit, out);
  unit.refuse_others({"NetDev", "IPoIB"});
  if (!out.pkey) {
    claims.miss(out.where, "without PartitionKey the kernel refuses a second interface of the port");
  } else {
    children.push_back(std::move(out));
  }
}

class Network {
 public:
  Network(const File& file, Claims& claims) : unit_(file, claims) {}

  /// Names that it is for; children that it makes.
  std::vector<std::string> names, children;
  [[nodiscard]] bool is_infiniband() const {
    return unit_.has("IPoIB") || !children.empty() || unit_.section("Match").peek("Type") == "infiniband" ||
           unit_.section("Match").peek("Kind") == "ipoib";
  }

  void look() {
    const auto match = unit_.section("Match");
    const auto all = match.peek("Name");
    for (const auto word : words_of(all)) names.emplace_back(word);
    auto network = unit_.section("Network");
    for (const auto& group : unit_.groups) {
      if (group.name != "Network") continue;
      for (const auto& item : group.items) {
        if (item.key == "IPoIB") children.push_back(item.value);
      }
    }
  }

  void parse(Interface& out) {
    auto match = unit_.section("Match");
    match.pass({"Name", "Type", "Kind"});
    match.finish();
    auto link = unit_.section("Link");
    if (const auto mtu = link.number("MTUBytes", model::kMtuConnectedMax)) out.mtu = mtu;
    if (const auto policy = link.take("ActivationPolicy")) {
      if (policy->value == "down" || policy->value == "always-down" || policy->value == "manual")
        out.state = model::State::kDown;
    }
    if (link.flag("Unmanaged") == true)
      unit_.claims.pass(out.where, "Unmanaged=yes: networkd leaves it alone");
    link.pass({"RequiredForOnline", "RequiredFamilyForOnline"});
    link.finish();
    network(out);
    sections(out);
    ipoib_section(unit_, out);
    unit_.refuse_others({"Match", "Link", "Network", "Address", "Route", "IPoIB", "DHCPv4", "DHCPv6",
                         "IPv6AcceptRA", "DHCP"});
    place_search(out);
    settle(out);
  }

  [[nodiscard]] const File& file() const { return unit_.file; }

 private:
  void network(Interface& out) {
    auto keys = unit_.section("Network");
    keys.pass({"IPoIB", "Description", "IPv6PrivacyExtensions", "IPForward", "ConfigureWithoutCarrier",
               "KeepConfiguration", "LLDP", "EmitLLDP"});
    const auto dhcp = keys.take("DHCP");
    const auto word = dhcp ? base::lower(dhcp->value) : "no";
    const auto flag = yes_or_no(word);
    if (!flag && word != "ipv4" && word != "ipv6")
      report(keys, *dhcp, fmt::format("{} is not understood", word));
    if (flag == true || word == "ipv4") out.ipv4.method = InetMethod::kAuto;
    if (flag == true || word == "ipv6" || keys.flag("IPv6AcceptRA") == true)
      out.ipv6.method = InetMethod::kAuto;
    keys.pass({"IPv6AcceptRA"});
    if (const auto local = keys.take("LinkLocalAddressing")) {
      const auto value = base::lower(local->value);
      const auto both = yes_or_no(value);
      if (!both && value != "ipv4" && value != "ipv6")
        report(keys, *local, fmt::format("{} is not understood", value));
      if ((both == true || value == "ipv4") && !out.ipv4.method) out.ipv4.method = InetMethod::kLinkLocal;
      if ((both == false || value == "ipv4") && !out.ipv6.method) out.ipv6.method = InetMethod::kDisabled;
    }
    for (const auto& item : keys.take_all("Address")) report(keys, item, add_address(out, item.value));
    for (const auto& item : keys.take_all("Gateway")) {
      const auto family = item.value.find(':') == std::string::npos ? Family::kIpv4 : Family::kIpv6;
      report(keys, item, set_gateway(out.inet(family), family, item.value));
    }
    for (const auto& item : keys.take_all("DNS")) {
      for (const auto server : words_of(item.value)) report(keys, item, add_server(out, server));
    }
    for (const auto& item : keys.take_all("Domains")) add_search(out, item.value);
    keys.finish();
  }

  void sections(Interface& out) {
    for (const auto& group : unit_.groups) {
      if (group.name != "Address" && group.name != "Route") continue;
      Keys keys(unit_.file.path, group.items, unit_.claims);
      if (group.name == "Address") {
        if (const auto address = keys.take("Address"))
          report(keys, *address, add_address(out, address->value));
      } else {
        route(keys, out);
      }
      keys.finish();
    }
  }

  static void route(Keys& keys, Interface& out) {
    const auto to = keys.take("Destination"), via = keys.take("Gateway");
    const auto metric = keys.text("Metric"), table = keys.text("Table");
    const auto& item = to ? to : via;
    if (!item) return;
    const bool six = (to ? to->value : via->value).find(':') != std::string::npos;
    auto words = to ? to->value : std::string("default");
    if (via) words += " via " + via->value;
    if (metric) words += " metric " + *metric;
    if (table) words += " table " + *table;
    const auto family = six ? Family::kIpv6 : Family::kIpv4;
    report(keys, *item, add_route_words(out.inet(family), family, words));
  }

  Unit unit_;
};

}  // namespace

void parse_networkd(std::span<const File> files, Claims& claims) {
  std::vector<Interface> children;
  for (const auto& file : files) {
    if (file.path.ends_with(".netdev")) parse_netdev(file, claims, children);
  }
  std::set<std::string> infiniband, taken;
  for (const auto& child : children) infiniband.insert(child.name);
  for (const auto& [name, guid] : claims.known) infiniband.insert(name);
  for (const auto& [guid, name] : claims.names) infiniband.insert(name);
  for (const auto& file : files) {
    if (!file.path.ends_with(".network")) continue;
    Claims aside;  // what is said of a file that is none of ours is no matter
    Network probe(file, aside);
    probe.look();
    const bool ours = probe.is_infiniband() ||
                      std::any_of(probe.names.begin(), probe.names.end(),
                                  [&](const std::string& name) { return infiniband.contains(name); });
    if (!ours) {
      claims.pass({file.path, 0}, "is not for InfiniBand");
      continue;
    }
    if (probe.names.empty() ||
        std::any_of(probe.names.begin(), probe.names.end(), [](const std::string& name) {
          return name.find_first_of("*?[!") != std::string::npos;
        })) {
      claims.miss({file.path, 0}, "[Match] does not name its interfaces");
      continue;
    }
    for (auto& child : children) {
      const bool made =
          std::find(probe.children.begin(), probe.children.end(), child.name) != probe.children.end();
      if (made) child.parent = probe.names.front();
    }
    for (const auto& name : probe.names) {
      if (!taken.insert(name).second) {
        claims.pass({file.path, 0}, fmt::format("an earlier file is for {}", name));
        continue;
      }
      Network network(file, claims);
      const auto child = std::find_if(children.begin(), children.end(),
                                      [&](const Interface& one) { return one.name == name; });
      if (child != children.end()) {
        network.parse(*child);
        continue;
      }
      Interface out;
      out.where = {file.path, 0};
      out.name = name;
      network.parse(out);
      claims.interfaces.push_back(std::move(out));
    }
  }
  for (auto& child : children) {
    if (child.parent.empty())
      claims.miss(child.where, fmt::format("no .network file has IPoIB={}: nobody makes it", child.name));
    else
      claims.interfaces.push_back(std::move(child));
  }
}

}  // namespace rdmacfg::foreign
