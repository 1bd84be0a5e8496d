// SPDX-License-Identifier: Apache-2.0
// Characters that do something instead of standing for themselves. Sources: RFC 3629 (UTF-8), Unicode TR 36
// and UAX #9 (bidirectional formatting characters).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rdmacfg::base {

/// Length in bytes of the well-formed UTF-8 character that `text` starts with; 0 when it starts with none.
std::size_t utf8_length(std::string_view text);

/// The code point of a well-formed character.
std::uint32_t code_point(std::string_view character);

/// Whether a terminal, an editor or the reader of a line-based file would do something other than show it:
/// control characters (C0, DEL, C1), line and paragraph separators, and bidirectional formatting.
bool is_control(std::uint32_t code);

/// The first control character of a text that may have tabs but nothing else of the kind.
std::optional<std::uint32_t> first_control(std::string_view text);

/// The text as one line that is safe to show: control characters, line ends too, and malformed UTF-8 become
/// U+FFFD.
std::string harmless(std::string_view text);

/// The same line by line: line feeds and tabs stay.
std::string harmless_lines(std::string_view text);

/// A JSON text in which control characters that JSON allows raw inside strings (DEL, C1, separators,
/// bidirectional formatting) are escaped: the same JSON value, safe to show.
std::string harmless_json(std::string_view json);

}  // namespace rdmacfg::base
