// SPDX-License-Identifier: Apache-2.0
// `fleet validate` and `fleet report`; each returns the exit status.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "config/document.hpp"
#include "ctl/command.hpp"
#include "model/limits.hpp"

namespace rdmacfg::ctl {

int validate_fleet(const Context& context);
int report_fleet(const Context& context);

/// Whether a word has a slash that is not the step of a range: gpu[1-9/2] is a list of hosts.
bool has_folder(std::string_view word);

/// Reads a regular file of at most `most` bytes; never blocks. "-" is standard input.
base::Result<config::Text> read_fleet_file(const Context& context, const std::string& path,
                                           std::size_t most = model::limits::kFleetFileBytes);
/// The same for a caller that says which file it is: the error does not name it.
base::Result<config::Text> read_fleet_text(const Context& context, const std::string& path,
                                           std::size_t most = model::limits::kFleetFileBytes);

/// The text of --hosts: a word that is a file here, has a /, ends as names of files do or is "-" is read; any
/// other is the list itself. Of a CSV table of values, the hosts of its lines; a table without a column host
/// is an error with its place.
base::Result<config::Text> list_of_hosts(const Context& context);

}  // namespace rdmacfg::ctl
