// SPDX-License-Identifier: Apache-2.0
// netplan's YAML (netplan(5)).
#include "foreign/import/managers/netplan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/inet.hpp"
#include "foreign/syntax/yaml.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

class Device {
 public:
  /// `renderer`: of all devices that say none; empty: netplan's own, networkd.
  Device(const YamlNode::Member& member, Claims& claims, const std::string& renderer)
      : member_(member), keys_(member.value, claims), claims_(claims), renderer_(renderer) {
    out_.where = {std::string(member.where.file), member.where.line};
    out_.name = member.key;
  }

  void parse() {
    match();
    if (const auto name = keys_.text("set-name"); !name.empty()) {
      out_.name = name;
      out_.names = true;
    }
    if (const auto mode = keys_.text("infiniband-mode"); !mode.empty()) {
      const auto parsed = model::parse_named_mode(mode);
      if (parsed) {
        out_.mode = *parsed;
      } else {
        keys_.wrong(*keys_.take("infiniband-mode"), parsed.error().message);
      }
    }
    out_.mtu = keys_.number("mtu", model::kMtuConnectedMax);
    const auto activation = keys_.text("activation-mode");
    if (activation == "off" || activation == "manual") {
      out_.state = model::State::kDown;
    } else if (!activation.empty()) {
      keys_.wrong(*keys_.take("activation-mode"), fmt::format("{}: is neither off nor manual", activation));
    }
    if (activation == "manual")
      keys_.wrong(*keys_.take("activation-mode"), fmt::format("activation-mode: {}", kManualActivation));
    keys_.mark(out_, "name", "set-name");
    keys_.mark(out_, "mode", "infiniband-mode");
    keys_.mark(out_, "mtu", "mtu");
    keys_.mark(out_, "state", "activation-mode");
    keys_.mark(out_, "ipv4.method", "dhcp4");
    keys_.mark(out_, "ipv6.method", "dhcp6");
    keys_.mark(out_, "ipv4.gateway", "gateway4");
    keys_.mark(out_, "ipv6.gateway", "gateway6");
    for (const auto* path : {"ipv4.addresses", "ipv6.addresses"}) keys_.mark(out_, path, "addresses");
    if (const auto own = keys_.text("renderer"); !own.empty()) renderer_ = own;
    methods();
    addresses();
    listen_to_routers();
    routes();
    servers();
    overrides("dhcp4-overrides", out_.ipv4);
    overrides("dhcp6-overrides", out_.ipv6);
    overrides("ra-overrides", out_.ipv6);
    for (const auto* key : {"ipv6-privacy", "wakeonlan"}) keys_.usual(key, "no");
    for (const auto* key :
         {"optional", "critical", "dhcp-identifier", "optional-addresses", "ignore-carrier"}) {
      if (const auto* node = keys_.take(key); node != nullptr)
        claims_.pass(node->place(), fmt::format("{}: concerns the renderer, not the interface", key));
    }
    keys_.finish(member_.key);
    place_search(out_);
    settle(out_);
    claims_.interfaces.push_back(std::move(out_));
  }

 private:
  void report(const YamlNode& node, const std::string& why) {
    if (!why.empty()) keys_.wrong(node, why);
  }

  void match() {
    const auto* node = keys_.mapping("match");
    if (node == nullptr) return;
    YamlKeys match(*node, claims_);
    const auto address = match.text("macaddress"), name = match.text("name");
    if (!address.empty()) {
      const auto guid = guid_of_address(address);
      if (guid) {
        out_.guid = *guid;
      } else {
        keys_.wrong(*node, guid.error().message);
      }
    }
    if (name.empty() && address.empty()) {
      out_.broken = true;
      keys_.wrong(*node,
                  "match: without name and macaddress it may be several interfaces; write each by its name");
    } else if (is_pattern(name) && address.empty()) {
      out_.broken = true;
      keys_.wrong(*node,
                  fmt::format("match: name: {} may be several interfaces; write each by its name", name));
    } else if (!name.empty() && !is_pattern(name)) {
      out_.name = name;
    }
    match.pass({"driver"});
    match.finish("match");
  }

  void methods() {
    const auto dhcp4 = keys_.flag("dhcp4");
    if (dhcp4) out_.ipv4.method = *dhcp4 ? InetMethod::kAuto : InetMethod::kDisabled;
    const bool dhcp = keys_.flag("dhcp6") == true;
    const auto advertised = keys_.flag("accept-ra");
    accept_ra_unsaid_ = !advertised;
    if (dhcp || advertised == true) out_.ipv6.method = InetMethod::kAuto;
    const auto* local = keys_.take("link-local");
    const auto families = keys_.words("link-local");
    if (local == nullptr || local->sort != YamlNode::Sort::kSequence) return;
    for (const auto* family : families) {
      if (family->text == "ipv4" || family->text == "ipv6") continue;
      return report(*family, fmt::format("link-local: {} is neither ipv4 nor ipv6", family->text));
    }
    const auto has = [&](std::string_view family) {
      return std::any_of(families.begin(), families.end(),
                         [&](const YamlNode* node) { return node->text == family; });
    };
    if (has("ipv4") && out_.ipv4.method != InetMethod::kAuto) out_.ipv4.method = InetMethod::kLinkLocal;
    has_link_local_ = has("ipv6");
    if (!has_link_local_ && !out_.ipv6.method) out_.ipv6.method = InetMethod::kDisabled;
  }

