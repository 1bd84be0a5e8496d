// SPDX-License-Identifier: Apache-2.0
#include "system/linux/files/rooted_dir.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "system/linux/files/selinux_label.hpp"

namespace rdmacfg::system::detail {

using base::fail_errno;
using base::Result;
using base::UniqueFd;

namespace {

constexpr mode_t kFolderMode = 0755;
constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

constexpr int kLinks = 40;  // as the kernel (MAXSYMLINKS)

/// Names of a path, the last one first.
std::vector<std::string> reversed(const std::filesystem::path& path) {
  std::vector<std::string> names;
  for (const auto& part : path) names.insert(names.begin(), part.native());
  return names;
}

/// The target of a symbolic link; empty when it is not one.
std::string link_target(int folder, const std::string& name) {
  std::array<char, 4096> target{};
  const auto length = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  return length < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

}  // namespace

std::string RootedDir::shown(const std::string& path) const {
  return root_ == "/" ? path
                      : (root_ / std::filesystem::path(path).relative_path()).lexically_normal().native();
}

Result<UniqueFd> RootedDir::open(const std::string& path, Links links) const {
  const UniqueFd root(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) {
    // Not ENOENT, which would say that a file of the tree is missing.
    if (errno == ENOENT)
      return base::fail(
          {base::Code::kIo, fmt::format("{}: the folder does not exist", root_.native()), ESTALE});
    return fail_errno(errno, root_.native());
  }
  auto relative = std::filesystem::path(path).relative_path();
  const bool inside = root_ == "/" && links == Links::kInside;
  // Elsewhere the kernel resolves "..", which behind a symbolic link leads above its target.
  if (inside) relative = relative.lexically_normal();
  const auto below = relative.empty() ? std::string(".") : relative.native();
  if (inside) return open_inside(root.get(), below);
  auto folder = open_followed(root.get(), below, kFolder);
  if (!folder) return fail_errno(errno, shown(path));
  return Result<UniqueFd>(std::move(folder));
}

UniqueFd RootedDir::open_followed(int root, const std::string& below, int flags) const {
  open_how how{};
  how.flags = static_cast<decltype(how.flags)>(flags);
  how.resolve = RESOLVE_NO_MAGICLINKS;
  if (root_ != "/") how.resolve |= RESOLVE_IN_ROOT;
  int fd = -1;
  do {  // EAGAIN: something on the way was renamed just now
    fd = static_cast<int>(::syscall(SYS_openat2, root, below.c_str(), &how, sizeof how));
  } while (fd < 0 && (errno == EAGAIN || errno == EINTR));
  // Before Linux 5.6, and in a service with RestrictSUIDSGID=, only the machine's own root can be had, for
  // which nothing needs to be kept inside.
  if (fd < 0 && errno == ENOSYS && root_ == "/") fd = ::openat(root, below.c_str(), flags);
  return UniqueFd(fd);
}

std::optional<struct stat> RootedDir::status(const std::string& path) const {
  const UniqueFd root(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto relative = std::filesystem::path(path).relative_path();
  if (!root || relative.empty()) return std::nullopt;
  const auto place = open_followed(root.get(), relative.native(), O_PATH | O_CLOEXEC);
  struct stat found {};
  if (!place || ::fstat(place.get(), &found) != 0) return std::nullopt;
  return found;
}

// As openat2 does with RESOLVE_BENEATH, which systemd's RestrictSUIDSGID= answers with ENOSYS: a filter
// cannot see its flags.
Result<UniqueFd> RootedDir::open_inside(int root, const std::string& below) const {
  auto names = reversed(below);
  const auto top = names.back();
  names.pop_back();
  const auto leads_out = [&] {
    return base::fail(base::Code::kIo,
                      fmt::format("{}: a symbolic link in its path leads out of {}, where nothing is "
                                  "written; replace it with a folder, or bind-mount its target there",
                                  shown("/" + below), shown("/" + top)));
  };
  std::vector<UniqueFd> way;
  way.emplace_back(::openat(root, top.c_str(), kFolder));
  if (!way.back()) return fail_errno(errno, shown("/" + below));
  for (int links = 0; !names.empty();) {
    const auto name = std::move(names.back());
    names.pop_back();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      way.pop_back();
      if (way.empty()) return leads_out();
      continue;
    }
    UniqueFd next(::openat(way.back().get(), name.c_str(), kFolder | O_NOFOLLOW));
    if (next) {
      way.push_back(std::move(next));
      continue;
    }
    const int error = errno;
    const auto target = error == ENOTDIR || error == ELOOP ? link_target(way.back().get(), name) : "";
    if (target.empty()) return fail_errno(error, shown("/" + below));
    if (target.front() == '/') return leads_out();
    if (++links > kLinks) return fail_errno(ELOOP, shown("/" + below));
    const auto more = reversed(target);
    names.insert(names.end(), more.begin(), more.end());
  }
  return std::move(way.back());
}

Result<UniqueFd> RootedDir::make(const std::string& path) const {
  auto folder = open(path, Links::kInside);
  if (folder || folder.error().sys_errno != ENOENT) return folder;
  const std::filesystem::path whole(path);
  const auto name = whole.filename().native();
  if (name.empty() || whole.parent_path() == whole) return folder;
  const auto parent = make(whole.parent_path());
  if (!parent) return tl::unexpected(parent.error());
  const CreationLabel label(path, S_IFDIR);
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
