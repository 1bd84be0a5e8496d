// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/rdma/opensm_partitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "foreign/keys.hpp"
#include "formats/opensm/partition_syntax.hpp"
#include "kinds/opensm/partition_rule.hpp"

namespace rdmacfg::foreign {

namespace {

struct Rule {
  int line = 0;
  std::string text;  ///< with its line ends
};

std::vector<Rule> rules_of(const File& file, Claims& claims) {
  std::vector<Rule> out;
  std::string text;  // with its line ends, as one ends a multicast group
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
      text += std::string(line.substr(0, end)) + '\n';
      if (end == std::string_view::npos) break;
      out.push_back({first, std::string(base::trim(text))});
      text.clear();
      line.remove_prefix(end + 1);
    }
  }
  if (!base::trim(text).empty()) claims.miss({file.path, first}, "the rule does not end with a semicolon");
  return out;
}

/// A further scope, which OpenSM adds to those before.
void add_scope(Entry& entry, std::uint64_t scope) {
  auto& value = entry.values["scope"];
  const auto before = model::Codec<model::Scopes>::parse(value);
  const auto now = 1U << scope;
  value = model::Codec<model::Scopes>::value(model::Scopes{before ? before->mask | now : now});
}

/// A flag that partitions and multicast groups have. @return what is wrong with it; nothing for another flag.
std::optional<std::string> take_common_flag(std::string_view name, std::string_view value, Entry& entry) {
  constexpr std::array<std::array<std::string_view, 2>, 7> kNumbers{{{"mtu", "mtu"},
                                                                     {"rate", "rate"},
                                                                     {"sl", "sl"},
                                                                     {"scope", "scope"},
                                                                     {"Q_Key", "q_key"},
                                                                     {"TClass", "tclass"},
                                                                     {"FlowLabel", "flow_label"}}};
  for (const auto& [theirs, ours] : kNumbers) {
    if (name != theirs) continue;
    const auto number = base::c_number(value);
    if (!number || *number > 0xffffffff) return fmt::format("{}={}: not a number", name, value);
    if (ours == "scope" && *number >= 1 && *number <= model::kScopeMost) {
      add_scope(entry, *number);
    } else {
      entry.values[std::string(ours)] = static_cast<std::int64_t>(*number);
    }
    return std::string();
  }
  return std::nullopt;
}

/// "NAME" or "NAME=VALUE".
std::pair<std::string_view, std::string_view> name_and_value(std::string_view flag) {
  const auto equals = flag.find('=');
  return {base::trim(flag.substr(0, equals)),
          equals == std::string_view::npos ? std::string_view() : base::trim(flag.substr(equals + 1))};
}

/// @return what is wrong with the flag.
std::string take_flag(std::string_view flag, Entry& entry, bool& ipoib) {
  const auto [name, value] = name_and_value(flag);
  if (name == "ipoib" && value.empty()) {
    ipoib = true;
    return {};
  }
  if (name == "indx0" && value.empty()) {
    entry.values["indx0"] = true;
    return {};
  }
  if (auto common = take_common_flag(name, value, entry)) return *common;
  if (name == "defmember") {
    entry.values["defmember"] = std::string(value);
    return {};
  }
  return fmt::format("{}: cannot be expressed in the document", name);
}

/// A rule that a partition can be made of, or why not.
struct Parsed {
  Place where;
  std::string name;
  std::optional<model::Pkey> pkey;
  std::vector<std::string_view> flags;
  std::vector<std::string> members;  ///< each as our document takes it
  /// "mgid=…" to the end of its line: a multicast group
  std::vector<std::pair<Place, std::string_view>> groups;
  std::string wrong;
};

base::Result<kinds::PartitionMember> parse_member(std::string_view text) {
  const auto equals = text.find('=');
  const auto guid = opensm_guid(base::trim(text.substr(0, equals)));
  if (!guid) return kinds::parse_member(text);
  return kinds::parse_member(guid->text() +
                             std::string(equals == std::string_view::npos ? "" : text.substr(equals)));
}

