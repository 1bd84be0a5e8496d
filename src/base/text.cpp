// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace rdmacfg::base {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0;;) {
    const auto end = text.find(separator, start);
    parts.push_back(text.substr(start, end == std::string_view::npos ? end : end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const auto& part : parts) {
    if (&part != parts.data()) out += separator;
    out += part;
  }
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  int radix = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    radix = 16;
    text.remove_prefix(2);
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, radix);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

namespace {

constexpr std::size_t kLongest = 64;  // the distance table is quadratic, and nobody mistypes a novel

/// Of texts of at most kLongest characters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<std::array<std::size_t, kLongest + 1>, kLongest + 1> d;
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  if (word.empty() || word.size() > kLongest) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  const std::string wanted = lower(word);
  for (const auto& candidate : candidates) {
    const auto apart = std::max(candidate.size(), word.size()) - std::min(candidate.size(), word.size());
    if (candidate.size() > kLongest || apart >= best_distance) continue;
    const auto distance = edit_distance(wanted, lower(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

bool matches_glob(std::string_view pattern, std::string_view text) {
  return ::fnmatch(std::string(pattern).c_str(), std::string(text).c_str(), 0) == 0;
}

bool matches_host(std::string_view pattern, std::string_view host) {
  // A range is peeled off first: both sides of it are host patterns again.
  for (auto open = pattern.find('['); open != std::string_view::npos; open = pattern.find('[', open + 1)) {
    const auto close = pattern.find(']', open);
    if (close == std::string_view::npos) break;
    const auto inside = pattern.substr(open + 1, close - open - 1);
    const auto dash = inside.find('-');
    if (dash == std::string_view::npos) continue;
    const auto low_text = inside.substr(0, dash), high_text = inside.substr(dash + 1);
    const auto digits = [](std::string_view t) {
      return !t.empty() &&
             std::all_of(t.begin(), t.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    };
    // "[0-9]" is a class of one character and means the same either way.
    if (!digits(low_text) || !digits(high_text)) continue;
    const auto low = parse_number(low_text), high = parse_number(high_text);
    if (!low || !high) continue;
    const auto before = pattern.substr(0, open), after = pattern.substr(close + 1);
    const std::size_t shortest = low_text.size(), longest = std::max(low_text.size(), high_text.size());
    for (std::size_t at = 0; at < host.size(); ++at) {
      for (std::size_t length = shortest; length <= longest && at + length <= host.size(); ++length) {
        const auto number_text = host.substr(at, length);
        if (!digits(number_text) || (length > shortest && number_text.front() == '0')) continue;
        const auto number = parse_number(number_text);
        if (number && *number >= *low && *number <= *high && matches_glob(before, host.substr(0, at)) &&
            matches_host(after, host.substr(at + length))) {
          return true;
        }
      }
    }
    return false;
  }
  return matches_glob(pattern, host);
}

}  // namespace rdmacfg::base
