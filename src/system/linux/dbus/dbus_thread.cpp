// SPDX-License-Identifier: Apache-2.0
// Common to both releases of sdbus-c++: the way to the bus, and a connection's own thread.
#include <cerrno>
#include <memory>
#include <thread>
#include <utility>

#include "model/limits.hpp"
#include "system/linux/dbus/dbus.hpp"
#include "system/linux/dbus/systemd.hpp"

namespace rdmacfg::system::dbus {

void await_bus() {
  sd_bus* opened = nullptr;
  if (sd_bus_open_system(&opened) < 0) return;  // the connection itself says why
  const std::unique_ptr<sd_bus, sd_bus* (*)(sd_bus*)> bus(opened, sd_bus_flush_close_unref);
  if (detail::await_ready(opened, model::limits::kBusCall) == -ETIMEDOUT)
    throw make_error("org.freedesktop.DBus.Error.Timeout", "the system bus does not answer");
}

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
