// SPDX-License-Identifier: Apache-2.0
// Tables of text for terminals.
#pragma once

#include <string>
#include <vector>

#include "ctl/render/terminal.hpp"

namespace rdmacfg::ctl {

struct Column {
  std::string title;
  /// Columns with the highest number are left out first where the width does not suffice; 0: never.
  int spare = 0;
  bool wraps =
      false;  ///< long content goes on in the next line (the last such column gets the room that is left)
};

struct Cell {
  std::string text;
  Style style = Style::kPlain;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< every row has as many cells as there are columns
};

/// Aligned columns, two blanks between them, no trailing blanks; a column with nothing in any row is left
/// out. Texts are cleaned. Titles are left out when they are all empty. `left_out` is set when content had no
/// room.
std::string render_table(const Table& table, const Terminal& terminal, bool* left_out = nullptr);

}  // namespace rdmacfg::ctl
