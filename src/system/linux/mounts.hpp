// SPDX-License-Identifier: Apache-2.0
// The table of mounts. Source: proc_mounts(5), getmntent(3).
#pragma once

#include <filesystem>

namespace rdmacfg::system::detail {

/// Whether `folder` lies on a file system that `table` (/proc/PID/mounts) says is mounted read-only: the last
/// one that is mounted there or on the nearest folder above it. False when the table cannot be read.
bool mounted_read_only(const std::filesystem::path& table, const std::filesystem::path& folder);

/// Whether `folder` lies at or below an automount (systemd.automount(5)) that nothing has mounted: a look
/// into it would mount it. False when the table cannot be read.
bool awaits_mount(const std::filesystem::path& table, const std::filesystem::path& folder);

}  // namespace rdmacfg::system::detail
