// SPDX-License-Identifier: Apache-2.0
// A process in which inotify soon reaches its limits.
#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <functional>
#include <string>

namespace rdmacfg::system {

/// The text that `body` returns in a child, in a user namespace with this limit of user_namespaces(7):
/// "max_inotify_watches", "max_inotify_instances". Nothing where there are no such namespaces.
inline std::string with_little_inotify(const std::string& limit, int value,
                                       const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {};
  const auto child = ::fork();
  if (child == 0) {
    std::string said;
    if (::unshare(CLONE_NEWUSER) == 0 &&
        static_cast<bool>(std::ofstream("/proc/sys/user/" + limit) << value << std::flush))
      said = body();
    (void)!::write(ends[1], said.data(), said.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string out;
  std::array<char, 512> part{};
  for (ssize_t count = 0; child > 0 && (count = ::read(ends[0], part.data(), part.size())) > 0;)
    out.append(part.data(), static_cast<std::size_t>(count));
  ::close(ends[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  return out;
}

}  // namespace rdmacfg::system
