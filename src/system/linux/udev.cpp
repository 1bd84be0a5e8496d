// SPDX-License-Identifier: Apache-2.0
// Source: org.freedesktop.systemd1(5).
#include <fmt/format.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>

#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;
using Clock = std::chrono::steady_clock;

// Of the whole; reloading takes 20 ms on an idle host, and two seconds on one that is busy booting.
constexpr std::chrono::microseconds kTimeout = std::chrono::seconds(10);
constexpr const char* kSystemd = "org.freedesktop.systemd1";
constexpr const char* kManagerPath = "/org/freedesktop/systemd1";
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";
constexpr const char* kUnit = "systemd-udevd.service";
constexpr const char* kWhat = "having systemd-udevd read its rules again";

using Bus = std::unique_ptr<sd_bus, sd_bus* (*)(sd_bus*)>;
using Reply = std::unique_ptr<sd_bus_message, sd_bus_message* (*)(sd_bus_message*)>;
using Slot = std::unique_ptr<sd_bus_slot, sd_bus_slot* (*)(sd_bus_slot*)>;

struct BusError {
  sd_bus_error error{};  // SD_BUS_ERROR_NULL, which is a compound literal of C
  BusError() = default;
  BusError(const BusError&) = delete;
  BusError& operator=(const BusError&) = delete;
  ~BusError() { sd_bus_error_free(&error); }

  /// Nobody there to be told, or a udevd that cannot be told and looks at its folders by itself.
  [[nodiscard]] bool says_absent() const {
    static constexpr std::array kAbsent{
        "org.freedesktop.systemd1.NoSuchUnit", "org.freedesktop.systemd1.JobTypeNotApplicable",
        "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner"};
    for (const char* name : kAbsent) {
      if (sd_bus_error_has_name(&error, name) != 0) return true;
    }
    return false;
  }
};

/// The end of a job, as systemd announces it.
struct Job {
  std::string path;
  std::string ended;   ///< path of the job that ended last
  std::string result;  ///< "done", "failed", "skipped", …

  static int on_removed(sd_bus_message* message, void* user, sd_bus_error* /*error*/) {
    auto& job = *static_cast<Job*>(user);
    const char *path = nullptr, *unit = nullptr, *result = nullptr;
    std::uint32_t id = 0;
    if (sd_bus_message_read(message, "uoss", &id, &path, &unit, &result) < 0) return 0;
    if (std::string_view(unit) != kUnit || (!job.path.empty() && job.path != path)) return 0;
    job.ended = path;
    job.result = result;
    return 0;
  }
};

class SystemdUdev final : public Udev {
 public:
  Result<void> reload_rules() override {
    // sd_booted(3)
    if (::access("/run/systemd/system", F_OK) != 0) return {};
    sd_bus* opened = nullptr;
    if (const int failed = sd_bus_open_system(&opened); failed < 0) {
      // Early at boot, in a container: no bus.
      if (failed == -ENOENT || failed == -ECONNREFUSED || failed == -ENOMEDIUM) return {};
      return fail_errno(-failed, kWhat);
    }
    const Bus bus(opened, sd_bus_flush_close_unref);
    sd_bus_set_method_call_timeout(bus.get(), static_cast<std::uint64_t>(kTimeout.count()));
    return reload(bus.get(), Clock::now() + kTimeout);
  }

 private:
  static Result<void> reload(sd_bus* bus, Clock::time_point end) {
    Job job;
    sd_bus_slot* raw_slot = nullptr;
    int status = sd_bus_match_signal(bus, &raw_slot, kSystemd, kManagerPath, kManager, "JobRemoved",
                                     Job::on_removed, &job);
    const Slot slot(raw_slot, sd_bus_slot_unref);
    if (status < 0) return fail_errno(-status, kWhat);
    BusError error;
    // Without a subscriber systemd sends no signals.
    status = sd_bus_call_method(bus, kSystemd, kManagerPath, kManager, "Subscribe", &error.error, nullptr,
                                nullptr);
    if (status < 0) return failed(error, status);
    sd_bus_message* raw_reply = nullptr;
    status = sd_bus_call_method(bus, kSystemd, kManagerPath, kManager, "ReloadUnit", &error.error, &raw_reply,
                                "ss", kUnit, "replace");
    const Reply reply(raw_reply, sd_bus_message_unref);
    if (status < 0) return failed(error, status);
    const char* path = nullptr;
    if (status = sd_bus_message_read(reply.get(), "o", &path); status < 0) return fail_errno(-status, kWhat);
    job.path = path;
    return wait(bus, job, end);
  }

  static Result<void> wait(sd_bus* bus, Job& job, Clock::time_point end) {
    for (;;) {
      const int status = sd_bus_process(bus, nullptr);
      if (status < 0) return fail_errno(-status, kWhat);
      if (job.ended == job.path) break;
      if (status > 0) continue;
      const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now());
      if (left.count() <= 0) return fail(Code::kTimeout, fmt::format("{}: it did not answer in time", kWhat));
      if (const int waited = sd_bus_wait(bus, static_cast<std::uint64_t>(left.count()));
          waited < 0 && waited != -EINTR) {
        return fail_errno(-waited, kWhat);
      }
    }
    // "invalid": the unit is not active, and reads its rules when it starts.
    if (job.result == "done" || job.result == "skipped" || job.result == "invalid") return {};
    return fail(Code::kRefused, fmt::format("{}: systemd says \"{}\"", kWhat, job.result));
  }

  static Result<void> failed(const BusError& error, int status) {
    if (error.says_absent()) return {};
    auto out = base::errno_error(-status, kWhat);
    if (error.error.message != nullptr) out.message = fmt::format("{}: {}", kWhat, error.error.message);
    return fail(std::move(out));
  }
};

}  // namespace

std::unique_ptr<Udev> make_linux_udev() { return std::make_unique<SystemdUdev>(); }

}  // namespace rdmacfg::system
