// SPDX-License-Identifier: Apache-2.0
#include "model/types/dcb_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "model/types.hpp"
#include "model/types/choices.hpp"

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

namespace {

Result<std::vector<std::string>> list_of(const Value& written, std::string_view wanted) {
  if (const auto* list = std::get_if<std::vector<std::string>>(&written)) return *list;
  return fail(Code::kInvalid, fmt::format("must be {}", wanted));
}

Result<std::uint8_t> number_of(std::string_view text, unsigned end, std::string_view what) {
  const auto number = base::parse_number(text);
  if (!number || *number >= end)
    return fail(Code::kInvalid, fmt::format("{} is not a {} from 0 to {}", quoted_word(text), what, end - 1));
  return static_cast<std::uint8_t>(*number);
}

Result<std::uint8_t> scalar_of(const Value& written, unsigned end, std::string_view what) {
  const auto* number = std::get_if<std::int64_t>(&written);
  const auto most = static_cast<std::int64_t>(end) - 1;
  if (number == nullptr)
    return fail(Code::kInvalid, fmt::format("must be a {} from 0 to {}, such as {}", what, most, most / 2));
  if (*number < 0 || *number > most) return fail(Code::kInvalid, out_of_range(*number, 0, most));
  return static_cast<std::uint8_t>(*number);
}

constexpr std::array<std::pair<TrustSelector, std::string_view>, 6> kSelectorWords{
    {{TrustSelector::kEthertype, "ethtype"},
     {TrustSelector::kStreamPort, "stream-port"},
     {TrustSelector::kDgramPort, "dgram-port"},
     {TrustSelector::kPort, "port"},
     {TrustSelector::kDscp, "dscp"},
     {TrustSelector::kPcp, "pcp"}}};

template <class Numbers>
Value texts_of_numbers(const Numbers& numbers) {
  std::vector<std::string> out;
  out.reserve(numbers.size());
  for (const auto number : numbers) out.push_back(std::to_string(number));
  return out;
}

}  // namespace

std::optional<std::uint8_t> DscpMap::priority_of(unsigned dscp) const {
  const auto at =
      std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == dscp; });
  return at == list.end() ? std::nullopt : std::optional(at->second);
}

Result<TrafficClasses> Codec<TrafficClasses>::parse(const Value& written) {
  const auto list = list_of(
      written, "a list of 8 traffic classes, one for each priority, such as [0, 0, 0, 1, 0, 0, 0, 0]");
  if (!list) return fail(list.error());
  TrafficClasses out;
  if (list->size() != out.of.size()) {
    return fail(Code::kInvalid, fmt::format("has {} elements; must have 8: the traffic class of priority 0, "
                                            "of priority 1, … of priority 7",
                                            list->size()));
  }
  for (std::size_t i = 0; i < out.of.size(); ++i) {
    const auto number = number_of((*list)[i], kPriorities, "traffic class");
    if (!number) return fail(number.error());
    out.of[i] = *number;
  }
  return out;
}
Value Codec<TrafficClasses>::value(const TrafficClasses& parsed) { return texts_of_numbers(parsed.of); }

Result<Bandwidth> Codec<Bandwidth>::parse(const Value& written) {
  const auto list = list_of(written, "a list of percents, one for each traffic class, such as [50, 50]");
  if (!list) return fail(list.error());
  Bandwidth out;
  if (list->size() > out.percent.size())
    return fail(Code::kInvalid, "has more than 8 elements; there are 8 traffic classes");
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto number = number_of((*list)[i], 101, "percentage");
    if (!number) return fail(number.error());
    out.percent[i] = *number;
  }
  return out;
}
Value Codec<Bandwidth>::value(const Bandwidth& parsed) { return texts_of_numbers(parsed.percent); }

