// SPDX-License-Identifier: Apache-2.0
// The files of the document as something to write.
#pragma once

#include <memory>
#include <optional>
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

/// Keeps other writers of the document away, for as long as the returned object lives: from before it is read
/// until it is written. Nothing to wait for where write_document() refuses anyway.
base::Result<std::shared_ptr<void>> lock_document(const Context& context);

/// The same for /etc/rdma-configd itself, whatever document was named: of the running host, or below --root.
base::Result<std::shared_ptr<void>> lock_installed_document(const Context& context);

/// Writes one of them, under lock_document(). One below /usr/lib or /run is not ours to change: the error
/// says what to do instead.
base::Result<void> write_document(const Context& context, const std::string& name, std::string_view text);

/// write_document() for callers that did not hold the lock when they read the file: takes the lock, and
/// fails with kBusy without writing if the file no longer is `before`.
base::Result<void> replace_document(const Context& context, const std::string& name,
                                    const base::Result<std::optional<std::string>>& before,
                                    std::string_view text);

}  // namespace rdmacfg::ctl
