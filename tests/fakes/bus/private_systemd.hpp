// SPDX-License-Identifier: Apache-2.0
// systemd at the end of its own socket, without a bus (sd_bus_set_server(3), org.freedesktop.systemd1(5)).
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-id128.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/unique_fd.hpp"

namespace rdmacfg::fakes::bus {

/// A socket that lets clients connect.
inline base::UniqueFd listen_at(const std::filesystem::path& path) {
  base::UniqueFd out(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  EXPECT_LT(path.native().copy(address.sun_path, sizeof address.sun_path), sizeof address.sun_path);
  EXPECT_EQ(::bind(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(out.get(), 16), 0);
  return out;
}

/// Knows one unit, by its ActiveState.
class PrivateSystemd {
 public:
  /// Where `told` is given, it is called with each answer about a unit, and states are never told.
  PrivateSystemd(const std::filesystem::path& socket, std::string unit, std::string state,
                 std::function<void()> told = {})
      : unit_(std::move(unit)),
        state_(std::move(state)),
        told_(std::move(told)),
        listening_(listen_at(socket)) {
    thread_ = std::thread([this] { accept_all(); });
  }
  PrivateSystemd(const PrivateSystemd&) = delete;
  PrivateSystemd& operator=(const PrivateSystemd&) = delete;
  /// Tells its client that it reads its unit files, or has read them.
  void announce_reload(bool active) { reload_ = active ? 1 : 0; }
  ~PrivateSystemd() {
    ends_ = true;
    thread_.join();
  }

 private:
  static constexpr int kTick = 20;  ///< ms

  void accept_all() {
    while (!ends_) {
      pollfd waiting{listening_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, kTick) <= 0) continue;
      const int client = ::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (client >= 0) serve(client);
    }
  }

  void serve(int client) {
    sd_bus* opened = nullptr;
    sd_id128_t id{};
    EXPECT_GE(sd_id128_randomize(&id), 0);
    EXPECT_GE(sd_bus_new(&opened), 0);
    const std::unique_ptr<sd_bus, sd_bus* (*)(sd_bus*)> connection(opened, sd_bus_flush_close_unref);
    EXPECT_GE(sd_bus_set_fd(opened, client, client), 0);
    EXPECT_GE(sd_bus_set_server(opened, 1, id), 0);
    EXPECT_GE(sd_bus_add_filter(opened, nullptr, &PrivateSystemd::answer, this), 0);
    EXPECT_GE(sd_bus_start(opened), 0);
    while (!ends_) {
      if (const int active = reload_.exchange(-1); active >= 0) {
        EXPECT_GE(sd_bus_emit_signal(opened, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                                     "Reloading", "b", active),
                  0);
      }
      const int status = sd_bus_process(opened, nullptr);
      if (status < 0) return;
      if (status == 0 && sd_bus_wait(opened, static_cast<std::uint64_t>(kTick) * 1000) < 0) return;
    }
  }

  static int answer(sd_bus_message* call, void* user, sd_bus_error* /*error*/) {
    const auto& self = *static_cast<const PrivateSystemd*>(user);
    if (sd_bus_message_is_method_call(call, "org.freedesktop.systemd1.Manager", "GetUnit") > 0) {
      const char* name = nullptr;
      if (const int status = sd_bus_message_read(call, "s", &name); status < 0) return status;
      if (self.told_) self.told_();
      if (self.unit_ == name) return sd_bus_reply_method_return(call, "o", "/unit");
      return sd_bus_reply_method_errorf(call, "org.freedesktop.systemd1.NoSuchUnit", "Unit %s not loaded.",
                                        name);
    }
    if (sd_bus_message_is_method_call(call, "org.freedesktop.DBus.Properties", "Get") <= 0) return 0;
    if (self.told_) return 1;  // it waits for ever
    const char *interface = nullptr, *property = nullptr;
    if (const int status = sd_bus_message_read(call, "ss", &interface, &property); status < 0) return status;
    return std::string_view(property) == "ActiveState"
               ? sd_bus_reply_method_return(call, "v", "s", self.state_.c_str())
               : 0;
  }

  const std::string unit_, state_;
  const std::function<void()> told_;
  const base::UniqueFd listening_;
  std::atomic<bool> ends_{false};
  std::atomic<int> reload_{-1};  ///< to be told; -1: nothing
  std::thread thread_;
};

}  // namespace rdmacfg::fakes::bus
