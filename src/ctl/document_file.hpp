// SPDX-License-Identifier: Apache-2.0
// The files of the document as something to write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ctl/command.hpp"

namespace rdmacfg::ctl {

inline constexpr const char* kMainFile = "/etc/rdma-configd/config.toml";
inline constexpr const char* kDropInFolder = "/etc/rdma-configd/conf.d/";

/// The files that a change may go to: those of --config, else the system's own; a main file that is not there
/// yet is among them, as it would begin.
base::Result<std::vector<config::Text>> texts_to_edit(const Context& context);

/// Texts that were changed, with the tables that they name now.
base::Result<std::vector<config::Text>> with_tables(const Context& context, std::vector<config::Text> texts);

/// Writes one of them. One below /usr/lib or /run is not ours to change: the error says what to do instead.
base::Result<void> write_document(const Context& context, const std::string& name, std::string_view text);

}  // namespace rdmacfg::ctl
