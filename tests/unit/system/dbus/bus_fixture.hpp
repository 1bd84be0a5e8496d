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
    return out;
  }
  /// For managers that do not answer. The bus itself has to answer within `time`, too.
  static constexpr std::chrono::milliseconds kShort{300};
  [[nodiscard]] BusLimits short_limits(std::chrono::milliseconds time = kShort) const {
    auto out = limits();
    out.call = out.job = out.down = out.install = time;
    out.queued = std::chrono::milliseconds(50);
    return out;
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
