// SPDX-License-Identifier: Apache-2.0
// Targets of LIO as settings, and settings as the kernel's objects.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kinds/storage/lio_target.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// An initiator that may log in, as a setting has it: its name, and what it sees, unless that is every LUN
/// under its own number.
struct LioGuest {
  std::string initiator{};
  std::optional<std::vector<system::LioMapping>> sees{};

  /// "NAME", "NAME (LUNs 0, 5=1, 2 read-only)", "NAME (no LUNs)".
  [[nodiscard]] std::string text() const;
  static LioGuest parse(const std::string& text);
};

/// The id of a target in keys: its iSCSI name, or the GUID of its port.
std::string id_of(const system::LioTargetId& target);

/// Of several with one id (others may have made one by the GUID of the port, beside that by its GID), that by
/// the GID.
const system::LioTarget* find_lio_target(const system::LioState& state, const std::string& id);

LioTargetEntry settings_of(const system::LioTarget& target, const system::LioState& state);

/// Device or file of a disk, from "0 block /dev/x"; empty when it has none.
std::string path_of_lun(const std::string& text);

/// Makes the target `id` as `wanted`, whatever it is like; enabled or not as it is, where that does not say.
/// Backstores of others are used where they have the device or file, and never removed; ours go with their
/// last LUN. kBusy: something would go that could not be given back (CHAP, further portal groups, reading for
/// all).
base::Result<void> make_lio_target(const std::string& id, const LioTargetEntry& wanted, system::Host& host);

/// kBusy as of make_lio_target().
base::Result<void> remove_lio_target(const std::string& id, system::Host& host);

}  // namespace rdmacfg::kinds
