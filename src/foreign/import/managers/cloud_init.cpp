// SPDX-License-Identifier: Apache-2.0
// cloud-init's network configuration: version 1 (its docs, "Networking Config Version 1"; network_state.py)
// and version 2, which is netplan's.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/managers/netplan.hpp"
#include "foreign/inet.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

bool is_ipv6(std::string_view text) { return text.find(':') != std::string_view::npos; }

class Version1 {
 public:
  explicit Version1(Claims& claims) : claims_(claims) {}

  void parse(const YamlNode& network) {
    YamlKeys keys(network, claims_);
    keys.pass({"version"});
    first_ = claims_.interfaces.size();
    const auto& config = keys.list("config");
    for (const auto& item : config) entry(item);
    for (const auto& item : config) host_wide(item);
    keys.finish("network");
  }

 private:
  static bool is_host_wide(const YamlNode& node) {
    const auto* type = node.find("type");
    return type != nullptr && (type->text == "nameserver" || type->text == "route");
  }

  /// A name server of an interface, or a route, which the kernel gives the interface that reaches its
  /// gateway: wherever they stand among the interfaces.
  void host_wide(const YamlNode& node) {
    if (!is_host_wide(node)) return;
    const bool route = node.find("type")->text == "route";
    const auto* key = node.find(route ? "gateway" : "interface");
    const auto via = model::IpAddress::parse(key != nullptr && route ? key->text : std::string());
    for (auto& interface : std::span(claims_.interfaces).subspan(first_)) {
      if (route && via && reaches(interface, *via)) return routes(node, interface);
      if (!route && key != nullptr && interface.name == key->text) return servers(node, interface);
    }
    claims_.pass(node.place(),
                 fmt::format("a {} of the whole host is not imported", route ? "route" : "nameserver"));
  }

  static bool reaches(const Interface& interface, const model::IpAddress& gateway) {
    const auto& addresses = interface.inet(gateway.family).addresses;
    return std::any_of(addresses.begin(), addresses.end(),
                       [&](const model::IpPrefix& prefix) { return prefix.contains(gateway); });
  }

  void servers(const YamlNode& node, Interface& out) {
    YamlKeys keys(node, claims_);
    const auto report = [&](const YamlNode& at, const std::string& why) {
      if (!why.empty()) keys.wrong(at, why);
    };
    if (const auto* addresses = keys.take("address")) {
      if (addresses->is_scalar()) report(*addresses, add_server(out, addresses->text));
      for (const auto& item : addresses->items) report(item, add_server(out, item.text));
    }
    if (const auto* search = keys.take("search")) {
      if (search->is_scalar()) add_search(out, search->text);
      for (const auto& item : search->items) add_search(out, item.text);
    }
    keys.pass({"type", "interface"});
    keys.finish("nameserver");
    place_search(out);
  }

  void entry(const YamlNode& node) {
    const auto *type = node.find("type"), *name = node.find("name"), *address = node.find("mac_address");
    const auto sort = type == nullptr ? std::string() : type->text;
    const auto called = name == nullptr ? std::string() : name->text;
    const bool physical = sort == "physical" || sort == "infiniband";
    const bool ours = sort == "infiniband" ||
                      (sort == "physical" &&
                       (claims_.knows(called) || (address != nullptr && guid_of_address(address->text))));
    if (ours) return interface(node);
    for (const auto* key : {"bond_interfaces", "bridge_interfaces"}) {
      const auto* list = node.find(key);
      if (list == nullptr) continue;
      for (const auto& item : list->items) {
        if (claims_.knows(item.text) || ours_.contains(item.text))
          return claims_.miss(node.place(),
                              fmt::format("{} is over {}: bonds and bridges cannot be expressed in the "
                                          "document, nor can their addresses",
                                          called, item.text));
      }
    }
    if (const auto* link = node.find("vlan_link");
        link != nullptr && (claims_.knows(link->text) || ours_.contains(link->text)))
      return claims_.miss(
          node.place(),
          fmt::format("{} is over {}: VLANs cannot be expressed in the document", called, link->text));
    if (is_host_wide(node)) return;
    claims_.pass(node.place(), fmt::format("{} is not for InfiniBand", physical ? called : sort));
  }

