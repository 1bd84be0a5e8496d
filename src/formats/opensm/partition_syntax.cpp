// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/partition_syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::string_view kPartitionBlanks = " \t\n";
/// fgets() into 4096 bytes: the rest of a longer line is a line of its own.
constexpr std::size_t kPartitionLineMost = 4094;

std::string_view partition_word(std::string_view text) {
  const auto first = text.find_first_not_of(kPartitionBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kPartitionBlanks) - first + 1);
}

/// "NAME" of "NAME=VALUE".
std::string_view partition_name(std::string_view text) {
  return partition_word(text.substr(0, text.find('=')));
}

/// strtoul() takes a sign, too.
std::optional<std::uint64_t> partition_number(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return base::c_number(text);
}

/// OpenSM compares as many characters of its words as the member has.
bool is_partition_member(std::string_view name) {
  constexpr std::array<std::string_view, 6> kWords{"NONE",         "ALL",         "ALL_CAS",
                                                   "ALL_SWITCHES", "ALL_ROUTERS", "SELF"};
  return partition_number(name).value_or(0) != 0 ||
         std::any_of(kWords.begin(), kWords.end(), [&](auto word) { return word.starts_with(name); });
}

/// The mistake in a rule, or in more members of an open rule; empty: none.
std::string wrong_partition_part(std::string_view part, bool goes_on) {
  if (!goes_on) {
    const auto colon = part.find(':');
    if (colon == std::string_view::npos) return "a rule begins here without a ':' in the same line";
    const auto head = part.substr(0, std::min(colon, part.find(',')));
    const auto equals = head.find('=');
    const auto name = partition_name(head);
    const bool has_value = equals != std::string_view::npos;
    const bool is_key = !has_value && !name.empty() && name.front() >= '0' && name.front() <= '9';
    const auto key = has_value ? partition_word(head.substr(equals + 1)) : name;
    if ((has_value || is_key) && !partition_number(key)) return fmt::format("\"{:.64}\" is not a P_Key", key);
    part.remove_prefix(colon + 1);
  }
  for (const auto member : base::split(part, ',')) {
    const auto name = partition_name(member);
    if (name == "mgid") return {};  // the rest of the line is of this group
    if (name == kNvidiaMembers) return std::string(kNvidiaMembersText);
    if (!name.empty() && !is_partition_member(name))
      return fmt::format("\"{:.64}\" is not a port GUID", name);
  }
  return {};
}

/// @param goes_on  whether a rule is open before the line, and then behind the line
std::string wrong_partition_line(std::string_view line, bool& goes_on) {
  if (line.size() > kPartitionLineMost)
    return fmt::format("the line has {} bytes; OpenSM reads {}", line.size(), kPartitionLineMost);
  auto code = line.substr(0, line.find('#'));
  while (!partition_word(code).empty()) {
    const auto end = code.find(';');
    const auto part = partition_word(code.substr(0, end));
    const auto rest = end == std::string_view::npos ? std::string_view() : code.substr(end + 1);
    // The ';' of a rule, too: OpenSM goes on with what its buffer has behind the line.
    if (part.empty()) return goes_on ? "a line begins with the ';' of a rule" : "a ';' ends no rule";
    if (auto why = wrong_partition_part(part, goes_on); !why.empty()) return why;
    goes_on = end == std::string_view::npos;
    code = rest;
  }
  return {};
}

/// Whether the line, a part of `text` without its end, has one that OpenSM takes for a character like any
/// other.
bool ends_with_return(std::string_view text, std::string_view line) {
  const auto end = static_cast<std::size_t>(line.data() - text.data()) + line.size();
  return end < text.size() && text[end] == '\r' && line.find('#') == std::string_view::npos;
}

}  // namespace

std::optional<Damage> unreadable_partition_line(std::string_view text,
                                                std::span<const MarkedText::Line> lines) {
  bool goes_on = false;
  for (const auto& line : lines) {
    if (line.ours) goes_on = false;
    auto why = line.ours ? std::string() : wrong_partition_line(line.text, goes_on);
    if (why.empty() && ends_with_return(text, line.text)) why = "the line ends with a carriage return";
    if (!why.empty()) return Damage{line.number, std::move(why), "correct that line, or remove it"};
  }
  return std::nullopt;
}

}  // namespace rdmacfg::kinds
