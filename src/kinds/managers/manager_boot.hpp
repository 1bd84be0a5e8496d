// SPDX-License-Identifier: Apache-2.0
// Whether the manager of a port starts at the next boot.
#pragma once

#include <string_view>
#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// The units of a manager: its service, and other units that start the service at boot.
struct ManagerUnits {
  std::string_view service;
  std::vector<std::string_view> starters;
};

ManagerUnits networkd_units();
ManagerUnits network_manager_units();

/// Warns once if resources of this kind are configured but their manager is masked, not enabled, or
/// enabled only for targets that the boot does not reach: the files of a manager that does not start have no
/// effect. Does not warn if a [[service]] entry enables the service, or if systemd does not answer or does
/// not know it.
void warn_of_manager_at_boot(std::string_view kind, const ManagerUnits& manager,
                             const std::vector<model::Desired>& desired, World& world,
                             model::Diagnostics& diagnostics);

/// Warns once if resources of this kind are configured but `nmcli networking off` has switched NetworkManager
/// off, which lasts over boots: it activates no profile then. Source: nm-config.c (state_new_from_file()).
void warn_of_networking_off(std::string_view kind, const std::vector<model::Desired>& desired, World& world,
                            model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
