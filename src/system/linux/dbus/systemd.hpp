// SPDX-License-Identifier: Apache-2.0
// A connection to systemd's manager. Sources: org.freedesktop.systemd1(5), sd-bus(3).
#pragma once

#include <systemd/sd-bus.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "system/linux/dbus/bus_limits.hpp"
#include "system/linux/dbus/silence.hpp"

namespace rdmacfg::system::detail {

using BusMessage = std::unique_ptr<sd_bus_message, sd_bus_message* (*)(sd_bus_message*)>;

constexpr const char* kSystemd = "org.freedesktop.systemd1";
constexpr const char* kSystemdPath = "/org/freedesktop/systemd1";
constexpr const char* kSystemdManager = "org.freedesktop.systemd1.Manager";

/// The error that a method answered instead of a reply.
struct BusError {
  sd_bus_error error{};  // SD_BUS_ERROR_NULL, which is a compound literal of C
  BusError() = default;
  BusError(const BusError&) = delete;
  BusError& operator=(const BusError&) = delete;
  ~BusError() { sd_bus_error_free(&error); }

  [[nodiscard]] bool is(const char* name) const { return sd_bus_error_has_name(&error, name) != 0; }
  /// "org.freedesktop.systemd1." in front of the name.
  [[nodiscard]] bool is_systemds(const char* name) const;
  /// Nobody there to answer.
  [[nodiscard]] bool says_nobody() const;
  [[nodiscard]] base::Error error_of(int status, const std::string& what) const;
};

/// Whether calls can be made over it; not once the other side has closed it. Drops the signals that have
/// come in the meantime, of which systemd sends many to a direct connection. Not for a callback of the bus.
bool is_usable(sd_bus* bus);

/// Its sender as the bus writes it, which no client can choose; empty without one. A match alone does not
/// tell: any client may send a signal to the name of another, and sd-bus takes it for one of the service.
std::string sender_of(sd_bus_message* message);

std::uint64_t microseconds_of(std::chrono::milliseconds duration);

/// Waits until calls can be made over a connection that was just opened: sd-bus itself gives the other side
/// 90 s for that, which hangs a boot. After an error the connection is closed, as flushing it would wait,
/// too.
/// @return as sd_bus_process(3); -ETIMEDOUT when it took longer
int await_ready(sd_bus* opened, std::chrono::milliseconds deadline);

/// A connection that is being opened, for await_steps().
struct OpeningSteps {
  std::function<bool()> is_ready;
  std::function<int()> process;                                ///< sd_bus_process(3)
  std::function<int(std::chrono::microseconds at_most)> wait;  ///< sd_bus_wait(3)
  Silence::Now now;
};

/// The loop of await_ready(). The deadline holds also for a peer that sends without end.
int await_steps(const OpeningSteps& steps, std::chrono::milliseconds deadline);

/// How a job ended.
enum class JobEnd {
  kDone,
  kQueued,   ///< it waits for other jobs and stays in systemd's queue
  kInvalid,  ///< it makes no sense for the unit as it is (reload of one that is not active)
};

/// The connection is opened at the first use: to systemd itself for root, which works before there is a bus,
/// else over the system bus. It is opened again when the other side has closed it.
class Systemd {
 public:
  explicit Systemd(BusLimits limits = {}) : limits_(std::move(limits)) {}
  Systemd(const Systemd&) = delete;  // a match of the connection leads to it
  Systemd& operator=(const Systemd&) = delete;

  /// The connection; nothing when no systemd answers. A systemd that left a call unanswered is asked for a
  /// sign of life first, briefly: calls that follow a silence cost no deadline each.
  base::Result<sd_bus*> bus();

  /// The same, for a call that has systemd read unit files: that takes long on a big host, so one that takes
  /// too long is not noted() as silence.
  base::Result<sd_bus*> bus_for_reload();

  /// Notes whether a call over the connection had an answer. Silence begins with one that had none, except
  /// while systemd reads its unit files, as it says (Reloading). @return the status of the call
  int noted(int status);

  /// Asks, with noted(). Where systemd began to read its unit files while the answer was waited for, it is
  /// asked once more, with the time of a reload. `question`: the status of a call that changes nothing
  int ask(sd_bus* bus, BusError& error, const std::function<int(sd_bus_error*)>& question);

  /// How long the answer of the next question is waited for: that of a reload while systemd says that it
  /// reads its unit files, whoever asked for that. Heard over systemd's own socket only.
  [[nodiscard]] std::chrono::milliseconds patience() const {
    return reloading_ ? std::max(limits_.call, limits_.reload) : limits_.call;
  }

  [[nodiscard]] const BusLimits& limits() const { return limits_; }

  /// Calls a method of the manager that returns a job, and waits for the end of that. nullopt: no systemd.
  /// @param method "StartUnit"
  base::Result<std::optional<JobEnd>> run_job(const char* method, const std::string& unit,
                                              const std::string& what);

  /// Of a job.
  void set_timeout(std::chrono::milliseconds timeout) { limits_.job = timeout; }

 private:
  using Bus = std::unique_ptr<sd_bus, sd_bus* (*)(sd_bus*)>;

  /// Opens the connection; `bus_` stays empty where no systemd can be reached.
  base::Result<void> open();
  int open_direct();
  static int on_reloading(sd_bus_message* message, void* user, sd_bus_error* error);
  base::Result<void> open_over_bus();

  base::Result<std::optional<JobEnd>> wait(sd_bus* bus, struct Job& job, const std::string& what);

  BusLimits limits_;
  bool subscribed_ = false;
  bool reloading_ = false;
  Bus bus_{nullptr, sd_bus_flush_close_unref};
};

}  // namespace rdmacfg::system::detail
