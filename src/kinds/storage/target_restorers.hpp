// SPDX-License-Identifier: Apache-2.0
// Units that make saved targets at their start. They remove all others first, and all of them at their stop
// (restore_from_file() of rtslib, nvmetcli's restore).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

struct TargetRestorer {
  std::string_view unit, file;
  std::string_view section, identity;  ///< of the document
  std::string_view save;               ///< the command that writes the file
};

inline constexpr std::array kTargetRestorers{
    TargetRestorer{"nvmet.service", "/etc/nvmet/config.json", "nvme_target", "nqn", "nvmetcli save"},
    TargetRestorer{"rtslib-fb-targetctl.service", "/etc/rtslib-fb-target/saveconfig.json", "lio_target",
                   "wwn", "targetcli saveconfig"},
    TargetRestorer{"target.service", "/etc/target/saveconfig.json", "lio_target", "wwn",
                   "targetcli saveconfig"}};

/// Those of the targets, each an IQN, an NQN or the GUID of a port, that the text of a saved file does not
/// name.
std::vector<std::string> unsaved_targets(const std::vector<std::string>& targets, std::string_view saved);

/// Warns, once for each unit, where the next boot starts one that removes targets of this kind.
void warn_of_restorers(std::string_view kind, const std::vector<model::Desired>& desired, World& world,
                       model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
