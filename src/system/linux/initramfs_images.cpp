// SPDX-License-Identifier: Apache-2.0
#include "system/linux/initramfs_images.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "system/linux/files/rooted_dir.hpp"
#include "system/linux/linux_host.hpp"
#include "system/linux/mounts.hpp"

namespace rdmacfg::system::detail {

namespace {

using std::filesystem::path;

constexpr std::array<std::string_view, 3> kImages{"initrd.img-*", "initramfs-*.img", "initrd-*"};
constexpr std::array<std::string_view, 2> kEntryImages{"initrd", "initrd-*"};  // TOKEN/VERSION/initrd
constexpr std::array<std::string_view, 1> kUnified{"*.efi"};
constexpr std::array<std::string_view, 5> kSpare{"kdump", "rescue", ".bak", ".old", ".dpkg-"};
constexpr std::size_t kMachineId = 32;  // hexadecimal digits

bool digit(char c) { return c >= '0' && c <= '9'; }

/// From the first part of a name that looks like a version on: "6.1.0-18-amd64" of
/// "initrd.img-6.1.0-18-amd64".
std::string release_in(std::string_view name) {
  for (std::size_t start = 0; start < name.size(); ++start) {
    const auto end = std::min(name.find_first_not_of("0123456789", start), name.size());
    const bool begins = (start == 0 || name[start - 1] == '-') && end != start;
    if (begins && end + 1 < name.size() && name[end] == '.' && digit(name[end + 1]))
      return std::string(name.substr(start));
  }
  return {};
}

/// Of the Boot Loader Specification and dracut: "MACHINE-ID-6.9.3-200.fc40.x86_64+3" (tries that are left),
/// "linux-6.9.3-MACHINE-ID".
std::string release_in_unified(std::string_view name) {
  auto release = release_in(name);
  if (const auto plus = release.find('+');
      plus != std::string::npos && plus + 1 < release.size() && digit(release[plus + 1]))
    release.resize(plus);
  const auto dash = release.rfind('-');
  const bool id = dash != std::string::npos && release.size() - dash - 1 == kMachineId &&
                  release.find_first_not_of("0123456789abcdef", dash + 1) == std::string::npos;
  if (id) release.resize(dash);
  return release;
}

std::string release_of(const path& image) {
  const auto name = image.filename().string();
  const auto folder = image.parent_path().filename().string();  // TOKEN/VERSION/initrd, …/initrd-1
  const auto stem = std::string_view(name).substr(0, name.rfind('.'));
  if (name.ends_with(".efi")) return release_in_unified(stem);
  if (name.ends_with(".img")) return release_in(stem);
  auto release = release_in(name);
  return release.empty() ? release_in(folder) : release;
}

/// Whether nothing is booted from it in the usual way: of crash and rescue kernels, and what tools and
/// packages keep of a former image.
bool spare(const path& image) {
  const auto name = image.parent_path().filename().string() + "/" + image.filename().string();
  return std::any_of(kSpare.begin(), kSpare.end(),
                     [&](auto word) { return name.find(word) != std::string::npos; });
}

/// Below one root, which no link leads out of.
class ImageSearch {
 public:
  explicit ImageSearch(const path& root) : root_(root), dirs_(root), files_(make_linux_files(root)) {}

  template <class Each>
  void each_entry(const path& folder, Each each) {
    const auto names = files_->list(folder.native());
    if (!names) return;  // what cannot be listed has nothing
    for (const auto& name : *names) each(folder / name);
  }

  template <std::size_t N>
  void collect(const path& folder, const std::array<std::string_view, N>& patterns, Images& out) {
    each_entry(folder, [&](const path& file) {
      const auto name = file.filename().string();
      const bool fits = std::any_of(patterns.begin(), patterns.end(),
                                    [&](auto pattern) { return base::matches_glob(pattern, name); });
      if (!fits) return;
      const auto status = dirs_.status(file.native());
      if (!status || !S_ISREG(status->st_mode)) return;
      out[root_ / file.relative_path()] = {status->st_ino,
                                           status->st_size,
                                           {status->st_ctim.tv_sec, status->st_ctim.tv_nsec},
                                           {status->st_mtim.tv_sec, status->st_mtim.tv_nsec},
                                           release_of(file)};
    });
  }

 private:
  path root_;
  RootedDir dirs_;
  std::unique_ptr<Files> files_;
};

}  // namespace

Images observe_images(const path& root, const path& mounts) {
  Images out;
  ImageSearch search(root);
  for (const auto partition : kImageFolders) {
    const path top(partition);
    if (awaits_mount(mounts, top)) continue;
    if (partition == kImageFolders.front()) search.collect(top, kImages, out);
    search.each_entry(top, [&](const path& token) {
      // An automount may lie right below another folder of images.
      if (awaits_mount(mounts, token)) return;
      search.each_entry(token, [&](const path& version) { search.collect(version, kEntryImages, out); });
    });
    search.collect(top / "EFI" / "Linux", kUnified, out);
  }
  return out;
}

std::optional<std::string> unmounted_image_folder(const path& mounts) {
  const auto at = std::find_if(kImageFolders.begin(), kImageFolders.end(),
                               [&](auto folder) { return awaits_mount(mounts, folder); });
  return at == kImageFolders.end() ? std::nullopt : std::optional(std::string(*at));
}

bool of_several_kernels(const Images& all) {
  std::set<std::string> releases;
  for (const auto& [file, stamp] : all) {
    if (!stamp.release.empty() && !spare(file)) releases.insert(stamp.release);
  }
  return releases.size() > 1;
}

Images boot_images(const Images& all, const std::optional<std::string>& release) {
  auto wanted = release.value_or(std::string());
  for (const auto& [file, stamp] : all) {
    const bool newer = !release && ::strverscmp(stamp.release.c_str(), wanted.c_str()) > 0;
    if (newer && !spare(file)) wanted = stamp.release;
  }
  Images out, untold;
  for (const auto& [file, stamp] : all) {
    if (spare(file)) continue;
    if (stamp.release.empty()) untold.emplace(file, stamp);
    if (!stamp.release.empty() && stamp.release == wanted) out.emplace(file, stamp);
  }
  return out.empty() ? untold : out;
}

bool made_anew(const Images& before, const Images& after) {
  return std::any_of(after.begin(), after.end(), [&](const auto& image) {
    const auto at = before.find(image.first);
    return at == before.end() || at->second != image.second;
  });
}

base::Result<void> sync_made(const Images& before, const Images& after) {
  for (const auto& [image, stamp] : after) {
    const auto at = before.find(image);
    if (at != before.end() && at->second == stamp) continue;
    // The folder last: a new image has its name there.
    for (const auto& each : {image, image.parent_path()}) {
      const base::UniqueFd file(::open(each.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
      if (file && ::fsync(file.get()) != 0) return base::fail_errno(errno, each.native());
    }
  }
  return {};
}

}  // namespace rdmacfg::system::detail
