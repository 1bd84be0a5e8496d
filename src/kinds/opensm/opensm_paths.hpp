// SPDX-License-Identifier: Apache-2.0
// Options of opensm.conf that name where OpenSM writes, compared with the host. Sources: open_out_port() in
// osm_log.c, osm_dump.c, main.c of OpenSM; Debian's opensm@.service.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// The first folder on the way to `path`, and `path` itself, that is not there. Empty: all are, or that
/// cannot be told (symbolic links that lead elsewhere, folders that services do not see).
std::string first_missing(system::Files& files, std::string_view path);

/// Postpones log_file in a folder that does not exist, at which OpenSM ends. Warns of dump_files_dir that
/// does not exist, and of log_file where the command line of opensm@.service overrules it; once for an entry.
void check_written_paths(std::span<model::Desired> desired, system::Files& files,
                         model::Diagnostics& diagnostics);

/// Warns of options for all subnet managers where the command line of opensm@.service, with its drop-ins,
/// names another file of options; once.
void warn_of_other_conf(std::span<const model::Desired> desired, system::Files& files,
                        model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
