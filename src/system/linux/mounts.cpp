// SPDX-License-Identifier: Apache-2.0
#include "system/linux/mounts.hpp"

#include <mntent.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

namespace rdmacfg::system::detail {

namespace {

/// Whether `inner` is `outer`, or below it.
bool within(const std::filesystem::path& inner, const std::filesystem::path& outer) {
  const auto ends = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  return ends.first == outer.end();
}

}  // namespace

bool mounted_read_only(const std::filesystem::path& table, const std::filesystem::path& folder) {
  constexpr std::size_t kLine = 8192;  // options of overlay file systems are long
  const std::unique_ptr<FILE, int (*)(FILE*)> file(::setmntent(table.c_str(), "re"), ::endmntent);
  if (!file) return false;
  bool read_only = false;
  std::filesystem::path nearest;
  mntent entry{};
  std::array<char, kLine> text{};
  while (::getmntent_r(file.get(), &entry, text.data(), static_cast<int>(text.size())) != nullptr) {
    const std::filesystem::path mounted = entry.mnt_dir;
    if (!within(folder, mounted) || !within(mounted, nearest)) continue;
    nearest = mounted;
    read_only = ::hasmntopt(&entry, "ro") != nullptr;
  }
  return read_only;
}

}  // namespace rdmacfg::system::detail
