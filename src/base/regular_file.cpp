// SPDX-License-Identifier: Apache-2.0
#include "base/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/unique_fd.hpp"

namespace rdmacfg::base {

namespace {

Failure too_many_bytes(std::size_t most) {
  return fail({Code::kInvalid, "has more than the " + std::to_string(most) + " bytes allowed", EFBIG});
}

Failure failed_to_read(int err) {
  return fail({code_of_errno(err), std::generic_category().message(err), err});
}

}  // namespace

Result<std::string> read_regular_file(const std::string& path, std::size_t most) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return failed_to_read(errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return failed_to_read(errno);
  if (!S_ISREG(status.st_mode))
    return fail({Code::kInvalid, "is not a regular file", S_ISDIR(status.st_mode) ? EISDIR : EINVAL});
  if (static_cast<std::size_t>(status.st_size) > most) return too_many_bytes(most);
  std::string text(static_cast<std::size_t>(status.st_size) + 1, '\0');  // one more shows whether it grew
  std::size_t size = 0;
  for (;;) {
    const auto got = ::read(fd.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed_to_read(errno);
    size += static_cast<std::size_t>(got);
    if (size > most) return too_many_bytes(most);
    if (got == 0) break;
    if (size == text.size()) text.resize(2 * size);
  }
  text.resize(size);
  return text;
}

}  // namespace rdmacfg::base
