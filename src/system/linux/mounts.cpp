// SPDX-License-Identifier: Apache-2.0
#include "system/linux/mounts.hpp"

#include <mntent.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace detail {

namespace {

/// Whether `inner` is `outer`, or below it.
bool within(const std::filesystem::path& inner, const std::filesystem::path& outer) {
  const auto ends = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  return ends.first == outer.end();
}

struct MountedAs {
  std::string type;
  bool read_only = false;
};

/// How the file system is mounted that a folder lies on: the last one that is mounted there or on the nearest
/// folder above it.
MountedAs mount_of(const std::filesystem::path& table, const std::filesystem::path& folder) {
  constexpr std::size_t kLine = 8192;  // options of overlay file systems are long
  MountedAs out;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(::setmntent(table.c_str(), "re"), ::endmntent);
  if (!file) return out;
  std::filesystem::path nearest;
  mntent entry{};
  std::array<char, kLine> text{};
  while (::getmntent_r(file.get(), &entry, text.data(), static_cast<int>(text.size())) != nullptr) {
    const std::filesystem::path mounted = entry.mnt_dir;
    if (!within(folder, mounted) || !within(mounted, nearest)) continue;
    nearest = mounted;
    out = {entry.mnt_type, ::hasmntopt(&entry, "ro") != nullptr};
  }
  return out;
}

}  // namespace

bool mounted_read_only(const std::filesystem::path& table, const std::filesystem::path& folder) {
  return mount_of(table, folder).read_only;
}

bool awaits_mount(const std::filesystem::path& table, const std::filesystem::path& folder) {
  return mount_of(table, folder).type == "autofs";
}

}  // namespace detail

namespace {

struct MountPoint {
  std::filesystem::path path;
  std::string type, device;  ///< "nfs4", "0:52"
};

std::vector<MountPoint> mount_points_in(const std::filesystem::path& table) {
  constexpr std::size_t kDevice = 2, kPath = 4;
  std::ifstream in(table);
  std::vector<MountPoint> out;
  for (std::string line; std::getline(in, line);) {
    const auto words = base::split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() <= kPath || words.end() - dash < 2) continue;
    out.push_back({base::unescape_octal(words[kPath]), std::string(dash[1]), std::string(words[kDevice])});
  }
  return out;
}

/// The topmost of several mounts at one place; nullptr if even "/" is missing.
const MountPoint* mount_point_of(const std::filesystem::path& path, const std::vector<MountPoint>& points) {
  const MountPoint* nearest = nullptr;
  for (const auto& point : points) {
    if (!detail::within(path, point.path)) continue;
    if (nearest == nullptr || detail::within(point.path, nearest->path)) nearest = &point;
  }
  return nearest;
}

/// Whether the kernel alone answers, from memory or from a block device.
bool is_local(std::string_view type) {
  constexpr auto kTypes =
      std::to_array<std::string_view>({"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "nilfs2",
                                       "overlay", "ramfs", "reiserfs", "tmpfs", "vfat", "xfs", "zfs"});
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

void put_parts(const std::filesystem::path& path, std::vector<std::filesystem::path>& reversed) {
  const std::vector<std::filesystem::path> parts(path.begin(), path.end());
  reversed.insert(reversed.end(), parts.rbegin(), parts.rend());
}

}  // namespace

std::string type_unless_local(const std::filesystem::path& folder, const std::filesystem::path& table) {
  constexpr int kLinksMost = 40;  // MAXSYMLINKS
  const auto points = mount_points_in(table);
  const auto* root = mount_point_of("/", points);
  if (root == nullptr) return "unknown";
  std::vector<std::filesystem::path> rest;
  put_parts(folder, rest);
  std::filesystem::path at = "/";
  for (int links = 0; !rest.empty() && links <= kLinksMost;) {
    const auto part = rest.back();
    rest.pop_back();
    if (part.empty() || part == "/" || part == ".") continue;
    if (part == "..") {
      at = at.parent_path();
      continue;
    }
    const auto next = at / part;
    // Before the file system is touched.
    const auto* mount = mount_point_of(next, points);
    if (mount->device != root->device && !is_local(mount->type)) return mount->type;
    std::error_code error;
    const auto target = std::filesystem::read_symlink(next, error);
    if (error) {
      at = next;
      continue;
    }
    ++links;
    if (target.is_absolute()) at = "/";
    put_parts(target, rest);
  }
  return {};
}

}  // namespace rdmacfg::system
