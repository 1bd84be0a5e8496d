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
              .checks = carrier.count() == 0 ? carrier : std::max(carrier, kinds::kAddressChecks)},
        all_(carrier) {}

  [[nodiscard]] const kinds::TimeLeft& left() const { return left_; }

  /// Whether waits for what came, or the request not to wait, have left a wait for carrier too little time to
  /// tell anything of a subnet manager.
  [[nodiscard]] bool is_short() const {
    return !timed_out_ && (left_.carrier.count() == 0 || left_.carrier < all_ / 2);
  }

  /// Deducts the `time` of a wait.
  void spend(std::chrono::milliseconds time) {
    left_.carrier = std::max(kNone, left_.carrier - time);
    left_.checks = std::max(kNone, left_.checks - time);
  }

  /// The same of a wait that timed out, which uses up the time for carrier.
  void spend_in_vain(std::chrono::milliseconds time) {
    timed_out_ = timed_out_ || !is_short();
    spend(time);
    left_.carrier = kNone;
  }

 private:
  static constexpr std::chrono::milliseconds kNone{0};

  kinds::TimeLeft left_;
  std::chrono::milliseconds all_;
  bool timed_out_ = false;  ///< a wait that had enough time
};

}  // namespace rdmacfg::core::detail
