// SPDX-License-Identifier: Apache-2.0
// A connection's own thread, which both releases of sdbus-c++ have alike.
#include <thread>
#include <utility>

#include "system/linux/dbus/dbus.hpp"

namespace rdmacfg::system::dbus {

// Not enterEventLoopAsync(): of its thread an exception, when the bus goes, is the end of the program.
void Connection::start_thread(std::function<void()> lost) {
  if (thread_.joinable()) return;
  thread_ = std::thread([this, lost = std::move(lost)] {
    try {
      return connection_->enterEventLoop();
    } catch (const sdbus::Error&) {
    }
    if (lost) lost();
  });
}

void Connection::stop_thread() {
  if (!thread_.joinable()) return;
  connection_->leaveEventLoop();
  thread_.join();
}

}  // namespace rdmacfg::system::dbus
