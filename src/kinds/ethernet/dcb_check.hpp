// SPDX-License-Identifier: Apache-2.0
// Rules of [[pfc]] entries for interfaces: of the document by itself, and of what the driver and the adapter
// take (dcb_drivers.hpp), so that nothing is begun that is refused half way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinds/ethernet/dcb_refusals.hpp"
#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// Mistakes of an entry by itself.
void check_dcb_entry(const model::Desired& desired, model::Diagnostics& diagnostics);

/// Settings that the interfaces of this host do not offer or would refuse; one that is not there, or cannot
/// be asked now, makes its entry wait. An order of trust that kernel or driver do not have is left out, and
/// the rest is set: judge() says why. Completes what follows from the adapter (algorithms, classified_by,
/// switch_port).
void check_dcb(std::vector<model::Desired>& desired, const std::vector<model::Observed>& observed,
               World& world, model::Diagnostics& diagnostics);

/// Why every set would be refused since the interface is in a bond.
std::optional<DcbRefusal> why_not_in_its_bond(const DcbDriver& driver, const std::string& interface,
                                              World& world);

}  // namespace rdmacfg::kinds
