// SPDX-License-Identifier: Apache-2.0
// Warnings about the members of partitions, and about P_Key interfaces that no partition of the document
// serves.
#pragma once

#include <cstdint>
#include <map>

#include "kinds/bound.hpp"
#include "kinds/opensm/partition_rule.hpp"
#include "model/diagnostic.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds::detail {

/// An entry of the document.
struct Listed {
  model::Location where;
  PartitionRule rule;
};
/// By the number of the partition, without the bit of full members.
using AllListed = std::map<std::uint16_t, Listed>;

/// Members without effect, and partitions whose members do not reach each other.
void warn_of_members(const model::Section& section, const PartitionRule& rule,
                     model::Diagnostics& diagnostics);

/// Interfaces of a port whose partition does not have the port.
void warn_outside(const BoundPort& port, const AllListed& listed, bool offline,
                  model::Diagnostics& diagnostics);

/// A P_Key interface without partition. @param partitions  the place of the first
void warn_unlisted(const model::Location& where, const model::Pkey& pkey, const model::Location& partitions,
                   model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds::detail
