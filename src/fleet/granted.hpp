// SPDX-License-Identifier: Apache-2.0
// The P_Keys that the subnet managers of a site give its ports, as far as their hosts have answered.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "fleet/host_answers.hpp"

namespace rdmacfg::fleet {

class GrantedMembership {
 public:
  using Level = PartitionMembers::Membership;

  /// The membership of a port: between these two, which are equal unless it is not known which of several
  /// subnet managers serves the port, or which port is SELF.
  struct Bounds {
    Level least = Level::kNone;
    Level most = Level::kNone;
  };

  /// @param answers  must outlive this object
  explicit GrantedMembership(const HostAnswers& answers);

  /// Partitions of which a rule is known.
  [[nodiscard]] const std::set<std::uint16_t>& partitions() const { return partitions_; }

  /// Nothing where no host of the answers has the LID of the port's subnet manager, or that host has no rule
  /// for the partition: another program's rules are not known. Nothing either where LIDs that occur twice
  /// show more fabrics than subnet managers with rules.
  [[nodiscard]] std::optional<Bounds> of(const FabricPort& port, std::uint16_t partition) const;

 private:
  const HostAnswers& answers_;
  std::set<std::uint16_t> partitions_;
  std::map<std::int64_t, std::set<HostId>> managers_;  ///< by the LIDs of the ports that they manage from
};

}  // namespace rdmacfg::fleet
