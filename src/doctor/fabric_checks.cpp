// SPDX-License-Identifier: Apache-2.0
// Checks of ports and of what the subnet manager gave them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "catalog/bind.hpp"
#include "core/pipeline.hpp"
#include "doctor/checks.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "kinds/address/request.hpp"
#include "kinds/ipoib/ipoib.hpp"
#include "kinds/ipoib/pkey.hpp"
#include "kinds/opensm/opensm.hpp"
#include "store/held_record.hpp"
#include "store/state.hpp"

namespace rdmacfg::core::detail {

using kinds::PortRef;
using kinds::World;

namespace {

std::string name_of(const PortRef& port) {
  return fmt::format("{}/{}", port.device->name, port.port->number);
}

template <class Each>
void each_port(const World& world, std::string_view link_layer, Each each) {
  for (const auto& device : world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (port.link_layer == link_layer) each(PortRef{&device, &port});
    }
  }
}

template <class Each>
void each_ipoib(const World& world, Each each) {
  for (const auto& link : world.snapshot().links) {
    if (link.ipoib) each(link, world.port(link.ipoib->guid));
  }
}

/// Whether the fabric gave no more when it was asked for just this MTU.
bool is_limited(const State& state, const system::Link& link, std::int64_t wanted, const World& world) {
  const auto& kind = link.ipoib->child ? kinds::pkey() : kinds::ipoib();
  const auto guid = link.ipoib->guid.text();
  const auto at = state.records.find(
      {std::string(kind.name()), link.ipoib->child ? guid + "/" + link.ipoib->pkey.text() : guid});
  if (at == state.records.end() || at->second.instance != world.instance(link)) return false;
  const auto limit = at->second.limits.find("mtu");
  return limit != at->second.limits.end() && limit->second.wanted == model::Value{wanted} &&
         limit->second.got == model::Value{link.mtu};
}

/// Whether the document has the rules of this partition, for a subnet manager of this host.
bool own_partition(const DoctorContext& context, model::Pkey pkey) {
  if (context.document == nullptr) return false;
  return std::any_of(context.document->sections.begin(), context.document->sections.end(),
                     [&](const model::Section& section) {
                       const auto* key = section.path == "partition" ? section.find("pkey") : nullptr;
                       const auto written =
                           key == nullptr ? std::nullopt : base::parse_number(model::text_of(key->value));
                       return written && ((*written ^ pkey.full()) & 0x7fffU) == 0;
                     });
}

}  // namespace

void no_subnet_manager(const DoctorContext& context, std::vector<Finding>& out) {
  each_port(context.world, "InfiniBand", [&](const PortRef& port) {
    const bool linked = port.port->physical_state == "LinkUp";
    if (!linked || (port.port->state != "INIT" && port.port->state != "ARMED")) return;
    // One of ours that serves the port does so within seconds.
    const auto own = units(context, {kinds::opensm_unit(port.port->guid)});
    if (!own.empty() && own.front().active == "active") {
      out.push_back({"no_subnet_manager", Finding::Weight::kProblem, name_of(port),
                     fmt::format("{} runs, but the port stays in state {}: the subnet manager does not reach "
                                 "it, as happens when its device was removed and re-added",
                                 own.front().name, port.port->state),
                     fmt::format("systemctl restart {}; if that does not help, see `journalctl -u {}`",
                                 own.front().name, own.front().name)});
      return;
    }
    out.push_back(
        {"no_subnet_manager", Finding::Weight::kProblem, name_of(port),
         fmt::format("the link is up, but the port stays in state {}: no subnet manager has configured it, "
                     "so it has no LID and IPoIB has no carrier",
                     port.port->state),
         port.device->omni_path
             ? "start the fabric manager of Omni-Path (opafm.service on one host), or repair the existing one"
             : "start a subnet manager on this subnet (opensm on one host, or the one in "
               "the switch), or repair the existing one"});
  });
}

