// SPDX-License-Identifier: Apache-2.0
// Calls over the system bus. Source: sd-bus(3).
#pragma once

#include <chrono>
#include <memory>
#include <string>

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
  explicit SystemBus(std::chrono::milliseconds deadline = BusLimits{}.call) : deadline_(deadline) {}

  /// The connection, open; for calls that the functions below do not cover.
  base::Result<sd_bus*> bus();

  /// Whether somebody has the name now; nobody is started by asking. False without a bus, too. An error where
  /// a bus does not answer: then it is not known, and nobody may take a manager for one that does not run.
  base::Result<bool> has_owner(const char* name);

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
  base::Result<BusMessage> send(sd_bus_message* message, const std::string& what, std::string* refusal);

 private:
  std::chrono::milliseconds deadline_;
  std::unique_ptr<sd_bus, sd_bus* (*)(sd_bus*)> bus_{nullptr, sd_bus_flush_close_unref};
};

}  // namespace rdmacfg::system::detail
