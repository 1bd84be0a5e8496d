// SPDX-License-Identifier: Apache-2.0
// Parts that hang together by `needs`: at boot and on events each such part succeeds or fails by itself, so
// that one bad adapter of eight does not hold up the other seven.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/observation.hpp"
#include "model/change.hpp"

namespace rdmacfg::core {

/// A plan in parts that have nothing to do with each other, each in the plan's order. Changes hang together
/// when one needs the other, both need the same, or one takes the name that the other gives up (also where
/// one is a port's interface and the other a P_Key's).
std::vector<model::Plan> components(const model::Plan& plan);

/// Sets aside every resource of an entry that an error of the document against this host speaks of, with all
/// that hangs together with it: they are ignored in what follows. @return why, by resource; nothing when an
/// error speaks of no resource.
std::optional<std::map<model::Key, std::string>> set_aside(Observation& observation);

/// A resource ignored in the observation that a plan was made from is ignored in a later one, too: it was not
/// carried out, and its record stays.
void keep_aside(const Observation& planned, Observation& now);

}  // namespace rdmacfg::core
