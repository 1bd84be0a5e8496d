// SPDX-License-Identifier: Apache-2.0
// How a distribution runs subnet managers. Sources: Debian's opensm.service and opensm@.service, RHEL's
// opensm.service with /usr/libexec/opensm-launch.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "kinds/opensm/opensm.hpp"
#include "kinds/world.hpp"
#include "model/change.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

struct OpensmNow {
  Opensm settings;
  bool named = false;      ///< in the file, whoever wrote it there
  bool by_others = false;  ///< opensm.service starts it, and by others' lines alone
  std::int64_t pid = 0;    ///< main process of its unit, while that runs; else 0
};

/// The subnet managers on the given ports; those that this host cannot have are left out.
base::Result<std::map<model::Guid, OpensmNow>> observe_opensm(system::Host& host, OpensmLayout layout,
                                                              const std::set<model::Guid>& guids);

/// In Change::carried: others' lines had opensm.service start it before the document had it; to enable that
/// again is all it needs.
inline constexpr std::string_view kOpensmOfOthers = "others' lines start it";

/// Of ports that the document drops: instances started by others' lines stay so, and instances that nobody
/// starts are not to be started, whatever their former state. First of all, as the rest follows from it.
base::Result<void> give_back_opensm(std::span<model::Change*> changes, system::Host& host);

/// Fills in what concerns opensm.service: that it restarts them all, that it leaves the port which it took by
/// itself, and how it was before.
base::Result<void> prepare_opensm(std::span<model::Change*> changes, const World& world);

/// Whether the instances run with what their files say.
enum class OpensmFiles {
  kInForce,
  kMaybeUnread,  ///< an earlier run may have ended after writing them
};

/// Makes them so. Unless the files are in force, those that a change gave another priority are restarted,
/// whatever their file says.
base::Result<void> apply_opensm(std::span<const model::Change> changes, system::Host& host,
                                OpensmFiles files);

}  // namespace rdmacfg::kinds
