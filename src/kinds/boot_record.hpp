// SPDX-License-Identifier: Apache-2.0
// Records of kinds in /var/lib/rdma-configd. Those about objects of this boot, such as the RoCE defaults that
// were written, are in the runtime directory while /var cannot be written (ADR 0056).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Where the record `path` is while /var cannot take it. It is newer than the one there.
std::string boot_record_in_run(std::string_view path);

/// Nothing if the record is absent, if the medium cannot return it, or if something other than a file has its
/// name: its objects are made again. Other errors are those of Files::read.
base::Result<std::optional<std::string>> read_kept_record(system::Files& files, const std::string& path);

/// The same of a record of this boot, wherever it is.
base::Result<std::optional<std::string>> read_boot_record(system::Files& files, std::string_view path);

/// Nothing to remember: the record goes.
base::Result<void> write_boot_record(system::Files& files, std::string_view path,
                                     const std::optional<std::string>& text);

}  // namespace rdmacfg::kinds
