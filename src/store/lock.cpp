// SPDX-License-Identifier: Apache-2.0
#include "store/lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

#include "base/unique_fd.hpp"

namespace rdmacfg::core {

namespace {

constexpr std::chrono::milliseconds kPoll{100};

/// "process 1234", as /proc/locks has it. The file itself stays empty: an apply with nothing to do writes
/// nothing.
std::string holder_of(int fd) {
  struct stat status {};
  std::ifstream locks("/proc/locks");
  if (::fstat(fd, &status) != 0) return "another process";
  const auto inode = fmt::format(":{} ", status.st_ino);
  for (std::string line; std::getline(locks, line);) {
    // 1: FLOCK  ADVISORY  WRITE 1234 00:18:777 0 EOF
    std::istringstream words(line);
    std::string number, sort, how, access, pid;
    if (line.find(inode) != std::string::npos && words >> number >> sort >> how >> access >> pid &&
        sort == "FLOCK") {
      return fmt::format("process {}", pid);
    }
  }
  return "another process";
}

/// Whether the path leads to another file than the one that is open, or to none: it was removed, renamed or
/// replaced while it was waited for, and a second process would lock what is there now.
bool is_replaced(int fd, const std::filesystem::path& path) {
  struct stat held {
  }, there{};
  if (::fstat(fd, &held) != 0) return false;
  // A folder that has gone comes back from nobody.
  if (::lstat(path.c_str(), &there) != 0) return errno == ENOENT && !S_ISDIR(held.st_mode);
  return held.st_dev != there.st_dev || held.st_ino != there.st_ino;
}

base::UniqueFd open_lock(const std::filesystem::path& path) {
  std::error_code error;
  const int how = std::filesystem::is_directory(path, error) ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT;
  return base::UniqueFd(::open(path.c_str(), how | O_CLOEXEC | O_NOFOLLOW, 0600));
}

}  // namespace

base::Result<std::shared_ptr<void>> take_lock(const std::filesystem::path& path,
                                              std::chrono::milliseconds deadline,
                                              const std::function<void(const std::string& holder)>& waiting,
                                              const std::function<bool()>& cancelled) {
  auto fd = open_lock(path);
  if (!fd) return base::fail_errno(errno, "lock " + path.string());
  const auto end = std::chrono::steady_clock::now() + deadline;
  bool told = false;
  for (;;) {
    const bool taken = ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
    const int why = taken ? 0 : errno;
    if (!taken && why != EWOULDBLOCK && why != EINTR) return base::fail_errno(why, "lock " + path.string());
    if (taken && !is_replaced(fd.get(), path)) break;
    if (std::chrono::steady_clock::now() >= end) {
      return base::fail(
          base::Code::kTimeout,
          taken ? path.string() + ": replaced again and again; nothing was changed"
                : fmt::format("{} still holds {}; nothing was changed", holder_of(fd.get()), path.string()));
    }
    if (cancelled && cancelled()) return base::fail(base::Code::kRefused, "cancelled");
    if (taken) {
      fd = open_lock(path);
      if (!fd) return base::fail_errno(errno, "lock " + path.string());
      continue;
    }
    if (why == EINTR) continue;
    if (!told) waiting(holder_of(fd.get()));
    told = true;
    std::this_thread::sleep_for(kPoll);
  }
  return std::make_shared<base::UniqueFd>(std::move(fd));
}

std::filesystem::path lock_of(const std::filesystem::path& root) {
  return root == "/" ? std::filesystem::path("/run/rdma-configd.lock") : root;
}

std::string waits_for(const std::string& holder) {
  return holder + " is applying; waiting until it has finished";
}

}  // namespace rdmacfg::core
