// SPDX-License-Identifier: Apache-2.0
// A rule of partitions.conf. Source: doc/partition-config.txt and osm_prtn_config.c of OpenSM.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "kinds/opensm/partition.hpp"
#include "model/diagnostic.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {

inline constexpr std::uint16_t kDefaultPartition = 0x7fff;
inline constexpr std::string_view kBothMemberships = "both";

struct PartitionMember {
  std::string who;         ///< "ALL", "0x0002c903003178f2"
  std::string membership;  ///< full, limited or both; empty: the rule's defmember

  [[nodiscard]] std::string text() const { return membership.empty() ? who : who + "=" + membership; }
};

/// A member as OpenSM reads it, but without its abbreviations; the error is a sentence.
base::Result<PartitionMember> parse_member(std::string_view text);

struct PartitionRule {
  std::string text;  ///< "storage=0x8002, ipoib : ALL=full;"; with groups, each of these is a line
  std::vector<PartitionMember> members;
  std::string defmember;
  bool ipoib = true;  ///< OpenSM makes the broadcast group without which IPoIB has no carrier
  bool right = true;  ///< nothing in it was reported

  /// Whether the port may be a member. SELF is the subnet manager's port, which may be any of this host.
  [[nodiscard]] bool lists(model::Guid port) const;
  /// Whether a host is a full member; limited ones reach only these. OpenSM reads members in their order, and
  /// a later one replaces earlier ones of the same ports (osm_prtn_add_port() in osm_prtn.c; with
  /// allow_both_pkeys manage_membership_change() in osm_prtn_config.c).
  [[nodiscard]] bool has_full() const;

  struct Replaced {
    PartitionMember member, by;
  };
  /// The first member that ALL or ALL_CAS behind it gives another membership, so that its own has no effect.
  [[nodiscard]] std::optional<Replaced> replaced() const;
};

/// The rule that an entry with a P_Key stands for; reports what is wrong in it.
PartitionRule make_rule(const model::Section& section, const Partition& wanted,
                        model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
