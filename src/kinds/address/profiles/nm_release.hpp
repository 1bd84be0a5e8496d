// SPDX-License-Identifier: Apache-2.0
// NetworkManager lets interfaces go, or takes them back, while it runs, and they keep all they carry.
// Sources: NetworkManager 1.42 to 1.59, nm-device.c: nm_device_set_unmanaged_by_user_settings(),
// _set_state_full().
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kinds/world.hpp"

namespace rdmacfg::kinds {

/// Interfaces that are not NetworkManager's to configure from now on.
struct NmRelease {
  std::vector<system::Link> released;    ///< it has to keep off these
  std::vector<system::Link> given_back;  ///< no entry says anything of these
  bool takes_some = false;               ///< others are to be configured by NetworkManager from now on
};

/// Has a NetworkManager that runs read its configuration again and waits until it has let go of what is
/// released. The link, MTU, addresses, routes and policy rules that NetworkManager drops by that come back.
/// Where it would take down an interface below P_Key interfaces in use, one out of a bond, or one by which
/// the host reaches its own file systems, it is told nothing: it lets go at its next start, or when somebody
/// else has it read its configuration.
base::Result<void> release_from_nm(const NmRelease& links, system::Host& host);

/// The effects of a release, for a plan.
struct ReleaseOutlook {
  std::string deferred;        ///< why NetworkManager is told nothing; empty: it lets go at once
  std::set<model::Guid> held;  ///< ports of which it holds an interface
  /// Their interfaces that are up, by name: held without a profile, so the link goes down for a moment, or
  /// with one, or with what others have configured, where nothing changes.
  std::map<model::Guid, std::vector<std::string>> idle, configured;
};

/// Empty without a NetworkManager that runs.
base::Result<ReleaseOutlook> outlook_of(const NmRelease& links, system::Host& host);

/// All that interfaces of ports carry that are to be released for the first time, as Change::carried: after a
/// run that was killed in release_from_nm() it is put back. Empty without a NetworkManager that runs, and of
/// a port with profiles of ours, whose addresses go on purpose.
base::Result<std::map<model::Guid, std::vector<std::string>>> carried_before_release(
    const std::set<model::Guid>& ports, World& world);

/// Puts back what is missing of such texts.
base::Result<void> put_back_released(const std::vector<std::string>& carried, system::Host& host);

}  // namespace rdmacfg::kinds
