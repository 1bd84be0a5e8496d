// SPDX-License-Identifier: Apache-2.0
// Faults of the hosts of a fleet, each thing once: differences from their documents, and hosts that
// are unlike most others.
#pragma once

#include <string>
#include <vector>

#include "fleet/host_answers.hpp"

namespace rdmacfg::fleet {

struct FleetFinding {
  /// "resource" and "host" for differences from the document; else firmware, rate, port-state, port-mtu,
  /// devices, interface-mtu, interface-mode, link-mtu, pkey-table, pkey-rule; and group-mtu, group-link-mtu,
  /// group-rate, which compare interfaces and ports with their multicast groups.
  std::string check;
  std::string message;
  Difference difference;  ///< what it is about, with the hosts
  /// Of pkey-table, pkey-rule and the comparisons with groups: the partitions as P_Keys of full members,
  /// ascending; consecutive ones as "0x8001-0x8040".
  std::vector<std::string> pkeys{};
};

/// Worst first: hosts that could not say, failed, differing, unmet, unlike others, limited, pending; those of
/// more hosts before those of fewer. A host is unlike others when at most a third differ from what two thirds
/// have; its difference from the document is not repeated there. Partitions in which the same hosts are
/// unlike others in the same way are one finding.
std::vector<FleetFinding> sum_up(const HostAnswers& answers);

}  // namespace rdmacfg::fleet
