// SPDX-License-Identifier: Apache-2.0
#include "config/guard.hpp"

#include <fmt/format.h>

namespace rdmacfg::config {

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
      wrong.hint = "save the file as UTF-8";
      return wrong;
    }
    const bool line_end = byte == '\n' || (byte == '\r' && at + 1 < bytes.size() && bytes[at + 1] == '\n');
    if ((byte < 0x20 && byte != '\t' && !line_end) || byte == 0x7f) {
      wrong.message = byte == '\r' ? "a carriage return must be followed by a line feed"
                                   : fmt::format("control character 0x{:02x} is not allowed", byte);
      wrong.hint = "remove it";
      if (byte == '\r') wrong.hint = "save the file with Unix line endings";
      if (byte == 0 && at < 2) wrong.hint = "save the file as UTF-8; it looks like UTF-16";
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
