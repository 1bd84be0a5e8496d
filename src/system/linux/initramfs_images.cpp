// SPDX-License-Identifier: Apache-2.0
#include "system/linux/initramfs_images.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.hpp"

namespace rdmacfg::system::detail {

namespace {

using std::filesystem::path;

constexpr std::array<std::string_view, 3> kImages{"initrd.img-*", "initramfs-*.img", "initrd-*"};
constexpr std::array<std::string_view, 2> kEntryImages{"initrd", "initrd-*"};  // TOKEN/VERSION/initrd
constexpr std::array<std::string_view, 1> kUnified{"*.efi"};

template <class Each>
void each_entry(const path& folder, Each each) {
  std::error_code error;  // what cannot be listed has nothing
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    each(at->path());
}

template <std::size_t N>
void collect(const path& folder, const std::array<std::string_view, N>& patterns, Images& out) {
  each_entry(folder, [&](const path& file) {
    const auto name = file.filename().string();
    const bool fits = std::any_of(patterns.begin(), patterns.end(),
                                  [&](auto pattern) { return base::matches_glob(pattern, name); });
    struct stat status {};
    if (!fits || ::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    out[file] = {status.st_ino,
                 status.st_size,
                 {status.st_ctim.tv_sec, status.st_ctim.tv_nsec},
                 {status.st_mtim.tv_sec, status.st_mtim.tv_nsec}};
  });
}

}  // namespace

Images observe_images(const path& root) {
  Images out;
  collect(root / "boot", kImages, out);
  for (const auto* partition : {"boot", "efi", "boot/efi"}) {
    const auto top = root / partition;
    each_entry(top, [&](const path& token) {
      each_entry(token, [&](const path& version) { collect(version, kEntryImages, out); });
    });
    collect(top / "EFI" / "Linux", kUnified, out);
  }
  return out;
}

bool made_anew(const Images& before, const Images& after) {
  return std::any_of(after.begin(), after.end(), [&](const auto& image) {
    const auto at = before.find(image.first);
    return at == before.end() || at->second != image.second;
  });
}

}  // namespace rdmacfg::system::detail
