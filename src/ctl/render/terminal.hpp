// SPDX-License-Identifier: Apache-2.0
// The capabilities of the place that text goes to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ctl/environment.hpp"

namespace rdmacfg::ctl {

enum class Style { kPlain, kBold, kDim, kGood, kNotice, kBad };

/// How text is drawn. Default: a file in a plain locale.
struct Terminal {
  bool colour = false;
  bool utf8 = false;
  int width = 0;  ///< columns; 0: as wide as it gets

  [[nodiscard]] std::string_view arrow() const { return utf8 ? "→" : "->"; }
  [[nodiscard]] std::string_view ellipsis() const { return utf8 ? "…" : "..."; }

  /// `text` in that style; as it is without colour.
  [[nodiscard]] std::string paint(std::string_view text, Style style) const;
};

struct Stream {
  bool is_terminal = false;
  bool no_colour = false;  ///< --no-colour
};

/// The look of stdout or stderr: colour on a terminal that has it unless NO_COLOR (no-color.org) or
/// `no_colour` says otherwise, UTF-8 by locale(7), the width by COLUMNS, else the terminal's, else 80; no
/// width where it is not a terminal.
Terminal terminal_of(const Environment& environment, const Stream& stream);

/// Text that cannot do anything to a terminal: control characters and invalid UTF-8 become '?'; in a
/// plain locale everything that is not ASCII does. Names and descriptions come from hardware and from files
/// of others.
std::string clean(std::string_view text, bool utf8);

/// Columns that clean text takes: wide characters take two, combining ones none.
int display_width(std::string_view text);

/// Lines of at most `width` columns (0: one line), broken at blanks; a longer word is broken where it has to
/// be.
std::vector<std::string> wrap(std::string_view text, int width);

/// "label: text" after `indent` blanks, the label in that style; further lines stand under the text. Cleans
/// the text.
std::string hanging_paragraph(const std::string& label, Style style, const std::string& text,
                              const Terminal& terminal, int indent);

}  // namespace rdmacfg::ctl
