// SPDX-License-Identifier: Apache-2.0
// The first look at a text from outside, before a parser sees it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/characters.hpp"
#include "config/document.hpp"

namespace rdmacfg::config {

/// Whether a text is fit for a parser: not larger than allowed, strict UTF-8 (no overlong form, no surrogate,
/// nothing above U+10FFFF; RFC 3629), no control character but tab and line end, which is LF or CR LF
/// (TOML 1.0.0, "Spec").
/// @return what is wrong with the first place that is not.
std::optional<model::Diagnostic> check_text(const Text& text, const Limits& limits);

using base::harmless;
using base::utf8_length;

/// The text without a byte order mark at its start, which counts as no column.
std::string_view without_mark(std::string_view text);

}  // namespace rdmacfg::config
