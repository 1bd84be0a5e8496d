// SPDX-License-Identifier: Apache-2.0
// Files of other tools that are given in place of a document.
#pragma once

#include <optional>
#include <string_view>

#include "config/document.hpp"

namespace rdmacfg::config {

/// Recognizes a file of another tool by its lines: ifcfg, keyfiles of NetworkManager, interfaces(5),
/// modprobe.d(5) and what else `rdma-configctl import` reads. A text that says `version =` or has a
/// [[section]] is a document, whatever else is in it.
/// @return the one error about it, at its first line; its mistakes as a document would be noise.
std::optional<model::Diagnostic> recognize_other_tool(const Text& text);

/// The format of `rdma-configctl import` that reads such a text; empty where nothing is recognized.
std::string_view format_of_other_tool(std::string_view text);

/// Whether the first line that is not a comment is one of an rdma-configd document: `version =` or a
/// [[section]].
bool is_own_document(std::string_view text);

}  // namespace rdmacfg::config