/// The part after the colon.
void parse_properties(std::string_view text, Parsed& out) {
  auto here = out.where;
  for (const auto line : base::split(text, '\n')) {
    for (const auto raw : base::split(line, ',')) {
      const auto part = base::trim(raw);
      if (part.empty() || part == "NONE") continue;
      if (base::trim(part.substr(0, part.find('='))) == "mgid") {
        const auto from = static_cast<std::size_t>(part.data() - line.data());
        out.groups.emplace_back(here, base::trim(line.substr(from)));
        break;
      }
      if (auto member = parse_member(part)) {
        out.members.push_back(member->text());
      } else {
        // Without one of its members the partition would be another one, and without any open to all.
        out.wrong = fmt::format("{}; the partition {} is left out", member.error().message, out.pkey->text());
        out.groups.clear();
        return;
      }
    }
    ++here.line;
  }
}

/// P_Keys of the rules before, by the names that these gave them.
using NamedPartitions = std::map<std::string, model::Pkey, std::less<>>;

Parsed parse_rule(const Rule& rule, const File& file, const NamedPartitions& named) {
  Parsed out;
  out.where = {file.path, rule.line};
  const auto text = std::string_view(rule.text);
  const auto colon = text.find(':');
  out.flags = base::split(text.substr(0, colon), ',');
  const auto head = out.flags.front();
  out.flags.erase(out.flags.begin());
  const auto equals = head.find('=');
  out.name = base::trim(head.substr(0, equals));
  std::string key;
  if (equals != std::string_view::npos) {
    key = base::trim(head.substr(equals + 1));
  } else if (!out.name.empty() && out.name.front() >= '0' && out.name.front() <= '9') {
    std::swap(key, out.name);  // a P_Key alone (partition_create() in osm_prtn_config.c)
  } else if (out.name == "Default") {
    key = "0x7fff";
  } else if (const auto at = named.find(out.name); at != named.end()) {
    key = at->second.text();  // osm_prtn_find_by_name()
  }
  const auto pkey = pkey_of(key);
  if (!pkey) {
    out.wrong = fmt::format("{}: OpenSM chooses its P_Key; write NAME=0x…",
                            out.name.empty() ? "a partition without a name" : out.name);
    return out;
  }
  out.pkey = *pkey;
  // The name is for logs only, and the document does not name the default partition.
  if (pkey->partition() == 0x7fff && base::lower(out.name) == "default") out.name = "Default";
  if (colon == std::string_view::npos) {
    out.wrong =
        fmt::format("the rule has no colon, so that OpenSM ignores the file; the partition {} is left out",
                    out.pkey->text());
  } else if (text.find('\n') < colon) {
    out.wrong =
        fmt::format("OpenSM reads what is before the colon from one line; the partition {} is left out",
                    out.pkey->text());
  } else {
    parse_properties(text.substr(colon + 1), out);
  }
  return out;
}

/// Members and groups of a partition, as far as its rules were read.
struct Taken {
  std::map<std::string, std::size_t> members;  ///< and the last place of each
  /// The last place of each membership ("full"), of all members and of those that stand for many ports.
  std::map<std::string, std::size_t, std::less<>> last, last_of_many;
  std::map<std::string, Place> groups;  ///< by MGID
};

/// Whether a member still has its effect: none behind it has given its ports another membership, which OpenSM
/// would take instead (osm_prtn_add_port() in osm_prtn.c).
bool stands(const std::string& member, const Taken& known) {
  const auto at = known.members.find(member);
  if (at == known.members.end()) return false;
  const auto membership = name_and_value(member).second;
  const auto& later = member.starts_with("ALL") ? known.last : known.last_of_many;
  return std::none_of(later.begin(), later.end(), [&](const auto& other) {
    return other.first != membership && other.second > at->second;
  });
}

