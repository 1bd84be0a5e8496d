// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/document.hpp"

namespace rdmacfg::config {

/// Whether a text is fit for a parser: not larger than allowed, strict UTF-8 (no overlong form, no surrogate,
/// nothing above U+10FFFF; RFC 3629), no control character but tab and line end, which is LF or CR LF
/// (TOML 1.0.0, "Spec").
/// @return what is wrong with the first place that is not.
std::optional<model::Diagnostic> check_text(const Text& text, const Limits& limits);

/// Length in bytes of the well-formed UTF-8 character that `text` starts with; 0 when it starts with none.
std::size_t utf8_length(std::string_view text);

/// The text as one line that is safe to show: control characters, line ends too, what turns the direction of
/// writing and what is no UTF-8 come as U+FFFD.
std::string harmless(std::string_view text);

/// The text without a byte order mark at its start, which counts as no column.
std::string_view without_mark(std::string_view text);

}  // namespace rdmacfg::config
