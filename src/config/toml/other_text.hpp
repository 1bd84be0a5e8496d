// SPDX-License-Identifier: Apache-2.0
// Signs that a text is not TOML, or is TOML that another tool has written into.
#pragma once

#include <string_view>

namespace rdmacfg::config {

/// Whether a text begins with an object of JSON, or with a list of objects.
bool is_json(std::string_view text);

/// Whether a line is an item of a list as YAML has it: "- ib0".
bool is_yaml_item(std::string_view line);

/// Whether a text begins as diff(1) and git(1) write differences.
bool is_patch(std::string_view text);

/// Whether a line is one of those that git(1) writes around both sides of a merge conflict.
bool is_conflict_mark(std::string_view line);

}  // namespace rdmacfg::config
