// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kinds/carried_state.hpp"
#include "kinds/world.hpp"
#include "model/change.hpp"
#include "system/host.hpp"

namespace rdmacfg::core {

/// The state carried by the interfaces that a plan touches, and those that stand on them: addresses, routes,
/// policy rules, permanent neighbours, up or down. Read before the plan is begun, whatever its kinds; a
/// driver may drop any of it on the way.
class TouchedLinks {
 public:
  /// An interface is touched by a change that has its kernel object on it.
  static base::Result<TouchedLinks> observe(const model::Plan& plan, const kinds::World& before);

  /// After undoing: puts back what is gone.
  /// @return what could not be put back, one sentence each
  [[nodiscard]] std::vector<std::string> put_back(system::Host& host) const;

 private:
  std::vector<kinds::CarriedState> then_;
};

}  // namespace rdmacfg::core
