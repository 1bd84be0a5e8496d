// SPDX-License-Identifier: Apache-2.0
// Transient timers. Source: org.freedesktop.systemd1(5), StartTransientUnit.
#include "system/timers.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "system/linux/dbus/systemd.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::fail;
using base::Result;
using detail::BusError;
using detail::BusMessage;
using detail::kSystemd;
using detail::kSystemdManager;
using detail::kSystemdPath;

class SystemdTimers final : public Timers {
 public:
  explicit SystemdTimers(BusLimits limits) : systemd_(std::move(limits)) {}

  Result<void> arm(const std::string& name, std::chrono::milliseconds delay) override {
    const std::string what = name + ".timer: start";
    if (auto gone = disarm(name); !gone) return gone;
    auto bus = systemd_.bus();  // only now: disarming may have opened another connection
    if (!bus) return fail(bus.error());
    if (*bus == nullptr) return fail(base::Code::kUnsupported, what + ": no systemd answers");
    if (auto there = check_service(*bus, name + ".service"); !there) return there;
    // A stopped timer of that name is there until systemd has collected it.
    for (int attempt = 0;; ++attempt) {
      BusError error;
      const int status = systemd_.noted(start(*bus, name, delay, error));
      if (status >= 0) return {};
      if (attempt == kAttempts || !error.is_systemds("UnitExists")) return fail(error.error_of(status, what));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  Result<void> disarm(const std::string& name) override {
    const std::string what = name + ".timer: stop";
    auto bus = systemd_.bus();
    if (!bus) return fail(bus.error());
    if (*bus == nullptr) return {};
    BusError error;
    const int status =
        systemd_.noted(sd_bus_call_method(*bus, kSystemd, kSystemdPath, kSystemdManager, "StopUnit",
                                          &error.error, nullptr, "ss", (name + ".timer").c_str(), "replace"));
    if (status < 0 && !error.is_systemds("NoSuchUnit") && !error.says_nobody())
      return fail(error.error_of(status, what));
    return {};
  }

 private:
  static constexpr int kAttempts = 50;

  /// An error where the service of a timer cannot start: systemd arms the timer all the same, and it fires in
  /// vain. Without an answer nothing is known against it.
  Result<void> check_service(sd_bus* bus, const std::string& service) {
    sd_bus_message* raw = nullptr;
    BusError error;
    const int status =
        systemd_.noted(sd_bus_call_method(bus, kSystemd, kSystemdPath, kSystemdManager, "ListUnitsByNames",
                                          &error.error, &raw, "as", 1, service.c_str()));
    const BusMessage reply(raw, sd_bus_message_unref);
    const char *id = nullptr, *description = nullptr, *load = nullptr;
    if (status < 0 || sd_bus_message_enter_container(reply.get(), SD_BUS_TYPE_ARRAY, "(ssssssouso)") <= 0 ||
        sd_bus_message_enter_container(reply.get(), SD_BUS_TYPE_STRUCT, "ssssssouso") <= 0 ||
        sd_bus_message_read(reply.get(), "sss", &id, &description, &load) <= 0)
      return {};
    const std::string_view state(load);
    if (state == "masked")
      return fail(base::Code::kRefused,
                  fmt::format("{0} is masked, so systemd cannot start it: `systemctl unmask {0}`", service));
    if (state == "not-found")
      return fail(base::Code::kNotFound,
                  "systemd has no " + service + ": install it with rdma-configd's units");
    if (state == "bad-setting" || state == "error")
      return fail(base::Code::kRefused,
                  fmt::format("systemd cannot load {0}: `systemctl status {0}`", service));
    return {};
  }

  static int start(sd_bus* bus, const std::string& name, std::chrono::milliseconds delay, BusError& error) {
    sd_bus_message* raw = nullptr;
    int status = sd_bus_message_new_method_call(bus, &raw, kSystemd, kSystemdPath, kSystemdManager,
                                                "StartTransientUnit");
    const BusMessage call(raw, sd_bus_message_unref);
    if (status < 0) return status;
    const auto micros = static_cast<std::uint64_t>(std::chrono::microseconds(delay).count());
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const auto since_boot =
        static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
    // A transient timer starts the service of its own name; Unit= cannot be set. Both count monotonic time; a
    // suspended host has nobody working on it. OnActiveSec= starts over when systemd reads its units again
    // (timer_coldplug() in src/core/timer.c), OnBootSec= does not; but in a container that is counted from
    // its start, and so comes later.
    status = sd_bus_message_append(
        call.get(), "ssa(sv)a(sa(sv))", (name + ".timer").c_str(), "replace", 6, "Description", "s",
        "Roll back an RDMA configuration that was not confirmed", "TimersMonotonic", "a(st)", 2,
        "OnActiveSec", micros, "OnBootSec", since_boot + micros, "AccuracyUSec", "t", std::uint64_t{50'000},
        "RemainAfterElapse", "b", 0, "DefaultDependencies", "b", 0, "IgnoreOnIsolate", "b", 1, 0);
    return status < 0 ? status : sd_bus_call(bus, call.get(), 0, &error.error, nullptr);
  }

  detail::Systemd systemd_;
};

}  // namespace

std::unique_ptr<Timers> make_linux_timers(BusLimits limits) {
  return std::make_unique<SystemdTimers>(std::move(limits));
}

}  // namespace rdmacfg::system
