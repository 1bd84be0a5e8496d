// SPDX-License-Identifier: Apache-2.0
// The host as `show` prints it, gathered once and then rendered as tables or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ctl/host_facts.hpp"
#include "kinds/world.hpp"
#include "model/report.hpp"

namespace rdmacfg::ctl {

/// A counter of a port, or of a device, by its name in sysfs.
struct CounterView {
  std::string name;
  std::int64_t value = 0;
};

struct PortView {
  const system::RdmaDevice* device = nullptr;
  const system::RdmaPort* port = nullptr;
  std::optional<std::vector<std::uint16_t>> pkeys;
  std::optional<system::PortMtu> mtu;
  std::optional<std::vector<system::Gid>> gids;
  model::Attributes roce;               ///< mode, tos and dscp where they are known
  std::vector<CounterView> counters{};  ///< by add_counters(): errors first

  [[nodiscard]] std::string name() const { return device->name + "/" + std::to_string(port->number); }
  /// As ibstat has it: of an Ethernet port, to which nothing is bound by it, what its first GID ends with.
  [[nodiscard]] model::Guid guid() const;
};

struct DeviceView {
  const system::RdmaDevice* device = nullptr;
  std::string hardware;  ///< revision, as ibstat's "Hardware version": "0xb0"
  std::optional<system::DeviceIds> ids;
  std::vector<PortView> ports;
  std::vector<CounterView> counters{};  ///< by add_counters(), those that a driver has for all ports together
};

struct InterfaceView {
  const system::Link* link = nullptr;  ///< an IPoIB one
  std::string parent;  ///< of a P_Key interface; empty when it is in another network namespace
  std::optional<kinds::PortRef> port;  ///< the port that it runs over
  std::vector<std::string> addresses;  ///< "192.0.2.1/24"; IPv4 and IPv6, without link-local ones
};

/// Pointers are into the World.
struct HostView {
  std::vector<DeviceView> devices;
  std::vector<InterfaceView> interfaces;  ///< children behind their parent
  HostFacts facts;
};

HostView view_of(kinds::World& world);

/// Reads the counters of every port, which takes a file for each.
void add_counters(HostView& host, kinds::World& world);

/// Leaves of `host` and `resources` what belongs to one of `names`: a device, a port ("mlx4_0/1"), an
/// interface, or a GUID of port, node or system; of a device all its ports, of a port its interfaces, of an
/// interface its port and device. False when there is nothing of these names.
bool narrow(const std::vector<std::string>& names, HostView& host,
            std::vector<model::ResourceReport>& resources);

/// Everything that can be given to narrow().
std::vector<std::string> names_in(const HostView& host, const std::vector<model::ResourceReport>& resources);

/// A P_Key table in few words, ordered by partition: "0x8001-0x807f, 0xffff, limited 0x0005".
std::string compress(const std::vector<std::uint16_t>& pkeys);

}  // namespace rdmacfg::ctl
