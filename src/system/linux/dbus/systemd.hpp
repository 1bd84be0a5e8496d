// SPDX-License-Identifier: Apache-2.0
// A connection to systemd's manager. Sources: org.freedesktop.systemd1(5), sd-bus(3).
#pragma once

#include <systemd/sd-bus.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "system/linux/dbus/bus_limits.hpp"

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

/// How long a peer that did not answer is presumed unresponsive: further calls get only a short timeout.
constexpr std::chrono::seconds kSilence{60};
constexpr std::chrono::milliseconds kBriefly{250};

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

  /// The connection; nothing when no systemd answers.
  base::Result<sd_bus*> bus();

  /// Calls a method of the manager that returns a job, and waits for the end of that. nullopt: no systemd.
  /// @param method "StartUnit"
  base::Result<std::optional<JobEnd>> run_job(const char* method, const std::string& unit,
                                              const std::string& what);

  /// Of a job.
  void set_timeout(std::chrono::milliseconds timeout) { limits_.job = timeout; }

 private:
  using Bus = std::unique_ptr<sd_bus, sd_bus* (*)(sd_bus*)>;

  base::Result<std::optional<JobEnd>> wait(sd_bus* bus, struct Job& job, const std::string& what);

  BusLimits limits_;
  std::chrono::steady_clock::time_point silent_until_{};  ///< systemd did not answer at its own socket
  bool subscribed_ = false;
  Bus bus_{nullptr, sd_bus_flush_close_unref};
};

}  // namespace rdmacfg::system::detail
