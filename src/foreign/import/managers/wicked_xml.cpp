// SPDX-License-Identifier: Apache-2.0
// wicked's own language (its schema/*.xml: interface, infiniband, addrconf).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "base/text.hpp"
#include "foreign/import/managers/wicked.hpp"
#include "foreign/inet.hpp"
#include "foreign/syntax/xml.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

constexpr const char* kNoZones =
    "the document does not support firewall zones; bind the interface with firewall-cmd --permanent "
    "--change-interface";

/// The first interface of ours that an element speaks of below, as a bond's port or a VLAN's device.
std::string over_ours(const YamlNode& node, const Claims& claims) {
  for (const auto& member : node.members) {
    if (member.value.is_scalar() && member.key == "device" && claims.knows(member.value.text))
      return member.value.text;
    if (auto found = over_ours(member.value, claims); !found.empty()) return found;
  }
  for (const auto& item : node.items) {
    if (auto found = over_ours(item, claims); !found.empty()) return found;
  }
  return {};
}

class WickedXml {
 public:
  explicit WickedXml(Claims& claims) : claims_(claims) {}

  void parse(const YamlNode& node) {
    const auto* name = node.find("name");
    out_.where = node.place();
    if (name == nullptr || !name->is_scalar() || name->text.empty())
      return claims_.miss(node.place(), "an interface without its own name is not supported");
    out_.name = name->text;
    const auto *port = node.find("infiniband"), *child = node.find("infiniband:child");
    if (port == nullptr && child == nullptr && !is_known(node)) return other(node);
    YamlKeys keys(node, claims_);
    keys.pass({"name", "@origin", "@uuid", "description"});
    if (const auto* sort = node.find("link-type"); sort != nullptr && sort->text.starts_with("infiniband"))
      keys.pass({"link-type"});
    if (child != nullptr && !of_child(keys)) return;
    if (const auto* infiniband = keys.mapping("infiniband")) of_port(*infiniband);
    if (const auto* link = keys.mapping("link")) of_link(*link);
    if (const auto* control = keys.mapping("control")) of_control(*control);
    if (const auto* firewall = keys.mapping("firewall")) of_firewall(*firewall);
    for (const auto family : {Family::kIpv4, Family::kIpv6}) of_family(keys, family);
    keys.finish(out_.name);
    settle(out_);
    claims_.interfaces.push_back(std::move(out_));
  }

 private:
  /// A file for an interface that is there sets it up, whatever it is.
  [[nodiscard]] bool is_known(const YamlNode& node) const {
    constexpr std::array<std::string_view, 10> kOthers{
        "bond", "bridge", "vlan", "team", "ethernet", "macvlan", "ovs-bridge", "dummy", "wireless", "ipvlan"};
    return claims_.knows(out_.name) && std::none_of(kOthers.begin(), kOthers.end(),
                                                    [&](auto sort) { return node.find(sort) != nullptr; });
  }

  void other(const YamlNode& node) {
    const auto member = over_ours(node, claims_);
    if (member.empty()) return claims_.pass(node.place(), fmt::format("{} is not for InfiniBand", out_.name));
    claims_.miss(
        node.place(),
        fmt::format("{} is over {}: bonds, bridges and VLANs cannot be expressed in the document, nor can "
                    "their addresses; keep this file",
                    out_.name, member));
  }

  void of_port(const YamlNode& node) {
    YamlKeys keys(node, claims_);
    read_mode(keys);
    keys.finish("infiniband");
  }

  /// Whether it is one that wicked makes.
  bool of_child(YamlKeys& outer) {
    const auto* node = outer.mapping("infiniband:child");
    if (node == nullptr) return false;
    YamlKeys keys(*node, claims_);
    read_mode(keys);
    const auto device = keys.text("device");
    const auto* written = keys.take("pkey");
    std::optional<std::uint64_t> number;
    if (written != nullptr) number = base::c_number(written->text);
    const std::uint64_t value = number.value_or(0);
    const auto why = device.empty() ? std::string("device is missing")
                     : !number      ? std::string("pkey is missing or not a number")
                                    : refused_by_wicked(value);
    keys.finish("infiniband:child");
    if (!why.empty()) {
      keys.wrong(written == nullptr ? *node : *written, fmt::format("{}: wicked refuses the interface", why));
      return false;
    }
    out_.parent = device;
    if (const auto pkey = model::Pkey::parse(fmt::format("{:#06x}", value))) out_.pkey = *pkey;
    out_.names = !ib_name(out_.name);
    return true;
  }

