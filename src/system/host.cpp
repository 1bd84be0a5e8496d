// SPDX-License-Identifier: Apache-2.0
#include "system/host.hpp"

#include <set>
#include <string>

namespace rdmacfg::system {

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
  return snapshot;
}

}  // namespace rdmacfg::system
