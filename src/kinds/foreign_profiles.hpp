// SPDX-License-Identifier: Apache-2.0
// What other people's configuration says about interfaces that we configure.
#pragma once

#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// Warns of other profiles of NetworkManager for the interfaces of our profiles, with their files.
void warn_of_foreign_profiles(const std::vector<model::Desired>& desired, World& world,
                              model::Diagnostics& diagnostics);

/// Warns where an interface with the direct backend is configured by somebody else's files too: profiles of
/// NetworkManager, ifcfg files, ifupdown, netplan and cloud-init.
void warn_of_other_configurations(const std::vector<model::Desired>& desired, World& world,
                                  model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
