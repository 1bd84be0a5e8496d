// SPDX-License-Identifier: Apache-2.0
// Which port a [[roce]] entry means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinds/bound.hpp"
#include "kinds/device_names.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

struct RocePort {
  const model::Section* section = nullptr;
  std::string id;     ///< "0000:10:00.0/1"; of a device that is not on PCI "rxe0/1"
  std::string label;  ///< "mlx5_storage/1"
  std::optional<PortRef> port;
  std::optional<model::SoftType> soft;  ///< of a software device, there or made by the same document
  std::vector<model::Key> needs;        ///< what gives it its name, or makes it
  std::optional<std::string>
      pending;  ///< why nothing can be done with it now; also an error that is reported
};

/// The id of a port in keys.
std::string roce_id(const system::RdmaDevice& device, int port);

/// The port with that id; nothing while it is not there.
std::optional<PortRef> roce_port(const std::string& id, const World& world);

/// The ports over an interface; none while there is no such device. Of a bond all that are over it or over
/// what is in it: one device in a RoCE LAG, else one for each. Of what is in a bond its own, or the bond's.
std::vector<PortRef> ports_over(const system::Link& link, const World& world);

/// Whether a [[roce]] entry means a port that is there.
bool is_about(const model::Section& roce, const PortRef& port, const DeviceNames& names, const World& world);

/// Whether a [[roce]] entry is about a port over an interface.
bool is_about(const model::Section& roce, const std::string& interface, const DeviceNames& names,
              const World& world);

/// Resolves device + port and interface, which may be several ports. A port that runs InfiniBand, a port
/// number that the device has not, a VLAN, and two entries for one port are errors (of an entry that is then
/// pending); what is not there is pending.
std::vector<RocePort> bind_roce(const Bound& bound, model::Diagnostics& diagnostics);

/// What gives a port its ToS: `dscp` or `tos`, of which the one that is written later or closer counts.
struct RoceMarking {
  const model::Entry* entry = nullptr;  ///< none: neither is written
  bool is_dscp = false;
  const model::Entry* also = nullptr;  ///< the other one, where one place of the document has both
};

RoceMarking roce_marking(const model::Section& roce);

}  // namespace rdmacfg::kinds
