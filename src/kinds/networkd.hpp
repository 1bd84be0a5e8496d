// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "kinds/kind.hpp"
#include "kinds/networkd_file.hpp"

namespace rdmacfg::kinds {

/// What systemd-networkd does with interfaces. Key: "GUID", "GUID/0x8002".
const Kind& networkd();

namespace detail {

/// Writes files, has systemd-networkd read them, takes away what is in them no longer, and waits until the
/// rest is there.
base::Result<void> apply_networks(std::span<const model::Change> changes, system::Host& host);

/// After a kill: systemd-networkd may not have read what was written, and what was to go may be there still.
base::Result<void> finish_networks(std::span<const model::Change> changes, system::Host& host);

/// What one interface has.
struct Holding {
  std::vector<system::InetAddress> addresses;
  std::vector<system::InetRoute> routes;
};

/// What all of them have, by one dump of each sort.
struct Holdings {
  std::map<int, Holding> by_index;

  [[nodiscard]] const Holding& of(int index) const;
};
base::Result<Holdings> observe_holdings(system::Host& host);

/// Whether the interface has every address and route that is written in the file. What comes by DHCP or from
/// routers is not looked at.
bool in_effect(const NetworkdFile& file, const Holding& now);

/// A sentence for each route of others that the kernel forgets when a change leaves an interface without an
/// IPv4 address. Those without a next hop are put back.
std::vector<std::string> routes_lost(const model::Change& change, const system::Link& link,
                                     const Holding& now);

}  // namespace detail

}  // namespace rdmacfg::kinds
