// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/roce_observation.hpp"

#include <algorithm>
#include <vector>

#include "kinds/ethernet/roce_record.hpp"
#include "kinds/ethernet/roce_writer.hpp"

namespace rdmacfg::kinds {

using base::Result;
using system::RdmaDevice;

namespace {

struct Port {
  int number = 0;
  RoceRecord* record = nullptr;
};

/// Makes the records say what is read.
Result<void> read_ports(system::Host& host, const RdmaDevice& device, const std::vector<Port>& ports) {
  for (const auto& [number, record] : ports) {
    const auto actual = host.rdma_cm.observe_defaults(device.name, number);
    if (!actual) return base::fail(actual.error());
    if (!*actual) continue;
    if (record->written.gid_type) record->written.gid_type = (*actual)->gid_type;
    if (record->written.tos) record->written.tos = (*actual)->tos;
  }
  return {};
}

Result<void> look_at(system::Host& host, const RdmaDevice& device, const std::vector<Port>& ports,
                     RoceRecords& records) {
  const auto had = has_roce_folder(host, device.name);
  if (!had) return base::fail(had.error());
  const bool left = std::any_of(ports.begin(), ports.end(),
                                [&](const auto& port) { return port.record->folder == device.name; });
  if (*had && !left) return read_ports(host, device, ports);
  for (const auto& port : ports) port.record->folder = device.name;
  if (auto done = write_roce_records(host.files, records); !done) return done;
  Result<void> result;
  if (const auto made = host.rdma_cm.make_folder(device.name)) {
    result = read_ports(host, device, ports);
    // One that somebody else was quicker to make is not ours to remove.
    if (*made || left) {
      if (auto removed = remove_roce_folder(host, device.name); !removed) return removed;
    }
  }
  for (const auto& port : ports) port.record->folder.clear();
  return result;
}

}  // namespace

Result<void> observe_roce_defaults(system::Host& host, const std::set<std::string>& only) {
  if (host.offline) return {};
  auto records = read_roce_records(host.files);
  if (!records) return base::fail(records.error());
  const auto rdma_cm = host.rdma_cm.observe_instance();
  if (!rdma_cm) return base::fail(rdma_cm.error());
  if (records->empty() || rdma_cm->empty()) return {};
  const auto devices = host.rdma.observe_devices();
  if (!devices) return base::fail(devices.error());
  const auto before = *records;
  bool journalled = false;
  Result<void> result;
  for (const auto& device : *devices) {
    if (!only.empty() && !only.contains(device.name)) continue;
    std::vector<Port> ports;
    for (const auto& port : device.ports) {
      const auto at = records->find(roce_instance(device, port.number, *rdma_cm, host.boot_id));
      if (at != records->end()) ports.push_back({port.number, &at->second});
    }
    if (ports.empty()) continue;
    journalled = true;
    if (auto done = look_at(host, device, ports, *records); !done && result) result = done;
  }
  if (!journalled) return {};
  // Equal ones are not written.
  if (auto done = write_roce_records(host.files, *records); !done && result) return done;
  return result;
}

}  // namespace rdmacfg::kinds
