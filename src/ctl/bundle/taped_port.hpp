// SPDX-License-Identifier: Apache-2.0
// Base of the ports over a tape: each asks the tape, which asks the real host, or replays.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <utility>

#include "ctl/bundle/tape.hpp"
#include "system/host.hpp"

namespace rdmacfg::ctl::taped {

using base::Result;
using Name = const std::string&;

inline base::Failure refuse_to_change() {
  return base::fail_errno(EROFS, "a host in a report cannot be changed");
}

/// The attributes of every port.
class Taped {
 public:
  Taped(Tape& tape, system::Host* real) : tape_(tape), real_(real) {}

 protected:
  template <class Real>
  auto ask(Name question, Name about, Real real) {
    return tape_.ask(question, about, std::move(real));
  }

  Tape& tape_;
  system::Host* real_;  ///< nullptr while it replays, when nobody is asked
};

inline std::string port_of_tape(Name device, int port) { return fmt::format("{}/{}", device, port); }

}  // namespace rdmacfg::ctl::taped
