// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/naming.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <utility>

namespace rdmacfg::daemon {

namespace {

struct Watch {
  int fd = -1;
  Loop::Handle source{};
  Loop::Handle meanwhile{};

  Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    source.reset();
    meanwhile.reset();
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

Loop::Handle when_named(Loop& loop, std::function<void()> named, std::function<std::string()> name) {
  if (!name().empty()) return {};
  auto watch = std::make_shared<Watch>();
  watch->fd = ::open("/proc/sys/kernel/hostname", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (watch->fd < 0) return {};
  const auto look = [named = std::move(named), name = std::move(name)] {
    if (!name().empty()) named();
  };
  watch->source = loop.on_changing(
      watch->fd, [] { return Loop::Interest{.events = POLLPRI}; }, look);
  watch->meanwhile = loop.after(std::chrono::milliseconds(0), look);  // before there was a watch
  return watch;
}

}  // namespace rdmacfg::daemon
