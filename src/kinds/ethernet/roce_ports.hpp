// SPDX-License-Identifier: Apache-2.0
// Which port a [[roce]] entry means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kinds/bound.hpp"
#include "kinds/ports/device_names.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "system/files.hpp"

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

/// A key of [[roce]] that a message is about.
inline model::Subject key_of_roce(std::string key) { return {.section = "roce", .key = std::move(key)}; }

/// A [[roce]] entry that is the noun of a message.
inline model::Subject entry_of_roce() {
  return {.section = "roce", .key = {}, .role = model::Subject::Role::kNoun};
}

/// The id of a port in keys.
std::string roce_id(const system::RdmaDevice& device, int port);

/// The port with that id; nothing while it is not there.
std::optional<PortRef> roce_port(const std::string& id, const World& world);

/// The traffic class that MLNX_OFED's mlx5_ib gives every connection over a port, whatever its application or
/// rdma_cm asked for: the number in "Global tclass=106" of tc/N/traffic_class. Nothing without one, as with
/// upstream's driver, which has no such file.
std::optional<std::int64_t> forced_traffic_class(const PortRef& port, system::Files& files);

/// The file that sets it.
std::string traffic_class_file(const PortRef& port);

/// The ports over an interface; none while there is no such device. Of a bond all that are over it or over
/// what is in it: one device in a RoCE LAG, else one for each. Of what is in a bond its own, or the bond's.
std::vector<PortRef> ports_over(const system::Link& link, const World& world);

/// Which [[roce]] entries are about a port or an interface, without asking each of them. Entries are known by
/// the places that add() was given.
class RoceEntries {
 public:
  /// The names and the World must outlive it.
  RoceEntries(const DeviceNames& names, const World& world) : names_(names), world_(world) {}

  void add(std::size_t place, const model::Section& roce);

  /// Whether an entry means the port.
  [[nodiscard]] bool mean(const PortRef& port) const { return by_port_.contains(port.port); }
  /// The entries that name the interface or mean a port over it, in ascending order.
  [[nodiscard]] std::set<std::size_t> about(const std::string& interface) const;

 private:
  const DeviceNames& names_;
  const World& world_;
  std::map<std::string, std::vector<std::size_t>> by_interface_;  ///< as written
  std::map<const system::RdmaPort*, std::vector<std::size_t>> by_port_;
  std::map<const system::RdmaPort*, std::vector<std::size_t>> by_device_;  ///< of those with device and port
};

/// Resolves device + port and interface, which may be several ports. A port that runs InfiniBand, a port
/// number that the device has not, a VLAN, and two entries for one port are errors (of an entry that is then
/// pending); missing ones are pending.
std::vector<RocePort> bind_roce(const Bound& bound, model::Diagnostics& diagnostics);

/// The source of a port's ToS: `dscp` or `tos`, of which the one that is written later or closer counts.
struct RoceMarking {
  const model::Entry* entry = nullptr;  ///< none: neither is written
  bool is_dscp = false;
  const model::Entry* also = nullptr;  ///< the other one, where one place of the document has both
};

RoceMarking roce_marking(const model::Section& roce);

}  // namespace rdmacfg::kinds
