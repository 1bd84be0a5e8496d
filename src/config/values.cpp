// SPDX-License-Identifier: Apache-2.0
// Rules of check.hpp about single keys.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "config/check.hpp"
#include "config/hosts/host_values.hpp"
#include "config/other_values.hpp"

namespace rdmacfg::config {

namespace {

std::optional<std::uint64_t> decimal(std::string_view text) {
  return text.starts_with("0x") || text.starts_with("0X") ? std::nullopt : base::parse_number(text);
}

/// The fault of a bracket with a "/", which only a range with a step has; empty when it is valid.
std::string wrong_step(std::string_view inside) {
  if (inside.find('/') == std::string_view::npos) return {};
  const auto parts = base::split(inside, ',');
  for (const auto part : parts) {
    const auto range = base::trim(part);
    const auto slash = std::min(range.find('/'), range.size());
    const auto numbers = range.substr(0, slash);
    const auto dash = std::min(numbers.find('-'), numbers.size());
    const bool is_single = dash == numbers.size();
    const bool ends = is_single ? parts.size() > 1 : decimal(numbers.substr(dash + 1)).has_value();
    const bool steps = slash == range.size() || decimal(range.substr(slash + 1)).has_value();
    if (!decimal(numbers.substr(0, dash)) || !ends || !steps)
      return fmt::format(
          "has \"{}\", which is not a range of numbers; write gpu[1-9/2] for every second number", range);
  }
  return {};
}

bool is_padded(std::string_view number) { return number.size() > 1 && number.front() == '0'; }

/// The fault of a range such as [010-001], which contains no number, or [1-010]; empty when it is valid.
std::string backward_range(std::string_view pattern) {
  for (auto open = pattern.find('['); open != std::string_view::npos; open = pattern.find('[', open + 1)) {
    const auto inside = pattern.substr(open + 1, pattern.find(']', open) - open - 1);
    for (const auto part : base::split(inside, ',')) {
      const auto range = base::trim(part);
      const auto dash = range.find('-');
      if (dash == std::string_view::npos) continue;
      const auto slash = std::min(range.find('/', dash), range.size());
      const auto low = range.substr(0, dash), high = range.substr(dash + 1, slash - dash - 1);
      const auto first = decimal(low), last = decimal(high);
      const auto width =
          is_padded(low) || is_padded(high) ? std::max(low.size(), high.size()) : std::size_t{1};
      if (first && last && *first > *last)
        return fmt::format("has a range from {} down to {}, which contains no host; write [{:0>{}}-{:0>{}}]",
                           low, high, high, width, low, width);
      // Numbers are padded to the width of the first.
      if (first && last && is_padded(high) && high.size() != low.size())
        return fmt::format("has the range {}, whose numbers have different widths; write [{:0>{}}-{:0>{}}]",
                           range, low, width, high, width);
      const auto step = slash == range.size() ? std::nullopt : decimal(range.substr(slash + 1));
      if (first && last && step && *step == 0)
        return fmt::format("has the range {} with step 0; a step is at least 1", range);
    }
    if (auto why = wrong_step(inside); !why.empty()) return why;
  }
  return {};
}

/// The fault of a pattern that no host name can match (RFC 1123); empty when there is none.
std::string impossible_character(std::string_view pattern) {
  bool inside = false;
  for (const char c : pattern) {
    if (c == '[') inside = true;
    if (c == ']') inside = false;
    if (inside) continue;
    if (c == ',' || c == ';' || c == '|' || c == ' ' || c == '\t')
      return "has several patterns; write a list of strings: host = [\"gpu[001-512]\", \"login*\"]";
    if (c == '!' || c == '^')
      return "would exclude hosts, which [match] cannot do; list the hosts that the file is for";
    if (c == '{' || c == '}') return "has braces; write ranges as gpu[001-512,600]";
    if (std::string_view("$+\\()").find(c) != std::string_view::npos) {
      return fmt::format(
          "contains \"{}\" of a regular expression; write *, ? and [a-z] as in a shell, and ranges such as "
          "gpu[001-512,600]",
          std::string_view(&c, 1));
    }
    if (std::string_view("/:@\"'#%&<=>`~").find(c) != std::string_view::npos)
      return fmt::format("contains \"{}\", which is not allowed in a host name", std::string_view(&c, 1));
  }
  // Names in between dots have a letter or a digit at both ends (RFC 1123, 2.1).
  if (const auto dots = pattern.find(".."); dots != std::string_view::npos) {
    const auto open = pattern.rfind('[', dots), close = pattern.rfind(']', dots);
    const bool in_range = open != std::string_view::npos && (close == std::string_view::npos || close < open);
    return in_range ? "has \"..\" in brackets; write ranges as gpu[001-512,600]"
                    : "contains \"..\", which is not allowed in a host name";
  }
  const auto first = pattern.front(), last = pattern.back();
  if (first == '.' || first == '-' || last == '.')
    return fmt::format("{} with \"{}\", which is not allowed in a host name", last == '.' ? "ends" : "begins",
                       std::string_view(last == '.' ? &last : &first, 1));
  return {};
}

/// The fault of a host pattern; empty when it is valid.
std::string pattern_error(std::string_view pattern) {
  constexpr std::size_t kLongest = 255;  // of a host name, and a bound on the work of matching
  if (pattern.empty()) return "is empty";
  if (pattern.size() > kLongest) return "is too long for a host name";
  if (const auto bare = base::trim(pattern); bare.size() < pattern.size())
    return fmt::format("has leading or trailing blanks: write \"{}\"", bare);
  const auto open = pattern.rfind('[');
  if (open != std::string_view::npos && pattern.find(']', open) == std::string_view::npos)
    return "has a [ without ]";
  if (open == std::string_view::npos && pattern.find(']') != std::string_view::npos)
    return "has a ] without [";
  if (auto impossible = impossible_character(pattern); !impossible.empty()) return impossible;
  return backward_range(pattern);
}

/// The fault of a value of key `label`.
std::string complaint(std::string_view label, const model::FieldSpec& field, std::string_view message) {
  return fmt::format("{} {}: {}", label, field.name, message);
}

/// The same of a value of a sort that the key does not take; `message` says what it must be.
std::string complaint_of_sort(std::string_view label, const model::FieldSpec& field, const Node& node,
                              std::string_view message) {
  return complaint(label, field, fmt::format("{}, not {}", message, sort_of(node)));
}

/// The fault of one of the `size` elements of a list by itself; nothing when it is right, or wrong only
/// beside the others. A list that must have a certain length, none of which is long, is asked with that
/// many of the same.
std::optional<std::string> element_error(const std::string& element, std::size_t size,
                                         const model::FieldSpec& field) {
  constexpr std::size_t kLongest = 16;
  const auto parsed = field.parse(std::vector<std::string>{element});
  if (parsed) return std::nullopt;
  if (size > kLongest) return parsed.error().message;
  const auto many = field.parse(std::vector<std::string>(size, element));
  if (many) return std::nullopt;
  return many.error().message;
}

/// The element that is wrong beside an earlier one, as one that is listed twice; 0: there is none, and the
/// fault is that of the list. A fault of the length or of a sum is another, or none, with other elements.
std::size_t second_of_two(const std::vector<std::string>& list, const model::FieldSpec& field,
                          const std::string& message) {
  constexpr std::size_t kLongest = 64;
  const auto fails_so = [&](std::vector<std::string> part) {
    const auto parsed = field.parse(std::move(part));
    return !parsed && parsed.error().message == message;
  };
  for (std::size_t j = 1; j < std::min(list.size(), kLongest); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (fails_so({list[i], list[j]}) && fails_so({list[i], list[j], list[j]})) return j;
    }
  }
  return 0;
}

/// A list of texts; in a list of numbers they count as their text, so that `priorities = [3]` needs no
/// quotes.
std::optional<model::Value> list_value(const Node& node, std::string_view label,
                                       const model::FieldSpec& field, const Reporter& report) {
  const model::Value empty = std::vector<std::string>();
  if (const auto none = field.parse(empty); !none && !model::takes(field, empty)) {
    if (!is_substitute(node))
      report.wrong(node.at, complaint_of_sort(label, field, node, none.error().message));
    return std::nullopt;
  }
  const bool numbers = field.schema.find("integer") != std::string_view::npos;
  std::vector<std::string> list;
  std::vector<const Node*> items;
  for (const auto& item : node.items) {
    const auto* number = std::get_if<std::int64_t>(&item.scalar);
    if (const auto* word = std::get_if<std::string>(&item.scalar)) {
      list.push_back(*word);
    } else if (number != nullptr && numbers) {
      list.push_back(std::to_string(*number));
    } else {
      report.wrong(item.at, fmt::format("{} {}: an element must be {}, not {}", label, field.name,
                                        numbers ? "an integer" : "a string in quotes", sort_of(item)));
      continue;
    }
    items.push_back(&item);
  }
  const bool all = list.size() == node.items.size();
  auto value = field.parse(list);
  if (value && all) return std::move(*value);
  if (is_substitute(node)) return std::nullopt;  // not to be reported twice
  std::vector<std::optional<std::string>> errors;
  errors.reserve(list.size());
  for (const auto& element : list) errors.push_back(element_error(element, list.size(), field));
  const auto none = field.parse(empty);
  const bool no_list = !value && !none && none.error().message == value.error().message;
  const bool sound = std::none_of(errors.begin(), errors.end(), [](const auto& e) { return e.has_value(); });
  // The same of each of several is the list's length, or that there is a list at all.
  const bool same = list.size() > 1 && std::all_of(errors.begin(), errors.end(), [&](const auto& error) {
                      return error == errors.front() && !value && error == value.error().message;
                    });
  const bool alike = std::adjacent_find(list.begin(), list.end(), std::not_equal_to<>()) == list.end();
  // Of equal elements, a complaint that changes with their number is about that number.
  const auto is_of_length = [&] {
    const auto changes = [&](std::size_t number) {
      const auto other = field.parse(std::vector<std::string>(number, list.front()));
      return other || other.error().message != value.error().message;
    };
    return changes(1) && changes(list.size() + 1);
  };
  if (sound || no_list || (same && (!alike || is_of_length()))) {
    const auto second = !value && all && sound ? second_of_two(list, field, value.error().message) : 0;
    if (!value && all)
      report.wrong(second > 0 ? items[second]->at : node.at, complaint(label, field, value.error().message));
    return std::nullopt;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (errors[i]) report.wrong(items[i]->at, complaint(label, field, *errors[i]));
  }
  return std::nullopt;
}

/// The meaning of a filled-in text where the field takes no text: "2044" is a number there.
std::optional<model::Value> unquoted(const std::string& text) {
  const bool negative = text.starts_with('-');
  std::optional<model::Value> meant;
  if (text == "true" || text == "false") {
    meant = text == "true";
  } else if (const auto number = base::parse_number(std::string_view(text).substr(negative ? 1 : 0));
             number && *number <= std::uint64_t{1} << 62U) {
    meant = negative ? -static_cast<std::int64_t>(*number) : static_cast<std::int64_t>(*number);
  }
  return meant;
}

/// The remedy for a number or a boolean in quotes, also with a unit that changes nothing; empty for other
/// texts.
std::string unquoted_hint(const std::string& text, const model::FieldSpec& field) {
  const auto word = base::lower(base::trim(text));
  if (word == "auto" || word == "default") {
    return field.role == model::Role::kSetting
               ? fmt::format("leave {} out, and it stays as it is on the host", field.name)
               : std::string();
  }
  std::string plain = word == "yes" || word == "on" ? "true" : word == "no" || word == "off" ? "false" : word;
  auto meant = unquoted(plain);
  if (!meant) {
    plain = word.substr(0, word.find_first_not_of("0123456789"));
    const auto unit = base::trim(std::string_view(word).substr(plain.size()));
    constexpr std::array<std::string_view, 6> kUnits{"b", "byte", "bytes", "s", "seconds", "%"};
    if (std::find(kUnits.begin(), kUnits.end(), unit) != kUnits.end()) meant = unquoted(plain);
    const auto length = field.type == "seconds" && (unit == "m" || unit == "min") ? 60U
                        : field.type == "seconds" && unit == "h"                  ? 3600U
                                                                                  : 0U;
    const auto number = base::parse_number(plain);
    constexpr std::uint64_t kMost = 1'000'000;
    if (length > 0 && number && *number <= kMost) {
      plain = std::to_string(*number * length);
      meant = unquoted(plain);
    }
  }
  return meant && field.parse(*meant) ? fmt::format("write {} = {}", field.name, plain) : std::string();
}

std::optional<model::Value> check_plain(const Node& node, const model::FieldSpec& field, const Place& place,
                                        const Reporter& report);

/// Whether an element that mentions no host is wrong only beside one before it that does.
bool is_wrong_by_host(const Node& list, std::size_t at, const model::FieldSpec& field) {
  const bool numbers = field.schema.find("integer") != std::string_view::npos;
  std::vector<std::string> plain;
  for (std::size_t i = 0; i <= at; ++i) {
    const auto& item = list.items[i];
    if (mentions_host(item)) continue;
    const auto* number = std::get_if<std::int64_t>(&item.scalar);
    const auto* text = std::get_if<std::string>(&item.scalar);
    if (text == nullptr && (number == nullptr || !numbers)) return false;
    plain.push_back(text == nullptr ? std::to_string(*number) : *text);
  }
  return field.parse(std::move(plain)).has_value();
}

/// The same of a value that mentions the host.
std::optional<model::Value> check_filled(const Node& node, const model::FieldSpec& field, const Place& place,
                                         const Reporter& report) {
  if (report.values == nullptr) return std::nullopt;
  std::vector<FilledValue> used;
  auto filled = report.values->fill(node, place.label, field, report, used);
  if (!filled) return std::nullopt;
  std::map<model::Location, std::vector<FilledValue>> by_element;
  std::map<model::Location, std::size_t> plain;  // elements that mention no host
  for (std::size_t item = 0; item < node.items.size(); ++item) {
    const auto where = location_of(report.text, node.items[item].at);
    if (!mentions_host(node.items[item])) {
      plain.emplace(where, item);
      continue;
    }
    auto& values = by_element[where];
    std::copy_if(used.begin(), used.end(), std::back_inserter(values),
                 [&](const FilledValue& value) { return value.item == item; });
  }
  if (report.filled) {
    report.filled->emplace(location_of(report.text, node.at), used);
    report.filled->insert(by_element.begin(), by_element.end());
  }
  if (const auto* text = std::get_if<std::string>(&filled->scalar)) {
    const auto as_text = field.parse(filled->scalar);
    auto meant = as_text ? std::nullopt : unquoted(*text);
    // Of a field that takes no text at all, the number is what is wrong.
    if (meant && (field.parse(*meant) || !model::takes(field, filled->scalar)))
      filled->scalar = std::move(*meant);
  }
  const auto before = report.diagnostics.size();
  auto value = check_plain(*filled, field, place, report);
  const bool single = report.diagnostics.size() == before + 1;  // of several, each is of its element alone
  for (auto at = before; at < report.diagnostics.size(); ++at) {
    auto& wrong = report.diagnostics[at];
    const auto other = plain.find(wrong.where);
    if (other != plain.end() && !(single && is_wrong_by_host(node, other->second, field))) continue;
    const auto element = by_element.find(wrong.where);
    const auto& from = element == by_element.end() ? used : element->second;
    append_host(wrong, report.values->host());
    wrong.related.insert(wrong.related.end(), from.begin(), from.end());
  }
  return value;
}

std::optional<model::Value> check_plain(const Node& node, const model::FieldSpec& field, const Place& place,
                                        const Reporter& report) {
  const std::string& label = place.label;
  if (node.sort == Node::Sort::kList && node.origin == Node::Origin::kHeader) {
    report.wrong(
        node.at,
        fmt::format("[[{}]]: {} is a key of {}, not a section", place.path_to(field.name), field.name, label),
        fmt::format("write {} = …", field.name));
    return std::nullopt;
  }
  if (node.sort == Node::Sort::kList) return list_value(node, label, field, report);
  const model::Value& written = node.scalar;
  auto value = field.parse(written);
  if (value) return std::move(*value);
  if (node.faulty) return std::nullopt;  // not to be reported twice
  const auto& message = value.error().message;
  if (model::takes(field, written)) {
    report.wrong(node.at, complaint(label, field, message), value_hint(written, field));
    return std::nullopt;
  }
  const auto* text = std::get_if<std::string>(&written);
  auto hint = text == nullptr ? std::string() : unquoted_hint(*text, field);
  if (hint.empty()) hint = value_hint(written, field);
  report.wrong(node.at, complaint_of_sort(label, field, node, message), std::move(hint));
  return std::nullopt;
}

/// The items of a list, or the value itself.
std::vector<const Node*> items_of(const Node& node) {
  if (node.sort != Node::Sort::kList) return {&node};
  std::vector<const Node*> out;
  for (const auto& item : node.items) out.push_back(&item);
  return out;
}

}  // namespace

