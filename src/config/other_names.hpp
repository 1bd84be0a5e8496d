// SPDX-License-Identifier: Apache-2.0
// Names that other tools give to keys and sections, for the hint about an unknown name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::config {

/// The name here of what other tools call `name`, when it is among `known`.
std::optional<std::string> called_here(std::string_view name, const std::vector<std::string>& known);

/// The same for a misspelt name of what belongs to [ipoib.ipv4]; short names are like too many words.
std::optional<std::string> nearly_called_here(std::string_view name, const std::vector<std::string>& known);

/// The hint about a name whose value is written under another one of `keys`: the prefix length of an address,
/// DHCP, a state; empty for any other name.
std::string rewritten(std::string_view name, const std::vector<std::string>& keys);

/// The hint about a section at the top of a file; empty where no other tool has one that is called so.
std::string foreign_hint(std::string_view name);

}  // namespace rdmacfg::config
