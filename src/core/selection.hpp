// SPDX-License-Identifier: Apache-2.0
// A part of a document for apply --only (ADR 0033).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"
#include "model/report.hpp"
#include "system/host.hpp"

namespace rdmacfg::core {

/// How the file of a composed document is called, before what was selected.
inline constexpr const char* kSelectionName = "(apply --only ";

struct Selection {
  /// The active document with the selected entries in place of its own; `wanted` itself where that comes to
  /// the same.
  config::Document document;
  std::set<model::Key> keys;  ///< Options::only
  std::size_t rest = 0;       ///< changes of `planned` that are not selected
};

/// Selects entries of `wanted`, and of `active` those that `wanted` drops.
/// @param active  the document that the host is held to; null: none
/// @param planned  what core::diff() says of `wanted`, without errors
/// @param patterns  names or globs of kinds ("sysctl"), sections ("ipoib.pkey", "pkey"), labels, names,
///   interfaces, devices, GUIDs. An interface that an entry hangs on, and what gives up the name that it
///   takes, are selected with it.
/// @return an error for a pattern that nothing matches, and where the parts do not fit together
base::Result<Selection> select(const config::Document& wanted, const config::Document* active,
                               const model::Report& planned, system::Host& host,
                               const std::vector<std::string>& patterns);

/// Of `changes` those of `only`, and their dependencies: direct or indirect, or as a name that they take.
void restrict_to(const std::set<model::Key>& only, std::vector<model::Change>& changes);

}  // namespace rdmacfg::core
