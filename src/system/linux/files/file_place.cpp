// SPDX-License-Identifier: Apache-2.0
#include "system/linux/files/file_place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "model/limits.hpp"

namespace rdmacfg::system::detail {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;
using base::UniqueFd;

namespace {

constexpr std::size_t kLimit = 2 * model::limits::kDocumentBytes;  // a document's record, escaped
constexpr std::array<std::string_view, 2> kRecords{"/var/lib/rdma-configd/", "/run/rdma-configd/"};
/// Users may add mounts (fusermount3(1): 1,000 of them), each with a path of 16 KiB. Without the table
/// nothing says where the host's own file systems are.
constexpr std::array<std::string_view, 2> kMountTables{"/proc/1/mountinfo", "/proc/self/mountinfo"};
constexpr int kReadTries = 3;

base::Failure wrong_sort(const FilePlace& place, mode_t mode) {
  return fail(Code::kIo, fmt::format("{} is {}, not a regular file", place.shown, sort_of(mode)));
}

/// Opens a regular file; no descriptor where none of the name exists.
Result<UniqueFd> open_regular(const FilePlace& place) {
  struct stat status {};
  for (int attempt = 0; attempt < kReadTries; ++attempt) {
    // Looked at before it is opened: opening a device may act on it.
    if (::fstatat(place.folder.get(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return UniqueFd();
      return fail_errno(errno, place.shown);
    }
    if (!S_ISREG(status.st_mode)) return wrong_sort(place, status.st_mode);
    UniqueFd file(::openat(place.folder.get(), place.name.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (file) return file;
    if (errno != ENOENT) return fail_errno(errno, place.shown);
    // Removed since, or exchanged: the next look tells which.
  }
  return fail({Code::kIo, fmt::format("{}: the file appears and disappears", place.shown), ESTALE});
}

}  // namespace

std::string_view sort_of(mode_t mode) {
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Texts of generations, in a folder of their own, are as short as other files.
std::size_t length_limit(std::string_view path) {
  const bool record = std::any_of(kRecords.begin(), kRecords.end(), [&](std::string_view folder) {
    return path.starts_with(folder) && path.find('/', folder.size()) == std::string_view::npos;
  });
  const bool mounts = std::find(kMountTables.begin(), kMountTables.end(), path) != kMountTables.end();
  return record || mounts ? model::limits::kRecordBytes : kLimit;
}

std::string link_of(const FilePlace& place) {
  std::array<char, PATH_MAX> target{};
  const auto length = ::readlinkat(place.folder.get(), place.name.c_str(), target.data(), target.size());
  return length <= 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

Result<std::optional<FileContent>> read_place(const FilePlace& place) {
  FileContent content;
  auto opened = open_regular(place);
  if (!opened) return fail(opened.error());
  if (!*opened) return std::optional<FileContent>();
  content.file = std::move(*opened);
  const auto& file = content.file;
  if (::fstat(file.get(), &content.status) != 0) return fail_errno(errno, place.shown);
  if (!S_ISREG(content.status.st_mode)) return wrong_sort(place, content.status.st_mode);
  const auto limit = length_limit(place.path);
  const auto too_long = [&] {
    return fail(Code::kIo, fmt::format("{}: longer than {} MiB", place.shown, limit / 1024 / 1024));
  };
  if (content.status.st_size > static_cast<off_t>(limit)) return too_long();
  // Files of /proc and /sys have no size; those that grow meanwhile have a wrong one.
  std::size_t length = 0;
  content.text.resize(static_cast<std::size_t>(content.status.st_size) + 1);
  for (;;) {
    const ssize_t got = ::read(file.get(), content.text.data() + length, content.text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, place.shown);
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
    if (length > limit) return too_long();
    if (length == content.text.size()) content.text.resize(std::min(length * 2, limit + 1));
  }
  content.text.resize(length);
  return std::optional(std::move(content));
}

}  // namespace rdmacfg::system::detail
