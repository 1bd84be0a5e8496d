// SPDX-License-Identifier: Apache-2.0
#include "config/toml/cursor.hpp"

#include <algorithm>
#include <string>

namespace rdmacfg::config {

bool Cursor::skip_quoted() {
  const char quote = peek();
  const bool lines = at("\"\"\"") || at("'''");
  const std::string fence(lines ? 3 : 1, quote);
  skip(fence.size());
  while (!at(fence)) {
    if (done() || (!lines && at_line_end())) return false;
    if (quote == '"' && peek() == '\\') next();
    if (lines || !at_line_end()) next();
  }
  skip(fence.size());
  // Up to two quotes in front of the closing three belong to the text.
  for (int more = 0; lines && more < 2 && peek() == quote; ++more) next();
  return true;
}

void Cursor::skip_word() {
  const auto start = at_.offset;
  const auto rest = [&] {
    while (!done() && std::string_view(" \t\r\n,]}#").find(peek()) == std::string_view::npos) next();
  };
  const auto digit = [&](std::size_t ahead) { return peek(ahead) >= '0' && peek(ahead) <= '9'; };
  rest();
  // A date may have a blank in front of its time: 1979-05-27 07:32:00.
  const auto date = text_.substr(start, at_.offset - start);
  if (date.size() == 10 && date[4] == '-' && date[7] == '-' && peek() == ' ' && digit(1) && digit(2)) {
    next();
    rest();
  }
}

Span Cursor::span(const Mark& from) const {
  int length = at_.column - from.column;
  if (at_.line != from.line) {
    const auto line = since(from).substr(0, since(from).find_first_of("\r\n"));
    length = static_cast<int>(std::count_if(
        line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
  }
  return {from.line, from.column, std::max(length, 1)};
}

}  // namespace rdmacfg::config
