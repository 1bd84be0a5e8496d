// SPDX-License-Identifier: Apache-2.0
// Where keys and headers go in the tree, and which must not be there twice (TOML 1.0.0, "Table").
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/toml/tree.hpp"

namespace rdmacfg::config {

/// One part of a dotted key.
struct KeyPart {
  std::string name;
  Span at;
};
using Key = std::vector<KeyPart>;

/// A key or header that collides with an earlier one.
struct Clash {
  Span at;
  std::string message;
  std::string hint;
  Span first;
};

/// The table that [key] or, where `sort` is a list, [[key]] opens below `root`; null and `clash` when it may
/// not be opened.
Node* open_header(Node& root, const Key& key, Node::Sort sort, const Span& header, Clash& clash);

/// Puts `value` below `table`; nothing, and the clash, when something is there already.
std::optional<Clash> insert(Node& table, const Key& key, Node value);

/// "ipoib.pkey", with quotes where they are needed.
std::string text_of(std::span<const KeyPart> key);

}  // namespace rdmacfg::config
