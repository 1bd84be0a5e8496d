// SPDX-License-Identifier: Apache-2.0
// netplan's YAML (netplan(5)).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "foreign/formats.hpp"
#include "foreign/inet.hpp"
#include "foreign/yaml.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

class Device {
 public:
  Device(const YamlNode::Member& member, const File& file, Claims& claims)
      : member_(member), keys_(member.value, file.path, claims), file_(file), claims_(claims) {
    out_.where = {file.path, member.line};
    out_.name = member.key;
  }

  void parse() {
    match();
    if (const auto name = keys_.text("set-name"); !name.empty()) {
      out_.name = name;
      out_.names = true;
    }
    if (const auto mode = keys_.text("infiniband-mode"); !mode.empty()) {
      const auto parsed = model::parse_ipoib_mode(mode);
      if (parsed) {
        out_.mode = *parsed;
      } else {
        keys_.wrong(*keys_.take("infiniband-mode"), parsed.error().message);
      }
    }
    out_.mtu = keys_.number("mtu", model::kMtuConnectedMax);
    const auto activation = keys_.text("activation-mode");
    if (activation == "off" || activation == "manual") out_.state = model::State::kDown;
    methods();
    addresses();
    routes();
    servers();
    keys_.pass({"optional", "renderer", "critical", "dhcp-identifier", "dhcp4-overrides", "dhcp6-overrides",
                "optional-addresses", "ignore-carrier", "ipv6-privacy"});
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
    const auto* node = keys_.take("match");
    if (node == nullptr) return;
    YamlKeys match(*node, file_.path, claims_);
    const auto address = match.text("macaddress"), name = match.text("name");
    if (!address.empty()) {
      const auto guid = guid_of_address(address);
      if (guid) {
        out_.guid = *guid;
      } else {
        keys_.wrong(*node, guid.error().message);
      }
    }
    if (!name.empty()) out_.name = name;
    match.pass({"driver"});
    match.finish("match");
  }

  void methods() {
    if (keys_.flag("dhcp4") == true) out_.ipv4.method = InetMethod::kAuto;
    const bool dhcp = keys_.flag("dhcp6") == true, advertised = keys_.flag("accept-ra") == true;
    if (dhcp || advertised) out_.ipv6.method = InetMethod::kAuto;
    const auto* local = keys_.take("link-local");
    if (local == nullptr) return;
    const auto has = [&](std::string_view family) {
      return std::any_of(local->items.begin(), local->items.end(),
                         [&](const YamlNode& one) { return one.text == family; });
    };
    if (has("ipv4") && !out_.ipv4.method) out_.ipv4.method = InetMethod::kLinkLocal;
    if (!has("ipv6") && !out_.ipv6.method) out_.ipv6.method = InetMethod::kDisabled;
  }

  void addresses() {
    const auto* list = keys_.take("addresses");
    if (list != nullptr) {
      for (const auto& item : list->items) {
        // "192.0.2.1/24": { label: … }
        const bool options = item.sort == YamlNode::Sort::kMapping && item.members.size() == 1;
        if (options) claims_.pass(keys_.place(item), "options of the address are left out");
        report(item, add_address(out_, options ? item.members.front().key : item.text));
      }
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
    const auto* list = keys_.take("routes");
    if (list == nullptr) return;
    for (const auto& item : list->items) {
      YamlKeys route(item, file_.path, claims_);
      const auto to = route.text("to"), via = route.text("via");
      const auto metric = route.number("metric", 0xffffffffU), table = route.number("table", 0xffffffffU);
      route.pass({"on-link", "scope"});
      route.finish("routes");
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
    const auto* node = keys_.take("nameservers");
    if (node == nullptr) return;
    YamlKeys servers(*node, file_.path, claims_);
    if (const auto* list = servers.take("addresses")) {
      for (const auto& item : list->items) report(item, add_server(out_, item.text));
    }
    if (const auto* list = servers.take("search")) {
      for (const auto& item : list->items) add_search(out_, item.text);
    }
    servers.finish("nameservers");
  }

  const YamlNode::Member& member_;
  YamlKeys keys_;
  const File& file_;
  Claims& claims_;
  Interface out_;
};

bool is_ipoib(const YamlNode::Member& member, const Claims& claims) {
  const auto& node = member.value;
  if (node.find("infiniband-mode") != nullptr) return true;
  std::string name = member.key;
  if (const auto* match = node.find("match")) {
    if (const auto* address = match->find("macaddress"); address != nullptr && guid_of_address(address->text))
      return true;
    if (const auto* inner = match->find("name")) name = inner->text;
  }
  if (const auto* set = node.find("set-name")) name = set->text;
  if (name.starts_with("ib") || claims.known.contains(name)) return true;
  return std::any_of(claims.names.begin(), claims.names.end(),
                     [&](const auto& one) { return one.second == name; });
}

}  // namespace

void parse_netplan(std::span<const File> files, Claims& claims) {
  for (const auto& file : files) {
    const auto tree = parse_yaml(file.text);
    if (!tree) {
      claims.miss({file.path, 0}, tree.error().message);
      continue;
    }
    const auto* network = tree->find("network");
    if (network == nullptr || network->sort != YamlNode::Sort::kMapping) {
      claims.miss({file.path, 0}, "has no network:");
      continue;
    }
    YamlKeys keys(*network, file.path, claims);
    keys.pass({"version", "renderer"});
    if (const auto* ethernets = keys.take("ethernets")) {
      for (const auto& member : ethernets->members) {
        if (is_ipoib(member, claims)) {
          Device(member, file, claims).parse();
        } else {
          claims.pass({file.path, member.line}, fmt::format("{} is not for InfiniBand", member.key));
        }
      }
    }
    for (const auto* other :
         {"bonds", "bridges", "vlans", "wifis", "modems", "tunnels", "vrfs", "dummy-devices"}) {
      if (const auto* node = keys.take(other))
        claims.pass(keys.place(*node), fmt::format("{} are not for InfiniBand", other));
    }
    keys.finish("network");
  }
}

}  // namespace rdmacfg::foreign
