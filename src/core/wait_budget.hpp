// SPDX-License-Identifier: Apache-2.0
// The time that waits for the kernel take in one run: many ports without carrier must not each hold a boot.
#pragma once

#include <algorithm>
#include <chrono>

#include "kinds/abilities.hpp"

namespace rdmacfg::core::detail {

/// Shared by all kinds, all attempts of a plan, and both passes of an apply: together they wait at most
/// kinds::kAddressChecks, or Options::carrier_deadline if that is longer.
class WaitBudget {
 public:
  /// `carrier`: Options::carrier_deadline; 0: nothing is waited for.
  explicit WaitBudget(std::chrono::milliseconds carrier)
      : left_{.carrier = carrier,
              .checks = carrier.count() == 0 ? carrier : std::max(carrier, kinds::kAddressChecks)} {}

  [[nodiscard]] const kinds::TimeLeft& left() const { return left_; }

  /// Deducts the `time` of a wait; a wait that timed out uses up the time for carrier.
  void spend(std::chrono::milliseconds time, bool in_vain) {
    constexpr std::chrono::milliseconds kNone{0};
    left_.carrier = in_vain ? kNone : std::max(kNone, left_.carrier - time);
    left_.checks = std::max(kNone, left_.checks - time);
  }

 private:
  kinds::TimeLeft left_;
};

}  // namespace rdmacfg::core::detail