  void read_mode(YamlKeys& keys) {
    if (const auto* mode = keys.take("mode")) {
      const auto parsed = model::parse_named_mode(base::lower(mode->text));
      if (parsed) {
        out_.mode = *parsed;
      } else {
        keys.wrong(*mode, parsed.error().message);
      }
    }
    if (const auto* multicast = keys.take("multicast")) {
      const auto word = base::lower(multicast->text);
      if (word == "allowed" || word == "disallowed") {
        out_.umcast = word == "allowed";
      } else {
        keys.wrong(*multicast,
                   fmt::format("multicast: {} is neither allowed nor disallowed", multicast->text));
      }
    }
    keys.mark(out_, "mode", "mode");
    keys.mark(out_, "umcast", "multicast");
  }

  void of_link(const YamlNode& node) {
    YamlKeys keys(node, claims_);
    out_.mtu = keys.number("mtu", model::kMtuConnectedMax);
    keys.mark(out_, "mtu", "mtu");
    keys.finish("link");
  }

  void of_control(const YamlNode& node) {
    YamlKeys keys(node, claims_);
    const auto mode = base::lower(keys.text("mode"));
    if (mode == "manual" || mode == "off") out_.state = model::State::kDown;
    keys.mark(out_, "state", "mode");
    keys.pass({"boot-stage", "persistent", "usercontrol", "link-detection", "enslave-timeout"});
    keys.finish("control");
  }

  void of_firewall(const YamlNode& node) {
    YamlKeys keys(node, claims_);
    if (const auto* zone = keys.take("zone")) keys.wrong(*zone, fmt::format("zone: {}", kNoZones));
    keys.finish("firewall");
  }

  void of_family(YamlKeys& keys, Family family) {
    const std::string name = family == Family::kIpv4 ? "ipv4" : "ipv6";
    auto& inet = out_.inet(family);
    bool disabled = false;
    const YamlNode* privacy = nullptr;
    if (const auto* general = keys.mapping(name)) {
      YamlKeys inside(*general, claims_);
      disabled = inside.flag("enabled") == false;
      pass_over(inside, {"arp-verify", "arp-notify"}, "yes", "concerns wicked's own checks of addresses");
      inside.usual("forwarding", "no");
      inside.usual("autoconf", "yes");
      privacy = inside.take("privacy");
      inside.usual("accept-redirects", "yes");
      tell_dad(inside);
      tell_routers(inside);
      inside.finish(name);
    }
    for (const auto& [how, method] :
         {std::pair<const char*, InetMethod>{"dhcp", InetMethod::kAuto},
          {"auto", family == Family::kIpv4 ? InetMethod::kLinkLocal : InetMethod::kAuto}}) {
      const auto element = fmt::format("{}:{}", name, how);
      const auto* node = keys.mapping(element);
      if (node == nullptr) continue;
      YamlKeys inside(*node, claims_);
      if (inside.flag("enabled") != false) inet.method = method;
      // The DHCP client's options and the handling of its names are outside the document.
      inside.pass({"flags", "hostname", "client-id", "vendor-class", "user-class", "defer-timeout",
                   "acquire-timeout", "lease-time", "recover-lease", "release-lease", "broadcast",
                   "start-delay", "mode", "rapid-commit", "address-length", "create-cid", "update"});
      inside.finish(element);
      keys.mark(out_, name + ".method", element);
    }
    // "prefer-public" and "prefer-temporary" make temporary addresses of a router's prefixes.
    if (privacy != nullptr && inet.method == InetMethod::kAuto && privacy->text.starts_with("prefer"))
      keys.wrong(*privacy, fmt::format("privacy: {}: cannot be expressed in the document", privacy->text));
    if (const auto* node = keys.mapping(name + ":static")) of_static(*node, family);
    if (disabled) {
      inet = {};
      inet.method = InetMethod::kDisabled;
    }
  }

