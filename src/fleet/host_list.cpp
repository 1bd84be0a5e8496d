// SPDX-License-Identifier: Apache-2.0
#include "fleet/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "config/guard.hpp"
#include "fleet/inventory.hpp"

namespace rdmacfg::fleet {

namespace {

constexpr std::size_t kDigits = 15;  ///< of a number: more than any site has, and they cannot overflow
constexpr std::size_t kName = 253;   ///< characters of a host's name (RFC 1035)

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// The numbers of a bracket, or what stands outside of one.
struct Range {
  std::uint64_t first = 0, last = 0, step = 1;
  std::size_t digits = 1;

  [[nodiscard]] std::uint64_t count() const { return (last - first) / step + 1; }
};
struct Piece {
  std::string text;           ///< outside
  std::vector<Range> ranges;  ///< inside
};

std::string numbered(std::uint64_t number, std::size_t digits) {
  return fmt::format("{:0>{}}", number, digits);
}

/// One item of a list, which begins at `at` of the text.
class Item {
 public:
  Item(std::string_view item, std::size_t at) : item_(item), at_(at) {}

  /// Nothing and wrong() when it cannot be read.
  [[nodiscard]] std::optional<std::vector<Piece>> pieces() {
    std::vector<Piece> out;
    for (std::size_t at = 0; at < item_.size();) {
      const auto open = item_.find_first_of("[]", at);
      if (open != at) out.push_back({std::string(item_.substr(at, open - at)), {}});
      if (open == std::string_view::npos) break;
      const auto close = item_.find_first_of("[]", open + 1);
      if (item_[open] == ']' || close == std::string_view::npos || item_[close] == '[')
        return fail(open, 1, "unmatched bracket", "write ranges as gpu[001-512,600]");
      auto& piece = out.emplace_back();
      for (auto from = open + 1; from <= close;) {
        const auto end = from + std::min(item_.substr(from, close - from).find(','), close - from);
        auto range = range_at(from, end);
        if (!range) return std::nullopt;
        piece.ranges.push_back(*range);
        from = end + 1;
      }
      at = close + 1;
    }
    return out;
  }

  [[nodiscard]] std::size_t at() const { return at_ + wrong_at_; }
  [[nodiscard]] int length() const { return static_cast<int>(std::max<std::size_t>(wrong_length_, 1)); }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::string& hint() const { return hint_; }

 private:
  std::nullopt_t fail(std::size_t at, std::size_t length, std::string message, std::string hint) {
    wrong_at_ = at;
    wrong_length_ = length;
    message_ = std::move(message);
    hint_ = std::move(hint);
    return std::nullopt;
  }

  std::optional<Range> range_at(std::size_t from, std::size_t end) {
    const auto text = base::trim(item_.substr(from, end - from));
    if (text.empty()) return fail(from, 1, "empty range", "write ranges as gpu[001-512,600]");
    from = static_cast<std::size_t>(text.data() - item_.data());
    const auto slash = text.find('/');
    const auto numbers = text.substr(0, slash);
    const auto step = slash == std::string_view::npos ? std::string_view("1") : text.substr(slash + 1);
    const auto dash = numbers.find('-');
    const auto low = numbers.substr(0, dash);
    const auto high = dash == std::string_view::npos ? low : numbers.substr(dash + 1);
    const auto is_number = [](std::string_view word) { return all_digits(word) && word.size() <= kDigits; };
    if (!is_number(low) || !is_number(high) || !is_number(step))
      return fail(from, text.size(),
                  fmt::format("\"{}\" is not a range of numbers", text.size() > kName ? "…" : text),
                  "write ranges as gpu[001-512,600], or gpu[1-9/2] for every second one");
    const Range out{number_in(low), number_in(high), number_in(step), low.size()};
    if (out.step == 0)
      return fail(from, text.size(), fmt::format("range {} has step 0", text), "a step is at least 1");
    const auto padded = [](std::string_view number) { return number.size() > 1 && number.front() == '0'; };
    const auto width = padded(low) || padded(high) ? std::max(low.size(), high.size()) : std::size_t{1};
    if (out.last < out.first)
      return fail(from, text.size(), fmt::format("range {} is reversed", text),
                  fmt::format("write {:0>{}}-{:0>{}}", high, width, low, width));
    // Numbers are padded to the width of the first.
    if (padded(high) && high.size() != low.size())
      return fail(from, text.size(), fmt::format("the numbers of range {} have different widths", text),
                  fmt::format("write {:0>{}}-{:0>{}}", low, width, high, width));
    return out;
  }

  static std::uint64_t number_in(std::string_view digits) {
    std::uint64_t out = 0;
    for (const char c : digits) out = out * 10 + static_cast<std::uint64_t>(c - '0');
    return out;
  }

