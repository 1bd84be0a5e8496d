// SPDX-License-Identifier: Apache-2.0
#include "ctl/output_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/open_folder.hpp"
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

/// Where a path leads: no symbolic link, unless it leads nowhere or to an open file. The folder stays open,
/// so that nobody redirects the file by exchanging a folder on the way for a link.
struct Place {
  fs::path path;
  base::UniqueFd folder{};              ///< opened with O_PATH; empty if the folder does not exist
  std::string name{};                   ///< in the folder
  std::optional<struct stat> status{};  ///< of the existing file
  bool is_open = false;                 ///< a process has it open: it is written to, not replaced
};

/// @return without a folder, errno says why
Place open_place(const fs::path& path) {
  const auto above = path.parent_path();
  Place place{path};
  place.name = path.has_filename() ? path.filename().string() : ".";
  place.folder =
      base::UniqueFd(::open(above.empty() ? "." : above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return place;
}

/// Temporary files of runs that were killed; a living process has its own locked.
void remove_leftovers(int folder) {
  const auto listing = base::open_folder(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!listing) return;
  while (const dirent* entry = ::readdir(listing.get())) {
    const auto* name = &entry->d_name[0];
    if (!system::is_temporary_file(name)) continue;
    const base::UniqueFd file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (status.st_uid == ::geteuid() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0)
      (void)::unlinkat(folder, name, 0);
  }
}

/// A file with mode 0600 that other processes leave alone while it is open. @return without one, errno says
/// why
base::UniqueFd make_temporary(int folder, std::string& name) {
  constexpr int kTries = 16;
  constexpr std::size_t kSuffix = 6;
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  for (int i = 0; i < kTries; ++i) {
    std::array<unsigned char, kSuffix> random{};
    if (::getrandom(random.data(), random.size(), 0) < 0) return {};
    name = system::kTemporaryFile;
    for (const auto byte : random) name += kLetters[byte % kLetters.size()];
    base::UniqueFd file(
        ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    struct stat status {};
    if (!file && errno == EEXIST) continue;
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
bool sync_folder(int folder) {
  const base::UniqueFd opened(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return errno == EACCES;  // it may be written to, and not read
  // EINVAL: of file systems that have no such thing.
  return ::fsync(opened.get()) == 0 || errno == EINVAL;
}

/// Replaces the existing file, if any, with a new one.
base::Result<void> put_in_place(const Place& place, std::string_view text, const Access& access) {
  const int folder = place.folder.get();
  remove_leftovers(folder);
  std::string name;
  const auto file = make_temporary(folder, name);
  if (!file) return base::fail_errno(errno, place.path.string());
  // A file that cannot be given away keeps its owner.
  if (access.owner) (void)!::fchown(file.get(), access.owner->first, access.owner->second);
  const bool done = write_all(file.get(), text) && ::fchmod(file.get(), access.mode) == 0 &&
                    ::fsync(file.get()) == 0 &&
                    ::renameat(folder, name.c_str(), folder, place.name.c_str()) == 0;
  if (!done) {
    const int why = errno;
    (void)::unlinkat(folder, name.c_str(), 0);
    return base::fail_errno(why, place.path.string());
  }
  if (!sync_folder(folder)) return base::fail_errno(errno, place.path.string());
  return {};
}

/// The same for a path whose last link is not followed.
base::Result<void> put_at(const fs::path& path, std::string_view text, const Access& access) {
  const auto place = open_place(path);
  if (!place.folder) return base::fail_errno(errno, path.string());
  return put_in_place(place, text, access);
}

/// Whether a new file cannot be made beside the old one, which may be written to all the same.
bool is_refused(const base::Error& error) {
  return error.sys_errno == EACCES || error.sys_errno == EPERM || error.sys_errno == EROFS;
}

/// In a folder where everybody makes files, such as /tmp, those of another user may be a trap: a link to a
/// file of ours, or a file whose owner reads what is written. open(2) refuses both there (protected_symlinks
/// and protected_regular, proc_sys_fs(5)), but nothing here opens them.
bool is_trap(int folder_fd, const struct stat& there) {
  struct stat folder {};
  if (::fstat(folder_fd, &folder) != 0) return false;
  const bool shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return shared && there.st_uid != ::geteuid() && there.st_uid != folder.st_uid;
}

/// Whether the links of a folder lead to what a process has open, as /dev/stdout does by way of
/// /proc/self/fd. Their text is not a path then: "pipe:[4711]".
bool is_in_proc(int folder) {
  struct statfs about {};
  constexpr auto kProc = static_cast<decltype(about.f_type)>(0x9fa0);  // PROC_SUPER_MAGIC, linux/magic.h
  return ::fstatfs(folder, &about) == 0 && about.f_type == kProc;
}

/// Follows the links itself, so that each has been looked at, and none is followed that comes afterwards.
base::Result<Place> find_place(const fs::path& path) {
  constexpr int kLinksMost = 40;  // the kernel's MAXSYMLINKS
  constexpr std::size_t kTargetMost = 4096;
  Place place = open_place(path);
  for (int links = 0; links <= kLinksMost; ++links) {
    const int folder = place.folder.get();
    struct stat status {};
    if (folder < 0 || ::fstatat(folder, place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return place;
    if (is_trap(folder, status))
      return base::fail(base::Code::kDenied,
                        fmt::format("{}: another user owns it, and everybody may create files in its folder",
                                    place.path.string()));
    place.is_open = S_ISLNK(status.st_mode) && is_in_proc(folder);
    if (!S_ISLNK(status.st_mode)) place.status = status;
    if (place.status || place.is_open) return place;
    std::array<char, kTargetMost> target{};
    const auto length = ::readlinkat(folder, place.name.c_str(), target.data(), target.size());
    if (length < 0) return base::fail_errno(errno, place.path.string());
    place = open_place(place.path.parent_path() /
                       std::string_view(target.data(), static_cast<std::size_t>(length)));
  }
  return base::fail_errno(ELOOP, path.string());
}

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Writes to the existing device, pipe, or file in a folder that takes no new files. Fails if it is no longer
/// the one that find_place() saw. Sets `mode` before writing.
base::Result<void> write_through(const Place& place, std::string_view text, std::optional<mode_t> mode) {
  const int flags = O_WRONLY | O_NOCTTY | O_CLOEXEC | (place.is_open ? 0 : O_NOFOLLOW);
  const base::UniqueFd file(::openat(place.folder.get(), place.name.c_str(), flags));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return base::fail_errno(errno, place.path.string());
  if (place.status && !is_same_file(*place.status, status))
    return base::fail(base::Code::kBusy, fmt::format("{}: was replaced meanwhile", place.path.string()));
  const bool regular = S_ISREG(status.st_mode);
  errno = 0;
  if ((mode && ::fchmod(file.get(), *mode) != 0) || (regular && ::ftruncate(file.get(), 0) != 0) ||
      !write_all(file.get(), text) || (regular && ::fsync(file.get()) != 0 && errno != EINVAL))
    return base::fail_errno(errno == 0 ? EIO : errno, place.path.string());
  return {};
}

/// Of a file that is there, `text` gets `mode`, or keeps the one of the file.
base::Result<void> put_or_write(const fs::path& path, std::string_view text, std::optional<mode_t> mode) {
  constexpr mode_t kAccess = 07777;
  const auto found = find_place(path);  // a symbolic link stays one
  if (!found) return base::fail(found.error());
  const auto& place = *found;
  if (place.is_open) return write_through(place, text, std::nullopt);
  if (const auto& there = place.status) {
    std::optional<mode_t> given;
    // On a full disk the text that was there stays.
    if (S_ISREG(there->st_mode) && ::faccessat(place.folder.get(), place.name.c_str(), W_OK, 0) == 0) {
      Access access{mode.value_or(there->st_mode & kAccess)};
      if (!mode) access.owner = std::pair(there->st_uid, there->st_gid);
      auto done = put_in_place(place, text, access);
      if (done || !is_refused(done.error())) return done;
      if (mode && there->st_uid != ::geteuid()) return done;  // its owner would read the secrets
      given = mode;
    }
    return write_through(place, text, given);
  }
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error)
    return base::fail(base::Code::kIo, fmt::format("{}: {}", path.parent_path().string(), error.message()));
  // A link to nothing makes the file that it leads to.
  return mode ? put_at(path, text, Access{*mode}) : put_at(place.path, text, usual_access());
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
  return put_at(path, text, {});
}

}  // namespace rdmacfg::ctl