/// beside_other says that another one may be master, unless the priority is the highest that there is.
void not_master(const DoctorContext& context, std::vector<Finding>& out) {
  if (context.document == nullptr) return;
  constexpr std::int64_t kHighest = 15;
  std::set<int> own;  // LIDs of this host
  each_port(context.world, "InfiniBand", [&](const PortRef& port) {
    if (port.port->lid) own.insert(*port.port->lid);
  });
  for (const auto& section : context.document->sections) {
    const auto* entry = section.path == "opensm" ? section.find("guid") : nullptr;
    const auto wanted = model::from_attributes<kinds::Opensm>(section.attributes());
    const auto port = entry != nullptr && wanted.guid ? context.world.port(*wanted.guid) : std::nullopt;
    if (!port || port->port->state != "ACTIVE") continue;
    const int master = port->port->sm_lid.value_or(0);
    if (master == 0 || own.contains(master)) continue;
    if (wanted.beside_other.value_or(false) && wanted.priority != kHighest) continue;
    const auto runs = units(context, {kinds::opensm_unit(*wanted.guid), kinds::kOpensmService});
    const bool running = std::any_of(runs.begin(), runs.end(),
                                     [](const system::Unit& unit) { return unit.active == "active"; });
    if (!running) continue;  // the report has it
    out.push_back(
        {"not_master", Finding::Weight::kRisk, name_of(*port),
         fmt::format("OpenSM runs on it with priority {}, but the subnet manager with LID {} is master: "
                     "the fabric uses its partitions, routes and QoS, not those of this host",
                     wanted.priority ? std::to_string(*wanted.priority) : "0", master),
         "`rdma-configctl fabric` shows the priorities (equal ones: the lower GUID is master); raise "
         "priority of [[opensm]], or write beside_other = true to make it a standby",
         model::Key{"opensm", wanted.guid->text()}});
  }
}

void two_subnet_managers(const DoctorContext& context, std::vector<Finding>& out) {
  std::map<std::string, PortRef> first;  // by subnet prefix
  each_port(context.world, "InfiniBand", [&](const PortRef& port) {
    if (port.port->state != "ACTIVE" || !port.port->sm_lid || *port.port->sm_lid == 0) return;
    const auto [at, fresh] = first.try_emplace(port.port->gid_prefix, port);
    if (fresh || *at->second.port->sm_lid == *port.port->sm_lid) return;
    out.push_back(
        {"two_subnet_managers", Finding::Weight::kProblem, name_of(port),
         fmt::format("its subnet manager has LID {}, that of {} has LID {}, and both ports have the subnet "
                     "prefix {}: either two masters run, or these are two fabrics with the same prefix, "
                     "which programs cannot distinguish",
                     *port.port->sm_lid, name_of(at->second), *at->second.port->sm_lid,
                     port.port->gid_prefix),
         "give each fabric its own subnet_prefix ([[opensm.option]], or its opensm.conf); in one "
         "fabric, make all but one standby (sminfo shows the master)"});
  });
}

void pkey_missing(const DoctorContext& context, std::vector<Finding>& out) {
  auto& world = context.world;
  each_ipoib(world, [&](const system::Link& link, const std::optional<PortRef>& port) {
    if (!port || port->port->state != "ACTIVE") return;
    const auto& table = world.pkeys(*port);
    if (!table) return;
    const auto key = link.ipoib->pkey;
    const bool there = std::any_of(table->begin(), table->end(), [&](std::uint16_t entry) {
      return ((entry ^ key.full()) & 0x7fffU) == 0;
    });
    if (there) return;
    out.push_back(
        {"pkey_missing", Finding::Weight::kProblem, link.name,
         fmt::format("P_Key {} is not in the table of {}: the subnet manager did not put the port into this "
                     "partition, so the interface never gets carrier",
                     key.text(), name_of(*port)),
         fmt::format(
             "add port GUID {} to the partition {} at the subnet manager (partitions.conf), or remove "
             "the interface",
             port->port->guid.text(), key.text())});
  });
}