  /// Without accept-ra, systemd-networkd takes the addresses of routers beside those of the file, as
  /// IPv6AcceptRA= has no value then; NetworkManager does not, with addresses of its own.
  void listen_to_routers() {
    const bool by_networkd = renderer_.empty() || renderer_ == "networkd";
    if (out_.broken || !by_networkd || !accept_ra_unsaid_ || !has_link_local_ || out_.ipv6.method) return;
    if (!out_.ipv6.addresses.empty()) {
      out_.ipv6.method = InetMethod::kAuto;
    } else if (!out_.ipv4.addresses.empty() || out_.ipv4.method == InetMethod::kAuto) {
      claims_.pass(out_.where, std::string(kRoutersUnsaid));
    }
  }

  /// The handling of offers of a DHCP server.
  void overrides(std::string_view key, const Inet& inet) {
    const auto* node = keys_.mapping(key);
    if (node == nullptr || inet.method != InetMethod::kAuto) return;
    YamlKeys inner(*node, claims_);
    for (const auto* option : {"use-dns", "use-routes", "use-mtu"}) inner.usual(option, "yes");
    inner.usual("use-domains", "no");
    for (const auto* option : {"use-ntp", "use-hostname", "send-hostname", "hostname"}) {
      if (const auto* value = inner.take(option); value != nullptr)
        claims_.pass(value->place(),
                     fmt::format("{}: {}: concerns the host, not the interface", key, option));
    }
    inner.finish(key);
  }

  void addresses() {
    for (const auto& item : keys_.list("addresses")) {
      // "192.0.2.1/24": { label: … }
      const bool options = item.sort == YamlNode::Sort::kMapping && item.members.size() == 1;
      if (options) claims_.pass(item.place(), "options of the address are left out");
      report(item, add_address(out_, options ? item.members.front().key : item.text));
    }
    for (const auto family : {Family::kIpv4, Family::kIpv6}) {
      const std::string_view key = family == Family::kIpv4 ? "gateway4" : "gateway6";
      const auto* node = keys_.take(key);
      if (node != nullptr) report(*node, set_gateway(out_.inet(family), family, node->text));
    }
    for (auto* inet : {&out_.ipv4, &out_.ipv6}) {
      const bool keeps = inet->method == InetMethod::kLinkLocal || inet->method == InetMethod::kDisabled;
      if (keeps && !inet->addresses.empty()) inet->method.reset();
    }
  }

  void routes() {
    for (const auto& item : keys_.list("routes")) {
      YamlKeys route(item, claims_);
      if (!route.fits()) continue;
      const auto to = route.text("to"), via = route.text("via");
      const auto metric = route.number("metric", 0xffffffffU), table = route.number("table", 0xffffffffU);
      const auto wrong = wrong_type(route.text("type"));
      route.usual("on-link", "no");
      // The kernel's own choice, and netplan's.
      if (const auto scope = route.text("scope");
          !scope.empty() && scope != "global" && (scope != "link" || !via.empty()))
        route.wrong(*route.take("scope"),
                    fmt::format("routes: scope: {}: cannot be expressed in the document", scope));
      for (const auto* key : {"mtu", "congestion-window", "advertised-receive-window", "advertised-mss"}) {
        if (const auto* node = route.take(key); node != nullptr)
          route.wrong(*node, fmt::format("routes: {}: {}", key, kRouteOption));
        ;
      }
      route.finish("routes");
      if (!wrong.empty()) {
        report(item, wrong);
        continue;
      }
      auto words = to.empty() ? std::string("default") : to;
      if (!via.empty()) words += " via " + via;
      if (metric) words += fmt::format(" metric {}", *metric);
      if (table) words += fmt::format(" table {}", *table);
      const bool six = (to + via).find(':') != std::string::npos;
      const auto family = six ? Family::kIpv6 : Family::kIpv4;
      report(item, add_route_words(out_.inet(family), family, words));
    }
  }

  void servers() {
    const auto* node = keys_.mapping("nameservers");
    if (node == nullptr) return;
    YamlKeys servers(*node, claims_);
    for (const auto* item : servers.words("addresses")) report(*item, add_server(out_, item->text));
    for (const auto* item : servers.words("search")) add_search(out_, item->text);
    servers.finish("nameservers");
  }

  const YamlNode::Member& member_;
  YamlKeys keys_;
  Claims& claims_;
  std::string renderer_;
  bool accept_ra_unsaid_ = true, has_link_local_ = true;
  Interface out_;
};

