// SPDX-License-Identifier: Apache-2.0
// Bounds on how much a document may say, counted in its tree before anything is made of it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "config/toml/tree.hpp"

namespace rdmacfg::config {

/// Entries seen so far, over all files of a document.
struct Counted {
  std::size_t entries = 0;
  std::map<std::string, std::size_t> of_kind;  ///< by path: "ipoib.pkey"
};

/// Adds what the tree holds. Linear in its size.
/// @return the first place beyond a limit: a list, a text, or the entry that is one too many
std::optional<model::Diagnostic> check_bounds(const Node& root, const Text& text, const Limits& limits,
                                              Counted& counted);

}  // namespace rdmacfg::config
