// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "system/linux/dbus/systemd.hpp"
#include "system/linux/files/rooted_dir.hpp"
#include "system/linux/initramfs_images.hpp"
#include "system/linux/linux_host.hpp"
#include "system/linux/mounts.hpp"
#include "system/ostree.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::Result;

struct RebuildCommand {
  std::string_view command;
  std::string_view unit;
};

struct Tool {
  std::string_view path;
  RebuildCommand running;  ///< of the kernel that runs, which is the only one
  RebuildCommand all;      ///< of every kernel: another than that which runs may be the next to boot
};

constexpr std::chrono::milliseconds kDeadline = std::chrono::minutes(15);

// Where there is an update-initramfs, the system's images are made by it: by that of initramfs-tools, over
// whose images dracut -f of a dracut-core beside it would write, or by that of dracut, which also runs the
// hooks that tell the boot loader.
constexpr RebuildCommand kDracut{"dracut -f", "rdma-configd-dracut.service"};
constexpr RebuildCommand kDracutAll{"dracut -f --regenerate-all", "rdma-configd-dracut-all.service"};
// zipl, the boot loader of s390x, loads the image by its blocks on the disk, so the units call it after
// dracut.
constexpr RebuildCommand kDracutZipl{"dracut -f && zipl", kDracut.unit};
constexpr RebuildCommand kDracutAllZipl{"dracut -f --regenerate-all && zipl", kDracutAll.unit};
constexpr std::array<Tool, 3> kTools{
    {// Without -k it takes one, also where /boot has no vmlinuz-VERSION, by which -k all goes.
     {"/usr/sbin/update-initramfs",
      {"update-initramfs -u", "rdma-configd-update-initramfs.service"},
      {"update-initramfs -u -k all", "rdma-configd-update-initramfs-all.service"}},
     {"/usr/bin/dracut", kDracut, kDracutAll},
     {"/usr/sbin/dracut", kDracut, kDracutAll}}};

// openSUSE's boot loaders of the Boot Loader Specification start copies on the EFI partition, which dracut
// alone does not make (sdbootutil's is_installed(); /etc/sysconfig/bootloader).
constexpr RebuildCommand kSdbootutil{"sdbootutil mkinitrd", "rdma-configd-sdbootutil.service"};
constexpr std::array<std::string_view, 2> kSdbootLoaders{"systemd-boot", "grub2-bls"};
// Not by a unit of ours: the next snapshot, or the next deployment, has the image (transactional-update(8),
// rpm-ostree(1)).
constexpr RebuildCommand kTransactional{"transactional-update initrd", {}};
constexpr RebuildCommand kOstree{"rpm-ostree initramfs-etc", {}};
// Arch's tool, whose images have modprobe.d by the hook modconf. No unit of ours runs it.
constexpr RebuildCommand kMkinitcpio{"mkinitcpio -P", {}};
// The image in /usr/lib/modules of the container is the one that boots.
constexpr RebuildCommand kBootc{"dracut -f in the Containerfile of its image", {}};

// kernel-install(8) makes a unified kernel image again where its layout is uki; one of a package, such as
// kernel-uki-virt, has its own initrd. dracut alone would make a second image that nothing boots.
constexpr RebuildCommand kUnifiedKernel{"kernel-install add-all", {}};

using detail::FileTime;

/// Reads files of a system below its root, which no link leads out of: waits for no FIFO, and reads no file
/// that is longer than Files reads.
class ReadSystem {
 public:
  explicit ReadSystem(const std::filesystem::path& root) : dirs_(root), files_(make_linux_files(root)) {}

  [[nodiscard]] std::optional<FileTime> changed(const std::string& path) const {
    const auto status = dirs_.status(path);
    if (!status) return std::nullopt;
    return FileTime{status->st_mtim.tv_sec, status->st_mtim.tv_nsec};
  }

  [[nodiscard]] bool there(std::string_view path) const { return changed(std::string(path)).has_value(); }

  /// Empty when it cannot be read.
  [[nodiscard]] std::string text(const std::string& path) const {
    auto content = files_->read_linked(path);
    return content && *content ? std::move(**content) : std::string();
  }

  /// The paths of the entries of a folder.
  [[nodiscard]] std::vector<std::filesystem::path> entries(const std::filesystem::path& folder) const {
    std::vector<std::filesystem::path> out;
    const auto names = files_->list(folder.native());
    if (!names) return out;
    for (const auto& name : *names) out.push_back(folder / name);
    return out;
  }

  // Which tools make and boot images here.

  /// Whether openSUSE's tool for such boot loaders made what this system boots.
  [[nodiscard]] bool sdbootutil_boots() const;
  /// Whether ostree has booted a container image.
  [[nodiscard]] bool deploys_container() const { return system::deploys_container(*files_); }
  /// Whether dracut itself makes unified kernel images: uefi=yes, of the last line that has it
  /// (dracut.conf(5)).
  [[nodiscard]] bool dracut_makes_unified() const;
  /// Whether zipl is set up; Debian's update-initramfs calls it by a hook.
  [[nodiscard]] bool has_zipl() const;

