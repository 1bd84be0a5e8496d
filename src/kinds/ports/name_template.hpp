// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/error.hpp"
#include "kinds/world.hpp"
#include "model/field.hpp"

namespace rdmacfg::kinds {

/// The name that a template gives a port. Place-holders: {device}, {port}, {pci_domain}, {pci_bus},
/// {pci_slot}, {pci_function} (decimal, as udev's predictable names have them) and {guid_tail} (the last 6
/// digits). Nothing while the port is not there to fill them in; then it fails on what no port can make a
/// name of. Fails on an unknown placeholder, on one
/// that this port has no value for, and on a result that cannot name an interface or that the kernel hands
/// out itself (ib0, ib1, …).
base::Result<std::optional<std::string>> expand(const model::NameTemplate& pattern,
                                                const std::optional<PortRef>& port);

}  // namespace rdmacfg::kinds
