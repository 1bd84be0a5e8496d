// SPDX-License-Identifier: Apache-2.0
// Entries of services that contradict others, services that run although their entries say otherwise, and
// those that do not run after a start. Source: systemd.socket(5).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "model/section.hpp"
#include "system/files.hpp"
#include "system/units.hpp"

namespace rdmacfg::kinds {

/// [[opensm]] enables and starts its units itself: an error where an entry disables or stops one of them.
void refuse_against_opensm(std::span<const model::Section* const> managers, const model::Section& section,
                           const std::string& id, model::Diagnostics& diagnostics);

/// The run that stops, starts or waits for a unit of ours is part of it, or what it waits for: an error.
void refuse_own_unit(const model::Section& section, const std::string& id, model::Diagnostics& diagnostics);

/// Warns of entries that stop or disable a service whose socket goes on listening: the next connection starts
/// it. Not where another entry stops or disables the socket, too.
void warn_of_sockets(const std::vector<model::Desired>& desired, World& world,
                     model::Diagnostics& diagnostics);

/// Warns of units that are to be enabled or to run, and that a kernel command line of the next boot masks
/// (systemd.mask=), and of those to be disabled that one starts (systemd.wants=).
void warn_of_boot_words(const std::vector<model::Desired>& desired, system::Files& files,
                        model::Diagnostics& diagnostics);

/// Warns of units that are to be enabled, and whose links are those of targets that the next boot does not
/// reach. `units`: as systemd sees them, in any order.
void warn_of_unreached(const std::vector<model::Desired>& desired, std::span<const system::Unit> units,
                       system::Files& files, model::Diagnostics& diagnostics);

/// The way to unmask a unit; systemctl does not where the running kernel's command line masks it.
std::string remedy_of_mask(const system::Unit& unit, system::Files& files);

/// Of a unit whose file only names others that are enabled with it (Also=) there is nothing to enable or to
/// disable: warns, and leaves `enabled` out.
void leave_indirect(model::Desired& desired, const system::Unit& unit, system::Files& files,
                    model::Diagnostics& diagnostics);

/// Why there is no unit of this name, with how to get it: a package has it, or systemd makes none of its init
/// script.
std::string why_not_there(const std::string& name, system::Files& files);

/// Starts a unit. An error also where systemd says that it is done, and the unit is at rest: it has ended, or
/// a condition of its unit file is not met, which systemd does not count as a failure (systemd.unit(5)). Here
/// it is one, and not pending: systemd does not try again once the condition holds.
base::Result<void> start_service(const std::string& unit, system::Host& host);

}  // namespace rdmacfg::kinds
