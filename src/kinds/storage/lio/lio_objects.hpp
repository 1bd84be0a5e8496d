// SPDX-License-Identifier: Apache-2.0
// Settings of targets as the kernel's objects.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kinds/storage/lio/lio_settings.hpp"
#include "kinds/storage/lio/lio_target.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

struct LioWish {
  std::string id;
  std::optional<LioTargetEntry> wanted;  ///< nothing: the target goes
};

/// Makes each target as it is wanted, whatever it is like; enabled or not as it is, where that does not say.
/// Backstores of others are used where they have the device or file, and never removed; ours go with their
/// last LUN. kBusy: something would go that could not be given back (CHAP, further portal groups, reading for
/// all). The host is looked at once for all of them, and once more at the end.
base::Result<void> hold_lio_targets(const std::vector<LioWish>& wishes, system::Host& host);

}  // namespace rdmacfg::kinds
