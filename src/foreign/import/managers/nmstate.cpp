// SPDX-License-Identifier: Apache-2.0
// nmstate's YAML (nmstate.io, "YAML API").
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/managers/nm_addresses.hpp"
#include "foreign/inet.hpp"
#include "foreign/syntax/yaml.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

/// The P_Key that nmstate gives a port's own interface; no P_Key interface is made for it.
constexpr std::uint64_t kPkeyOfPort = 0xffff;

class NmstateReader {
 public:
  NmstateReader(const File& file, Claims& claims) : file_(file), claims_(claims) {}

  /// A state, or a policy around one: nmpolicy's, or a NodeNetworkConfigurationPolicy of kubernetes-nmstate.
  void parse(const YamlNode& root) {
    const bool resource = root.find("kind") != nullptr && root.find("spec") != nullptr;
    if (!resource && root.find("desiredState") == nullptr && root.find("desired") == nullptr) {
      state(root);
      return;
    }
    YamlKeys keys(root, claims_);
    if (resource) {
      keys.pass({"apiVersion", "kind", "metadata", "status"});
      if (const auto* spec = keys.mapping("spec")) {
        YamlKeys inner(*spec, claims_);
        inner.pass({"maxUnavailable"});
        if (const auto* selector = inner.take("nodeSelector"))
          claims_.miss(selector->place(),
                       "nodeSelector: which hosts it is for; write [match] host = [...] into the document");
        policy(inner, "spec");
      }
    } else {
      policy(keys, "policy");
    }
    if (resource) keys.finish("policy");
  }

 private:
  void policy(YamlKeys& keys, std::string_view inside) {
    if (const auto* capture = keys.take("capture"))
      claims_.miss(capture->place(), "capture: its results on a host are not known here");
    const auto* desired = keys.mapping("desiredState");
    if (desired == nullptr) desired = keys.mapping("desired");
    keys.finish(inside);
    if (desired != nullptr) state(*desired);
  }

  void state(const YamlNode& root) {
    YamlKeys keys(root, claims_);
    const auto& interfaces = keys.list("interfaces");
    for (const auto& item : interfaces) {
      const auto* name = item.find("name");
      if (name != nullptr && is_ours(item)) ours_.insert(name->text);
    }
    // A P_Key interface that is to go is meant by its name alone; its parent may come behind it.
    for (const auto& item : interfaces) {
      if (is_absent_child(item)) ours_.insert(item.find("name")->text);
    }
    for (const auto& item : interfaces) interface(item);
    if (const auto* node = keys.mapping("routes")) routes(*node);
    if (const auto* node = keys.mapping("dns-resolver")) servers(*node);
    if (const auto* host = keys.take("hostname"))
      claims_.pass(host->place(), "hostname: the document does not set the host's name");
    keys.finish("state");
    for (auto& interface : found_) {
      place_search(interface);
      settle(interface);
      claims_.interfaces.push_back(std::move(interface));
    }
  }

  /// By its type; where that is not said (it is there already) by what else is.
  [[nodiscard]] bool is_ours(const YamlNode& node) const {
    const auto *type = node.find("type"), *name = node.find("name");
    if (type != nullptr) return base::lower(type->text) == "infiniband";
    return node.find("infiniband") != nullptr ||
           (name != nullptr && (claims_.knows(name->text) || ours_.contains(name->text)));
  }

  [[nodiscard]] bool is_absent_child(const YamlNode& node) const {
    const auto *name = node.find("name"), *state = node.find("state");
    if (name == nullptr || state == nullptr || state->text != "absent" || node.find("type") != nullptr)
      return false;
    const auto child = child_of_name(name->text);
    return child && (ours_.contains(child->parent) || claims_.knows(child->parent));
  }