 private:
  detail::RootedDir dirs_;
  std::unique_ptr<Files> files_;
};

bool ReadSystem::sdbootutil_boots() const {
  if (!there("/usr/bin/sdbootutil")) return false;
  const auto all = text("/etc/sysconfig/bootloader");
  constexpr std::string_view kType = "LOADER_TYPE=";
  for (const auto line : base::split(all, '\n')) {
    if (!line.starts_with(kType)) continue;
    std::string type(line.substr(kType.size()));
    std::erase_if(type, [](char c) { return c == '"' || c == '\'' || c == ' ' || c == '\t'; });
    return std::find(kSdbootLoaders.begin(), kSdbootLoaders.end(), type) != kSdbootLoaders.end();
  }
  return false;
}

/// dropindirs_sort() of dracut.sh, by sort -V: 9-site comes before 10-site.
struct DracutOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;
  }
};

bool ReadSystem::dracut_makes_unified() const {
  // By name: a file of a later folder takes the place of those of its name. The first is of dracut-ng 109.
  std::map<std::string, std::filesystem::path, DracutOrder> by_name;
  for (const auto* folder :
       {"/run/initramfs/dracut.conf.d", "/usr/lib/dracut/dracut.conf.d", "/etc/dracut.conf.d"}) {
    for (const auto& file : entries(folder))
      if (file.extension() == ".conf") by_name.insert_or_assign(file.stem().native(), file);
  }
  std::vector<std::filesystem::path> files{"/etc/dracut.conf"};
  for (const auto& [name, file] : by_name) files.push_back(file);
  bool out = false;
  for (const auto& path : files) {
    const auto all = text(path.native());
    for (const auto part : base::split(all, '\n')) {
      std::string line(part);
      std::erase_if(line, [](char c) { return c == '"' || c == '\'' || c == ' ' || c == '\t' || c == '\r'; });
      if (line.starts_with("uefi=")) out = line == "uefi=yes" || line.starts_with("uefi=yes#");
    }
  }
  return out;
}

bool ReadSystem::has_zipl() const { return there("/usr/sbin/zipl") && there("/etc/zipl.conf"); }

class LinuxInitramfs final : public Initramfs {
 public:
  LinuxInitramfs(std::filesystem::path root, std::filesystem::path mounts)
      : root_(std::move(root)), mounts_(std::move(mounts)), system_(root_) {}

  std::optional<std::string> tool() override {
    const auto way = find();
    return way ? std::optional(std::string(way->command)) : std::nullopt;
  }

  std::optional<std::string> by_hand() override {
    if (by_container()) return "this system's initramfs comes with its container image";
    if (ostree()) return "ostree makes this system's images";
    if (boot_is_read_only()) return "/boot is mounted read-only";
    const auto way = find();
    if (way && way->command == kMkinitcpio.command) return "mkinitcpio makes this system's images";
    if (way && way->command == kUnifiedKernel.command)
      return "this system boots a unified kernel image, and one of a package stays as it is";
    return std::nullopt;
  }

  bool has_image() override { return !images().empty() || unseen(); }

  std::optional<std::string> unseen() override { return unmounted(); }

  bool newer_than(std::span<const std::string> paths) override {
    const auto image = newest_image();
    if (!image) return false;
    for (const auto& path : paths) {
      const std::filesystem::path whole(path);
      for (const auto& each : {whole, whole.parent_path()}) {
        if (const auto time = system_.changed(each.native()); time && *time > *image) return false;
      }
    }
    return true;
  }

  std::string marks_ahead_of_clock() override {
    timespec now{};
    const auto newest = newest_image();
    if (!newest || ::clock_gettime(CLOCK_REALTIME, &now) != 0 || *newest <= FileTime{now.tv_sec, now.tv_nsec})
      return {};
    std::string out;
    for (const auto& [path, stamp] : images()) out += (out.empty() ? "" : " ") + mark_of(stamp);
    return out;
  }

  bool is_marked(const std::string& marks) override {
    const auto known = base::split(marks, ' ');
    const auto own = own_images();
    return std::any_of(own.begin(), own.end(), [&](const auto& image) {
      return std::find(known.begin(), known.end(), mark_of(image.second)) != known.end();
    });
  }