  /// Elements without a place in the document; said where they differ from what is usual.
  void pass_over(YamlKeys& keys, std::initializer_list<std::string_view> elements, std::string_view usual,
                 std::string_view why) const {
    for (const auto element : elements) {
      const auto* node = keys.take(element);
      if (node == nullptr || !node->is_scalar() || node->text.empty()) continue;
      const bool same = node->text == usual || (usual == "yes" && yes_or_no(node->text) == true);
      if (!same) claims_.pass(node->place(), fmt::format("{}: {}: {}", element, node->text, why));
    }
  }

  /// 0 switches duplicate address detection off, 2 an interface with a duplicate (ip-sysctl.rst).
  static void tell_dad(YamlKeys& keys) {
    const auto* dad = keys.take("accept-dad");
    if (dad == nullptr || dad->text.empty() || dad->text == "1" || dad->text == "-1") return;
    keys.wrong(*dad, fmt::format("accept-dad: {}: cannot be expressed in the document", dad->text));
  }

  /// "host", "router" and "disable" (wicked's addrconf); the document has addresses of routers, or none.
  static void tell_routers(YamlKeys& keys) {
    const auto* routers = keys.take("accept-ra");
    if (routers != nullptr && routers->text == "router")
      keys.wrong(*routers, "accept-ra: router: cannot be expressed in the document");
  }

  void of_static(const YamlNode& node, Family family) {
    YamlKeys keys(node, claims_);
    const std::string name = family == Family::kIpv4 ? "ipv4" : "ipv6";
    auto& inet = out_.inet(family);
    for (const auto* address : elements(keys, "address")) {
      YamlKeys inside(*address, claims_);
      out_.at.try_emplace(name + ".addresses", address->place());
      const auto why = add_address(inet, family, inside.text("local"));
      pass_over(inside, {"broadcast"}, "",
                "the kernel computes the broadcast address of the document's prefix");
      pass_over(inside, {"label"}, "", "addresses of the document have no labels");
      inside.finish("address");
      if (!why.empty()) inside.wrong(*address, why);
    }
    for (const auto* route : elements(keys, "route")) of_route(*route, family);
    keys.finish(name + ":static");
  }

  void of_route(const YamlNode& node, Family family) {
    YamlKeys keys(node, claims_);
    auto line = keys.text("destination");
    if (line.empty()) line = "default";
    const auto hops = elements(keys, "nexthop");
    if (hops.size() > 1)
      return keys.wrong(node, "a route over several gateways cannot be expressed in the document");
    for (const auto* hop : hops) {
      YamlKeys inside(*hop, claims_);
      if (const auto gateway = inside.text("gateway"); !gateway.empty()) line += " via " + gateway;
      if (const auto device = inside.text("device"); !device.empty() && device != out_.name)
        inside.wrong(*hop, fmt::format("the route is over {}, not over {}", device, out_.name));
      inside.finish("nexthop");
    }
    if (const auto metric = keys.text("priority"); !metric.empty()) line += " metric " + metric;
    if (const auto* kernel = keys.mapping("kern")) {
      YamlKeys inside(*kernel, claims_);
      if (const auto table = inside.text("table"); !table.empty() && table != "main")
        line += " table " + table;
      if (const auto why = wrong_type(inside.text("type")); !why.empty()) return keys.wrong(node, why);
      inside.pass({"scope", "protocol"});
      inside.finish("kern");
    }
    keys.finish("route");
    auto& inet = out_.inet(family);
    if (const auto why = add_route_words(inet, family, line); !why.empty()) return keys.wrong(node, why);
    if (inet.gateway)
      out_.at.try_emplace(family == Family::kIpv4 ? "ipv4.gateway" : "ipv6.gateway", node.place());
  }

  Claims& claims_;
  Interface out_;
};

}  // namespace

void parse_wicked_xml(const File& file, Claims& claims) {
  const auto tree = parse_xml(file, claims);
  if (!tree) return;
  YamlKeys keys(*tree, claims);
  for (const auto* interface : elements(keys, "interface")) WickedXml(claims).parse(*interface);
  keys.pass({"#text"});
  keys.finish(file.path.substr(file.path.rfind('/') + 1));
}

}  // namespace rdmacfg::foreign
