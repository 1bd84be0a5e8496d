// SPDX-License-Identifier: Apache-2.0
#include "system/linux/rooted_dir.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace rdmacfg::system::detail {

using base::fail_errno;
using base::Result;
using base::UniqueFd;

namespace {

constexpr mode_t kFolderMode = 0755;
constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

/// A descriptor, or -1 and errno.
int open_below(int folder, const std::string& path, std::uint64_t resolve) {
  open_how how{};
  how.flags = kFolder;
  how.resolve = resolve | RESOLVE_NO_MAGICLINKS;
  int fd = -1;
  do {  // EAGAIN: something on the way was renamed just now
    fd = static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
  } while (fd < 0 && (errno == EAGAIN || errno == EINTR));
  return fd;
}

}  // namespace

std::string RootedDir::shown(const std::string& path) const {
  return root_ == "/" ? path
                      : (root_ / std::filesystem::path(path).relative_path()).lexically_normal().native();
}

Result<UniqueFd> RootedDir::open(const std::string& path, Links links) const {
  const UniqueFd root(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return fail_errno(errno, root_.native());
  auto below = std::filesystem::path(path).relative_path().lexically_normal();
  if (below.empty()) below = ".";
  if (root_ != "/" || links == Links::kFollowed) {
    int fd = open_below(root.get(), below.native(), root_ == "/" ? 0 : RESOLVE_IN_ROOT);
    // Before Linux 5.6 only the machine's own root can be had, for which nothing has to be kept inside.
    if (fd < 0 && errno == ENOSYS && root_ == "/") fd = ::openat(root.get(), below.c_str(), kFolder);
    if (fd < 0) return fail_errno(errno, shown(path));
    return UniqueFd(fd);
  }
  const auto top = *below.begin();
  const UniqueFd managed(::openat(root.get(), top.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!managed) return fail_errno(errno, shown(path));
  const auto rest = below.lexically_relative(top);
  UniqueFd fd(open_below(managed.get(), rest.native(), RESOLVE_BENEATH));
  if (!fd && errno == EXDEV) {
    return base::fail(base::Code::kIo,
                      fmt::format("{}: a symbolic link on the way leads out of {}, where nothing is written; "
                                  "make it a folder, or mount the other one there",
                                  shown(path), shown("/" + top.native())));
  }
  if (!fd) return fail_errno(errno, shown(path));
  return fd;
}

Result<UniqueFd> RootedDir::make(const std::string& path) const {
  auto folder = open(path, Links::kInside);
  if (folder || folder.error().sys_errno != ENOENT) return folder;
  const std::filesystem::path whole(path);
  const auto name = whole.filename().native();
  if (name.empty() || whole.parent_path() == whole) return folder;
  const auto parent = make(whole.parent_path());
  if (!parent) return tl::unexpected(parent.error());
  if (::mkdirat(parent->get(), name.c_str(), kFolderMode) == 0) {
    // The umask has had its say in mkdirat.
    const UniqueFd made(
        ::openat(parent->get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!made || ::fchmod(made.get(), kFolderMode) != 0 || ::fsync(parent->get()) != 0) {
      return fail_errno(errno, shown(path));
    }
  } else if (errno != EEXIST) {
    return fail_errno(errno, shown(path));
  }
  return open(path, Links::kInside);
}

}  // namespace rdmacfg::system::detail
