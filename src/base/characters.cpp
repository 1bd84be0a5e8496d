// SPDX-License-Identifier: Apache-2.0
#include "base/characters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace rdmacfg::base {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

/// Copies `text` and gives every character that is not harmless to `replace`.
template <class Keep, class Replace>
std::string filtered(std::string_view text, Keep keep, Replace replace) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto length = utf8_length(text);
    const auto character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      out += kReplacement;
    } else if (const auto code = code_point(character); is_control(code) && !keep(code)) {
      out += replace(code);
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace

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

std::uint32_t code_point(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  std::uint32_t code = character.size() == 1 ? lead : lead & (0xffU >> (character.size() + 1));
  for (const char c : character.substr(1)) code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

bool is_control(std::uint32_t code) {
  const auto within = [code](std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
  };
  return code < 0x20 || within(0x7f, 0x9f) || within(0x2028, 0x2029) ||
         // ALM, LRM and RLM, embeddings and overrides, isolates
         code == 0x61c || within(0x200e, 0x200f) || within(0x202a, 0x202e) || within(0x2066, 0x2069);
}

std::optional<std::uint32_t> first_control(std::string_view text) {
  while (!text.empty()) {
    const auto length = std::max<std::size_t>(utf8_length(text), 1);
    const auto code = code_point(text.substr(0, length));
    if (code != '\t' && is_control(code)) return code;
    text.remove_prefix(length);
  }
  return std::nullopt;
}

std::string harmless(std::string_view text) {
  return filtered(
      text, [](auto) { return false; }, [](auto) { return kReplacement; });
}

std::string harmless_lines(std::string_view text) {
  return filtered(
      text, [](auto code) { return code == '\n' || code == '\t'; }, [](auto) { return kReplacement; });
}

std::string harmless_json(std::string_view json) {
  // Outside of strings JSON has no control characters but blanks and line feeds, inside of them no C0.
  return filtered(
      json, [](auto code) { return code < 0x20; }, [](auto code) { return fmt::format("\\u{:04x}", code); });
}

}  // namespace rdmacfg::base
