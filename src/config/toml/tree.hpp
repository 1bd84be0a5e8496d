// SPDX-License-Identifier: Apache-2.0
// A TOML text as a tree in which everything knows its place, without any meaning yet.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"
#include "model/diagnostic.hpp"
#include "model/value.hpp"

namespace rdmacfg::config {

/// Characters of one line; line and column count from 1.
struct Span {
  int line = 0;
  int column = 0;
  int length = 1;
};

/// A value, list or table of the text.
struct Node {
  enum class Sort {
    kScalar,   ///< in `scalar`
    kForeign,  ///< a value that the model has no words for; `foreign` says what, "a date"
    kList,     ///< in `items`
    kTable,    ///< in `members`
  };
  /// How a table or list came to be, which decides what may still be added to it (TOML 1.0.0, "Table").
  enum class Origin {
    kValue,    ///< { … } or [ … ]: complete where it stands
    kImplied,  ///< a of [a.b]
    kHeader,   ///< [a], or a list of [[a]]
    kDotted,   ///< a of a.b = 1
  };

  Sort sort = Sort::kScalar;
  Origin origin = Origin::kValue;
  bool faulty = false;  ///< reported already: `scalar` is a substitute
  Span key;             ///< the key that names it, last part
  Span at;              ///< the value, or the header of a table
  model::Value scalar;
  std::string_view foreign;
  std::vector<Node> items;
  std::map<std::string, Node, std::less<>> members;
};

/// "a boolean", "an integer", "a string", "a list", "a table", or what `foreign` says.
std::string_view sort_of(const Node& node);

/// Whether it, or an item of it, was reported already.
bool is_substitute(const Node& node);

/// A place in `text`.
model::Location location_of(const Text& text, const Span& span);

/// The result of parsing a text: a table, and errors (then the tree lacks the parts that were not
/// understood).
struct Tree {
  Node root;
  model::Diagnostics errors;
  model::Diagnostics faults;  ///< errors of single values, which leave the tree whole
};

/// Parses a text as TOML 1.0.0. Goes on after an error when the next line surely starts something new.
Tree parse_tree(const Text& text, const Limits& limits);

}  // namespace rdmacfg::config
