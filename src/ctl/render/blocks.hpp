// SPDX-License-Identifier: Apache-2.0
// A plan as a person thinks of it: the changes of each interface, whatever number of kinds has a part in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/report.hpp"

namespace rdmacfg::ctl {

/// One attribute that changes.
struct BlockLine {
  std::string name;
  model::Value now;  ///< monostate: unknown, or not there yet
  model::Value wanted;
  model::Effect effect = model::Effect::kNow;
  std::optional<model::Location> origin;
  std::string_view unit{};  ///< of numbers: "KiB"
};

/// Everything that happens to one object.
struct Block {
  model::Operation operation = model::Operation::kUpdate;
  std::string id;
  std::string title;  ///< what it is called afterwards (of a deletion: before)
  std::string note;   ///< which object that is: "port 00:02:c9:03:00:31:78:f2, now ib0"
  std::vector<BlockLine> lines;
  std::vector<std::string> interrupts, interrupts_later;  ///< each sentence once
};

/// The changes of the report's plan by object, in the plan's order except that children follow their parent.
std::vector<Block> blocks_of(const model::Report& report);

/// "not set", "none" of an empty list, or the value; a number with its unit, where it has one.
std::string value_text(const model::Value& value, std::string_view unit = {});

/// How many objects (not kinds of one object) have each status; the worst one counts. Foreign and ignored do
/// not count.
struct Tally {
  int in_sync = 0;  ///< as the document says, already or since this run
  int differs = 0;
  int limited = 0;
  int unmet = 0;
  int pending = 0;
  int failed = 0;
};

Tally tally_of(const std::vector<model::ResourceReport>& resources);

}  // namespace rdmacfg::ctl
