// SPDX-License-Identifier: Apache-2.0
// The users of this host's disks. Sources: proc_pid_mountinfo(5), swapon(8),
// Documentation/ABI/stable/sysfs-block, Documentation/ABI/testing/sysfs-block-dm, fs/btrfs/sysfs.c,
// fs/ext4/sysfs.c, fs/xfs/xfs_sysfs.c, fs/f2fs/sysfs.c (folders named as the device), drivers/block/loop.c;
// drivers/target/target_core_configfs.c and target_core_iblock.c, drivers/nvme/target/configfs.c;
// src/libsystemd/sd-device/device-private.c of systemd (the database of udev), spa_stats.c of OpenZFS.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "system/linux/files/sysfs_dir.hpp"
#include "system/storage/disk_use.hpp"

namespace rdmacfg::system::detail {

/// Users of these disks ("sdb") and their partitions: "/dev/sdb1 is mounted on /scratch", "md0 holds
/// /dev/sdb", and the users of what holds them: "/dev/md0 is mounted on /". A multipath device that keeps a
/// disk which is not among them is none.
/// @param udev  its database
std::vector<DiskUse> uses_of(const std::set<std::string>& disks, const std::filesystem::path& sysfs,
                             const std::filesystem::path& proc,
                             const std::filesystem::path& udev = "/run/udev/data");

}  // namespace rdmacfg::system::detail
