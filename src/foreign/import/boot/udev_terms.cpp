// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/boot/udev_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::foreign {

namespace {

/// Where the quotation ends; \" is a quotation mark in it.
std::size_t end_of_quote(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '"') return at;
    if (line[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

/// Whether a single match holds.
UdevFit term_fit(const UdevTerm& term, UdevSubject subject, const Claims& claims) {
  const bool device = subject == UdevSubject::kDevice;
  constexpr std::size_t kLongest = 256;
  if (term.value.size() > kLongest) return UdevFit::kMaybe;
  const auto values = base::split(term.value, '|');
  const auto is = [&](std::string_view text) {
    const bool any = std::any_of(values.begin(), values.end(),
                                 [&](std::string_view value) { return base::matches_glob(value, text); });
    return any ? UdevFit::kYes : UdevFit::kNot;
  };
  auto out = UdevFit::kMaybe;
  if (term.key == "ACTION") {
    out = is("add");
  } else if (term.key == "SUBSYSTEM") {
    out = is(device ? "infiniband" : "net");
  } else if (term.key == "ATTR{type}" && !device) {
    out = is("32");
  } else if (term.key == "NAME" && term.value == "?*") {
    out = UdevFit::kNot;
  } else if (term.key == "KERNEL" && !device) {
    const bool ours = std::any_of(values.begin(), values.end(),
                                  [&](std::string_view value) { return claims.knows(value); });
    const bool all = is_pattern(term.value) && is("ib0") == UdevFit::kYes;
    if (all || !ours) out = all ? UdevFit::kYes : UdevFit::kNot;
  }
  if (term.sign == "==" || out == UdevFit::kMaybe) return out;
  return out == UdevFit::kYes ? UdevFit::kNot : UdevFit::kYes;
}

}  // namespace

std::optional<UdevTerms> parse_udev_terms(std::string_view line) {
  UdevTerms out;
  while (true) {
    const auto from = line.find_first_not_of(" \t,");
    if (from == std::string_view::npos) return out;
    line.remove_prefix(from);
    const auto attribute = line.find_first_of("{=");
    const bool braced = attribute != std::string_view::npos && line[attribute] == '{';
    const auto sign = line.find_first_of("=!+-:", braced ? std::min(line.find('}'), line.size()) : 0);
    if (sign == std::string_view::npos) return std::nullopt;
    UdevTerm term{std::string(base::trim(line.substr(0, sign))), {}, {}, false};
    line.remove_prefix(sign);
    const auto quote = line.find('"');
    if (quote > 4) return std::nullopt;  // npos, too
    term.sign = base::trim(line.substr(0, quote));
    // key=e"…", key==i"…"
    term.any_case = term.sign.ends_with('i');
    if (term.sign.ends_with('e') || term.sign.ends_with('i')) term.sign.pop_back();
    term.sign = base::trim(term.sign);
    line.remove_prefix(quote + 1);
    const auto end = end_of_quote(line);
    if (end == std::string_view::npos) return std::nullopt;
    term.value = line.substr(0, end);
    line.remove_prefix(end + 1);
    out.push_back(std::move(term));
  }
}

std::string matched_value(const UdevTerms& terms, std::string_view key) {
  for (const auto& term : terms) {
    if (term.key == key && term.sign == "==") return term.value;
  }
  return {};
}

bool asks_for_upper_case(const UdevTerms& terms, std::span<const std::string_view> keys) {
  return std::any_of(terms.begin(), terms.end(), [&](const UdevTerm& term) {
    return std::find(keys.begin(), keys.end(), term.key) != keys.end() && term.sign == "==" &&
           !term.any_case && term.value.find_first_of("ABCDEF") != std::string::npos &&
           term.value.find_first_of("[|") == std::string::npos;
  });
}

bool is_for_removal(const UdevTerms& terms) {
  const auto action = matched_value(terms, "ACTION");
  const auto words = base::split(action, '|');
  return !action.empty() && std::all_of(words.begin(), words.end(), [](std::string_view word) {
    return word == "remove" || word == "unbind" || word == "offline";
  });
}

UdevFit udev_fit(const UdevTerms& terms, UdevSubject subject, const Claims& claims) {
  auto out = UdevFit::kYes;
  for (const auto& term : terms) {
    if (term.sign == "==" || term.sign == "!=") out = std::min(out, term_fit(term, subject, claims));
  }
  return out;
}

std::optional<std::string> udev_condition(const UdevTerms& terms, UdevSubject subject, const Claims& claims) {
  std::string out;
  for (const auto& term : terms) {
    if (term.sign != "!=") continue;
    const auto fit = term_fit(term, subject, claims);
    if (fit == UdevFit::kNot && term.key != "ACTION") return std::nullopt;
    if (fit != UdevFit::kYes && out.empty())
      out = fmt::format("applies only where {} is not \"{}\"", term.key, term.value);
  }
  return out;
}

}  // namespace rdmacfg::foreign
