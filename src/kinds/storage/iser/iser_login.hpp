// SPDX-License-Identifier: Apache-2.0
// The unit by which open-iscsi logs in to the targets of [[iser_session]], and its logins and logouts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "formats/storage/iser_unit.hpp"
#include "kinds/kind.hpp"
#include "kinds/storage/iser/iser_session.hpp"
#include "kinds/storage/sessions.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// Values of the field "unit", beside the unit's name.
inline constexpr std::string_view kIserLeaving = "logging out", kIserEdited = "edited";

struct IserFile {
  IserLogins logins;
  std::string text;     ///< empty: there is none
  bool others = false;  ///< somebody else's is in its place
};

base::Result<IserFile> read_iser_file(system::Files& files);

/// Nothing when no systemd answers.
base::Result<std::optional<system::Unit>> login_unit(system::Host& host);

std::string iser_label(const IserPortal& portal);

/// Users of the disks of sessions, by the sessions' names.
DiskUses iscsi_disk_uses(system::Host& host);

/// Not when the logout of an interrupted run is undone to.
bool logs_in_again(const IserSession& wanted);

/// Writes the unit, logs out and in. Fails with kInvalid where the unit is somebody else's, with kBusy where
/// a disk of a session to be logged out is in use.
base::Result<void> apply_iser_sessions(std::span<const model::Change> changes, system::Host& host);

/// Has systemd read the unit and the drop-in again, when they have changed.
base::Result<void> reload_iser_units(system::Host& host);

}  // namespace rdmacfg::kinds
