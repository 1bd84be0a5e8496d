// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/rdma/nvmet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "kinds/storage/nvme/nvme_target.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr std::uint64_t kNvmetPort = 4420;  // of [[nvme_target]], where it says none
constexpr std::uint64_t kMostNsid = 0xffff'ffff;

/// Where a subsystem is offered over RDMA.
struct NvmetListener {
  std::string address, service;
  Place where;
};

/// Reports a value that is none of the kernel's own: the document cannot say it, so that it would be lost.
void tell_unusual(YamlKeys& keys, std::string_view key, std::initializer_list<std::string_view> defaults) {
  const auto* node = keys.take(key);
  if (node == nullptr) return;
  const bool usual =
      node->is_scalar() && std::find(defaults.begin(), defaults.end(), node->text) != defaults.end();
  if (!usual) keys.wrong(*node, fmt::format("{}: {}: cannot be expressed in the document", key, node->text));
}

class NvmetTree {
 public:
  explicit NvmetTree(Claims& claims) : claims_(claims) {}

  void read(const YamlNode& root) {
    YamlKeys keys(root, claims_);
    for (const auto& item : keys.list("hosts")) {
      YamlKeys host(item, claims_);
      host.pass({"nqn"});  // each subsystem names its own
      host.finish("hosts");
    }
    for (const auto& item : keys.list("ports")) port(item);
    for (const auto& item : keys.list("subsystems")) subsystem(item);
    keys.finish("config.json");
  }

 private:
  void port(const YamlNode& node) {
    YamlKeys keys(node, claims_);
    const auto* addr = keys.mapping("addr");
    if (addr == nullptr) return claims_.miss(node.place(), "ports: has no addr");
    YamlKeys address(*addr, claims_);
    const auto transport = address.text("trtype");
    if (transport != "rdma") {
      const auto text = transport.empty() ? std::string("has no transport")
                                          : fmt::format("is over {}, not over RDMA", transport);
      return claims_.pass(node.place(), "ports: " + text);
    }
    const NvmetListener listener{address.text("traddr"), address.text("trsvcid"), node.place()};
    address.usual("treq", "not specified");
    address.pass({"adrfam"});
    address.finish("addr");
    for (const auto& name : keys.words("subsystems")) listeners_[name->text].push_back(listener);
    if (!keys.list("referrals").empty())
      claims_.miss(node.place(), "referrals: cannot be expressed in the document");
    for (const auto& item : keys.list("ana_groups")) ana_group(item);
    if (const auto* param = keys.mapping("param")) parameters(*param);
    keys.pass({"portid"});
    keys.finish("ports");
  }

  void ana_group(const YamlNode& node) {
    YamlKeys keys(node, claims_);
    tell_unusual(keys, "grpid", {"1"});
    if (const auto* ana = keys.mapping("ana")) {
      YamlKeys state(*ana, claims_);
      tell_unusual(state, "state", {"optimized"});
      state.finish("ana");
    }
    keys.finish("ana_groups");
  }

  /// Source: drivers/nvme/target/rdma.c; -1 leaves a value to the transport, and inline data has one page.
  void parameters(const YamlNode& node) {
    YamlKeys keys(node, claims_);
    tell_unusual(keys, "inline_data_size", {"-1", "4096", "65536"});
    tell_unusual(keys, "max_queue_size", {"-1", "128"});
    tell_unusual(keys, "pi_enable", {"0"});
    keys.finish("param");
  }

  void subsystem(const YamlNode& node) {
    YamlKeys keys(node, claims_);
    if (!keys.fits()) return;
    const auto nqn = keys.text("nqn");
    if (nqn.empty())
      return claims_.miss(node.place(), "subsystems: has no nqn; nvmetcli leaves it out at the start, too");
    const auto at = listeners_.find(nqn);
    if (at == listeners_.end())
      return claims_.pass(node.place(), fmt::format("{}: is on no port over RDMA", nqn));
    auto& entry = claims_.entry("nvme_target", {{"nqn", nqn}}, node.place());
    std::vector<std::string> hosts;
    for (const auto* host : keys.words("allowed_hosts")) hosts.push_back(host->text);
    if (any_host(keys)) {
      entry.values["any_host"] = true;
    } else if (!hosts.empty()) {
      entry.values["hosts"] = std::move(hosts);
    }
    add_listeners(at->second, entry);
    for (const auto& item : keys.list("namespaces")) add_namespace(item, nqn, entry);
    keys.finish("subsystems");
  }

