// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "kinds/address/profiles/networkd_file.hpp"
#include "kinds/kind.hpp"

namespace rdmacfg::kinds {

/// systemd-networkd's settings of interfaces. Key: "GUID", "GUID/0x8002".
const Kind& networkd();

namespace detail {

/// Writes files, has systemd-networkd read them, takes away what is in them no longer, and waits until the
/// rest is there.
base::Result<void> apply_networks(std::span<const model::Change> changes, system::Host& host);

/// For Kind::prepare(): packs files that are not as rdma-configd writes them.
void carry_network_files(std::span<model::Change*> changes, const World& world);

/// After a kill: systemd-networkd may not have read the written files, and deleted ones may be there still.
base::Result<void> finish_networks(std::span<const model::Change> changes, system::Host& host);

/// Whether systemd-networkd goes on with an interface of this NetworkdLink::state by itself.
bool is_in_transition(std::string_view state);

/// The state of one interface.
struct InetState {
  std::vector<system::InetAddress> addresses;
  std::vector<system::InetRoute> routes;
};

/// The state of all of them, by one dump of each sort.
struct InetStates {
  std::map<int, InetState> by_index;

  [[nodiscard]] const InetState& of(int index) const;
};
base::Result<InetStates> observe_inet_states(system::Host& host);

/// Addresses and routes that are written in the file and that the interface has not, as they are written.
/// Addresses from DHCP or routers are not looked at.
std::vector<std::string> missing_of(const NetworkdFile& file, const InetState& now);

/// A sentence for each route of others that the kernel forgets when a change leaves an interface without an
/// IPv4 address. Those without a next hop are put back.
std::vector<std::string> routes_lost(const model::Change& change, const system::Link& link,
                                     const InetState& now);

}  // namespace detail

}  // namespace rdmacfg::kinds
