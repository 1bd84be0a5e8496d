// SPDX-License-Identifier: Apache-2.0
// Steps that entries of targets (nvme_target, lio_target) share on their way to the host: portals of the form
// "ADDRESS PORT", lists, disks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/bound.hpp"
#include "kinds/kind.hpp"
#include "kinds/world.hpp"
#include "model/change.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {

/// Reports an error in a key of an entry: "[[lio_target]] lun.number: MESSAGE".
void report_entry_error(const model::Section& section, const model::Location& where, std::string_view key,
                        const std::string& message, std::string hint, model::Diagnostics& diagnostics);

/// For Kind::parse(): the kind's entries by the key `identity`, completed by `complete`.
void parse_targets(const Bound& bound, const Kind& kind, std::string_view identity,
                   void (*complete)(const model::Section&, model::Desired&, model::Diagnostics&),
                   std::vector<model::Desired>& out, model::Diagnostics& diagnostics);

/// For Kind::observe(): a target of this boot.
model::Observed observed_target(const Kind& kind, const std::string& id, model::Attributes settings,
                                const World& world);

/// The list sorted, each text once; the empty value for an empty list.
model::Value value_of_set(std::vector<std::string> list);

/// "NUMBER TEXT" of each, for a setting; the empty value for none.
model::Value value_of_numbered(const std::map<std::int64_t, std::string>& texts);

/// Whether the text is in the list.
bool lists(const std::vector<std::string>& list, const std::string& text);

/// Those of `now` that are not in `then`.
std::vector<std::string> missing_from(const std::optional<std::vector<std::string>>& then,
                                      const std::optional<std::vector<std::string>>& now);

/// "ADDRESS PORT" of each of the entry's `addresses`; reports those that are not an address of a host.
std::vector<std::string> portals_of(const model::Section& section,
                                    const std::optional<std::vector<std::string>>& addresses,
                                    std::int64_t port, model::Diagnostics& diagnostics);

/// How a kind's settings name what its targets offer, and where.
struct TargetSettings {
  std::string_view portals;                      ///< that with texts "ADDRESS PORT"
  std::string_view disks;                        ///< that with the disks
  std::string_view child;                        ///< the table of a disk in the document
  std::string (*path)(const std::string& disk);  ///< its device or file; empty: it has none
};

/// For Kind::check(): the kind's targets drop what they need not remove, wait for the addresses that the
/// document gives interfaces, and may not offer what is mounted on this host. Offline they want nothing.
void check_targets(std::vector<model::Desired>& desired, const std::vector<model::Observed>& observed,
                   const Kind& kind, const TargetSettings& settings, World& world,
                   model::Diagnostics& diagnostics);

/// Settings of a target once the change is made: those that an update does not mention stay, and those of
/// `fields` that undoing does not bring back go.
model::Attributes complete_settings(const model::Change& change);

}  // namespace rdmacfg::kinds
