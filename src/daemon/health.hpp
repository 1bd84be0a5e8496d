// SPDX-License-Identifier: Apache-2.0
// The daemon's own health.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace rdmacfg::daemon {

struct Health {
  bool ready = false;
  bool busy = false;
  std::string doing{};           ///< how far it is, or what it waits for, when that is known
  std::uint64_t generation = 0;  ///< that is held; 0: none
  std::string unconfirmed{};     ///< until when it waits for confirmation
  std::string refused{};         ///< why the configuration is not what is held; empty: it is
  std::string failing{};         ///< what cannot be made as it should be
  std::string degraded{};   ///< which record of ours was damaged, until an administrator's apply succeeds
  std::string contended{};  ///< what somebody else keeps changing
  std::size_t pending = 0;
  std::size_t limited = 0;
  std::size_t unmet = 0;  ///< expectations

  /// Property State of the D-Bus API.
  [[nodiscard]] std::string state() const;
  /// STATUS= of the service, for people: one line.
  [[nodiscard]] std::string status() const;
};

}  // namespace rdmacfg::daemon