  std::string_view item_;
  std::size_t at_;
  std::size_t wrong_at_ = 0, wrong_length_ = 1;
  std::string message_, hint_;
};

/// How many names pieces stand for, at most `most` + 1.
std::size_t count_of(const std::vector<Piece>& pieces, std::size_t most) {
  std::size_t out = 1;
  for (const auto& piece : pieces) {
    if (piece.ranges.empty()) continue;
    std::uint64_t numbers = 0;
    for (const auto& range : piece.ranges)
      numbers = std::min<std::uint64_t>(numbers + range.count(), most + 1);
    out = std::min<std::size_t>(out * static_cast<std::size_t>(numbers), most + 1);
  }
  return out;
}

/// Characters of the shortest name that pieces stand for.
std::size_t shortest_of(const std::vector<Piece>& pieces) {
  std::size_t out = 0;
  for (const auto& piece : pieces) {
    auto least = piece.text.size();
    for (const auto& range : piece.ranges) least = least == 0 ? range.digits : std::min(least, range.digits);
    out += least;
  }
  return out;
}

std::vector<std::string> names_of(const std::vector<Piece>& pieces) {
  std::vector<std::string> out{""};
  for (const auto& piece : pieces) {
    if (piece.ranges.empty()) {
      for (auto& name : out) name += piece.text;
      continue;
    }
    if (const auto& range = piece.ranges.front(); piece.ranges.size() == 1 && range.first == range.last) {
      for (auto& name : out) name += numbered(range.first, range.digits);
      continue;
    }
    std::vector<std::string> longer;
    for (const auto& name : out) {
      for (const auto& range : piece.ranges) {
        for (auto number = range.first; number <= range.last; number += range.step)
          longer.push_back(name + numbered(number, range.digits));
      }
    }
    out = std::move(longer);
  }
  return out;
}

class ListParser {
 public:
  ListParser(const config::Text& text, std::size_t most)
      : list_(text), text_(config::without_mark(text.text)), most_(most) {}

  HostList parse() && {
    const auto all = text_;
    int depth = 0;
    for (std::size_t at = 0, from = 0; at <= all.size(); ++at) {
      const char c = at < all.size() ? all[at] : '\n';
      if (c == '[') ++depth;
      if (c == ']') depth = std::max(depth - 1, 0);
      const bool line_ends = c == '\n' || c == '\r' || c == '#';
      const bool between = c == ' ' || c == '\t' || c == ',';
      if (!line_ends && (!between || depth > 0)) continue;
      if (at > from) item(all.substr(from, at - from), from);
      depth = 0;
      if (full_) break;
      if (c == '#') at = std::min(all.find('\n', at), all.size());
      from = at + 1;
    }
    if (left_out_ > 0) {
      auto last = out_.diagnostics.back();
      last.message = fmt::format("{} more mistakes are not shown", left_out_);
      last.hint.clear();
      out_.diagnostics.push_back(std::move(last));
    }
    if (out_.names.empty() && out_.diagnostics.empty())
      leave_out(0, 1, "no host is listed", "write hosts as gpu[001-512],login1");
    return std::move(out_);
  }

 private:
  void item(std::string_view word, std::size_t at) {
    Item item(word, at);
    const auto pieces = item.pieces();
    if (!pieces) return leave_out(item.at(), item.length(), item.message(), item.hint());
    const auto length = static_cast<int>(word.size());
    // Before so many names of such a length take all memory.
    if (shortest_of(*pieces) > kName)
      return leave_out(at, length, fmt::format("a host name has more than {} characters", kName),
                       "separate hosts by commas, blanks or lines");
    if (out_.names.size() + count_of(*pieces, most_) > most_) {
      full_ = true;
      return leave_out(
          at, length,
          fmt::format("this item exceeds the limit of {} hosts; it and all later items are left out", most_),
          "check the site in parts");
    }
    auto names = names_of(*pieces);
    if (!std::all_of(names.begin(), names.end(), [](const auto& name) { return is_host_name(name); }))
      return wrong_name(word, at);
    std::vector<std::string> twice;
    for (auto& name : names) {
      if (!seen_.insert(base::lower(name)).second) {
        twice.push_back(std::move(name));
      } else {
        out_.names.push_back(std::move(name));
        out_.items.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(word.size())});
      }
    }
    if (!twice.empty())
      wrong(at, length,
            twice.size() == 1 ? fmt::format("host {} is listed twice", twice.front())
                              : fmt::format("{} hosts are listed twice: {}", twice.size(), fold_hosts(twice)),
            "each host counts once");
  }

  void wrong_name(std::string_view word, std::size_t at) {
    const auto what = word.size() > kName ? std::string("a name of this item") : fmt::format("\"{}\"", word);
    const char* hint = "use letters, digits, - and _, at most 63 between two dots";
    if (word.starts_with('-') || word.ends_with('-') || word.find("-.") != std::string_view::npos ||
        word.find(".-") != std::string_view::npos)
      hint = "a name, and each part of it between dots, must not begin or end with -";
    if (word == "-") hint = "remove the - of a YAML list in front of each host";
    if (word.find_first_of("{}") != std::string_view::npos) hint = "write ranges as gpu[001-512,600]";
    if (word.find_first_of(";|") != std::string_view::npos)
      hint = "separate hosts by commas, blanks or lines";
    leave_out(at, static_cast<int>(word.size()), what + " is not a valid host name", hint);
  }

