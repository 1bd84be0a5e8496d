// SPDX-License-Identifier: Apache-2.0
#include "system/host.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace rdmacfg::system {

namespace {

bool has_interface(const RdmaDevice& device) {
  return std::any_of(device.ports.begin(), device.ports.end(),
                     [](const RdmaPort& port) { return !port.netdevs.empty(); });
}

/// Whether a device has no interface of its own and shares its PCI address with one that has.
bool is_beside(const RdmaDevice& device, const std::vector<RdmaDevice>& devices) {
  return !device.pci.empty() && !has_interface(device) &&
         std::any_of(devices.begin(), devices.end(), [&](const RdmaDevice& other) {
           return other.pci == device.pci && has_interface(other);
         });
}

/// Whether a software device has the node GUID of the adapter below it: rxe and siw derive theirs from the
/// MAC address, as hns, erdma and bnxt_re do (addrconf_addr_eui48(), bnxt_qplib_get_guid()).
bool is_above(const RdmaDevice& device, const std::vector<RdmaDevice>& devices) {
  return !device.soft.empty() && device.node_guid.number != 0 &&
         std::any_of(devices.begin(), devices.end(), [&](const RdmaDevice& other) {
           return other.soft.empty() && other.node_guid.number == device.node_guid.number;
         });
}

}  // namespace

base::Result<std::vector<Link>> observe_links(Host& host) {
  auto links = host.links.observe_links();
  if (!links) return base::fail(links.error().in("reading the network interfaces"));
  return links;
}

base::Result<Snapshot> observe(Host& host) {
  Snapshot snapshot;
  if (host.offline) return snapshot;
  auto links = observe_links(host);
  if (!links) return base::fail(links.error());
  std::set<std::string> children;
  for (const auto& link : *links) {
    if (link.ipoib && link.ipoib->child) children.insert(link.name);
  }
  auto devices = host.rdma.observe_devices(children);
  if (!devices) return base::fail(devices.error().in("reading the RDMA devices"));
  snapshot.links = std::move(*links);
  snapshot.devices = std::move(*devices);
  std::set<std::string> beside;
  for (const auto& device : snapshot.devices) {
    if (is_beside(device, snapshot.devices) || is_above(device, snapshot.devices)) beside.insert(device.name);
  }
  std::stable_partition(snapshot.devices.begin(), snapshot.devices.end(),
                        [&](const RdmaDevice& device) { return !beside.contains(device.name); });
  return snapshot;
}

}  // namespace rdmacfg::system
