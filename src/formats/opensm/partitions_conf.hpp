// SPDX-License-Identifier: Apache-2.0
// OpenSM's partitions.conf, of which others may have a part. Source: doc/partition-config.txt of OpenSM.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/managed_block.hpp"

namespace rdmacfg::kinds {

/// partitions.conf: rules of ours between two marks, by partition, a long one on several lines, as OpenSM
/// reads no more than 4094 bytes of each; one with multicast groups has line breaks before and after these;
/// lines of others stay.
struct Partitions {
  struct Foreign {
    int line = 0;
    std::uint16_t partition = 0;  ///< 15 bits
    std::string name;
  };
  std::map<std::uint16_t, std::string>
      rules;                     ///< "storage=0x8002, ipoib : ALL=full;" by 15 bits of the P_Key
  std::string others;            ///< the text without our part
  std::vector<Foreign> foreign;  ///< rules in it; OpenSM ends one at a ';', not at the end of a line
  std::optional<Damage> damage;  ///< then the file is not to be written
  std::optional<Damage> unread;  ///< of others, where OpenSM ends reading and ignores the whole file

  [[nodiscard]] bool has(std::uint16_t partition) const;
};

Partitions parse_partitions(std::string_view text);
std::string render_partitions(const Partitions& partitions);

}  // namespace rdmacfg::kinds
