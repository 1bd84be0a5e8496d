// SPDX-License-Identifier: Apache-2.0
#include "model/report.hpp"

namespace rdmacfg::model {

std::string_view text_of(Operation operation) {
  switch (operation) {
    case Operation::kCreate:
      return "create";
    case Operation::kUpdate:
      return "update";
    case Operation::kDelete:
      return "delete";
  }
  return "update";
}

std::string_view text_of(Status status) {
  switch (status) {
    case Status::kInSync:
      return "in sync";
    case Status::kDiffers:
      return "differs";
    case Status::kDone:
      return "done";
    case Status::kLimited:
      return "limited";
    case Status::kPending:
      return "pending";
    case Status::kFailed:
      return "failed";
    case Status::kForeign:
      return "foreign";
    case Status::kReleased:
      return "released";
    case Status::kIgnored:
      return "ignored";
  }
  return "failed";
}

}  // namespace rdmacfg::model
