// SPDX-License-Identifier: Apache-2.0
// The state carried by interfaces that the kernel drops when they go down or away, as a change and the
// journal hold it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kinds/world.hpp"

namespace rdmacfg::kinds {

/// Carried things of one interface together with its administrative state.
struct CarriedState {
  system::Carried carried;
  bool up = false;
  std::vector<std::string> altnames{};
  std::uint32_t group = 0;
};

/// Reads the carried state of all links by one sweep.
base::Result<std::vector<CarriedState>> observe_carried_states(system::Host& host,
                                                               std::span<const system::Link> links);

/// As opaque texts for Change::carried, and back. Texts that are not carried state are passed over.
std::vector<std::string> pack(std::span<const CarriedState> carried_states);
std::vector<CarriedState> unpack(std::span<const std::string> texts);

/// Brings interfaces back to their administrative state (parents first: the kernel takes children up and down
/// with them) and puts back what they carried. Interfaces are found by index; one that is gone is passed
/// over.
base::Result<void> restore(system::Host& host, std::span<const CarriedState> carried_states);

/// Puts back what an interface is also known by: alternative names that nobody else has now, and its group.
base::Result<void> restore_labels(system::Host& host, const CarriedState& state, const system::Link& link,
                                  std::span<const system::Link> links);

}  // namespace rdmacfg::kinds
