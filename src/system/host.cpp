// SPDX-License-Identifier: Apache-2.0
#include "system/host.hpp"

namespace rdmacfg::system {

base::Result<Snapshot> observe(Host& host) {
  Snapshot snapshot;
  if (host.offline) return snapshot;
  auto links = host.links.observe_links();
  if (!links) return base::fail(links.error().in("reading the network interfaces"));
  auto devices = host.rdma.observe_devices();
  if (!devices) return base::fail(devices.error().in("reading the RDMA devices"));
  snapshot.links = std::move(*links);
  snapshot.devices = std::move(*devices);
  return snapshot;
}

}  // namespace rdmacfg::system