  void interface(const YamlNode& node) {
    YamlKeys keys(node, claims_);
    Interface out;
    out.where = node.place();
    out.name = keys.text("name");
    ours_.insert(out.name);
    if (const auto* address = keys.take("mac_address")) {
      const auto guid = guid_of_address(address->text);
      if (guid) {
        out.guid = *guid;
        out.names = true;  // cloud-init renames the interface with that address
      } else {
        keys.wrong(*address, guid.error().message);
      }
    }
    out.mtu = keys.number("mtu", model::kMtuConnectedMax);
    keys.mark(out, "mtu", "mtu");
    for (const auto& subnet : keys.list("subnets")) address(subnet, out);
    const auto ra = keys.flag("accept-ra");
    if (ra == true) out.ipv6.method = InetMethod::kAuto;
    const bool addressed =
        !out.ipv4.addresses.empty() || !out.ipv6.addresses.empty() || out.ipv4.method == InetMethod::kAuto;
    if (!ra && !out.ipv6.method && addressed)
      claims_.pass(out.where,
                   "the tool that cloud-init writes for may also take IPv6 addresses from routers, which "
                   "the document does not; if the network has such routers, write method = \"auto\" for "
                   "ipv6");
    if (const auto* keeps = keys.take("keep_configuration"); keeps != nullptr && !keeps->text.empty())
      claims_.pass(keeps->place(),
                   "keep_configuration: concerns the network manager that cloud-init writes for");
    keys.usual("wakeonlan", "no");
    if (const auto* optional = keys.take("optional"); optional != nullptr)
      claims_.pass(optional->place(), "optional: concerns whether the boot waits for the interface");
    keys.pass({"type"});
    keys.finish(out.name);
    place_search(out);
    settle(out);
    claims_.interfaces.push_back(std::move(out));
  }

  void address(const YamlNode& node, Interface& out) {
    YamlKeys keys(node, claims_);
    if (!keys.fits()) return;
    const auto report = [&](const YamlNode& at, const std::string& why) {
      if (!why.empty()) keys.wrong(at, why);
    };
    const auto sort = keys.text("type");
    auto text = keys.text("address");
    if (text.empty()) text = keys.text("ip_address");
    const auto length = length_of(keys, text);
    const bool manual = sort == "manual";
    if (sort == "dhcp" || sort == "dhcp4") {
      out.ipv4.method = InetMethod::kAuto;
    } else if (sort.starts_with("dhcp6") || sort.starts_with("ipv6_") || sort == "slaac") {
      out.ipv6.method = InetMethod::kAuto;
    } else if (sort != "static" && sort != "static6" && !manual) {
      report(node, fmt::format("type {} is not supported", sort));
    }
    if (!text.empty()) {
      out.at.try_emplace(is_ipv6(text) ? "ipv6.addresses" : "ipv4.addresses", node.place());
      const bool by_mask = !length && text.find('/') == std::string::npos;
      report(node,
             by_mask ? fmt::format("{}: the prefix length is not valid", text)
                     : add_address(out, text.substr(0, length ? text.find('/') : std::string::npos), length));
    }
    if (const auto* gateway = keys.take("gateway")) {
      const auto family = is_ipv6(gateway->text) ? Family::kIpv6 : Family::kIpv4;
      out.at.insert_or_assign(is_ipv6(gateway->text) ? "ipv6.gateway" : "ipv4.gateway", gateway->place());
      const auto metric = keys.number("metric", 0xffffffffU);
      report(*gateway, metric
                           ? add_route_words(out.inet(family), family,
                                             fmt::format("default via {} metric {}", gateway->text, *metric))
                           : set_gateway(out.inet(family), family, gateway->text));
    }
    // One, or a list of them.
    if (const auto* servers = keys.take("dns_nameservers")) {
      if (servers->is_scalar()) report(*servers, add_server(out, servers->text));
      for (const auto& item : servers->items) report(item, add_server(out, item.text));
    }
    if (const auto* search = keys.take("dns_search")) {
      if (search->is_scalar()) add_search(out, search->text);
      for (const auto& item : search->items) add_search(out, item.text);
    }
    for (const auto& route : keys.list("routes")) routes(route, out);
    if (const auto control = keys.text("control"); control == "manual" || control == "off")
      out.state = model::State::kDown;
    if (const auto* metric = keys.take("metric"); metric != nullptr && node.find("gateway") == nullptr)
      keys.wrong(*metric, fmt::format("metric: {}: cannot be expressed in the document", metric->text));
    if (const auto* broadcast = keys.take("broadcast"); broadcast != nullptr && !broadcast->text.empty())
      claims_.pass(broadcast->place(),
                   "broadcast: the kernel computes the broadcast address of the document's prefix");
    keys.pass({"ipv4", "ipv6"});
    keys.finish("subnets");
  }