  Result<void> rebuild() override {
    auto found = find();
    if (!found) return fail(Code::kNotFound, "rebuilding the initramfs: no tool is installed");
    if (const auto reason = by_hand())
      return fail(Code::kUnsupported, fmt::format("{}: {}; run it by hand", found->command, *reason));
    const auto before = detail::observe_images(root_);  // mounts what the tool will write to in any case
    if (auto seen = find()) found = seen;
    const auto what = fmt::format("running {}", found->command);
    systemd_.set_timeout(kDeadline);
    const auto ended = systemd_.run_job("StartUnit", std::string(found->unit), what);
    if (!ended) return fail(ended.error());
    if (!*ended) return fail(Code::kUnsupported, what + ": no systemd answers to run it; run it by hand");
    if (**ended != detail::JobEnd::kDone)
      return fail(Code::kBusy, what + ": systemd has queued it behind other jobs");
    const auto after = detail::observe_images(root_);
    if (!detail::made_anew(before, after)) {
      return fail(Code::kRefused,
                  fmt::format("{}: it succeeded, but built no image (journalctl -u {})", what, found->unit));
    }
    // The stamp that says so is on disk in any case.
    if (auto done = detail::sync_made(before, after); !done)
      return fail(done.error().in(fmt::format("{}: writing its image to disk", found->command)));
    return {};
  }

 private:
  /// The release of the kernel that runs; nothing below another root, where none does.
  [[nodiscard]] std::optional<std::string> running() const {
    struct utsname names {};
    if (root_ != "/" || ::uname(&names) != 0) return std::nullopt;
    return std::string(static_cast<const char*>(names.release));
  }

  /// Those that a look can see without mounting anything.
  [[nodiscard]] detail::Images images() const { return detail::observe_images(root_, mounts_); }

  /// The images that this system boots from.
  [[nodiscard]] detail::Images own_images() const {
    auto out = detail::boot_images(images(), running());
    if (boots_unified())
      std::erase_if(out, [](const auto& image) { return image.first.extension() != ".efi"; });
    return out;
  }

  /// When the newest of them was made.
  [[nodiscard]] std::optional<FileTime> newest_image() const {
    std::optional<FileTime> image;
    for (const auto& [path, stamp] : own_images()) {
      if (!image || stamp.modified > *image) image = stamp.modified;
    }
    return image;
  }

  /// Without the inode and st_ctim: a FAT file system has other ones once it is mounted again.
  static std::string mark_of(const detail::ImageStamp& stamp) {
    return fmt::format("{}.{}.{}", stamp.size, stamp.modified.first, stamp.modified.second);
  }

  /// The folder where the images may be, while none of the kernel that runs is seen elsewhere.
  [[nodiscard]] std::optional<std::string> unmounted() const {
    return newest_image() ? std::nullopt : detail::unmounted_image_folder(mounts_);
  }

  [[nodiscard]] bool there(std::string_view path) const { return system_.there(path); }

  /// Of a system that ostree has booted, ostree(1).
  [[nodiscard]] bool ostree() const { return there("/run/ostree-booted"); }

  /// Such a system that bootc(8) upgrades: it has no rpm-ostree, or has booted a container image.
  [[nodiscard]] bool by_container() const {
    return ostree() && there("/usr/bin/bootc") &&
           (!there("/usr/bin/rpm-ostree") || system_.deploys_container());
  }

  /// By the variable that systemd-stub(7) sets.
  [[nodiscard]] bool boots_unified() const {
    return there("/sys/firmware/efi/efivars/StubInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f");
  }

  /// Whether zipl boots the images themselves. With /boot/zipl it boots a grub (SUSE, dracut's 91zipl), which
  /// finds them in the file system. A look must not have /boot mounted: until then it counts as without that
  /// folder, and rebuild() looks again.
  [[nodiscard]] bool zipl_boots() const {
    if (!system_.has_zipl()) return false;
    return detail::awaits_mount(mounts_, "/boot") || !there("/boot/zipl");
  }

  [[nodiscard]] bool boot_is_read_only() const { return detail::mounted_read_only(mounts_, "/boot"); }

  /// How it is done here; nothing without a tool.
  [[nodiscard]] std::optional<RebuildCommand> find() const {
    if (by_container()) return kBootc;
    if (ostree()) return kOstree;
    if (boot_is_read_only() && there("/usr/sbin/transactional-update")) return kTransactional;
    if (system_.sdbootutil_boots()) return kSdbootutil;
    for (const auto& tool : kTools) {
      if (!there(tool.path)) continue;
      const bool dracut = tool.running.unit == kDracut.unit;
      if (dracut && boots_unified() && !system_.dracut_makes_unified()) return kUnifiedKernel;
      // Images that nobody sees may be of another kernel.
      const bool all = !running() || unmounted() || detail::of_several_kernels(images());
      if (dracut && zipl_boots()) return all ? kDracutAllZipl : kDracutZipl;
      return all ? tool.all : tool.running;
    }
    return there("/usr/bin/mkinitcpio") ? std::optional(kMkinitcpio) : std::nullopt;
  }

  std::filesystem::path root_, mounts_;
  ReadSystem system_;
  detail::Systemd systemd_;
};

}  // namespace

std::unique_ptr<Initramfs> make_linux_initramfs(std::filesystem::path root,
                                                const std::filesystem::path& mounts) {
  const bool running = root == "/" || mounts != "/proc/1/mounts";
  return std::make_unique<LinuxInitramfs>(std::move(root), running ? mounts : std::filesystem::path());
}

}  // namespace rdmacfg::system