  void interface(const YamlNode& node) {
    if (node.sort != YamlNode::Sort::kMapping) {
      claims_.miss(node.place(), "interfaces: an item that is not a mapping");
      return;
    }
    if (const auto* name = node.find("name"); name != nullptr && name->text.starts_with("{{")) {
      claims_.miss(name->place(), fmt::format("{}: an interface that a capture finds", name->text));
      return;
    }
    if (!is_ours(node)) return pass_over(node);
    YamlKeys keys(node, claims_);
    Interface out;
    out.where = {file_.path, node.line};
    out.name = keys.text("name");
    const auto state = keys.text("state");
    if (state == "down") out.state = model::State::kDown;
    if (state == "absent") out.state = model::State::kAbsent;
    if (state == "ignore") out.state = model::State::kIgnore;
    if (!state.empty() && state != "up" && !out.state)
      keys.wrong(*keys.take("state"), fmt::format("state: {} is not up, down, absent or ignore", state));
    out.mtu = keys.number("mtu", model::kMtuConnectedMax);
    if (const auto guid = keys.guid("mac-address")) out.guid = *guid;
    std::optional<std::uint64_t> pkey;
    if (const auto* inner = keys.mapping("infiniband")) pkey = infiniband(*inner, out);
    if (const auto* name = keys.take("name")) places_.emplace(name->text, found_.size());
    if (pkey != kPkeyOfPort) settle_child(keys, out, pkey);
    keys.mark(out, "mtu", "mtu");
    keys.mark(out, "state", "state");
    keys.mark(out, "mode", "infiniband");
    for (const auto* path : {"ipv4", "ipv6"}) keys.mark(out, std::string(path) + ".method", path);
    for (const auto family : {Family::kIpv4, Family::kIpv6}) {
      const auto* inner = keys.mapping(family == Family::kIpv4 ? "ipv4" : "ipv6");
      if (inner != nullptr) inet(*inner, out, family);
    }
    tell_of_link(keys);
    keys.pass(
        {"type", "description", "profile-name", "identifier", "permanent-mac-address", "min-mtu", "max-mtu"});
    keys.finish(out.name);
    found_.push_back(std::move(out));
  }

  /// Keys that `nmstatectl show` writes for each interface: only other values than its own are named.
  void tell_of_link(YamlKeys& keys) {
    keys.usual("accept-all-mac-addresses", "false");
    tell_unless(keys, "wait-ip", "any", "concerns NetworkManager only");
    const auto* lldp = keys.mapping("lldp");
    if (lldp == nullptr) return;
    YamlKeys inner(*lldp, claims_);
    inner.pass({"neighbors"});  // what it hears
    if (inner.flag("enabled") == true) claims_.pass(lldp->place(), "lldp: is of Ethernet, not of InfiniBand");
    inner.finish("lldp");
  }

  void tell_unless(YamlKeys& keys, std::string_view key, std::string_view value, std::string_view why) {
    const auto* node = keys.take(key);
    if (node != nullptr && base::lower(node->text) != value)
      claims_.pass(node->place(), fmt::format("{}: {}: {}", key, node->text, why));
  }

  /// A P_Key interface may be meant by its name alone, as where it is to go, or by its name and P_Key.
  /// NetworkManager, which nmstate configures, calls it BASE.PKEY as the P_Key is `written`, since 1.44
  /// whatever name its profile has (nm_setting_infiniband_get_virtual_interface_name()).
  void settle_child(YamlKeys& keys, Interface& out, std::optional<std::uint64_t> written) {
    const auto child = child_of_name(out.name);
    if (child && out.parent.empty() && (out.pkey || !out.guid)) {
      if (!out.pkey) out.pkey = child->pkey;
      out.parent = child->parent;
    }
    if (!written || !out.pkey || out.parent.empty() || out.name.empty()) return;
    if (base::harmless(out.parent) != out.parent || base::harmless(out.name) != out.name) return;
    const auto whole = fmt::format("{}.{:04x}", out.parent, *written);
    const auto made = whole.substr(0, model::kInterfaceNameMax);
    if (out.name != whole && out.name != made && out.name != child_name(out.parent, *out.pkey))
      keys.wrong(*keys.take("name"),
                 fmt::format("name: NetworkManager calls the interface {}; before 1.44 it refuses {}", made,
                             out.name));
    out.name = made;
  }

  /// An interface for something else; named where that stands over an interface of ours.
  void pass_over(const YamlNode& node) {
    const auto* name = node.find("name");
    const auto who = name == nullptr ? std::string("it") : name->text;
    if (const auto* port = port_of_ours(node); port != nullptr) {
      claims_.miss(
          {file_.path, node.line},
          fmt::format("{} is over {}: bonds, bridges and VLANs cannot be expressed in the document, nor can "
                      "their addresses",
                      who, port->text));
    } else {
      claims_.pass({file_.path, node.line}, fmt::format("{} is not for InfiniBand", who));
    }
  }

