// SPDX-License-Identifier: Apache-2.0
// Rules of [[pfc]] entries for interfaces. Sources: mlx5e_dbcnl_validate_ets(), mlx5e_dcbnl_ieee_getets() and
// mlx4_en_ets_validate() of the kernel: the shares of ETS classes are 100 together, those of others do not
// count.
#pragma once

#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// What is wrong with an entry by itself.
void check_dcb_entry(const model::Desired& one, model::Diagnostics& diagnostics);

/// What the interfaces of this host do not offer or cannot show; one that is not there makes its entry wait.
void check_dcb(std::vector<model::Desired>& desired, const std::vector<model::Observed>& observed,
               World& world, model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