Result<ClassSet> Codec<ClassSet>::parse(const Value& written) {
  const auto list = list_of(written, "a list of traffic classes such as [6, 7]");
  if (!list) return fail(list.error());
  ClassSet out;
  for (const auto& text : *list) {
    const auto number = number_of(text, kPriorities, "traffic class");
    if (!number) return fail(number.error());
    out.mask |= 1U << *number;
  }
  return out;
}
Value Codec<ClassSet>::value(const ClassSet& parsed) { return numbers_in(parsed.mask); }

Result<DscpMap> Codec<DscpMap>::parse(const Value& written) {
  auto list = list_of(written, "a list of strings such as [\"26:3\"]");
  if (!list) return fail(list.error());
  DscpMap out;
  for (const auto& text : *list) {
    const auto colon = text.find(':');
    if (colon == std::string::npos)
      return fail(Code::kInvalid,
                  fmt::format("\"{}\" must be a DSCP and its priority, such as \"26:3\"", text));
    const auto written_dscp = std::string_view(text).substr(0, colon);
    if (const auto number = dscp_of_class(written_dscp))
      return fail(Code::kInvalid,
                  fmt::format("\"{}\" must have the number: {} is {}", text, written_dscp, *number));
    const auto dscp = number_of(written_dscp, kDscps, "DSCP");
    if (!dscp) return fail(dscp.error());
    const auto priority = number_of(std::string_view(text).substr(colon + 1), kPriorities, "priority");
    if (!priority) return fail(priority.error());
    out.list.emplace_back(*dscp, *priority);
  }
  std::sort(out.list.begin(), out.list.end());
  return out;
}
Value Codec<DscpMap>::value(const DscpMap& parsed) {
  std::vector<std::string> out;
  for (const auto& [dscp, priority] : parsed.list) out.push_back(fmt::format("{}:{}", dscp, priority));
  return out;
}

std::optional<TrustSelector> trust_selector(unsigned number) {
  const auto at = std::find_if(kSelectorWords.begin(), kSelectorWords.end(), [&](const auto& known) {
    return static_cast<unsigned>(known.first) == number;
  });
  return at == kSelectorWords.end() ? std::nullopt : std::optional(at->first);
}

bool TrustOrder::trusts(TrustSelector selector) const {
  return std::find(list.begin(), list.end(), selector) != list.end();
}

Result<TrustOrder> Codec<TrustOrder>::parse(const Value& written) {
  const auto words = list_of(written, "a list of selectors such as [\"dscp\", \"pcp\"]");
  if (!words) return fail(words.error());
  TrustOrder out;
  for (const auto& text : *words) {
    const auto at = std::find_if(kSelectorWords.begin(), kSelectorWords.end(),
                                 [&](const auto& known) { return known.second == text; });
    if (at == kSelectorWords.end())
      return fail(
          Code::kInvalid,
          fmt::format("\"{}\" is not a selector: ethtype, stream-port, dgram-port, port, dscp or pcp", text));
    if (out.trusts(at->first)) return fail(Code::kInvalid, fmt::format("\"{}\" is listed twice", text));
    out.list.push_back(at->first);
  }
  return out;
}
Value Codec<TrustOrder>::value(const TrustOrder& parsed) {
  std::vector<std::string> out;
  for (const auto selector : parsed.list) {
    for (const auto& [known, text] : kSelectorWords) {
      if (known == selector) out.emplace_back(text);
    }
  }
  return out;
}

namespace {

constexpr Choices<Dcbx, 2> kDcbxModes{{{Dcbx::kHost, "host"}, {Dcbx::kFirmware, "firmware"}}};

}  // namespace

Result<Dcbx> Codec<Dcbx>::parse(const Value& written) { return parse_choice(kDcbxModes, written); }
Value Codec<Dcbx>::value(const Dcbx& parsed) { return std::string(choice_text(kDcbxModes, parsed)); }

Result<Priority> Codec<Priority>::parse(const Value& written) {
  return scalar_of(written, kPriorities, "priority").map([](std::uint8_t number) {
    return Priority{number};
  });
}
Value Codec<Priority>::value(const Priority& parsed) { return std::int64_t{parsed.number}; }

}  // namespace rdmacfg::model