  void leave_out(std::size_t at, int length, std::string message, std::string hint) {
    out_.complete = false;
    wrong(at, length, std::move(message), std::move(hint));
  }

  void wrong(std::size_t at, int length, std::string message, std::string hint) {
    if (out_.diagnostics.size() == model::limits::kErrors) {
      ++left_out_;
      return;
    }
    const ListItem item{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length)};
    out_.diagnostics.push_back(
        {model::Severity::kError, location_in(list_, item), std::move(message), std::move(hint), {}});
  }

  const config::Text& list_;
  std::string_view text_;  ///< places count from its start
  std::size_t most_;
  bool full_ = false;
  std::size_t left_out_ = 0;  ///< complaints
  HostList out_;
  std::unordered_set<std::string> seen_;
};

/// A set of names that differ in the part before `tail` only: `head`, and below it what is folded already.
struct Stem {
  std::string head;
  std::string tail;
};

/// "[003-007,9]", or the number itself.
std::string bracket_of(std::vector<std::string>& numbers) {
  // By value; of two alike the shorter first.
  std::sort(numbers.begin(), numbers.end(), [](const auto& a, const auto& b) {
    const auto digits = [](const std::string& text) {
      return std::string_view(text).substr(std::min(text.find_first_not_of('0'), text.size() - 1));
    };
    const auto x = digits(a), y = digits(b);
    if (x.size() != y.size()) return x.size() < y.size();
    return x != y ? x < y : a.size() < b.size();
  });
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.size() == 1) return numbers.front();
  std::string out = "[";
  for (std::size_t i = 0; i < numbers.size();) {
    auto last = i;
    const auto first =
        base::parse_number(std::string_view(numbers[i])
                               .substr(std::min(numbers[i].find_first_not_of('0'), numbers[i].size() - 1)));
    while (first && last + 1 < numbers.size() &&
           numbers[last + 1] == numbered(*first + (last + 1 - i), numbers[i].size()))
      ++last;
    if (out.size() > 1) out += ',';
    out += numbers[i];
    if (last > i) out += (last == i + 1 ? ',' : '-') + numbers[last];
    i = last + 1;
  }
  return out + ']';
}

}  // namespace

bool is_host_name(std::string_view name) {
  constexpr std::size_t kLabel = 63;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '_';
  };
  if (name.size() > kName) return false;
  const auto labels = base::split(name, '.');
  return std::all_of(labels.begin(), labels.end(), [&](std::string_view label) {
    return !label.empty() && label.size() <= kLabel && label.front() != '-' && label.back() != '-' &&
           std::all_of(label.begin(), label.end(), fits);
  });
}

model::Location location_in(const config::Text& text, const ListItem& item) {
  const auto before = config::without_mark(text.text).substr(0, item.at);
  const auto line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const int line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  int column = 1;
  for (const char c : before.substr(line_start)) column += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  return {text.name, line, column, static_cast<int>(item.length)};
}

HostList parse_hosts(const config::Text& text, std::size_t most) {
  config::Limits limits;
  limits.file_bytes = model::limits::kFleetFileBytes;
  if (auto wrong = config::check_text(text, limits)) return {{}, {std::move(*wrong)}, false};
  if (auto other = recognize_inventory(text)) return {{}, {std::move(*other)}, false};
  return ListParser(text, most).parse();
}

std::string fold_hosts(const std::vector<std::string>& names) {
  std::vector<Stem> stems;
  for (const auto& name : names) stems.push_back({name, ""});
  // From the last number of the names to the first: names with the same text around it fold.
  for (bool folded = true; folded;) {
    folded = false;
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
    std::vector<Stem> next;
    for (auto& stem : stems) {
      const auto end = stem.head.find_last_of("0123456789");
      if (end == std::string::npos) {
        next.push_back(std::move(stem));
        continue;
      }
      const auto before = stem.head.find_last_not_of("0123456789", end);
      const auto begin = before == std::string::npos ? 0 : before + 1;
      if (end - begin >= kDigits) {  // which parse_hosts() does not count
        next.push_back(std::move(stem));
        continue;
      }
      folded = true;
      groups[{stem.head.substr(0, begin), stem.head.substr(end + 1) + stem.tail}].push_back(
          stem.head.substr(begin, end + 1 - begin));
    }
    for (auto& [around, numbers] : groups)
      next.push_back({around.first, bracket_of(numbers) + around.second});
    stems = std::move(next);
  }
  std::vector<std::string> out;
  for (const auto& stem : stems) out.push_back(stem.head + stem.tail);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return base::join(out, ",");
}

}  // namespace rdmacfg::fleet
