// SPDX-License-Identifier: Apache-2.0
// systemd-networkd, in our words. Its settings for an interface are in .network files, which the kinds
// write; this is about having it read them. Source: org.freedesktop.network1(5), systemd 252.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

/// An interface as systemd-networkd sees it.
struct NetworkdLink {
  int index = 0;
  std::string state;  ///< "unmanaged", "pending", "initialized", "configuring", "configured", "failed",
                      ///< "linger"
  std::string file;   ///< the .network file that it uses; empty without one
};

class Networkd {
 public:
  virtual ~Networkd() = default;

  /// These interfaces, those that it knows of them. Nothing when it does not run (it is not started by this).
  virtual base::Result<std::optional<std::vector<NetworkdLink>>> observe(std::span<const int> indexes) = 0;

  /// Has it read its files again. Interfaces whose file is another one or has changed are configured again,
  /// what stays the same on them is kept; that goes on after this has returned.
  virtual base::Result<void> reload() = 0;

  /// Has it take down and set again everything that it has set on an interface. That goes on after this has
  /// returned.
  virtual base::Result<void> reconfigure(int index) = 0;

  /// Lets it work for a moment. False: there is nothing to wait for.
  virtual bool pause(std::chrono::milliseconds duration) = 0;
};

}  // namespace rdmacfg::system
