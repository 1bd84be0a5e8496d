// SPDX-License-Identifier: Apache-2.0
#include "system/linux/rooted_dir.hpp"

#include <fcntl.h>
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

}  // namespace

std::string RootedDir::shown(const std::string& path) const {
  return root_ == "/" ? path
                      : (root_ / std::filesystem::path(path).relative_path()).lexically_normal().native();
}

Result<UniqueFd> RootedDir::open(const std::string& path) const {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  const UniqueFd root(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return fail_errno(errno, root_.native());
  const auto relative = std::filesystem::path(path).relative_path();
  const std::string below = relative.empty() ? "." : relative.native();
  open_how how{};
  how.flags = kFlags;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  if (root_ != "/") how.resolve |= RESOLVE_IN_ROOT;
  int fd = -1;
  do {  // EAGAIN: something on the way was renamed just now
    fd = static_cast<int>(::syscall(SYS_openat2, root.get(), below.c_str(), &how, sizeof how));
  } while (fd < 0 && (errno == EAGAIN || errno == EINTR));
  // Before Linux 5.6 only the machine's own root can be had, for which nothing has to be kept inside.
  if (fd < 0 && errno == ENOSYS && root_ == "/") fd = ::openat(root.get(), below.c_str(), kFlags);
  if (fd < 0) return fail_errno(errno, shown(path));
  return UniqueFd(fd);
}

Result<UniqueFd> RootedDir::make(const std::string& path) const {
  auto folder = open(path);
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
  return open(path);
}

}  // namespace rdmacfg::system::detail
