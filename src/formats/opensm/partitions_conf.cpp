// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/partitions_conf.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/text.hpp"
#include "formats/opensm/partition_syntax.hpp"

namespace rdmacfg::kinds {

namespace {

/// osm_prtn_config_parse_file() reads lines into 4096 bytes, and takes what is longer for two.
constexpr std::size_t kRuleLineMost = 4000;

/// The 15 bits of the P_Key that a rule defines, with a name or alone (partition_create() in
/// osm_prtn_config.c); nothing when the text does not begin one.
std::optional<std::uint16_t> partition_of(std::string_view rule) {
  const auto colon = rule.find(':');
  const auto head = base::trim(rule.substr(0, rule.find_first_of(",:")));
  const auto equals = head.find('=');
  if (equals == std::string_view::npos && head == "Default") return std::uint16_t{0x7fff};
  // A number without a colon may be a member of a rule that goes on.
  if (equals == std::string_view::npos && colon == std::string_view::npos) return std::nullopt;
  const auto number = base::c_number(head.substr(equals == std::string_view::npos ? 0 : equals + 1));
  if (!number) return std::nullopt;
  return static_cast<std::uint16_t>(*number & 0x7fffU);  // OpenSM drops what is above 16 bits
}

/// A rule as lines: the part before the colon must be on one, members go on until the ';'. A multicast group
/// has a line of its own.
std::string wrapped(std::string_view rule) {
  std::string out;
  for (auto line : base::split(rule, '\n')) {
    while (line.size() > kRuleLineMost) {
      const auto comma = line.rfind(", ", kRuleLineMost);
      if (comma == std::string_view::npos || (out.empty() && comma < line.find(':'))) break;
      out += std::string(line.substr(0, comma + 1)) + "\n";
      line.remove_prefix(comma + 2);
    }
    out += std::string(line) + "\n";
  }
  return out;
}

/// How a line of a rule goes on: a comma says that members do; a colon and a group, that a line follows.
/// Nothing where the rule ends.
std::optional<char> joint_after(std::string_view line) {
  if (line.ends_with(',')) return ' ';
  if (line.ends_with(':') || line.starts_with("mgid=")) return '\n';
  return std::nullopt;
}

}  // namespace

bool Partitions::has(std::uint16_t partition) const {
  return rules.contains(partition) || std::any_of(foreign.begin(), foreign.end(), [&](const Foreign& rule) {
           return rule.partition == partition;
         });
}

Partitions parse_partitions(std::string_view text) {
  Partitions out;
  auto marked = parse_marked(text, kOpensmMarks);
  out.others = std::move(marked.others);
  out.damage = std::move(marked.damage);
  out.unread = unreadable_partition_line(text, marked.lines);
  std::string rule;  // of others, as far as it was read
  std::string own;   // the same of ours
  char joint = ' ';  // before its next line
  int first = 0;
  const auto finish_own = [&] {
    if (const auto partition = partition_of(own)) out.rules.insert_or_assign(*partition, own);
    own.clear();
  };
  const auto unfinished = [&] {
    if (!rule.empty() && !out.damage) {
      out.damage = Damage{
          first,
          "the rule that begins here has no \";\" at its end: OpenSM reads the following lines as part of it",
          "end that rule with \";\""};
    }
    rule.clear();
  };
  for (const auto& [line, number, ours] : marked.lines) {
    auto code = line.substr(0, line.find('#'));
    if (ours) {
      unfinished();
      code = base::trim(code);
      if (code.empty()) continue;
      // Lines that somebody changed are not to hide those below.
      if (!own.empty() && partition_of(code)) finish_own();
      if (own.empty()) {
        own = line;
      } else {
        own += joint + std::string(line);
      }
      const auto next = joint_after(code);
      joint = next.value_or(' ');
      if (!next) finish_own();
      continue;
    }
    finish_own();
    while (true) {
      const auto end = code.find(';');
      const auto part = base::trim(code.substr(0, end));
      if (rule.empty()) first = number;
      if (!part.empty()) rule += std::string(part) + ' ';
      if (end == std::string_view::npos) break;
      if (const auto partition = partition_of(rule))
        out.foreign.push_back(
            {first, *partition, std::string(base::trim(rule.substr(0, rule.find_first_of("=,:"))))});
      rule.clear();
      code.remove_prefix(end + 1);
    }
  }
  unfinished();
  finish_own();
  return out;
}

std::string render_partitions(const Partitions& partitions) {
  if (partitions.rules.empty()) return partitions.others;
  auto text = begin_marked(partitions.others, kOpensmMarks);
  for (const auto& [partition, rule] : partitions.rules) text += wrapped(rule);
  return text + std::string(kOpensmMarks.end) + "\n";
}

}  // namespace rdmacfg::kinds
