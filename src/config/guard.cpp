// SPDX-License-Identifier: Apache-2.0
#include "config/guard.hpp"

#include <fmt/format.h>

namespace rdmacfg::config {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t at) -> unsigned { return static_cast<unsigned char>(text[at]); };
  if (text.empty()) return 0;
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  // Unicode 15, table 3-7: the second byte's range is what keeps overlong forms and surrogates out.
  unsigned low = 0x80, high = 0xbf;
  std::size_t length = 0;
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  }
  if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t at = 2; at < length; ++at) {
    if (byte(at) < 0x80 || byte(at) > 0xbf) return 0;
  }
  return length;
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

std::optional<model::Diagnostic> check_text(const Text& text, const Limits& limits) {
  const std::string_view bytes = without_mark(text.text);
  model::Diagnostic wrong;
  wrong.where = {text.name, 1, 1, 1};
  if (text.text.size() > limits.file_bytes) {
    wrong.where.line = 0;
    wrong.message =
        fmt::format("has {} bytes, more than the {} that are allowed", bytes.size(), limits.file_bytes);
    wrong.hint = "split it into drop-ins";
    return wrong;
  }
  for (std::size_t at = 0; at < bytes.size();) {
    const auto length = utf8_length(bytes.substr(at));
    const auto byte = static_cast<unsigned char>(bytes[at]);
    if (length == 0) {
      wrong.message = fmt::format("byte 0x{:02x} is not part of a valid UTF-8 character", byte);
      wrong.hint = "save the file with the encoding UTF-8";
      return wrong;
    }
    const bool line_end = byte == '\n' || (byte == '\r' && at + 1 < bytes.size() && bytes[at + 1] == '\n');
    if ((byte < 0x20 && byte != '\t' && !line_end) || byte == 0x7f) {
      wrong.message = byte == '\r' ? "a carriage return has to be followed by a line feed"
                                   : fmt::format("control character 0x{:02x} is not allowed", byte);
      wrong.hint = "in a text in double quotes, control characters can be written as \\u001b";
      if (byte == '\r') wrong.hint = "save the file with Unix line ends";
      return wrong;
    }
    at += length;
    ++wrong.where.column;
    if (byte == '\n') {
      ++wrong.where.line;
      wrong.where.column = 1;
    }
  }
  return std::nullopt;
}

}  // namespace rdmacfg::config
