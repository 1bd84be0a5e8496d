// SPDX-License-Identifier: Apache-2.0
// Files of opensm-launch, which starts a subnet manager for each opensm.conf.N while GUIDS of
// /etc/sysconfig/opensm is empty, and ignores them otherwise. Source: opensm.launch of Fedora's package.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// A file of others that starts a subnet manager.
struct LaunchFile {
  std::string path;                      ///< "/etc/rdma/opensm.conf.1"
  std::optional<std::int64_t> priority;  ///< its own, or that of PRIORITY, which wins
};

/// By the port that they name.
using LaunchFiles = std::map<model::Guid, LaunchFile>;

/// None where GUIDS is not empty. `sysconfig`: the text with GUIDS.
base::Result<LaunchFiles> observe_launch_files(system::Files& files, const std::string& sysconfig);

/// Of subnet managers of this document with options of their own: that each has a file. Reports where
/// opensm-launch could not start all of them: it takes either files or GUIDS. `theirs`: once GUIDS is empty.
void give_own_confs(std::vector<model::Desired>& desired, const std::string& sysconfig,
                    const LaunchFiles& theirs, model::Diagnostics& diagnostics);

/// Has the options and files of subnet managers wait as these do: opensm-launch would start them as soon as
/// their files are there. `why`: by their ports, for people.
void hold_own_confs(std::vector<model::Desired>& desired, const std::map<model::Guid, std::string>& why);

}  // namespace rdmacfg::kinds