  /// The prefix length of an address or network: its own, `prefix`, `netmask`, or 24 and 64
  /// (_normalize_net_keys() of network_state.py). Nothing where it makes no sense.
  static std::optional<int> length_of(YamlKeys& keys, std::string_view text) {
    const auto prefix = keys.text("prefix"), mask = keys.text("netmask");
    const auto slash = text.find('/');
    const auto written = slash != std::string_view::npos ? std::string(text.substr(slash + 1))
                         : !prefix.empty()               ? prefix
                                                         : mask;
    if (written.empty()) return is_ipv6(text) ? 64 : 24;
    const auto bits = base::parse_number(written);
    return bits && *bits <= 128 ? std::optional(static_cast<int>(*bits)) : prefix_of_netmask(written);
  }

  void routes(const YamlNode& node, Interface& out) {
    YamlKeys keys(node, claims_);
    if (!keys.fits()) return;
    auto to = keys.text("network");
    if (to.empty()) to = keys.text("destination");
    const auto via = keys.text("gateway");
    const auto metric = keys.number("metric", 0xffffffffU);
    const auto length = length_of(keys, to);
    keys.pass({"type"});
    keys.finish("routes");
    if (!length && to != "::") return keys.wrong(node, fmt::format("{}: the prefix length is not valid", to));
    if (length && to != "default") to = fmt::format("{}/{}", to.substr(0, to.find('/')), *length);
    if (!via.empty()) to += " via " + via;
    if (metric) to += fmt::format(" metric {}", *metric);
    const auto family = is_ipv6(to) ? Family::kIpv6 : Family::kIpv4;
    if (const auto why = add_route_words(out.inet(family), family, to); !why.empty()) keys.wrong(node, why);
  }

  Claims& claims_;
  std::set<std::string> ours_;
  std::size_t first_ = 0;  ///< the first of this file's interfaces
};

/// The order in which cloud-init prefers files: the later ones in cloud.cfg.d, then cloud.cfg, then what a
/// data source has.
int cloud_rank(const File& file) {
  const auto name = file.path.substr(file.path.rfind('/') + 1);
  return name == "network-config" ? 0 : name == "cloud.cfg" ? 1 : 2;
}

/// Files with a network, of which the first decides; only those of version 2 are merged.
class CloudNetworks {
 public:
  explicit CloudNetworks(Claims& claims) : claims_(claims) {}

  void take(const File& file) {
    const auto tree = parse_yaml(file, claims_);
    if (!tree) return;
    const auto* network = tree->find("network");
    const auto& root = network != nullptr ? *network : *tree;
    const auto* version = root.find("version");
    const auto* config = root.find("config");
    const bool off = config != nullptr && config->is_scalar();
    if (!off && (version == nullptr || root.sort != YamlNode::Sort::kMapping))
      return claims_.pass({file.path, 0}, "has no network configuration");
    const bool second = !off && version->text == "2";
    if (first_ != nullptr && !(second && merges_ && cloud_rank(file) > 0))
      return claims_.pass({file.path, 0}, fmt::format("the network of {} takes precedence", first_->path));
    if (first_ == nullptr) {
      first_ = &file;
      merges_ = second;
    }
    if (off) {
      claims_.pass(config->place(),
                   fmt::format("config: {}: cloud-init leaves the network alone", config->text));
    } else if (second) {
      parse_netplan_network(root, claims_);
    } else {
      Version1(claims_).parse(root);
    }
  }

 private:
  Claims& claims_;
  const File* first_ = nullptr;
  bool merges_ = false;
};

}  // namespace

void parse_cloud_init(std::span<const File> files, Claims& claims) {
  std::vector<const File*> order;
  for (const auto& file : files) order.push_back(&file);
  std::reverse(order.begin(), order.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const File* a, const File* b) { return cloud_rank(*a) > cloud_rank(*b); });
  CloudNetworks networks(claims);
  for (const auto* file : order) {
    // Most of these files are about something else, and may be in words that are not read here.
    if (file->text.find("network") == std::string::npos &&
        file->text.find("ethernets") == std::string::npos &&
        file->text.find("config:") == std::string::npos) {
      claims.pass({file->path, 0}, "has no network configuration");
      continue;
    }
    networks.take(*file);
  }
}

}  // namespace rdmacfg::foreign
