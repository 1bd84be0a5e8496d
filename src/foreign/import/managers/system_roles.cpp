// SPDX-License-Identifier: Apache-2.0
// network_connections of Ansible's role linux-system-roles.network (its README, "network_connections"), in a
// file of variables or in a playbook.
#include <fmt/format.h>

#include <map>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/inet.hpp"
#include "foreign/syntax/yaml.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

Family family_of(std::string_view text) {
  return text.find(':') == std::string_view::npos ? Family::kIpv4 : Family::kIpv6;
}

/// The first value that Ansible computes.
const YamlNode* computed(const YamlNode& node) {
  if (node.is_scalar()) return node.text.find("{{") == std::string::npos ? nullptr : &node;
  for (const auto& item : node.items) {
    if (const auto* found = computed(item)) return found;
  }
  for (const auto& member : node.members) {
    if (const auto* found = computed(member.value)) return found;
  }
  return nullptr;
}

/// One value, or a list of them.
std::vector<const YamlNode*> values(YamlKeys& keys, std::string_view key) {
  const auto* node = keys.take(key);
  if (node == nullptr) return {};
  if (node->is_scalar()) return {node};
  std::vector<const YamlNode*> out;
  for (const auto& item : node->items) out.push_back(&item);
  return out;
}

class Connections {
 public:
  explicit Connections(Claims& claims) : claims_(claims) {}

  void parse(const YamlNode& list) {
    for (const auto& item : list.items) {
      const auto *name = item.find("name"), *interface = item.find("interface_name");
      if (name != nullptr) interfaces_[name->text] = interface == nullptr ? name->text : interface->text;
    }
    for (const auto& item : list.items) connection(item);
  }

 private:
  void connection(const YamlNode& node) {
    const auto *type = node.find("type"), *name = node.find("name");
    const auto who = name == nullptr ? std::string("a connection without a name") : name->text;
    if (type == nullptr || type->text != "infiniband") return other(node, who);
    if (const auto* at = computed(node))
      return claims_.miss(at->place(),
                          fmt::format("{}: {} is computed by Ansible: put the value there", who, at->text));
    YamlKeys keys(node, claims_);
    Interface out;
    out.where = node.place();
    out.name = keys.text("interface_name");
    if (out.name.empty()) out.name = who;
    if (keys.text("persistent_state") == "absent")
      return claims_.pass(
          node.place(),
          fmt::format("{}: persistent_state: absent: the document lists only desired objects", who));
    link(keys, out);
    if (const auto* ip = keys.mapping("ip")) {
      inet(*ip, out);
    } else {
      automatic(out, std::nullopt, std::nullopt);
    }
    if (const auto* zone = keys.take("zone"))
      keys.wrong(*zone,
                 "zone: the document does not support firewall zones; bind the interface with firewall-cmd "
                 "--permanent "
                 "--change-interface");
    for (const auto* key : {"controller", "master"}) {
      const auto* at = keys.take(key);
      if (at == nullptr) continue;
      out.ipv4 = out.ipv6 = {};  // the bond has them
      keys.wrong(*at, fmt::format("{} is a port of {}: bonds cannot be expressed in the document", out.name,
                                  at->text));
    }
    keys.pass({"name", "type", "port_type", "slave_type", "ignore_errors", "force_state_change",
               "check_iface_exists", "wait", "autoconnect_retries"});
    keys.finish(who);
    settle(out);
    claims_.interfaces.push_back(std::move(out));
  }

  /// Connections that are not for InfiniBand; a VLAN or the like over an InfiniBand one is named.
  void other(const YamlNode& node, const std::string& who) {
    const auto* parent = node.find("parent");
    const auto at = parent == nullptr ? interfaces_.end() : interfaces_.find(parent->text);
    if (at != interfaces_.end() && claims_.knows(at->second))
      return claims_.miss(node.place(),
                          fmt::format("{} is over {}: VLANs and the like cannot be expressed in the document",
                                      who, at->second));
    claims_.pass(node.place(), fmt::format("{} is not for InfiniBand", who));
  }

  void link(YamlKeys& keys, Interface& out) {
    out.mtu = keys.number("mtu", model::kMtuConnectedMax);
    keys.mark(out, "mtu", "mtu");
    if (const auto guid = keys.guid("mac")) out.guid = *guid;
    if (keys.flag("autoconnect") == false || keys.text("state") == "down") out.state = model::State::kDown;
    const auto parent = keys.text("parent");
    if (const auto at = interfaces_.find(parent); at != interfaces_.end()) out.parent = at->second;
    if (out.parent.empty()) out.parent = parent;
    if (const auto* infiniband = keys.mapping("infiniband")) {
      YamlKeys inside(*infiniband, claims_);
      mode_and_pkey(inside, out, "transport_mode", "p_key");
      inside.finish("infiniband");
    }
    mode_and_pkey(keys, out, "infiniband_transport_mode", "infiniband_p_key");  // as they were called first
    // The role writes it where nothing is said.
    if (!out.mode) out.mode = model::IpoibMode::kDatagram;
    if (!out.pkey) out.parent.clear();
    if (out.pkey && !out.parent.empty() && keys.take("interface_name") == nullptr)
      out.name = child_name(out.parent, *out.pkey);
  }

