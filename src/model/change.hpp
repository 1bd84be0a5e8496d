// SPDX-License-Identifier: Apache-2.0
// Changes of resources, and plans of them, as the journal keeps them.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/field.hpp"
#include "model/resource.hpp"

namespace rdmacfg::model {

enum class Operation { kCreate, kUpdate, kDelete };

std::string_view text_of(Operation operation);

/// One step of a plan.
struct Change {
  Key key;
  std::string label;  ///< as the resource is called before the change
  Operation operation = Operation::kUpdate;
  Attributes before;                ///< every known setting before it; empty for a creation
  Attributes after;                 ///< the settings wanted after it; empty for a deletion
  std::vector<std::string> fields;  ///< of an update: names whose value differs
  std::vector<Key> needs;           ///< keys that it must follow
  Effect effect = Effect::kNow;
  std::vector<std::string> interrupts;  ///< sentences for people: "link down for a moment"
  /// Likewise, of what another program interrupts at a time of its own: the apply itself does nothing to it.
  std::vector<std::string> interrupts_later;
  std::map<std::string, Location> origins;  ///< who wants it, by field
  std::string parent_object;  ///< the kernel object it was planned on (Kind::parent_object); empty: on none
  /// The kernel object whose return it answers, as nobody has changed anything back; else empty.
  std::string returned;
  std::vector<std::string>
      overruled;  ///< fields that the kernel took, and that were otherwise at the next look
  /// Objects that its key could be taken for and that are not its own (Observed::instance): a second P_Key
  /// interface of one partition.
  std::vector<std::string> siblings;
  std::vector<std::string> carried;  ///< what the kernel drops on the way and the kind puts back (opaque)

  /// Whether this field is among `fields`.
  [[nodiscard]] bool differs_in(std::string_view field) const {
    return std::find(fields.begin(), fields.end(), field) != fields.end();
  }
};

/// Changes in the order in which they are carried out.
struct Plan {
  std::vector<Change> changes;

  [[nodiscard]] bool empty() const { return changes.empty(); }
};

}  // namespace rdmacfg::model
