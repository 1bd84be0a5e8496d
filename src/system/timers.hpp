// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/error.hpp"

namespace rdmacfg::system {

/// Timers of the service manager: they fire even when every process of ours is gone.
class Timers {
 public:
  virtual ~Timers() = default;

  /// Starts `name`.service once after `delay`, in place of a timer of that name that is armed already.
  /// Fails when there is not a service manager, or when its `name`.service is missing or masked.
  virtual base::Result<void> arm(const std::string& name, std::chrono::milliseconds delay) = 0;

  /// No error when it is not armed.
  virtual base::Result<void> disarm(const std::string& name) = 0;
};

}  // namespace rdmacfg::system