  static void mode_and_pkey(YamlKeys& keys, Interface& out, const char* mode_key, const char* pkey_key) {
    if (const auto mode = keys.mode(mode_key)) out.mode = *mode;
    keys.mark(out, "mode", mode_key);
    const auto* key = keys.take(pkey_key);
    if (key == nullptr || key->text == "-1") return;
    const auto pkey = pkey_of(key->text);
    if (pkey) {
      out.pkey = *pkey;
    } else {
      out.broken = true;
      keys.wrong(*key, pkey.error().message);
    }
  }

  /// Without static addresses of a family the role asks the network.
  static void automatic(Interface& out, std::optional<bool> dhcp4, std::optional<bool> auto6) {
    if (dhcp4.value_or(out.ipv4.addresses.empty())) out.ipv4.method = InetMethod::kAuto;
    if (auto6.value_or(out.ipv6.addresses.empty())) out.ipv6.method = InetMethod::kAuto;
  }

  void inet(const YamlNode& node, Interface& out) {
    YamlKeys keys(node, claims_);
    const auto report = [&](const YamlNode& at, const std::string& why) {
      if (!why.empty()) keys.wrong(at, why);
    };
    for (const auto* address : values(keys, "address")) {
      out.at.try_emplace(family_of(address->text) == Family::kIpv4 ? "ipv4.addresses" : "ipv6.addresses",
                         address->place());
      report(*address, add_address(out, address->text));
    }
    const auto dhcp4 = keys.flag("dhcp4"), auto6 = keys.flag("auto6");
    automatic(out, dhcp4, auto6);
    for (const auto* key : {"gateway4", "gateway6"}) {
      const auto family = std::string_view(key) == "gateway4" ? Family::kIpv4 : Family::kIpv6;
      if (const auto* gateway = keys.take(key))
        report(*gateway, set_gateway(out.inet(family), family, gateway->text));
      keys.mark(out, family == Family::kIpv4 ? "ipv4.gateway" : "ipv6.gateway", key);
    }
    for (const auto& item : keys.list("route")) route(item, out);
    for (const auto* server : values(keys, "dns")) report(*server, add_server(out, server->text));
    for (const auto* domain : values(keys, "dns_search")) add_search(out, domain->text);
    for (const auto* key :
         {"ipv4_ignore_auto_dns", "ipv6_ignore_auto_dns", "route_append_only", "rule_append_only"})
      keys.usual(key, "no");
    keys.usual("auto_gateway", "yes");
    keys.pass({"dhcp4_send_hostname"});
    if (keys.flag("ipv6_disabled") == true) {
      if (!out.ipv6.addresses.empty() || out.ipv6.gateway || !out.ipv6.routes.empty())
        keys.wrong(*keys.take("ipv6_disabled"),
                   "ipv6_disabled: the IPv6 addresses and routes beside it are not in force");
      out.ipv6 = {};
      out.ipv6.method = InetMethod::kDisabled;
    }
    keys.finish("ip");
    place_search(out);
  }

  void route(const YamlNode& node, Interface& out) {
    YamlKeys keys(node, claims_);
    if (!keys.fits()) return;
    const auto to = keys.text("network"), prefix = keys.text("prefix"), via = keys.text("gateway");
    const auto metric = keys.text("metric"), table = keys.text("table");
    auto line = to;
    if (!prefix.empty() && to.find('/') == std::string::npos) line += "/" + prefix;
    if (!via.empty()) line += " via " + via;
    if (!metric.empty() && metric != "-1") line += " metric " + metric;
    if (!table.empty()) line += " table " + table;
    auto why = wrong_type(keys.text("type"));
    const auto family = family_of(to.empty() ? via : to);
    if (why.empty()) why = add_route_words(out.inet(family), family, line);
    keys.finish("route");
    if (!why.empty()) keys.wrong(node, why);
  }

  Claims& claims_;
  std::map<std::string, std::string> interfaces_;  ///< by the name of the connection
};

/// @return whether there are any
bool find_connections(const YamlNode& node, Claims& claims) {
  bool found = false;
  for (const auto& member : node.members) {
    if (member.key == "network_connections") {
      found = true;
      claims.took({std::string(member.where.file), member.where.line});
      if (member.value.sort == YamlNode::Sort::kSequence) {
        Connections(claims).parse(member.value);
      } else {
        claims.miss(member.value.place(), "network_connections: must be a list");
      }
    } else if (member.key == "network_state") {
      found = true;
      claims.miss(member.value.place(),
                  "network_state: is in nmstate's language: import it with nmstate from a separate file");
    } else {
      found = find_connections(member.value, claims) || found;
    }
  }
  for (const auto& item : node.items) found = find_connections(item, claims) || found;
  return found;
}

}  // namespace

void parse_system_roles(std::span<const File> files, Claims& claims) {
  for (const auto& file : files) {
    const auto tree = parse_yaml(file, claims);
    if (tree && !find_connections(*tree, claims)) claims.pass({file.path, 0}, "has no network_connections");
  }
}

}  // namespace rdmacfg::foreign
