// SPDX-License-Identifier: Apache-2.0
// The folder that `fleet report` reads: which file is the output of which host.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "model/diagnostic.hpp"
#include "model/limits.hpp"

namespace rdmacfg::ctl {

/// Files by the host that they are of.
struct FleetFolder {
  std::map<std::string, std::vector<std::string>> files;
  std::map<std::string, std::string> names;  ///< of these hosts, by the name in lower case (RFC 4343)
  std::map<std::string, std::string> alike;  ///< of hosts without files: one with them, but for the domain
  std::vector<std::string> fabrics;          ///< files with the output of fabric, of whatever host
  model::Diagnostics diagnostics;
};

/// HOST.show.json and HOST.diff.json, or HOST/show.json and HOST/diff.json; NAME.fabric.json. Names
/// without .json say nothing. An error with files of more hosts than `most`.
base::Result<FleetFolder> fleet_files_in(const std::string& folder,
                                         std::size_t most = model::limits::kFleetHosts);

/// Reports hosts that were collected by their short and by their full name: each counts twice, if the two are
/// one host.
void check_fleet_names(FleetFolder& out, const std::string& folder);

}  // namespace rdmacfg::ctl
