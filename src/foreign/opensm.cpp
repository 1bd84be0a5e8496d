// SPDX-License-Identifier: Apache-2.0
// OpenSM: opensm.conf, the distributions' lists of ports, partitions.conf (opensm(8),
// doc/partition-config.txt).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "foreign/formats.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

namespace {

std::string name_of(const File& file) { return file.path.substr(file.path.rfind('/') + 1); }

/// opensm.conf: "key value" lines. Ports and priorities; the other settings stay in that file.
void parse_conf(const File& file, Claims& claims) {
  int number = 0, others = 0;
  std::optional<model::Guid> guid;
  std::optional<std::int64_t> priority;
  Place where;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    const auto words = words_of(raw.substr(0, raw.find('#')));
    if (words.empty()) continue;
    const Place here{file.path, number};
    if (words.front() == "guid" && words.size() == 2) {
      const auto parsed = model::Guid::parse(words[1]);
      if (parsed && parsed->number != 0) {
        guid = *parsed;
        where = here;
      } else if (!parsed) {
        claims.miss(here, parsed.error().message);
        continue;
      }
      claims.took(here);
    } else if (words.front() == "sm_priority" && words.size() == 2) {
      const auto value = base::parse_number(words[1]);
      if (!value || *value > 15) {
        claims.miss(here, fmt::format("{} is no priority from 0 to 15", words[1]));
        continue;
      }
      priority = static_cast<std::int64_t>(*value);
      claims.took(here);
    } else {
      ++others;
    }
  }
  if (others > 0) claims.pass({file.path, 0}, fmt::format("{} other settings stay in that file", others));
  if (!guid) {
    if (priority) claims.miss({file.path, 0}, "a priority without guid: which port it is for is not known");
    return;
  }
  auto& entry = claims.entry("opensm", {{"guid", guid->text()}}, where);
  if (priority) entry.values["priority"] = *priority;
}

/// PORTS="0x… 0x…" (Debian), GUIDS= and PRIORITY= (RHEL).
void parse_ports(const File& file, Claims& claims) {
  Keys keys(file.path, parse_assignments(file, claims), claims);
  std::optional<std::int64_t> priority;
  if (const auto item = keys.take("PRIORITY")) {
    const auto value = base::parse_number(item->value);
    if (value && *value <= 15) {
      priority = static_cast<std::int64_t>(*value);
    } else {
      keys.wrong(*item, fmt::format("{} is no priority from 0 to 15", item->value));
    }
  }
  for (const auto* key : {"PORTS", "GUIDS"}) {
    const auto item = keys.take(key);
    if (!item) continue;
    for (const auto word : words_of(item->value)) {
      const auto guid = model::Guid::parse(word);
      if (word == "NONE") continue;
      if (!guid) {
        keys.wrong(*item, word == "ALL" ? "ALL names no port; list those that OpenSM is to run on"
                                        : guid.error().message);
        continue;
      }
      auto& entry = claims.entry("opensm", {{"guid", guid->text()}}, keys.place(*item));
      if (priority) entry.values["priority"] = *priority;
    }
  }
  keys.finish();
}

struct Rule {
  int line = 0;
  std::string text;
};

std::vector<Rule> rules_of(const File& file, Claims& claims) {
  std::vector<Rule> out;
  std::string text;
  int number = 0, first = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    auto line = raw.substr(0, raw.find('#'));
    while (true) {
      if (base::trim(text).empty()) {
        text.clear();
        first = number;
      }
      const auto end = line.find(';');
      text += std::string(line.substr(0, end)) + ' ';
      if (end == std::string_view::npos) break;
      out.push_back({first, std::string(base::trim(text))});
      text.clear();
      line.remove_prefix(end + 1);
    }
  }
  if (!base::trim(text).empty()) claims.miss({file.path, first}, "the rule does not end with a semicolon");
  return out;
}

/// @return what is wrong with the flag.
std::string take_flag(std::string_view flag, Entry& entry) {
  const auto equals = flag.find('=');
  const auto name = base::trim(flag.substr(0, equals));
  const auto value =
      equals == std::string_view::npos ? std::string_view() : base::trim(flag.substr(equals + 1));
  if (name == "ipoib" && value.empty()) {
    entry.values.erase("ipoib");
    return {};
  }
  for (const auto* key : {"mtu", "rate", "sl", "scope"}) {
    if (name != key) continue;
    const auto number = base::parse_number(value);
    if (!number || *number > 255) return fmt::format("{}={}: is no number", name, value);
    entry.values[key] = static_cast<std::int64_t>(*number);
    return {};
  }
  if (name == "defmember") {
    entry.values["defmember"] = std::string(value);
    return {};
  }
  return fmt::format("{}: has no place in the document", name);
}

void parse_partitions(const File& file, Claims& claims) {
  for (const auto& rule : rules_of(file, claims)) {
    const Place where{file.path, rule.line};
    if (rule.text.empty()) continue;
    const auto colon = rule.text.find(':');
    const auto head = std::string_view(rule.text).substr(0, colon);
    const auto flags = base::split(head, ',');
    const auto equals = flags.front().find('=');
    const auto name = base::trim(flags.front().substr(0, equals));
    const auto pkey =
        pkey_of(equals == std::string_view::npos ? (name == "Default" ? "0x7fff" : "")
                                                 : base::trim(flags.front().substr(equals + 1)));
    if (!pkey) {
      claims.miss(where, fmt::format("{}: OpenSM chooses its P_Key; write NAME=0x…", name));
      continue;
    }
    std::vector<std::string> members;
    if (colon != std::string::npos) {
      for (const auto member : base::split(std::string_view(rule.text).substr(colon + 1), ',')) {
        std::string one(base::trim(member));
        std::erase(one, ' ');
        if (!one.empty()) members.push_back(std::move(one));
      }
    }
    if (members.empty()) {
      // In our document that would mean all.
      claims.miss(where, "it has no members");
      continue;
    }
    auto& entry = claims.entry("partition", {{"pkey", fmt::format("0x{:04x}", pkey->partition())}}, where);
    if (!name.empty() && name != "Default") entry.values["name"] = std::string(name);
    entry.values["ipoib"] = false;  // until the flag is there
    claims.took(where);
    for (std::size_t at = 1; at < flags.size(); ++at) {
      const auto why = take_flag(base::trim(flags[at]), entry);
      if (!why.empty()) claims.miss(where, why);
    }
    entry.values["members"] = members;
  }
}

}  // namespace

void parse_opensm(std::span<const File> files, Claims& claims) {
  for (const auto& file : files) {
    const auto name = name_of(file);
    if (name == "partitions.conf") {
      parse_partitions(file, claims);
    } else if (name == "opensm" || file.path.find("sysconfig") != std::string::npos) {
      parse_ports(file, claims);
    } else {
      parse_conf(file, claims);
    }
  }
}

}  // namespace rdmacfg::foreign