/// OpenSM gives a partition the service level of its last rule, 0 where that says none, and the groups that
/// of the rule which makes them (partition_create() in osm_prtn_config.c).
void merge_level(Entry& entry, const Entry& more, Claims& claims) {
  const auto level_of = [](const Entry& partition) {
    const auto at = partition.values.find("sl");
    return at == partition.values.end() ? std::string("0") : model::text_of(at->second);
  };
  const auto earlier = level_of(entry), later = level_of(more);
  if (earlier == later) return;
  entry.values.erase("sl");
  if (const auto at = more.values.find("sl"); at != more.values.end()) entry.values["sl"] = at->second;
  claims.miss(more.where,
              fmt::format("sl: {} from this rule on, {} in an earlier rule for this P_Key, which its groups "
                          "keep",
                          later, earlier));
}

/// A further rule for a P_Key adds to the first (OpenSM, osm_prtn_config.c); of two values the first counts.
void merge(Entry& entry, const Entry& more, std::vector<std::string> members, Taken& known, Claims& claims) {
  const auto defmember_of = [](const Entry& partition) {
    const auto& value = model::value_of(partition.values, "defmember");
    return value == model::Value{} ? std::string("limited") : model::text_of(value);
  };
  const bool fresh = !entry.values.contains("members");
  if (fresh) {
    entry.values.insert(more.values.begin(), more.values.end());
    entry.values["ipoib"] = false;  // until a rule has the flag
  } else {
    for (const auto& [key, value] : more.values) {
      if (key == "name" || key == "defmember" || key == "sl") continue;
      const auto [at, added] = entry.values.try_emplace(key, value);
      if (!added && at->second != value)
        claims.miss(more.where, fmt::format("{}={}: {} in an earlier rule for this P_Key", key,
                                            model::text_of(value), model::text_of(at->second)));
    }
    merge_level(entry, more, claims);
    if (defmember_of(more) != defmember_of(entry)) {
      for (auto& member : members) {
        if (member.find('=') == std::string::npos) member += "=" + defmember_of(more);
      }
    }
  }
  if (fresh) entry.values["members"] = std::vector<std::string>{};
  auto& all = std::get<std::vector<std::string>>(entry.values.at("members"));
  for (auto& member : members) {
    if (stands(member, known)) continue;
    const auto place = all.size() + 1;
    const std::string membership(name_and_value(member).second);
    known.members.insert_or_assign(member, place);
    known.last.insert_or_assign(membership, place);
    if (member.starts_with("ALL")) known.last_of_many.insert_or_assign(membership, place);
    all.push_back(std::move(member));
  }
}

/// A multicast group: "mgid=GID" and flags, which it has from its partition where it has none of its own.
void take_group(const Place& where, std::string_view line, Entry& partition, Taken& known, std::size_t& count,
                Claims& claims) {
  const auto flags = base::split(line, ',');
  const auto mgid = name_and_value(flags.front()).second;
  const auto address = model::IpAddress::parse(mgid);
  if (!address || address->family != model::Family::kIpv6 || address->bytes[0] != 0xff)
    return claims.miss(where, fmt::format("mgid={}: is not a multicast GID; OpenSM makes no group", mgid));
  const auto [same, fresh] = known.groups.try_emplace(address->text(), where);
  if (!fresh)
    return claims.pass(
        where, fmt::format("mgid={}: {} has it already, and takes precedence", mgid, same->second.text()));
  if (count == kMostEntries)
    claims.miss(where, fmt::format("mgid={}: from here on: more than {} groups", mgid, kMostEntries));
  if (++count > kMostEntries) return;
  Entry group{where, "partition.group", {{"mgid", address->text()}}};
  for (const auto flag : std::span(flags).subspan(1)) {
    const auto [name, value] = name_and_value(flag);
    const auto why = take_common_flag(name, value, group);
    if (!why) {
      claims.miss(where, fmt::format("{}: OpenSM ignores it after a group", base::trim(flag)));
    } else if (!why->empty()) {
      claims.miss(where, *why);
    }
  }
  claims.took(where);
  partition.children.push_back(std::move(group));
}

/// Of a member that is there again the last place counts, so that the others say nothing.
void keep_last_places(Entry& partition) {
  const auto at = partition.values.find("members");
  auto* members = at == partition.values.end() ? nullptr : std::get_if<std::vector<std::string>>(&at->second);
  if (members == nullptr) return;
  std::set<std::string> seen;
  std::vector<std::string> kept;
  for (auto member = members->rbegin(); member != members->rend(); ++member) {
    if (seen.insert(*member).second) kept.push_back(std::move(*member));
  }
  std::reverse(kept.begin(), kept.end());
  *members = std::move(kept);
}

