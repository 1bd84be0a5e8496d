// SPDX-License-Identifier: Apache-2.0
#include "system/linux/files/replacement_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include "system/linux/files/selinux_label.hpp"
#include "system/temporary_file.hpp"

namespace rdmacfg::system::detail {

using base::fail_errno;
using base::Result;
using base::UniqueFd;

namespace {

constexpr int kTempTries = 16;

}  // namespace

ReplacementFile::~ReplacementFile() {
  if (!name.empty()) ::unlinkat(place.folder.get(), name.c_str(), 0);
}

Result<void> ReplacementFile::create() {
  const CreationLabel label(place.path, S_IFREG);
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  constexpr std::size_t kSuffix = 6;
  for (int attempt = 0; attempt < kTempTries; ++attempt) {
    std::array<unsigned char, kSuffix> random{};
    if (::getrandom(random.data(), random.size(), 0) < 0) return fail_errno(errno, place.shown);
    std::string candidate(kTemporaryFile);
    for (const auto byte : random) candidate += kLetters[byte % kLetters.size()];
    file = UniqueFd(::openat(place.folder.get(), candidate.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (file) {
      // Locked until it is closed. A process that took it for left over just before removes it.
      struct stat status {};
      const bool taken = ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
      errno = EEXIST;
      if (taken || (::fstat(file.get(), &status) == 0 && status.st_nlink == 0)) continue;
      name = std::move(candidate);
      return {};
    }
    if (errno != EEXIST) break;
  }
  return fail_errno(errno, place.shown);
}

bool is_being_written(const FilePlace& place, UniqueFd& held) {
  if (!place.name.starts_with(kTemporaryFile)) return false;
  held = UniqueFd(
      ::openat(place.folder.get(), place.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return held && ::flock(held.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace rdmacfg::system::detail
