// SPDX-License-Identifier: Apache-2.0
#include "ctl/render/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.hpp"

namespace rdmacfg::ctl {

namespace {

constexpr std::uint32_t kBadCharacter = 0xffffffff;
constexpr int kUsualWidth = 80;
constexpr int kLeastWidth = 40;

struct Character {
  std::uint32_t code = kBadCharacter;
  std::size_t bytes = 1;
};

/// The first character of a text that is not empty. RFC 3629: no overlong forms, no surrogates.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80U) return {};
    code = (code << 6U) | (next & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, bytes};
}

struct Range {
  std::uint32_t first, last;
};

template <std::size_t N>
bool in(const std::array<Range, N>& ranges, std::uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](Range r) { return code >= r.first && code <= r.last; });
}

// Unicode: general category Cc, and what reorders or hides text (Cf).
constexpr std::array<Range, 6> kDangerous{
    {{0, 0x1f}, {0x7f, 0x9f}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}}};
constexpr std::array<Range, 5> kCombining{
    {{0x300, 0x36f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f}}};
// UAX #11, the blocks that are wide as a whole.
constexpr std::array<Range, 9> kWide{{{0x1100, 0x115f},
                                      {0x2e80, 0x303e},
                                      {0x3041, 0xa4cf},
                                      {0xac00, 0xd7a3},
                                      {0xf900, 0xfaff},
                                      {0xfe30, 0xfe6f},
                                      {0xff00, 0xff60},
                                      {0x1f300, 0x1faff},
                                      {0x20000, 0x3fffd}}};

int width_of(std::uint32_t code) {
  if (in(kCombining, code)) return 0;
  return in(kWide, code) ? 2 : 1;
}

bool utf8_locale(const Environment& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const auto value = base::lower(environment.variable(name));
    if (value.empty()) continue;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

/// How many bytes of `text` fit into `width` columns; at least one character.
std::size_t fitting(std::string_view text, int width) {
  std::size_t at = 0;
  for (int used = 0; at < text.size();) {
    const auto next = first_character(text.substr(at));
    used += width_of(next.code);
    if (used > width && at > 0) break;
    at += next.bytes;
  }
  return at;
}

}  // namespace

std::string Terminal::paint(std::string_view text, Style style) const {
  constexpr std::array<std::string_view, 6> kCodes{"", "1", "2", "32", "33", "31"};
  if (!colour || style == Style::kPlain || text.empty()) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", kCodes[static_cast<std::size_t>(style)], text);
}

Terminal terminal_of(const Environment& environment, const Stream& stream) {
  Terminal terminal;
  terminal.utf8 = utf8_locale(environment);
  if (!stream.is_terminal) return terminal;
  terminal.colour =
      !stream.no_colour && environment.variable("NO_COLOR").empty() && environment.variable("TERM") != "dumb";
  terminal.width = environment.columns > 0 ? environment.columns : kUsualWidth;
  if (const auto columns = base::parse_number(environment.variable("COLUMNS"));
      columns && *columns < 10'000) {
    if (*columns > 0) terminal.width = static_cast<int>(*columns);
  }
  terminal.width = std::max(terminal.width, kLeastWidth);
  return terminal;
}

std::string clean(std::string_view text, bool utf8) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto next = first_character(text);
    const bool shown = next.code != kBadCharacter && !in(kDangerous, next.code) && (utf8 || next.code < 0x80);
    if (shown) {
      out += text.substr(0, next.bytes);
    } else {
      out += '?';
    }
    text.remove_prefix(next.bytes);
  }
  return out;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const auto next = first_character(text);
    width += width_of(next.code);
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::vector<std::string> wrap(std::string_view text, int width) {
  if (width <= 0 || display_width(text) <= width) return {std::string(text)};
  std::vector<std::string> lines;
  std::string line;
  for (auto word : base::split(text, ' ')) {
    const int wanted = display_width(line) + (line.empty() ? 0 : 1) + display_width(word);
    if (wanted > width && !line.empty()) lines.push_back(std::exchange(line, {}));
    while (display_width(word) > width) {
      const auto bytes = fitting(word, width);
      lines.emplace_back(word.substr(0, bytes));
      word.remove_prefix(bytes);
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string hanging_paragraph(const std::string& label, Style style, const std::string& text,
                              const Terminal& terminal, int indent) {
  const int taken = indent + display_width(label) + 2;
  std::string out;
  for (const auto& line :
       wrap(clean(text, terminal.utf8), terminal.width > 0 ? std::max(20, terminal.width - taken) : 0)) {
    out += out.empty()
               ? std::string(static_cast<std::size_t>(indent), ' ') + terminal.paint(label + ":", style) + " "
               : std::string(static_cast<std::size_t>(taken), ' ');
    out += line + '\n';
  }
  return out;
}

}  // namespace rdmacfg::ctl