  /// The first port of a bond or VRF that is an interface of ours.
  [[nodiscard]] const YamlNode* port_of_ours(const YamlNode& node) const {
    for (const auto* sort : {"vlan", "mac-vlan", "ipvlan", "vxlan"}) {
      const auto* inner = node.find(sort);
      const auto* below = inner == nullptr ? nullptr : inner->find("base-iface");
      if (below != nullptr && (ours_.contains(below->text) || claims_.knows(below->text))) return below;
    }
    for (const auto* sort : {"link-aggregation", "vrf", "bridge"}) {
      const auto* inner = node.find(sort);
      for (const auto* key : {"port", "ports", "slaves"}) {
        const auto* list = inner == nullptr ? nullptr : inner->find(key);
        if (list == nullptr) continue;
        for (const auto& item : list->items) {
          const auto* name = item.find("name");  // of a bridge's port, which is a mapping
          const auto& port = name == nullptr ? item : *name;
          if (ours_.contains(port.text) || claims_.knows(port.text)) return &port;
        }
      }
    }
    return nullptr;
  }

  /// Returns the P_Key as it is written.
  std::optional<std::uint64_t> infiniband(const YamlNode& node, Interface& out) {
    YamlKeys keys(node, claims_);
    std::optional<std::uint64_t> written;
    if (const auto mode = keys.mode("mode")) out.mode = *mode;
    out.parent = keys.text("base-iface");
    if (const auto* key = keys.take("pkey")) {
      const auto pkey = pkey_of(key->text);
      if (!pkey) {
        out.broken = true;
        keys.wrong(*key, pkey.error().message);
      } else {
        written = base::c_number(key->text);
        out.pkey = *pkey;
      }
    }
    if (written == kPkeyOfPort) {
      out.pkey.reset();
      out.parent.clear();
    }
    keys.finish("infiniband");
    return written;
  }

  void inet(const YamlNode& node, Interface& out, Family family) {
    YamlKeys keys(node, claims_);
    auto& inet = out.inet(family);
    const auto enabled = keys.flag("enabled");
    const bool dhcp = keys.flag("dhcp") == true, autoconf = keys.flag("autoconf") == true;
    addresses(keys, inet, family);
    const bool automatic = enabled != false && (dhcp || autoconf);
    for (const auto* key : {"auto-dns", "auto-gateway", "auto-routes"}) {
      if (automatic) keys.usual(key, "yes");
    }
    if (automatic) keys.usual("auto-route-table-id", "0");
    if (!automatic)
      keys.pass({"auto-dns", "auto-gateway", "auto-routes", "auto-route-table-id", "auto-route-metric",
                 "dhcp-client-id", "dhcp-duid"});
    // Without addresses NetworkManager makes a link-local one of IPv6 in the same way.
    const bool generates = automatic || (enabled == true && inet.addresses.empty());
    const auto* mode = keys.take("addr-gen-mode");
    if (mode != nullptr && generates && names_stable_address(base::lower(mode->text)))
      claims_.pass(mode->place(), fmt::format("addr-gen-mode: {}: {}", mode->text, kKernelAddresses));
    tell_unless(keys, "allow-extra-address", "true", "concerns only what nmstate verifies");
    keys.pass({"wait-ip"});
    keys.finish(family == Family::kIpv4 ? "ipv4" : "ipv6");
    if (enabled == false) {
      inet = {};
      inet.method = InetMethod::kDisabled;
    } else if (dhcp || autoconf) {
      inet.method = InetMethod::kAuto;
    }
  }

  void addresses(YamlKeys& keys, Inet& inet, Family family) {
    for (const auto& item : keys.list("address")) {
      YamlKeys address(item, claims_);
      if (!address.fits()) continue;
      const auto ip = address.text("ip");
      const auto length = address.number("prefix-length", 128);
      const bool leased = is_leased(address);
      address.finish("address");
      const auto parsed = model::IpAddress::parse(ip);
      // Attributes that the interface has by itself are listed, too, when the state was shown by nmstate.
      if (parsed && family == Family::kIpv6 && parsed->link_local()) continue;
      if (leased) {
        claims_.pass(item.place(), fmt::format("{}: nmstate ignores an address whose life time is limited; "
                                               "it comes from a server or router",
                                               ip));
        continue;
      }
      const auto why =
          add_address(inet, family, ip, length ? std::optional(static_cast<int>(*length)) : std::nullopt);
      if (!why.empty()) keys.wrong(item, why);
    }
  }

