// SPDX-License-Identifier: Apache-2.0
// Callbacks that C libraries (sd-bus, sd-event) call: an exception that left one would end the daemon.
#pragma once

#include <sys/syslog.h>

#include <exception>
#include <string>
#include <utility>

#include "daemon/journal.hpp"

namespace rdmacfg::daemon {

/// Calls `call`; logs an exception that comes out of it, and goes on. `callback`: its name, for the journal.
/// @return whether it ended without one.
template <class Call>
bool guarded(const char* callback, Call&& call) noexcept {
  const auto tell = [callback](const char* why) noexcept {
    try {
      log(LOG_ERR, Message::kTrouble, std::string("internal error in ") + callback + ": " + why);
    } catch (...) {  // out of memory: there is nothing left to say it with
    }
  };
  try {
    std::forward<Call>(call)();
    return true;
  } catch (const std::exception& error) {
    tell(error.what());
  } catch (...) {
    tell("unknown exception");
  }
  return false;
}

}  // namespace rdmacfg::daemon
