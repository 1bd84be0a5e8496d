// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"

namespace rdmacfg::system {

/// Files of a class that can be renamed without taking space; others are copied.
class Renames {
 public:
  virtual ~Renames() = default;

  /// Gives what is at `from` the name `to` in the same folder, in the place of a file there. No error when
  /// there is nothing.
  virtual base::Result<void> rename(const std::string& from, const std::string& to) = 0;
};

}  // namespace rdmacfg::system