  /// InterfaceIpAddr::is_auto() of nmstate's ip.rs, with the names that the key has had.
  static bool is_leased(YamlKeys& address) {
    address.pass({"preferred-life-time", "preferred-left", "preferred-lft"});
    bool out = false;
    for (const auto* key : {"valid-life-time", "valid-left", "valid-lft"}) {
      const auto* left = address.take(key);
      out = out || (left != nullptr && left->text != "forever");
    }
    return out;
  }

  void routes(const YamlNode& node) {
    YamlKeys keys(node, claims_);
    keys.pass({"running"});
    const auto& list = keys.list("config");
    keys.finish("routes");
    for (const auto& item : list) {
      YamlKeys route(item, claims_);
      if (!route.fits()) continue;
      const auto to = route.text("destination"), via = route.text("next-hop-address"),
                 dev = route.text("next-hop-interface");
      const auto metric = route.number("metric", 0xffffffffU), table = route.number("table-id", 0xffffffffU);
      const auto state = route.text("state");
      const auto wrong = wrong_type(route.text("route-type"));
      route.finish("routes");
      const auto place = places_.find(dev);
      if (place == places_.end() && (dev.empty() || !claims_.knows(dev))) {
        claims_.pass({file_.path, item.line}, "is not a route over an InfiniBand interface");
        continue;
      }
      if (state == "absent") {
        claims_.pass({file_.path, item.line}, "state: absent: the document lists only the routes to have");
        continue;
      }
      if (place == places_.end()) {
        claims_.miss({file_.path, item.line},
                     fmt::format("{} is not among the interfaces of this state", dev));
        continue;
      }
      if (!wrong.empty()) {
        keys.wrong(item, wrong);
        continue;
      }
      auto words = to.empty() ? std::string("default") : to;
      if (!via.empty()) words += " via " + via;
      if (metric) words += fmt::format(" metric {}", *metric);
      if (table && *table != 0) words += fmt::format(" table {}", *table);
      const auto family = (to + via).find(':') != std::string::npos ? Family::kIpv6 : Family::kIpv4;
      const auto why = add_route_words(found_[place->second].inet(family), family, words);
      if (!why.empty()) keys.wrong(item, why);
    }
  }

  /// Whether the family has the default route. With a metric that is a route, not the gateway.
  static bool has_default(const Inet& inet) {
    return inet.gateway || std::any_of(inet.routes.begin(), inet.routes.end(), [](const Route& route) {
             return (route.to.any || route.to.network.length == 0) && route.table == Route{}.table;
           });
  }

  /// Name servers are the host's there: they go to the first interface that has a gateway of the family.
  void servers(const YamlNode& node) {
    YamlKeys keys(node, claims_);
    keys.pass({"running"});
    const auto* config = keys.mapping("config");
    keys.finish("dns-resolver");
    if (config == nullptr) return;
    YamlKeys inner(*config, claims_);
    const auto list = inner.words("server"), search = inner.words("search");
    const auto& options = inner.list("options");
    inner.finish("dns-resolver");
    Interface* owner = nullptr;
    for (auto& interface : found_) {
      if (owner == nullptr && (has_default(interface.ipv4) || has_default(interface.ipv6)))
        owner = &interface;
    }
    if (owner == nullptr) {
      claims_.pass(
          config->place(),
          "no InfiniBand interface has the default route: name servers are left to other interfaces");
      return;
    }
    for (const auto* item : list) {
      const auto why = add_server(*owner, item->text);
      if (!why.empty()) inner.wrong(*item, why);
    }
    for (const auto* item : search) add_search(*owner, item->text);
    if (!options.empty()) inner.wrong(options.front(), "dns-resolver: options: is not supported");
  }

  const File& file_;
  Claims& claims_;
  std::vector<Interface> found_;
  std::map<std::string, std::size_t> places_;  ///< in found_, by the name that the state has for an interface
  std::set<std::string> ours_;                 ///< names of its InfiniBand interfaces
};

}  // namespace

void parse_nmstate(std::span<const File> files, Claims& claims) {
  for (const auto& file : files) {
    if (const auto tree = parse_yaml(file, claims)) NmstateReader(file, claims).parse(*tree);
  }
}

}  // namespace rdmacfg::foreign