void mtu_capped(const DoctorContext& context, std::vector<Finding>& out) {
  auto& world = context.world;
  const auto state = load_known_state(world.host().files, Paths(), world.host().boot_id);
  each_ipoib(world, [&](const system::Link& link, const std::optional<PortRef>& port) {
    if (!port || !link.up || !link.carrier || link.ipoib->mode != model::IpoibMode::kDatagram) return;
    const auto wanted = wanted_mtu(context, link);
    if (!wanted || link.mtu >= *wanted) return;
    const auto sentence =
        fmt::format("the document sets an MTU of {}, but the interface has {}", *wanted, link.mtu);
    if (state && is_limited(*state, link, *wanted, world)) {
      out.push_back({"mtu_capped", Finding::Weight::kProblem, link.name,
                     fmt::format("{}: the multicast group of partition {} allows no more", sentence,
                                 link.ipoib->pkey.text()),
                     own_partition(context, link.ipoib->pkey)
                         ? "the document defines the [[partition]]: give it mtu = 4096 (and every port of "
                           "the partition a link MTU of 4096), or lower the MTU"
                         : "give the partition a larger MTU at the subnet manager (mtu=5 is 4096 in "
                           "partitions.conf), or lower the MTU",
                     model::Key{std::string((link.ipoib->child ? kinds::pkey() : kinds::ipoib()).name()),
                                link.ipoib->child ? link.ipoib->guid.text() + "/" + link.ipoib->pkey.text()
                                                  : link.ipoib->guid.text()}});
    } else if (context.report == nullptr) {  // else not_as_wanted() says it
      out.push_back({"mtu_capped", Finding::Weight::kProblem, link.name,
                     state ? sentence + ": the document is not applied, or the MTU was changed since"
                           : sentence + " (only root can see the reason)",
                     "rdma-configctl apply, which reports a limit of the fabric"});
    }
  });
}

void no_connected_mode(const DoctorContext& context, std::vector<Finding>& out) {
  each_ipoib(context.world, [&](const system::Link& link, const std::optional<PortRef>& /*port*/) {
    if (link.ipoib->connected_capable || wanted_mode(context, link) != "connected") return;
    out.push_back(
        {"no_connected_mode", Finding::Weight::kProblem, link.name,
         "the document sets connected mode, which this adapter's driver does not support (enhanced IPoIB)",
         "use mode = \"datagram\", or on_unsupported = \"datagram\"; the vendor's drivers have "
         "ipoib_enhanced=0"});
  });
}

void connected_multicast(const DoctorContext& context, std::vector<Finding>& out) {
  auto& world = context.world;
  std::optional<std::map<std::string, int>> groups;
  each_ipoib(world, [&](const system::Link& link, const std::optional<PortRef>& /*port*/) {
    if (link.ipoib->mode != model::IpoibMode::kConnected || link.mtu <= model::kMtuDatagramMax) return;
    if (!groups) groups = multicast_groups(world.host().files);
    const auto at = groups->find(link.name);
    if (at == groups->end()) return;
    out.push_back(
        {"connected_multicast", Finding::Weight::kRisk, link.name,
         fmt::format("programs have joined {} multicast group{} on it, in connected mode with an MTU of {}: "
                     "multicast is still sent as datagrams, and larger packets are dropped",
                     at->second, at->second == 1 ? "" : "s", link.mtu),
         "use datagram mode for these programs, or have them send packets of at most the group's MTU"});
  });
}

