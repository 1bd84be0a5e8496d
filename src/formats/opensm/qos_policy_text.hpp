// SPDX-License-Identifier: Apache-2.0
// Statements and quotes in lines of OpenSM's qos-policy.conf. A quote without an end is a character like any
// other, as for OpenSM where no quote follows in the file. Source: osm_qos_parser_l.l of OpenSM.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::kinds {

/// The line without its comment; a '#' in quotes begins none.
std::string_view policy_code(std::string_view line);

/// The statements of a line without its comment, of which OpenSM reads several, without the blanks around
/// them: words of blocks, "key: value", rules of qos-ulps. A description (use:) ends with its line.
std::vector<std::string_view> policy_statements(std::string_view code);

/// The text with one '"' in place of each quoted part.
std::string outside_quotes(std::string_view text);

/// A name as the lexer reads it: without quotes, and without the blanks outside of them.
std::string policy_name(std::string_view text);

/// The parts between the commas that are not in quotes; one for an empty text.
std::vector<std::string_view> policy_elements(std::string_view value);

}  // namespace rdmacfg::kinds
