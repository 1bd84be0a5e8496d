// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foreign/claims.hpp"
#include "kinds/world.hpp"

namespace rdmacfg::foreign {

/// The running host: IPoIB interfaces of ports and P_Keys with mode, MTU and state, so that a
/// comparison with it finds nothing to do. With `adopt` also names, addresses and routes, which an apply then
/// takes over from whoever gave them.
base::Result<void> observe_live(const kinds::World& world, bool adopt, Claims& claims);

/// The ports of the interfaces that are there, by every name.
std::map<std::string, model::Guid, std::less<>> known_ports(const kinds::World& world);

}  // namespace rdmacfg::foreign