void no_address(const DoctorContext& context, std::vector<Finding>& out) {
  if (context.document == nullptr) return;
  model::Diagnostics ignored;
  const auto bound = kinds::bind(context.document->sections, context.world, ignored);
  const auto& wanted = kinds::addressing_of(bound, nullptr);
  const auto from_network = [](const kinds::WantedFamily& family) {
    return family.section != nullptr && family.method == model::InetMethod::kAuto;
  };
  if (std::none_of(wanted.begin(), wanted.end(), [&](const auto& addressing) {
        return from_network(addressing.ipv4) || from_network(addressing.ipv6);
      }))
    return;
  const auto there = context.world.host().inet.observe_addresses();
  if (!there) return;
  for (const auto& addressing : wanted) {
    const auto* link = kinds::interface_of(addressing.id(), context.world);
    // Without carrier nobody can be asked; other checks say why.
    if (link == nullptr || !link->carrier || addressing.ignore || addressing.absent || addressing.down)
      continue;
    for (const auto* family : {&addressing.ipv4, &addressing.ipv6}) {
      if (!from_network(*family)) continue;
      const auto& own = family->addresses;
      const bool given = std::any_of(there->begin(), there->end(), [&](const system::InetAddress& address) {
        return address.index == link->index && address.prefix.address.family == family->family &&
               std::find(own.begin(), own.end(), address.prefix) == own.end();
      });
      if (given) continue;
      const bool four = family->family == model::Family::kIpv4;
      out.push_back(
          {"no_address", Finding::Weight::kProblem, link->name,
           four ? "ipv4.method is auto, and no DHCP server has given it an address"
                : "ipv6.method is auto, and neither a router nor a DHCP server has given it an address",
           four ? "check that a DHCP server serves this fabric (over InfiniBand it must know clients by "
                  "their identifiers, RFC 4390) and this partition, or write addresses"
                : "check that a router advertises a prefix on this fabric and this partition, or write "
                  "addresses"});
    }
  }
}

void gid_missing(const DoctorContext& context, std::vector<Finding>& out) {
  auto& world = context.world;
  each_port(world, "Ethernet", [&](const PortRef& port) {
    if (port.port->state != "ACTIVE") return;
    const auto table = world.host().rdma.observe_gids(port.device->name, port.port->number);
    if (!table || !table->empty()) return;
    out.push_back({"gid_missing", Finding::Weight::kProblem, name_of(port),
                   "the port is active, but its GID table is empty: no RoCE connection can be made",
                   "bring its Ethernet interface up and give it an address"});
  });
}

void zero_guid(const DoctorContext& context, std::vector<Finding>& out) {
  for (const auto& device : context.world.snapshot().devices) {
    bool zero = device.node_guid.number == 0;
    for (const auto& port : device.ports)
      zero = zero || (port.link_layer == "InfiniBand" && port.guid.number == 0);
    if (!zero) continue;
    const bool infiniband = std::any_of(device.ports.begin(), device.ports.end(),
                                        [](const auto& port) { return port.link_layer == "InfiniBand"; });
    if (!infiniband) {
      out.push_back(
          {"zero_guid", Finding::Weight::kRisk, device.name,
           "its node GUID is zero, as on virtual functions without a MAC address: programs that identify "
           "devices by GUID confuse it with others, and no entry or naming rule can use it",
           "give the virtual function a MAC address on the host (ip link set … vf N mac …), from which the "
           "GUID is derived, and bind its driver again"});
      continue;
    }
    out.push_back(
        {"zero_guid", Finding::Weight::kProblem, device.name,
         "its GUID is zero, as on virtual functions without an assigned GUID: the subnet manager ignores it, "
         "and no entry or naming rule can use it",
         "set node and port GUID of the virtual function on the host (ip link set … vf N node_guid …, "
         "port_guid …), and bind its driver again"});
  }
}

void roce_mismatch(const DoctorContext& context, std::vector<Finding>& out) {
  std::map<std::string, std::string> modes;  // mode → first port
  for (const auto& [port, mode] : roce_modes(context.world)) modes.try_emplace(mode, port);
  if (modes.size() < 2) return;
  const auto &first_mode = *modes.begin(), &second_mode = *std::next(modes.begin());
  out.push_back(
      {"roce_mismatch", Finding::Weight::kRisk, second_mode.second,
       fmt::format("rdma_cm connects by RoCE {} there and by RoCE {} on {}: ends with different versions "
                   "cannot talk to each other",
                   second_mode.first, first_mode.first, first_mode.second),
       "set the same mode on all ports and hosts ([[roce]] mode)"});
}

}  // namespace rdmacfg::core::detail
