// SPDX-License-Identifier: Apache-2.0
// Mount units of systemd for NFS over RDMA, and the drop-in that has them started at boot. Sources:
// systemd.mount(5), systemd.unit(5) ("String Escaping for Inclusion in Unit Names"), nfs(5).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kUnitFolder = "/etc/systemd/system";
/// remote-fs.target is what NFS mounts of fstab belong to, too.
inline constexpr std::string_view kBootMountsFile =
    "/etc/systemd/system/remote-fs.target.d/50-rdma-configd-nfs.conf";

/// The name of the unit that mounts a path, as `systemd-escape --path --suffix=mount` prints it.
std::string mount_unit_name(std::string_view path);
/// Its file among the administrator's units.
std::string mount_unit_file(std::string_view path);

struct NfsMountUnit {
  std::string path;    ///< Where=
  std::string server;  ///< without brackets
  std::string exported;
  std::int64_t port = 0;
  std::vector<std::string> options;  ///< without those that every one has
  bool operator==(const NfsMountUnit&) const = default;
};

/// "192.0.2.1:/scratch", "[2001:db8::1]:/scratch": What= and the source of the mount.
std::string nfs_source(std::string_view server, std::string_view exported);

std::string render_mount_unit(const NfsMountUnit& unit);
/// Whether the first line says that it is ours.
bool is_our_mount_unit(std::string_view text);
/// Nothing when it is not one of ours, or lacks a value that those have.
std::optional<NfsMountUnit> parse_mount_unit(std::string_view text);

/// Units that are started at boot.
std::set<std::string> parse_boot_mounts(std::string_view text);
std::string render_boot_mounts(const std::set<std::string>& units);

}  // namespace rdmacfg::kinds
