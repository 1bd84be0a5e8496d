// SPDX-License-Identifier: Apache-2.0
#include "model/report.hpp"

#include <algorithm>

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
    case Status::kUnmet:
      return "unmet";
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

void put_notes_before(Report& report, const Report& earlier) {
  std::vector<Note> notes;
  for (const auto& note : earlier.notes) {
    const bool again = std::any_of(report.notes.begin(), report.notes.end(),
                                   [&](const Note& later) { return later.text == note.text; });
    if (!again) notes.push_back(note);
  }
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
}

bool has_status(const Report& report, Status status) {
  return std::any_of(report.resources.begin(), report.resources.end(),
                     [&](const ResourceReport& resource) { return resource.status == status; });
}

}  // namespace rdmacfg::model
