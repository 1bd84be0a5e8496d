// SPDX-License-Identifier: Apache-2.0
// The adapters of managers on a bus of the test's own, without a need for root or for the machine's bus.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "fakes/bus/peer.hpp"
#include "system/linux/dbus/bus_limits.hpp"
#include "unit/daemon/private_bus.hpp"
#include "unit/system/temp_tree.hpp"
#include "unit/wait_until.hpp"

namespace rdmacfg::system {

class BusFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!bus->there()) GTEST_SKIP() << "no dbus-daemon here";
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", bus->address().c_str(), 1);
    std::filesystem::create_directories(folder.at("/run/systemd/system"));
  }

  [[nodiscard]] BusLimits limits() const {
    BusLimits out;
    out.systemd = folder.at("/run/systemd");
    out.bus = std::chrono::seconds(25);  // a loaded machine may stall longer than a host that boots
    return out;
  }
  /// For managers that do not answer. The bus itself has to answer within `time`, too.
  static constexpr std::chrono::milliseconds kShort{300};
  [[nodiscard]] BusLimits short_limits(std::chrono::milliseconds time = kShort) const {
    auto out = limits();
    out.call = out.reload = out.job = out.down = out.install = time;
    out.queued = std::chrono::milliseconds(50);
    return out;
  }

  /// A manager that does not answer calls of `member` is a timeout. `request`: (limits) -> its error. On a
  /// loaded machine the bus itself, or another call before, may miss the first limits.
  template <class Request>
  void expect_timeout(fakes::bus::Peer& peer, const std::string& member, Request request) const {
    base::Error seen;
    bool called = false;
    const bool ended = unit::with_growing_limit(kShort, [&](std::chrono::milliseconds time) {
      const auto before = peer.calls(member);
      const std::optional<base::Error> failure = request(short_limits(time));
      seen = failure.value_or(base::Error{base::Code::kInvalid, "no error", 0});
      called = peer.calls(member) > before;
      return called && seen.code == base::Code::kTimeout;
    });
    EXPECT_TRUE(ended) << seen.message << (called ? "" : ", and nobody called " + member);
  }
  /// The error of a result; nothing when it is good.
  template <class T>
  [[nodiscard]] static std::optional<base::Error> error_of(const base::Result<T>& result) {
    return result ? std::nullopt : std::optional(result.error());
  }

  /// All connections end, and the bus is there again; managers are not.
  void restart_bus() {
    bus.reset();
    bus.emplace(folder);
    ASSERT_TRUE(bus->there());
  }

  /// Waits for a call of this member. @return whether it came
  static bool await_call(fakes::bus::Peer& peer, const std::string& member, std::size_t number = 1) {
    return unit::wait_until([&] { return peer.calls(member) >= number; });
  }

  TempTree folder;
  std::optional<daemon::PrivateBus> bus{std::in_place, folder};
};

}  // namespace rdmacfg::system
