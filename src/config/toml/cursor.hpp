// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "config/toml/tree.hpp"

namespace rdmacfg::config {

/// Walks over a text that check_text() passed, byte by byte, and knows line and column in constant time.
class Cursor {
 public:
  struct Mark {
    std::size_t offset = 0;
    int line = 1;
    int column = 1;
  };

  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] bool done() const { return at_.offset >= text_.size(); }
  /// The byte `ahead`; NUL, which no text has, behind the end.
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return ahead < text_.size() - at_.offset ? text_[at_.offset + ahead] : '\0';
  }
  [[nodiscard]] bool at(std::string_view token) const { return text_.substr(at_.offset).starts_with(token); }
  /// At the end of a line or of the text.
  [[nodiscard]] bool at_line_end() const { return done() || peek() == '\n' || peek() == '\r'; }

  void next() {
    if (done()) return;
    const char left = text_[at_.offset++];
    if (left == '\n') {
      ++at_.line;
      at_.column = 1;
    } else if (done() || (static_cast<unsigned char>(text_[at_.offset]) & 0xc0U) != 0x80U) {
      ++at_.column;
    }
  }
  void skip(std::size_t bytes) {
    while (bytes-- > 0) next();
  }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') next();
  }
  void skip_to_line_end() {
    while (!at_line_end()) next();
  }
  /// Passes over blanks, line ends and comments.
  void skip_space() {
    for (;;) {
      skip_blanks();
      if (peek() == '#') skip_to_line_end();
      if (done() || !at_line_end()) return;
      next();
    }
  }
  /// Passes over a text in any of the four sorts of quotes, at which the cursor is. False at the end of the
  /// line, or of the text for those of several lines, when it is not closed.
  bool skip_quoted();
  /// Passes over what a value without quotes can be made of: up to a blank, comma, closing bracket or
  /// comment.
  void skip_word();

  [[nodiscard]] Mark mark() const { return at_; }
  [[nodiscard]] std::string_view since(const Mark& from) const {
    return text_.substr(from.offset, at_.offset - from.offset);
  }
  /// From `from` to here; of several lines only the first.
  [[nodiscard]] Span span(const Mark& from) const;

 private:
  std::string_view text_;
  Mark at_;
};

}  // namespace rdmacfg::config
