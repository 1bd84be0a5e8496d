// SPDX-License-Identifier: Apache-2.0
// Programs that are installed, and packages that can be.
#pragma once

#include <span>
#include <string>

#include "base/error.hpp"

namespace rdmacfg::system {

class Packages {
 public:
  virtual ~Packages() = default;

  /// Whether there is a program or another file of a package.
  /// @param path  absolute
  virtual bool has(const std::string& path) = 0;

  /// Whether PackageKit answers here, by itself or started by the bus.
  virtual bool can_install() = 0;

  /// Has PackageKit install packages from the host's repositories, trusted ones only, and waits for the end
  /// (at most 20 minutes). Those that are installed already are passed over.
  /// @param names  as the distribution has them
  /// @return kNotFound for a name that no repository has, kUnsupported without PackageKit, kTimeout
  virtual base::Result<void> install(std::span<const std::string> names) = 0;
};

}  // namespace rdmacfg::system
