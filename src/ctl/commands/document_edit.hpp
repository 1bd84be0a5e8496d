// SPDX-License-Identifier: Apache-2.0
// Paths into the document, "ipoib[mlx4_ib0].pkey[0x8002].mtu", and changes of its text that leave everything
// else of it as it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"
#include "config/toml/tree.hpp"

namespace rdmacfg::ctl {

/// A step of a path: a section or key, and which of several entries.
struct PathStep {
  std::string name;
  std::string selector;  ///< what stands in [ ]; empty without one
};

/// The first steps of a path, as they are written.
std::string path_text(const std::vector<PathStep>& path, std::size_t steps);

/// Fails with what is wrong with it, naming the place.
base::Result<std::vector<PathStep>> parse_path(std::string_view path);

/// The node of a tree that a path leads to; `entry` is the table that has the key or would have it.
struct Found {
  const config::Node* entry = nullptr;    ///< nullptr: not there
  const config::Node* value = nullptr;    ///< nullptr: not there
  const config::Node* deepest = nullptr;  ///< the last table that was reached
  std::size_t steps = 0;                  ///< that could be taken
  bool single = false;                    ///< `value` is one of a list that stands where it is
  bool counted = false;                   ///< an entry was selected by its place in the list
  /// The last table on the way that has a header or braces of its own; after that, keys are dotted ones of
  /// it.
  const config::Node* home = nullptr;
  std::size_t home_steps = 0;  ///< that lead to it
};

/// For each entry of a list of tables a selector that leads to it alone: its name, guid, …, or its place.
std::vector<std::string> selectors_for(const config::Node& list);

/// Fails with kInvalid where a step is ambiguous or leads nowhere, with kNotFound where a list is too short.
base::Result<Found> find_node(const config::Node& root, const std::vector<PathStep>& path);

struct Missing {
  std::string what;     ///< "ipoib.mut is not in the document"
  std::string instead;  ///< "did you mean mtu?"; empty: nothing is near

  [[nodiscard]] std::string text() const { return instead.empty() ? what : what + "; " + instead; }
};
/// Whether a document may have a section, or key outside of all sections, of this name.
bool is_section(std::string_view name);
/// Why find_node() found no value.
Missing describe_missing(const config::Node& root, const std::vector<PathStep>& path,
                         std::string_view in = "the document");

/// The text with `value` (TOML) at the path: in the place of the old value, behind the last key of the entry,
/// or in a section of its own at the end. Comments and everything else stay.
base::Result<std::string> with_value(const config::Text& text, const std::vector<PathStep>& path,
                                     const std::string& value);

/// The text without the key.
base::Result<std::string> without_value(const config::Text& text, const std::vector<PathStep>& path);

/// `written` if it is a value of TOML, else in quotes, as text.
std::string as_toml(const std::string& written);

/// The same for the key at `path`: a list where the key takes nothing else, of what commas separate.
std::string as_toml_for(const std::vector<PathStep>& path, const std::string& written);

}  // namespace rdmacfg::ctl
