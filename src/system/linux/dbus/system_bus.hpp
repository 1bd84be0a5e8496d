// SPDX-License-Identifier: Apache-2.0
// Calls over the system bus. Source: sd-bus(3).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "system/linux/dbus/bus_limits.hpp"
#include "system/linux/dbus/systemd.hpp"

namespace rdmacfg::system::detail {

/// A method and the object that has it.
struct BusCall {
  const char* destination = nullptr;
  std::string path;
  const char* interface = nullptr;
  const char* method = nullptr;
};

/// The connection is opened at the first use, and again when its bus has gone. A call is never repeated: it
/// may have been carried out.
class SystemBus {
 public:
  explicit SystemBus(BusLimits limits = {}) : limits_(std::move(limits)) {}

  /// The connection, open; for calls that the functions below do not cover.
  base::Result<sd_bus*> bus();

  /// Whether somebody has the name now; nobody is started by asking. False without a bus, too. Where a bus
  /// does not answer, systemd is asked for `unit`, the one that takes the name: at boot a bus may hang until
  /// there is the network that we set up. An error where that one runs, or systemd cannot be asked: then
  /// nobody may take a manager for one that does not run. An error also where the bus does not let this
  /// process in, and systemd says that the unit runs.
  base::Result<bool> has_owner(const char* name, const char* unit);

  /// Calls with arguments as of sd_bus_message_append(3). `what` is said in errors; `refusal`, where given,
  /// gets the name of the error that the other side answered with.
  template <class... Args>
  base::Result<BusMessage> call(const BusCall& call, const std::string& what, std::string* refusal,
                                const char* types, Args... args) {
    auto message = begin(call, what);
    if (!message) return message;
    if (types != nullptr) {
      // A variadic function of C: the types must match the arguments.
      const int status = sd_bus_message_append(message->get(), types, args...);
      if (status < 0) return base::fail_errno(-status, what);
    }
    return send(message->get(), what, refusal);
  }

  /// A call to be filled in by the caller, for send().
  base::Result<BusMessage> begin(const BusCall& call, const std::string& what);
  /// @param deadline  0: that of the connection
  base::Result<BusMessage> send(sd_bus_message* message, const std::string& what, std::string* refusal,
                                std::chrono::milliseconds deadline = std::chrono::milliseconds(0));

 private:
  /// Nothing where the bus does not let this process in.
  base::Result<std::optional<bool>> ask_for_owner(const char* name);
  /// Whether a manager that left a call unanswered answers again, briefly: calls that follow cost no deadline
  /// each, whoever makes them.
  base::Result<void> ask_for_life(const std::string& name);
  base::Result<BusMessage> new_call(const BusCall& call, const std::string& what);
  /// How long the bus itself is waited for: for a while, and briefly once it has not answered.
  [[nodiscard]] std::chrono::milliseconds patience() const;
  void note(const base::Error& error);

  BusLimits limits_;
  bool doubtful_ = false;  ///< the last call had no answer: nobody knows whether by the bus or behind it
  std::unique_ptr<sd_bus, sd_bus* (*)(sd_bus*)> bus_{nullptr, sd_bus_flush_close_unref};
};

}  // namespace rdmacfg::system::detail