/// OpenSM keeps so much of a name. No character is cut in two.
void cut_name(std::string& name) {
  auto end = kinds::kPartitionNameMost;
  if (name.size() <= end) return;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) --end;
  name.resize(end);
}

/// A name belongs to the first partition that has it: the document has one for each.
void drop_shared_name(Parsed& rule, std::map<std::string, std::uint16_t>& names, Claims& claims) {
  if (rule.name.empty()) return;
  const auto [at, fresh] = names.try_emplace(rule.name, rule.pkey->partition());
  if (fresh || at->second == rule.pkey->partition()) return;
  claims.miss(rule.where,
              fmt::format("{}: is the name of {:#06x}, too; the partition {} is imported without it",
                          rule.name, at->second | 0x8000U, rule.pkey->text()));
  rule.name.clear();
}

/// The flags, members and groups of a rule.
void take_rule(Parsed& rule, Taken& known, std::size_t& groups, Claims& claims) {
  claims.took(rule.where);
  Entry more{rule.where, "partition", {}};
  if (!rule.name.empty() && rule.name != "Default") more.values["name"] = rule.name;
  bool ipoib = false;
  for (const auto flag : rule.flags) {
    const auto why = take_flag(base::trim(flag), more, ipoib);
    if (!why.empty()) claims.miss(rule.where, why);
  }
  auto& entry =
      claims.entry("partition", {{"pkey", fmt::format("0x{:04x}", rule.pkey->partition())}}, rule.where);
  merge(entry, more, std::move(rule.members), known, claims);
  if (ipoib) entry.values.erase("ipoib");
  for (const auto& [where, line] : rule.groups) take_group(where, line, entry, known, groups, claims);
}

}  // namespace

base::Result<model::Guid> opensm_guid(std::string_view text) {
  const bool octal = text.starts_with('0') && !text.starts_with("0x") && !text.starts_with("0X");
  const auto number = octal ? std::nullopt : base::parse_number(text);
  return number && *number != 0 ? base::Result<model::Guid>(model::Guid{*number}) : model::Guid::parse(text);
}

void parse_partitions(const File& file, Claims& claims) {
  const auto rules = rules_of(file, claims);
  std::vector<Parsed> all;
  std::set<std::uint16_t> broken;
  std::set<std::uint16_t> defined;  // a partition has the name of its first rule (osm_prtn_make_new())
  NamedPartitions named;
  for (const auto& rule : rules) {
    if (rule.text.empty()) continue;
    const auto& parsed = all.emplace_back(parse_rule(rule, file, named));
    if (!parsed.pkey) continue;
    // osm_prtn_find_by_name() compares what was kept with all of the name that it looks for.
    auto kept = parsed.name;
    cut_name(kept);
    if (defined.insert(parsed.pkey->partition()).second && !kept.empty())
      named.try_emplace(std::move(kept), *parsed.pkey);
    if (!parsed.wrong.empty()) broken.insert(parsed.pkey->partition());
  }
  std::map<std::uint16_t, Taken> known;  // by partition
  std::map<std::string, std::uint16_t> names;
  std::size_t groups = 0;
  for (auto& parsed : all) {
    if (parsed.wrong.empty() && broken.contains(parsed.pkey->partition()))
      parsed.wrong = fmt::format("another rule for {} was not understood; this rule is left out, too",
                                 parsed.pkey->text());
    if (parsed.wrong.empty()) {
      cut_name(parsed.name);
      if (!known.contains(parsed.pkey->partition())) drop_shared_name(parsed, names, claims);
      take_rule(parsed, known[parsed.pkey->partition()], groups, claims);
    } else {
      claims.miss(parsed.where, parsed.wrong);
    }
  }
  for (auto& entry : claims.entries) {
    if (entry.path == "partition") keep_last_places(entry);
  }
}

}  // namespace rdmacfg::foreign
