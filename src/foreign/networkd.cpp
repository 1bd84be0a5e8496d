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

/// A file with its sections, and those of its drop-ins among `files`; those of one name are joined where they
/// may be.
class Unit {
 public:
  Unit(const File& of, std::span<const File> files, Claims& to)
      : file(of), claims(to), groups(groups_with_drop_ins(of, files, to)) {}

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
        claims.miss({group.file, group.line}, fmt::format("[{}]: is not understood", group.name));
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

void parse_netdev(const File& file, std::span<const File> files, Claims& claims,
                  std::vector<Interface>& children) {
  const Unit unit(file, files, claims);
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
  Network(const File& file, std::span<const File> files, Claims& claims) : unit_(file, files, claims) {}

  /// Names that it is for; children that it makes.
  std::vector<std::string> names, children;
  /// Ports that it is for, by their addresses.
  std::vector<model::Guid> ports;
  [[nodiscard]] bool is_infiniband() const {
    return unit_.has("IPoIB") || !children.empty() || !ports.empty() ||
           unit_.section("Match").peek("Type") == "infiniband" ||
           unit_.section("Match").peek("Kind") == "ipoib";
  }

  /// Type= is there and says something else; "!ether" says nothing of ours.
  [[nodiscard]] bool is_of_another_type() const {
    const auto types = unit_.section("Match").peek("Type");
    const auto words = words_of(types);
    return !words.empty() && std::none_of(words.begin(), words.end(), [](std::string_view word) {
      return word.starts_with('!') || base::matches_glob(word.substr(0, 32), "infiniband");
    });
  }

  void look() {
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

  void parse(Interface& out) {
    auto match = unit_.section("Match");
    match.pass({"Name", "Type", "Kind"});
    if (out.guid) match.pass({"MACAddress", "PermanentMACAddress"});
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
    offers(out);
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
    keys.pass({"IPoIB", "Description", "ConfigureWithoutCarrier", "KeepConfiguration", "LLDP", "EmitLLDP"});
    for (const auto* key : {"IPv6PrivacyExtensions", "IPForward"}) keys.usual(key, "no");
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
    if (dhcp && flag == false && !out.ipv4.method) out.ipv4.method = InetMethod::kDisabled;
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
      Keys keys(group.file, group.items, unit_.claims);
      if (group.name == "Address") {
        if (const auto address = keys.take("Address"))
          report(keys, *address, add_address(out, address->value));
      } else {
        route(keys, out);
      }
      keys.finish();
    }
  }

  /// What is done with that which a DHCP server or a router offers.
  void offers(const Interface& out) const {
    const bool four = out.ipv4.method == InetMethod::kAuto, six = out.ipv6.method == InetMethod::kAuto;
    for (const auto* name : {"DHCP", "DHCPv4", "DHCPv6", "IPv6AcceptRA"}) {
      auto keys = unit_.section(name);
      const bool used = std::string_view(name) == "DHCP"     ? four || six
                        : std::string_view(name) == "DHCPv4" ? four
                                                             : six;
      if (!used) {
        keys.pass({"*"});
        continue;
      }
      for (const auto* key : {"UseDNS", "UseRoutes", "UseGateway", "UseAddress", "UseRoutePrefix",
                              "UseAutonomousPrefix", "UseOnLinkPrefix", "DHCPv6Client"})
        keys.usual(key, "yes");
      for (const auto* key : {"UseDomains", "Anonymize"}) keys.usual(key, "no");
      keys.usual("UseMTU", std::string_view(name) == "IPv6AcceptRA" ? "yes" : "no");
      // Names, clocks and how the server is asked are no matter of the document.
      keys.pass({"UseNTP", "UseSIP", "UseHostname", "UseTimezone", "SendHostname", "SendRelease",
                 "SendDecline", "RapidCommit", "MaxAttempts"});
      keys.finish();
    }
  }

  static void route(Keys& keys, Interface& out) {
    const auto to = keys.take("Destination"), via = keys.take("Gateway");
    const auto metric = keys.text("Metric"), table = keys.text("Table");
    const auto type = keys.take("Type");
    if (const auto wrong = wrong_type(type ? type->value : ""); !wrong.empty())
      return report(keys, *type, wrong);
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

/// .netdev and .network files together.
class Reading {
 public:
  Reading(std::span<const File> files, Claims& claims) : files_(files), claims_(claims) {}

  void all() {
    for (const auto& file : files_) {
      if (file.path.ends_with(".netdev")) parse_netdev(file, files_, claims_, children_);
    }
    for (const auto& child : children_) infiniband_.insert(child.name);
    for (const auto& file : files_) {
      if (file.path.ends_with(".network")) network(file);
    }
    for (auto& child : children_) {
      if (!made_.contains(child.name))
        claims_.miss(child.where, fmt::format("no .network file has IPoIB={}: nobody makes it", child.name));
      else
        claims_.interfaces.push_back(std::move(child));
    }
  }

 private:
  void network(const File& file) {
    Claims aside;  // what is said of a file that is none of ours is no matter
    Network probe(file, files_, aside);
    probe.look();
    const bool named = !probe.is_of_another_type() &&
                       std::any_of(probe.names.begin(), probe.names.end(), [&](const std::string& name) {
                         return infiniband_.contains(name) || claims_.knows(name);
                       });
    if (!probe.is_infiniband() && !named) return claims_.pass({file.path, 0}, "is not for InfiniBand");
    const bool pattern = std::any_of(probe.names.begin(), probe.names.end(),
                                     [](const std::string& name) { return is_pattern(name); });
    // A name beside an address narrows it down; of several of both nobody knows which belong together.
    const bool together = probe.ports.size() == 1 && probe.names.size() == 1;
    if (pattern || (probe.names.empty() && probe.ports.empty()))
      return claims_.miss({file.path, 0}, "[Match] does not name its interfaces");
    parents(probe);
    for (const auto& name : probe.names) {
      interface(file, name, together ? std::optional(probe.ports.front()) : std::nullopt);
    }
    if (!probe.names.empty()) return;
    for (const auto& guid : probe.ports) interface(file, "", guid);
  }

  /// Tells the P_Key interfaces that the file makes what they are made over.
  void parents(const Network& probe) {
    for (auto& child : children_) {
      if (std::find(probe.children.begin(), probe.children.end(), child.name) == probe.children.end())
        continue;
      made_.insert(child.name);
      if (!probe.names.empty()) child.parent = probe.names.front();
      if (probe.names.empty() || probe.ports.size() == 1) child.guid = probe.ports.front();
    }
  }

  void interface(const File& file, const std::string& name, const std::optional<model::Guid>& guid) {
    if (const auto who = name.empty() ? guid->text() : name; !taken_.insert(who).second)
      return claims_.pass({file.path, 0}, fmt::format("an earlier file is for {}", who));
    Network network(file, files_, claims_);
    const auto child = std::find_if(children_.begin(), children_.end(),
                                    [&](const Interface& one) { return one.name == name; });
    if (child != children_.end()) return network.parse(*child);
    Interface out;
    out.where = {file.path, 0};
    out.name = name;
    out.guid = guid;
    network.parse(out);
    claims_.interfaces.push_back(std::move(out));
  }

  std::span<const File> files_;
  Claims& claims_;
  std::vector<Interface> children_;
  std::set<std::string> infiniband_;  ///< names of P_Key interfaces that files make
  std::set<std::string> taken_, made_;
};

}  // namespace

void parse_networkd(std::span<const File> files, Claims& claims) { Reading(files, claims).all(); }

}  // namespace rdmacfg::foreign