bool is_ipoib(const YamlNode::Member& member, const Claims& claims) {
  const auto& node = member.value;
  if (node.find("infiniband-mode") != nullptr) return true;
  std::string name = member.key;
  if (const auto* match = node.find("match")) {
    const auto* address = match->find("macaddress");
    if (address != nullptr && guid_of_address(address->text)) return true;
    if (const auto* inner = match->find("name")) name = inner->text;
    if (address != nullptr && is_pattern(name)) return false;  // the address tells, and is none of ours
  }
  if (const auto* set = node.find("set-name"); set != nullptr && !set->text.empty()) name = set->text;
  return claims.knows(name);
}

/// Interfaces of ours by their ids, which other devices speak of: places in Claims::interfaces.
using NetplanIds = std::map<std::string, std::size_t, std::less<>>;

/// systemd-networkd and NetworkManager have the routes of a VRF's interfaces in the table of that.
void leave_out_routes_of_vrf(const YamlNode& list, const NetplanIds& ours, Claims& claims) {
  for (const auto& item : list.items) {
    const auto at = item.is_scalar() ? ours.find(item.text) : ours.end();
    if (at == ours.end() || at->second >= claims.interfaces.size()) continue;
    if (drop_routes_of_vrf(claims.interfaces[at->second]))
      claims.miss(item.place(), fmt::format("vrfs: {}: {}", item.text, kVrfRoutes));
  }
}

/// Bonds and the like, which are passed over, but for those with an interface of ours.
void parse_others(std::string_view sort, const YamlNode& node, const NetplanIds& ours, Claims& claims) {
  const auto is_ours = [&](const YamlNode& item) {
    return item.is_scalar() && (ours.contains(item.text) || claims.knows(item.text));
  };
  bool any = false;
  for (const auto& member : node.members) {
    const auto* list = member.value.find("interfaces");
    const auto* link = member.value.find("link");
    const YamlNode* found = link != nullptr && is_ours(*link) ? link : nullptr;
    for (std::size_t at = 0; list != nullptr && found == nullptr && at < list->items.size(); ++at) {
      if (is_ours(list->items[at])) found = &list->items[at];
    }
    if (found == nullptr) continue;
    any = true;
    claims.miss({std::string(member.where.file), member.where.line},
                fmt::format("{}: {} is over {}: {} cannot be expressed in the document", sort, member.key,
                            found->text, sort));
    if (sort == "vrfs" && list != nullptr) leave_out_routes_of_vrf(*list, ours, claims);
  }
  if (!any) claims.pass(node.place(), fmt::format("{} are not for InfiniBand", sort));
}

/// Profiles of NetworkManager that netplan only stores, and gives back as keyfiles.
void parse_profiles(const YamlNode& node, Claims& claims) {
  for (const auto& member : node.members) {
    const Place where{std::string(member.where.file), member.where.line};
    const auto* manager = member.value.find("networkmanager");
    const auto* stored = manager == nullptr ? nullptr : manager->find("passthrough");
    const auto* type = stored == nullptr ? nullptr : stored->find("connection.type");
    if (type == nullptr || type->text != "infiniband") {
      claims.pass(where, fmt::format("{} is not for InfiniBand", member.key));
      continue;
    }
    claims.miss(where, fmt::format("{}: netplan turns it into a keyfile, which `import nm "
                                   "/run/NetworkManager/system-connections` reads",
                                   member.key));
  }
}

}  // namespace

void parse_netplan(std::span<const File> files, Claims& claims) {
  // One interface may be spoken of in several files: netplan merges them before it looks at them.
  YamlNode whole;
  whole.sort = YamlNode::Sort::kMapping;
  for (const auto& file : files) {
    auto tree = parse_yaml(file, claims);
    if (!tree) continue;
    const auto* network = tree->find("network");
    if (network == nullptr || network->sort != YamlNode::Sort::kMapping) {
      claims.miss({file.path, 0}, "has no network:");
      continue;
    }
    for (const auto& member : tree->members) {
      if (&member.value != network)
        claims.miss({file.path, member.where.line}, fmt::format("{}: is not supported", member.key));
    }
    merge_yaml(whole, *network, claims);
  }
  parse_netplan_network(whole, claims);
}

void parse_netplan_network(const YamlNode& network, Claims& claims) {
  YamlKeys keys(network, claims);
  const auto renderer = keys.text("renderer");
  keys.pass({"version"});
  NetplanIds ours;
  if (const auto* ethernets = keys.mapping("ethernets")) {
    for (const auto& member : ethernets->members) {
      if (is_ipoib(member, claims)) {
        ours.emplace(member.key, claims.interfaces.size());
        Device(member, claims, renderer).parse();
      } else {
        claims.pass({std::string(member.where.file), member.where.line},
                    fmt::format("{} is not for InfiniBand", member.key));
      }
    }
  }
  for (const auto* other : {"bonds", "bridges", "vlans", "wifis", "modems", "tunnels", "vrfs",
                            "dummy-devices", "virtual-ethernets"}) {
    if (const auto* node = keys.take(other)) parse_others(other, *node, ours, claims);
  }
  if (const auto* profiles = keys.take("nm-devices")) parse_profiles(*profiles, claims);
  keys.finish("network");
}

}  // namespace rdmacfg::foreign
