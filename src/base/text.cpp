// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <system_error>
#include <utility>

namespace rdmacfg::base {

std::string unescape_octal(std::string_view text) {
  constexpr std::string_view kOctal = "01234567";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digits = text.substr(i + 1, 3);
    if (text[i] != '\\' || digits.size() != 3 || digits.find_first_not_of(kOctal) != std::string_view::npos) {
      out += text[i];
      continue;
    }
    int code = 0;
    for (const char digit : digits) code = code * 8 + (digit - '0');
    out += static_cast<char>(code);
    i += 3;
  }
  return out;
}

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

std::vector<std::string_view> words_of(std::string_view line, std::string_view blanks) {
  std::vector<std::string_view> words;
  for (std::size_t start = 0; (start = line.find_first_not_of(blanks, start)) != std::string_view::npos;) {
    const auto end = std::min(line.find_first_of(blanks, start), line.size());
    words.push_back(line.substr(start, end - start));
    start = end;
  }
  return words;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const auto& part : parts) {
    if (&part != parts.data()) out += separator;
    out += part;
  }
  return out;
}

std::string join_first(std::size_t most, std::span<const std::string> parts, std::string_view separator) {
  if (parts.size() <= most) return join(parts, separator);
  return join(parts.first(most), separator) + " and " + std::to_string(parts.size() - most) + " more";
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

std::optional<std::uint64_t> c_number(std::string_view text) {
  text = trim(text);
  if (text.size() < 2 || text.front() != '0' || text[1] == 'x' || text[1] == 'X') return parse_number(text);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 8);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
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

std::size_t shared_beginning(std::string_view a, std::string_view b) {
  std::size_t out = 0;
  while (out < a.size() && out < b.size() && a[out] == b[out]) ++out;
  return out;
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  if (word.empty() || word.size() > kLongest) return std::nullopt;
  // "qkey" is q_key, whatever else is a letter away.
  const auto letters = [](std::string_view text) {
    auto out = lower(text);
    std::erase_if(out, [](char c) { return c == '_' || c == '-'; });
    return out;
  };
  const auto meant = letters(word);
  for (const auto& candidate : candidates) {
    if (!meant.empty() && candidate.size() <= kLongest && letters(candidate) == meant) return candidate;
  }
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::size_t best_shared = 0;
  const std::string wanted = lower(word);
  for (const auto& candidate : candidates) {
    const auto apart = std::max(candidate.size(), word.size()) - std::min(candidate.size(), word.size());
    if (candidate.size() > kLongest || apart > best_distance) continue;
    const auto known = lower(candidate);
    const auto distance = edit_distance(wanted, known);
    const auto shared = shared_beginning(wanted, known);
    // Few mistype the beginning: "repare" is repair rather than report.
    if (distance < best_distance || (best && distance == best_distance && shared > best_shared)) {
      best_distance = distance;
      best_shared = shared;
      best = candidate;
    }
  }
  return best;
}

bool matches_glob(std::string_view pattern, std::string_view text) {
  return ::fnmatch(std::string(pattern).c_str(), std::string(text).c_str(), 0) == 0;
}

namespace {

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "node[08-12,20,30-40/2]" in a host pattern: a glob, then a number of these ranges.
struct HostRange {
  struct Numbers {
    std::uint64_t low = 0, high = 0, step = 1;
    std::size_t digits = 0;
  };
  std::string_view before;
  std::vector<Numbers> ranges;
  std::size_t shortest = 0, longest = 0;  ///< digits

  [[nodiscard]] bool holds(std::string_view text) const {
    const auto number = all_digits(text) ? parse_number(text) : std::nullopt;
    return number && std::any_of(ranges.begin(), ranges.end(), [&](const Numbers& range) {
             const bool padded = text.size() > range.digits && text.front() == '0';
             return text.size() >= range.digits && !padded && *number >= range.low && *number <= range.high &&
                    (*number - range.low) % range.step == 0;
           });
  }
};

/// The content of a bracket as ranges. Nothing of a character class, such as "[ab]", "[12]".
std::optional<HostRange> ranges_in(std::string_view inside) {
  HostRange out;
  const bool list = inside.find(',') != std::string_view::npos;
  for (const auto part : split(inside, ',')) {
    const auto whole = trim(part);
    const auto slash = std::min(whole.find('/'), whole.size());
    const auto item = whole.substr(0, slash);
    const auto step_text = slash == whole.size() ? std::string_view("1") : whole.substr(slash + 1);
    const auto step = all_digits(step_text) ? parse_number(step_text) : std::nullopt;
    if (!step || *step == 0) return std::nullopt;
    const auto dash = std::min(item.find('-'), item.size());
    const auto low_text = item.substr(0, dash);
    const auto high_text =
        dash == item.size() && list ? low_text : item.substr(std::min(dash + 1, item.size()));
    if (!all_digits(low_text) || !all_digits(high_text)) return std::nullopt;
    const auto low = parse_number(low_text), high = parse_number(high_text);
    if (!low || !high) return std::nullopt;
    const auto longest = std::max(low_text.size(), high_text.size());
    out.shortest = out.ranges.empty() ? low_text.size() : std::min(out.shortest, low_text.size());
    out.longest = std::max(out.longest, longest);
    out.ranges.push_back({*low, *high, *step, low_text.size()});
  }
  return out;
}

/// Removes the first range from the pattern and returns it; nothing when only a glob is left. "[0-9]" matches
/// the same as a range and as a character class.
std::optional<HostRange> take_range(std::string_view& pattern) {
  for (auto open = pattern.find('['); open != std::string_view::npos; open = pattern.find('[', open + 1)) {
    const auto close = pattern.find(']', open);
    if (close == std::string_view::npos) break;
    auto out = ranges_in(pattern.substr(open + 1, close - open - 1));
    if (!out) continue;
    out->before = pattern.substr(0, open);
    pattern.remove_prefix(close + 1);
    return out;
  }
  return std::nullopt;
}

}  // namespace

bool matches_host(std::string_view pattern, std::string_view host) {
  // The places of the name up to which the pattern's beginning can match; each is looked at once for each
  // range.
  std::vector<bool> reached(host.size() + 1);
  reached[0] = true;
  while (const auto range = take_range(pattern)) {
    std::vector<bool> next(host.size() + 1);
    for (std::size_t from = 0; from < host.size(); ++from) {
      if (!reached[from]) continue;
      for (std::size_t at = from; at < host.size(); ++at) {
        if (!matches_glob(range->before, host.substr(from, at - from))) continue;
        for (auto length = range->shortest; length <= range->longest && at + length <= host.size(); ++length)
          next[at + length] = next[at + length] || range->holds(host.substr(at, length));
      }
    }
    reached = std::move(next);
  }
  for (std::size_t from = 0; from <= host.size(); ++from) {
    if (reached[from] && matches_glob(pattern, host.substr(from))) return true;
  }
  return false;
}

}  // namespace rdmacfg::base