  bool any_host(YamlKeys& keys) {
    const auto* attr = keys.mapping("attr");
    if (attr == nullptr) return false;
    YamlKeys attributes(*attr, claims_);
    const bool any = attributes.flag("allow_any_host").value_or(false);
    if (!attributes.text("serial").empty())
      claims_.miss(
          attr->place(),
          "serial: cannot be expressed in the document; the kernel generates a serial number at each start");
    // The kernel has these by itself.
    attributes.pass({"version", "firmware", "ieee_oui"});
    tell_unusual(attributes, "model", {"Linux"});
    tell_unusual(attributes, "cntlid_min", {"1"});
    tell_unusual(attributes, "cntlid_max", {"65519"});
    tell_unusual(attributes, "pi_enable", {"0"});
    tell_unusual(attributes, "qid_max", {"128"});
    attributes.finish("attr");
    return any;
  }

  void add_listeners(const std::vector<NvmetListener>& listeners, Entry& entry) {
    std::vector<std::string> addresses;
    const auto& service = listeners.front().service;
    for (const auto& listener : listeners) {
      if (listener.service == service) {
        addresses.push_back(listener.address);
      } else {
        claims_.miss(
            listener.where,
            fmt::format("{} port {}: the document has one port for all addresses of a subsystem, here {}",
                        listener.address, listener.service, service));
      }
    }
    entry.values["addresses"] = std::move(addresses);
    const auto number = base::parse_number(service);
    if (number && *number != kNvmetPort && *number <= 0xffffU)
      entry.values["port"] = static_cast<std::int64_t>(*number);
    if (!number) claims_.miss(listeners.front().where, fmt::format("trsvcid: {} is not a port", service));
  }

  void add_namespace(const YamlNode& node, const std::string& nqn, Entry& entry) {
    YamlKeys keys(node, claims_);
    if (!keys.fits()) return;
    const auto nsid = keys.number("nsid", kMostNsid);
    const auto* device = keys.mapping("device");
    if (keys.take("nsid") == nullptr) return claims_.miss(node.place(), "namespaces: has no nsid");
    if (!nsid) return;
    if (device == nullptr)
      return claims_.miss(node.place(), fmt::format("namespace {}: has no device", *nsid));
    YamlKeys parts(*device, claims_);
    const auto path = parts.text("path");
    const auto uuid = parts.text("uuid"), nguid = parts.text("nguid");
    parts.finish("device");
    const bool enabled = keys.flag("enable").value_or(false);
    tell_unusual(keys, "ana_grpid", {"0", "1"});  // 0: a kernel without such groups
    if (const auto* ana = keys.mapping("ana")) {
      YamlKeys group(*ana, claims_);
      tell_unusual(group, "grpid", {"1"});
      group.finish("ana");
    }
    keys.finish("namespaces");
    if (!enabled)
      return claims_.miss(node.place(), fmt::format("namespace {}: is disabled, and left out", *nsid));
    entry.children.push_back({node.place(), "nvme_target.namespace", {{"nsid", *nsid}, {"device", path}}});
    for (const auto& id : {uuid, nguid}) {
      const bool given = id.find_first_not_of("0-") != std::string::npos;
      // That of the document comes back by itself.
      if (!given || id == kinds::nvme_namespace_uuid(nqn, *nsid)) continue;
      claims_.miss(node.place(), fmt::format("namespace {}: {}: cannot be expressed in the document; hosts "
                                             "see a different identifier after the next boot",
                                             *nsid, id));
    }
  }

  Claims& claims_;
  std::map<std::string, std::vector<NvmetListener>> listeners_;  ///< by NQN
};

}  // namespace

bool is_nvmet_config(const YamlNode& root) {
  return root.sort == YamlNode::Sort::kMapping &&
         (root.find("ports") != nullptr || root.find("subsystems") != nullptr);
}

void read_nvmet_config(const YamlNode& root, Claims& claims) { NvmetTree(claims).read(root); }

}  // namespace rdmacfg::foreign
