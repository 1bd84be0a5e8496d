// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/error.hpp"
#include "kinds/world.hpp"

namespace rdmacfg::kinds {

/// Renames interfaces (index → new name) all together: an order is found in which every name is free when it
/// is taken, and cycles go through a temporary name. Kernels before 6.2 refuse to rename an interface that is
/// up: it is taken down then, and left down; the caller restores the carried state that it has read before.
/// An alternative name of the same interface that equals its new name is dropped first. Fails with kBusy when
/// somebody else has a name.
base::Result<void> rename_links(system::Host& host, const World& world,
                                const std::map<int, std::string>& names);

}  // namespace rdmacfg::kinds
