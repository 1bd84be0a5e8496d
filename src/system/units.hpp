// SPDX-License-Identifier: Apache-2.0
// systemd's units, in our words. Source: org.freedesktop.systemd1(5).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "model/types/host_types.hpp"

namespace rdmacfg::system {

/// A unit as systemd sees it now.
struct Unit {
  std::string name;             ///< "rdma-ndd.service", as it was asked for
  std::string id;               ///< its own name; another one where `name` is an alias
  std::string load;             ///< "loaded", "not-found", "masked", "bad-setting", "error"
  std::string active;           ///< "active", "inactive", "failed", "activating", "deactivating", "reloading"
  std::string sub;              ///< "running", "dead", "exited", "auto-restart", …
  std::string file;             ///< "enabled", "disabled", "static", "masked", …; empty without a unit file
  std::string job;              ///< of a job that is not over yet: "start", "stop", "restart"; else empty
  std::int64_t main_pid = 0;    ///< of a service that runs; else 0
  bool needs_reload = false;    ///< files of the unit changed since systemd read them
  bool ends_by_itself = false;  ///< Type=oneshot without RemainAfterExit=: it does not stay active
  bool stops_unneeded = false;  ///< systemd stops it whenever no other unit needs it (StopWhenUnneeded=)

  [[nodiscard]] bool there() const { return load != "not-found"; }
};

enum class UnitAction { kStart, kStop, kRestart, kReload };

/// "start", "stop", "restart", "reload".
std::string_view text_of(UnitAction action);

/// systemd's system manager.
class Units {
 public:
  virtual ~Units() = default;

  /// The named units, in their order; those that do not exist have load "not-found". Nothing when no systemd
  /// answers (a container, another root). Names need their suffix (".service").
  virtual base::Result<std::optional<std::vector<Unit>>> observe_units(
      std::span<const std::string> names) = 0;

  /// The instances that run of a template ("user@.service"), with name and main process only; nothing when no
  /// systemd answers.
  virtual base::Result<std::optional<std::vector<Unit>>> observe_instances(const std::string& unit) = 0;

  /// Enables or disables a unit for the next boot, as `systemctl enable` does, and has systemd read its files
  /// again. Fails when the unit is not there or its file has no [Install] section.
  virtual base::Result<void> set_enabled(const std::string& unit, bool enabled) = 0;

  /// Starts, stops, restarts a unit or has it reload its configuration, and waits until that is over, at most
  /// a minute and a half. A job that only waits for other jobs (at boot) is left in systemd's queue: success,
  /// and Unit::job says so. A job that fails is an error that names the unit and systemd's word.
  virtual base::Result<void> act(UnitAction action, const std::string& unit) = 0;

  /// The condition of its unit file that kept a unit from its last start:
  /// "ConditionPathExists=/dev/infiniband". To systemd that start is done (systemd.unit(5)). Empty when there
  /// is none, or systemd does not know any more.
  virtual std::string unmet_condition(const std::string& /*unit*/) { return {}; }

  /// Sends a signal to the main process of a service when that has a handler for it: one that has just been
  /// started gets five seconds to set it up, and kTimeout says that it has not.
  virtual base::Result<void> signal(const std::string& unit, int number) = 0;

  /// Ends all processes of a service at once, with SIGKILL; success also when there are none. systemd sees
  /// that it has failed, and starts it again where the unit says so.
  virtual base::Result<void> kill(const std::string& unit) = 0;

  /// Waits until the main process of a service has a handler for the signal, which a daemon sets up when it
  /// is ready, or has ended; at most five seconds, and kTimeout then.
  virtual base::Result<void> await_handler(const std::string& /*unit*/, int /*number*/) { return {}; }

  /// The soft limit of memory that a process may lock; nothing when it cannot be read.
  virtual std::optional<model::LockLimit> observe_memlock(std::int64_t pid) = 0;

  /// Makes systemd read its unit files again (`systemctl daemon-reload`).
  virtual base::Result<void> reload_manager() = 0;
};

}  // namespace rdmacfg::system