std::optional<model::Value> check_value(const Node& node, const model::FieldSpec& field, const Place& place,
                                        const Reporter& report) {
  return mentions_host(node) ? check_filled(node, field, place, report)
                             : check_plain(node, field, place, report);
}

std::optional<std::string> check_match(const Node& match, std::string_view host, const Reporter& report) {
  const auto wrong = [&](const Span& at, std::string message, std::string hint = {}) {
    report.wrong(at, std::move(message), std::move(hint));
    return std::nullopt;
  };
  if (match.sort != Node::Sort::kTable) {
    return wrong(match.at, fmt::format("[match]: must be one section, not {}", sort_of(match)),
                 "write [match]");
  }
  const std::vector<std::string> known{"host"};
  bool unknown = false;
  for (const auto& [name, node] : match.members) {
    if (name == "host") continue;
    unknown = true;
    const auto near = base::nearest(name, known);
    wrong(node.key, fmt::format("[match] {}: unknown key{}", name, near ? "; did you mean \"host\"?" : ""),
          near ? "" : "[match] of a file has only the key host, as in host = [\"gpu[001-512]\", \"login*\"]");
  }
  const auto at = match.members.find("host");
  if (at == match.members.end()) {
    // The remedy of an unknown key is to write host in its place.
    if (report.partial || unknown) return std::nullopt;
    return wrong(match.at, "[match]: host is missing",
                 "write host = [\"gpu[001-512]\", \"login*\"], or leave [match] out");
  }
  const Node& hosts = at->second;
  const auto patterns = items_of(hosts);
  if (patterns.empty())
    return wrong(hosts.at, "[match] host: is an empty list, so the file would apply to no host");

  const auto name = base::lower(host);  // RFC 4343: case says nothing in a host name
  const auto shorter = std::string_view(name).substr(0, name.find('.'));
  std::vector<std::string> tried;
  bool good = true, applies = false;
  for (const Node* node : patterns) {
    const auto* pattern = std::get_if<std::string>(&node->scalar);
    const auto error =
        pattern ? pattern_error(*pattern) : fmt::format("must be a string, not {}", sort_of(*node));
    if (!error.empty()) {
      wrong(node->at,
            fmt::format("[match] host: {}{}", pattern ? fmt::format("\"{}\" ", *pattern) : "", error));
      good = false;
    } else {
      tried.push_back(*pattern);
      const auto folded = base::lower(*pattern);
      applies = applies || base::matches_host(folded, name) || base::matches_host(folded, shorter);
    }
  }
  if (!good || applies) return std::nullopt;
  // To leave the file out would be to take away all that it had put there.
  if (host.empty()) {
    return wrong(hosts.at, "[match] host: this host has no name (yet), so the file cannot be matched to it",
                 "set one in /etc/hostname, or wait until the network provides one");
  }
  return fmt::format("applies to hosts {}, not to {}", base::join(tried, ", "), host);
}

}  // namespace rdmacfg::config
