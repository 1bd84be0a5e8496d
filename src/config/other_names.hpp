// SPDX-License-Identifier: Apache-2.0
// Names of other tools for our keys and sections, for hints about unknown names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::config {

/// Our name for a key or section that other tools call `name`, if it is in `known`.
std::optional<std::string> called_here(std::string_view name, const std::vector<std::string>& known);

/// The same for a misspelt name of a key of [ipoib.ipv4]; short names would match too many words.
std::optional<std::string> nearly_called_here(std::string_view name, const std::vector<std::string>& known);

/// The hint about a name whose value belongs to another key of `keys`, such as a prefix length, DHCP or a
/// state; empty for other names.
std::string rewritten(std::string_view name, const std::vector<std::string>& keys);

/// The hint about a parameter of a module that is written as a key of [[module]], which has `keys`; empty for
/// other sections, for the words of modprobe.d(5), and for those of other tools ("enabled").
std::string as_module_option(std::string_view name, const std::vector<std::string>& keys);

/// The hint about a section that another tool's files begin with; empty for other names.
std::string foreign_hint(std::string_view name);

}  // namespace rdmacfg::config
