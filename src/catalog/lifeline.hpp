// SPDX-License-Identifier: Apache-2.0
// The lifelines of a host, by which its administrators reach it, and it its own file systems: default routes,
// the addresses of login sessions and to servers of file systems, and the routes to the other ends.
#pragma once

#include <string>

#include "model/change.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// Why a plan would cut the host off, in words: "mlx4_ib0, which carries a login session". Empty when each
/// default route, each address of an established login session and each route to its other end is there after
/// it. An address that the plan takes away and gives again, by whatever kind or backend, counts as there.
/// Only for a host that is not offline.
std::string cut_off_by(const model::Plan& plan, system::Host& host);

}  // namespace rdmacfg::kinds
