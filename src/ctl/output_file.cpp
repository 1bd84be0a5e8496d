// SPDX-License-Identifier: Apache-2.0
#include "ctl/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
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
  std::error_code none;
  struct stat status {};
  const auto place = fs::canonical(path, none);  // a symbolic link stays one
  if (!none && ::stat(place.c_str(), &status) == 0) {
    // On a full disk the text that was there stays.
    if (S_ISREG(status.st_mode) && ::access(place.c_str(), W_OK) == 0) {
      auto done = put_in_place(
          place, text, {mode.value_or(status.st_mode & kAccess), std::pair(status.st_uid, status.st_gid)});
      if (done || !is_refused(done.error())) return done;
      if (mode && ::chmod(place.c_str(), *mode) != 0) return base::fail_errno(errno, place.string());
    }
    return write_through(path, text);
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
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_output(path, text);
  return put_in_place(path, text, {});
}

}  // namespace rdmacfg::ctl
