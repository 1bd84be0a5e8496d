// SPDX-License-Identifier: Apache-2.0
// The result of a run: resources with a status, the plan, notes, an error.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/change.hpp"
#include "model/diagnostic.hpp"
#include "model/note.hpp"

namespace rdmacfg::model {

/// How a resource compares with the document.
enum class Status {
  kInSync,    ///< as wanted
  kDiffers,   ///< not as wanted; an apply would change it
  kDone,      ///< was changed, and a fresh observation confirms it
  kLimited,   ///< as far as the fabric lets it be; kept, not fought
  kPending,   ///< waits for something: a device, a driver reload, a reboot
  kUnmet,     ///< not as expected; checked only, so nothing changes it
  kFailed,    ///< the kernel refused, or did not do what it said
  kForeign,   ///< somebody else's, not in the document; left alone
  kReleased,  ///< no longer in the document; its leftovers go with the next reset
  kIgnored,   ///< state = "ignore"
};

std::string_view text_of(Status status);

/// One attribute, now and wanted.
struct AttributeReport {
  std::string name;
  Value now;
  Value wanted;  ///< monostate: the document does not say
  std::optional<Location> origin;
};

struct ResourceReport {
  Key key;
  std::string label;
  Status status = Status::kInSync;
  std::string reason{};                 ///< why it is limited, pending, failed, foreign or released
  std::vector<std::string> warnings{};  ///< works, but an administrator wants to know
  std::vector<AttributeReport> attributes{};
  std::string
      instance{};        ///< the kernel object it is on, another one after a driver reload; empty: not known
  bool follows = false;  ///< pending only until the rest of this apply is done: the daemon looks again then
  bool there = true;     ///< it exists, however its settings are
  bool waits = false;    ///< it differs, and a part of it waits for something, which the reason names
};

/// Settings of a resource that are left as they are, whatever the document says.
struct LeftFields {
  std::set<std::string> fields;
  std::string why;
  bool operator==(const LeftFields&) const = default;
};

/// How a run ended; the exit codes of rdma-configctl.
enum class Exit {
  kOk = 0,              ///< in sync, or done
  kError = 1,           ///< error, nothing was changed
  kDiffers = 2,         ///< diff: there are changes to make
  kUndone = 3,          ///< apply failed and was undone
  kUndoIncomplete = 4,  ///< apply failed and undoing is incomplete
  kPartly = 5,          ///< done, with something pending, limited or unmet
};

/// The findings and actions of a run of the pipeline.
struct Report {
  Diagnostics diagnostics;                ///< of the document and of its check against the host
  std::vector<ResourceReport> resources;  ///< in the order of kinds and keys
  Plan plan;                              ///< what was, or would be, carried out
  std::vector<Change> drifted;            ///< what drift = "report" leaves as somebody else has made it
  std::vector<Note> notes;                ///< of the run as a whole: "an interrupted apply was finished"
  /// With Exit::kUndoIncomplete: the document is applied, and what is left over is beside it.
  bool applied = false;
  std::optional<base::Error> error;    ///< why an apply failed
  std::vector<std::string> left_over;  ///< what undoing could not restore
  Exit exit = Exit::kOk;
};

/// Has the notes of `earlier` come before those of `report`, each once.
void put_notes_before(Report& report, const Report& earlier);

/// Whether a resource has this status.
bool has_status(const Report& report, Status status);

}  // namespace rdmacfg::model
