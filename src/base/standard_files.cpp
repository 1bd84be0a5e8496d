// SPDX-License-Identifier: Apache-2.0
#include "base/standard_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace rdmacfg::base {

bool take_standard_files() {
  for (const int wanted : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(wanted, F_GETFD) >= 0 || errno != EBADF) continue;
    // Opened the wrong way round, so that reading does not find the end of data and writing fails. Programs
    // that are started have it, too.
    const int taken = ::open("/dev/null", wanted == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (taken == wanted) continue;  // the lowest number that is free (open(2))
    if (taken >= 0) ::close(taken);
    return false;
  }
  return true;
}

}  // namespace rdmacfg::base
