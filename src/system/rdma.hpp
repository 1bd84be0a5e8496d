// SPDX-License-Identifier: Apache-2.0
// RDMA devices, in our words. Sources: RDMA netlink (rdma_netlink.h), /sys/class/infiniband
// (Documentation/ABI/stable/ sysfs-class-infiniband), ibv_query_port(3).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "model/types.hpp"

namespace rdmacfg::system {

/// A port of an RDMA device.
struct RdmaPort {
  int number = 0;              ///< from 1
  std::string state;           ///< "ACTIVE", "INIT", "DOWN", "ARMED"
  std::string physical_state;  ///< "LinkUp", "Polling", "Disabled"
  std::string rate;            ///< "56 Gb/sec (4X FDR)"
  std::string link_layer;      ///< "InfiniBand" or "Ethernet"
  std::optional<int> lid;      ///< base LID; 0 until a subnet manager has set it
  std::optional<int> sm_lid;
  std::optional<int> lmc;                     ///< LID mask control, bits
  std::optional<std::uint32_t> capabilities;  ///< port capability mask
  model::Guid guid;                           ///< 0: none
  std::string gid_prefix;                     ///< "fe80:0000:0000:0000"
  /// Interfaces over this port that are its own (no P_Key children). Of a RoCE port the first is the one that
  /// its GIDs belong to: a bond, then what of the port is in it comes after it.
  std::vector<std::string> netdevs;
};

/// An RDMA device (HCA or NIC).
struct RdmaDevice {
  std::string name;
  std::string firmware;
  std::string board_id;
  std::string hca_type;
  std::string node_type;  ///< "CA", "RNIC"
  std::string node_description;
  model::Guid node_guid;
  model::Guid system_guid;
  std::string driver;    ///< of the parent: "mlx5_core"; empty without a parent
  std::string pci;       ///< "0000:10:00.0"; empty when the parent is not on PCI
  std::string soft;      ///< "rxe" or "siw" for a software device over a network interface, else empty
  std::string instance;  ///< another text for each registration of a device, whatever its name
  bool omni_path =
      false;  ///< its ports read "InfiniBand", and have a fabric manager and datagrams of their own
  bool leaving = false;  ///< the kernel is removing it: its interfaces go down one by one, then disappear
  std::vector<RdmaPort> ports;
};

/// MTUs of a port, of the IB link, bytes.
struct PortMtu {
  int max = 0;
  int active = 0;
};

/// The maker and the limits of an adapter, as ibv_query_device(3) and ibv_devinfo(1) have it.
struct DeviceIds {
  std::uint32_t vendor = 0;  ///< IEEE organisation, "0x02c9" for Mellanox
  std::uint32_t part = 0;    ///< the vendor's number of the model, mostly the PCI device
  /// Limits by the names of ibv_query_device(3): "max_qp"; in that order.
  std::vector<std::pair<std::string, std::uint64_t>> limits{};
};

/// A place of a port's GID table.
struct Gid {
  int index = 0;
  std::string type;    ///< "IB/RoCE v1", "RoCE v2"
  std::string gid;     ///< "fe80:0000:0000:0000:0002:c903:0031:78f2"
  std::string netdev;  ///< that it belongs to; empty on InfiniBand
  bool operator==(const Gid&) const = default;
};

class Rdma {
 public:
  virtual ~Rdma() = default;

  /// All devices. Unreadable values stay empty; a device that goes away meanwhile is left out.
  /// `children`: interfaces that are known to be P_Key children, so that nobody has to look at each.
  virtual base::Result<std::vector<RdmaDevice>> observe_devices(
      const std::set<std::string>& children = {}) = 0;

  /// The P_Key table of a port without its empty places; raw keys with their membership bit.
  virtual base::Result<std::vector<std::uint16_t>> observe_pkeys(const std::string& device, int port) = 0;

  /// The GID table of a port without its empty places.
  virtual base::Result<std::vector<Gid>> observe_gids(const std::string& device, int port) = 0;

  /// MTUs of a port by verbs; nothing when user-space verbs are not there (no module is loaded to find out).
  virtual std::optional<PortMtu> observe_mtu(const std::string& device, int port) = 0;

  /// The same way.
  virtual std::optional<DeviceIds> observe_ids(const std::string& device) = 0;
};

}  // namespace rdmacfg::system
