// SPDX-License-Identifier: Apache-2.0
#include "config/guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace rdmacfg::config {

namespace {

/// Files that are not text, by their first bytes (magic(5)).
struct BinaryFile {
  std::string_view begin, message, hint;
};
constexpr auto kBinaryFiles = std::to_array<BinaryFile>({
    {"\x1f\x8b", "the file is compressed with gzip", "decompress it first"},
    {"\xfd\x37zXZ", "the file is compressed with xz", "decompress it first"},
    {"\x28\xb5\x2f\xfd", "the file is compressed with zstd", "decompress it first"},
    {"BZh", "the file is compressed with bzip2", "decompress it first"},
    {"PK\x03\x04", "the file is a ZIP archive", "extract it first"},
    {"\x7f\x45LF", "the file is a program", "give the file of the document"},
    {"\xff\xfe", "the file is UTF-16", "save it as UTF-8"},
    {"\xfe\xff", "the file is UTF-16", "save it as UTF-8"},
});

/// `wrong`, the fault of a character; where the whole file is not text, that fault instead.
model::Diagnostic fault_of(std::string_view bytes, model::Diagnostic wrong) {
  const auto file = std::find_if(kBinaryFiles.begin(), kBinaryFiles.end(),
                                 [&](const BinaryFile& binary) { return bytes.starts_with(binary.begin); });
  if (file == kBinaryFiles.end()) return wrong;
  wrong.where.line = 0;  // the bytes are nothing to look at
  wrong.where.column = 1;
  wrong.message = file->message;
  wrong.hint = file->hint;
  return wrong;
}

}  // namespace

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
    wrong.message = fmt::format("has {} bytes, more than the {} allowed", bytes.size(), limits.file_bytes);
    wrong.hint = "split it into drop-ins";
    return wrong;
  }
  for (std::size_t at = 0; at < bytes.size();) {
    const auto length = utf8_length(bytes.substr(at));
    const auto byte = static_cast<unsigned char>(bytes[at]);
    if (length == 0) {
      wrong.message = fmt::format("byte 0x{:02x} is not part of a valid UTF-8 character", byte);
      wrong.hint = "save the file as UTF-8";
      return fault_of(bytes, std::move(wrong));
    }
    const bool line_end = byte == '\n' || (byte == '\r' && at + 1 < bytes.size() && bytes[at + 1] == '\n');
    if ((byte < 0x20 && byte != '\t' && !line_end) || byte == 0x7f) {
      wrong.message = byte == '\r' ? "a carriage return must be followed by a line feed"
                                   : fmt::format("control character 0x{:02x} is not allowed", byte);
      wrong.hint = "remove it";
      if (byte == '\r') wrong.hint = "save the file with Unix line endings";
      if (byte == 0 && at < 2) wrong.hint = "save the file as UTF-8; it looks like UTF-16";
      return fault_of(bytes, std::move(wrong));
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
