// SPDX-License-Identifier: Apache-2.0
#include "system/units.hpp"

namespace rdmacfg::system {

std::string_view text_of(UnitAction action) {
  switch (action) {
    case UnitAction::kStart:
      return "start";
    case UnitAction::kStop:
      return "stop";
    case UnitAction::kRestart:
      return "restart";
    case UnitAction::kReload:
      return "reload";
  }
  return "start";
}

}  // namespace rdmacfg::system
