// SPDX-License-Identifier: Apache-2.0
#include "ctl/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/unique_fd.hpp"
#include "system/temporary_file.hpp"

namespace rdmacfg::ctl {

namespace fs = std::filesystem;

namespace {

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Mode and owner of a new file; without an owner it is ours.
struct Access {
  mode_t mode = 0644;
  std::optional<std::pair<uid_t, gid_t>> owner{};
};

/// That of a file that is simply created.
Access usual_access() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return {static_cast<mode_t>(0666U & ~mask)};
}

/// Temporary files of runs that were killed; a living process has its own locked.
void remove_leftovers(const fs::path& folder) {
  std::error_code error;
  for (auto at = fs::directory_iterator(folder.empty() ? fs::path(".") : folder, error);
       !error && at != fs::directory_iterator(); at.increment(error)) {
    const auto& path = at->path();
    if (!system::is_temporary_file(path.filename().string())) continue;
    const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (status.st_uid == ::geteuid() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0)
      (void)::unlink(path.c_str());
  }
}

/// A file with mode 0600 that other processes leave alone while it is open. @return without one, errno says
/// why
base::UniqueFd make_temporary(const fs::path& folder, std::string& name) {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    // Of mkstemp(3).
    name = fmt::format("{}/{}XXXXXX", folder.empty() ? "." : folder.c_str(), system::kTemporaryFile);
    base::UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));
    struct stat status {};
    if (!file) return file;
    // A process that took it for left over just before has removed it.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(file.get(), &status) == 0 &&
        status.st_nlink != 0) {
      return file;
    }
  }
  errno = EEXIST;
  return {};
}

/// Without it a power failure may bring back the name's old file.
bool sync_folder(const fs::path& folder) {
  const base::UniqueFd opened(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return errno == EACCES;  // it may be written to, and not read
  // EINVAL: of file systems that have no such thing.
  return ::fsync(opened.get()) == 0 || errno == EINVAL;
}

/// Puts a new file in the place of `path`.
base::Result<void> put_in_place(const fs::path& path, std::string_view text, const Access& access) {
  const auto folder = path.parent_path();
  remove_leftovers(folder);
  std::string name;
  const auto file = make_temporary(folder, name);
  if (!file) return base::fail_errno(errno, path.string());
  // A file that cannot be given away keeps its owner.
  if (access.owner) (void)!::fchown(file.get(), access.owner->first, access.owner->second);
  const bool done = write_all(file.get(), text) && ::fchmod(file.get(), access.mode) == 0 &&
                    ::fsync(file.get()) == 0 && std::rename(name.c_str(), path.c_str()) == 0;
  if (!done) {
    const int why = errno;
    (void)::unlink(name.c_str());
    return base::fail_errno(why, path.string());
  }
  if (!sync_folder(folder)) return base::fail_errno(errno, path.string());
  return {};
}

/// Whether a new file cannot be made beside the old one, which may be written to all the same.
bool is_refused(const base::Error& error) {
  return error.sys_errno == EACCES || error.sys_errno == EPERM || error.sys_errno == EROFS;
}

/// In a folder where everybody makes files, such as /tmp, those of another user may be a trap: a link to a
/// file of ours, or a file whose owner reads what is written. open(2) refuses both there (protected_symlinks
/// and protected_regular, proc_sys_fs(5)), but nothing here opens them.
bool is_trap(const fs::path& path, const struct stat& there) {
  struct stat folder {};
  const auto above = path.parent_path();
  if (::stat(above.empty() ? "." : above.c_str(), &folder) != 0) return false;
  const bool shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return shared && there.st_uid != ::geteuid() && there.st_uid != folder.st_uid;
}

/// Whether a link leads to what a process has open, as /dev/stdout does by way of /proc/self/fd. Its text is
/// no path then: "pipe:[4711]".
bool is_link_of_proc(const fs::path& link) {
  struct statfs about {};
  constexpr auto kProc = static_cast<decltype(about.f_type)>(0x9fa0);  // PROC_SUPER_MAGIC, linux/magic.h
  const auto above = link.parent_path();
  return ::statfs(above.empty() ? "." : above.c_str(), &about) == 0 && about.f_type == kProc;
}

/// Where a path leads: no symbolic link, unless it leads nowhere or to an open file.
struct Place {
  fs::path path;
  std::optional<struct stat> status{};  ///< of the existing file
  bool is_open = false;                 ///< a process has it open: it is written to, not replaced
};

/// Follows the links itself, so that each has been looked at, and none is followed that comes afterwards.
base::Result<Place> find_place(const fs::path& path) {
  constexpr int kLinksMost = 40;  // the kernel's MAXSYMLINKS
  Place place{path};
  for (int links = 0; links <= kLinksMost; ++links) {
    struct stat status {};
    if (::lstat(place.path.c_str(), &status) != 0) return place;
    if (is_trap(place.path, status))
      return base::fail(base::Code::kDenied,
                        fmt::format("{}: another user owns it, and everybody may create files in its folder",
                                    place.path.string()));
    if (!S_ISLNK(status.st_mode)) {
      place.status = status;
      return place;
    }
    if (is_link_of_proc(place.path)) {
      place.is_open = true;
      return place;
    }
    std::error_code error;
    const auto target = fs::read_symlink(place.path, error);
    if (error) return base::fail_errno(error.value(), place.path.string());
    place.path = place.path.parent_path() / target;
  }
  return base::fail_errno(ELOOP, path.string());
}

/// Writes to what is there: a device, a pipe, or a file in a folder where none can be made.
base::Result<void> write_through(const fs::path& path, std::string_view text) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream) return base::fail_errno(errno == 0 ? EIO : errno, path.string());
  return {};
}

/// Of a file that is there, `text` gets `mode`, or keeps the one of the file.
base::Result<void> put_or_write(const fs::path& path, std::string_view text, std::optional<mode_t> mode) {
  constexpr mode_t kAccess = 07777;
  const auto found = find_place(path);  // a symbolic link stays one
  if (!found) return base::fail(found.error());
  const auto& place = found->path;
  if (found->is_open) return write_through(place, text);
  if (const auto& there = found->status) {
    // On a full disk the text that was there stays.
    if (S_ISREG(there->st_mode) && ::access(place.c_str(), W_OK) == 0) {
      Access access{mode.value_or(there->st_mode & kAccess)};
      if (!mode) access.owner = std::pair(there->st_uid, there->st_gid);
      auto done = put_in_place(place, text, access);
      if (done || !is_refused(done.error())) return done;
      if (mode && there->st_uid != ::geteuid()) return done;  // its owner would read the secrets
      if (mode && ::chmod(place.c_str(), *mode) != 0) return base::fail_errno(errno, place.string());
    }
    return write_through(place, text);
  }
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error)
    return base::fail(base::Code::kIo, fmt::format("{}: {}", path.parent_path().string(), error.message()));
  // A link to nothing makes the file that it leads to.
  if (!mode && fs::is_symlink(fs::symlink_status(path, error))) return write_through(path, text);
  return put_in_place(path, text, mode ? Access{*mode} : usual_access());
}

}  // namespace

base::Result<void> write_output(const fs::path& path, std::string_view text) {
  return put_or_write(path, text, std::nullopt);
}

base::Result<void> write_private_output(const fs::path& path, std::string_view text) {
  return put_or_write(path, text, mode_t{S_IRUSR | S_IWUSR});
}

base::Result<void> replace_output(const fs::path& path, std::string_view text) {
  std::error_code error;
  const auto status = fs::status(path, error);
  const auto place = find_place(path);
  const bool open_already = place && place->is_open;
  if (open_already || (fs::exists(status) && !fs::is_regular_file(status))) return write_output(path, text);
  return put_in_place(path, text, {});
}

}  // namespace rdmacfg::ctl
