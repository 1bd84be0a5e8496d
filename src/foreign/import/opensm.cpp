// SPDX-License-Identifier: Apache-2.0
// OpenSM: opensm.conf, the distributions' lists of ports, partitions.conf (opensm(8),
// doc/partition-config.txt).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/keys.hpp"
#include "kinds/opensm/partition_rule.hpp"

namespace rdmacfg::foreign {

namespace {

std::string opensm_name(const File& file) { return file.path.substr(file.path.rfind('/') + 1); }

/// OpenSM reads numbers (strtoull()), of any length; nothing else of what our document takes.
base::Result<model::Guid> guid_of(std::string_view text) {
  const bool octal = text.starts_with('0') && !text.starts_with("0x") && !text.starts_with("0X");
  const auto number = octal ? std::nullopt : base::parse_number(text);
  return number && *number != 0 ? base::Result<model::Guid>(model::Guid{*number}) : model::Guid::parse(text);
}

/// opensm.conf: "key value" lines. Ports and priorities; the other settings stay in that file.
void parse_conf(const File& file, Claims& claims) {
  int number = 0, others = 0;
  std::optional<model::Guid> guid;
  std::optional<std::int64_t> priority;
  Place where, priority_at;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    const auto words = words_of(raw.substr(0, raw.find('#')));
    if (words.empty()) continue;
    const Place here{file.path, number};
    if (words.front() == "guid" && words.size() == 2) {
      const auto parsed = guid_of(words[1]);
      if (parsed) {
        guid = *parsed;
        where = here;
      } else if (base::parse_number(words[1]).value_or(1) != 0) {  // 0: whichever port is up
        claims.miss(here, parsed.error().message);
        continue;
      }
      claims.took(here);
    } else if (words.front() == "sm_priority" && words.size() == 2) {
      const auto value = base::parse_number(words[1]);
      if (!value || *value > 15) {
        claims.miss(here, fmt::format("{} is not a priority from 0 to 15", words[1]));
        continue;
      }
      priority = static_cast<std::int64_t>(*value);
      priority_at = here;
      claims.took(here);
    } else {
      // Its usual places are read by themselves.
      const bool elsewhere = words.front() == "partition_config_file" && words.size() == 2 &&
                             !words[1].ends_with("/opensm/partitions.conf") &&
                             words[1] != "/etc/rdma/partitions.conf" && words[1] != "(null)";
      if (elsewhere)
        claims.miss(here,
                    fmt::format("partition_config_file {}: is not read; name it behind opensm", words[1]));
      ++others;
    }
  }
  if (others > 0) claims.pass({file.path, 0}, fmt::format("{} other settings stay in that file", others));
  if (!guid) {
    // opensm --create-config writes guid 0x0 and sm_priority 0, which are the defaults.
    if (priority.value_or(0) != 0) {
      --claims.understood[file.path];
      claims.miss(priority_at, "a priority without guid: which port it is for is not known");
    }
    return;
  }
  auto& entry = claims.entry("opensm", {{"guid", guid->text()}}, where);
  if (priority) entry.values["priority"] = *priority;
}

/// PORTS="ALL": a subnet manager on every port, of which only the host knows the GUIDs.
void all_ports(Keys& keys, const Item& item, std::optional<std::int64_t> priority, Claims& claims) {
  std::set<model::Guid> guids;
  for (const auto& [name, guid] : claims.known) guids.insert(guid);
  if (guids.empty())
    return claims.pass(keys.place(item),
                       "ALL: which ports there are only the host knows; write [[opensm]] for each");
  for (const auto& guid : guids) {
    auto& entry = claims.entry("opensm", {{"guid", guid.text()}}, keys.place(item));
    if (priority) entry.values["priority"] = *priority;
  }
}

/// PORTS="0x… 0x…" (Debian), GUIDS= and PRIORITY= (RHEL).
void parse_ports(const File& file, Claims& claims) {
  Keys keys(file.path, parse_assignments(file), claims);
  std::optional<std::int64_t> priority;
  if (const auto item = keys.take("PRIORITY")) {
    const auto value = base::parse_number(item->value);
    if (value && *value <= 15) {
      priority = static_cast<std::int64_t>(*value);
    } else {
      keys.wrong(*item, fmt::format("{} is not a priority from 0 to 15", item->value));
    }
  }
  for (const auto* key : {"PORTS", "GUIDS"}) {
    const auto item = keys.take(key);
    if (!item) continue;
    for (const auto word : words_of(item->value)) {
      const auto guid = guid_of(word);
      if (word == "NONE") continue;
      if (!guid) {
        if (word == "ALL") {
          all_ports(keys, *item, priority, claims);
        } else {
          keys.wrong(*item, guid.error().message);
        }
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
  const auto guid = guid_of(base::trim(text.substr(0, equals)));
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

Parsed parse_rule(const Rule& rule, const File& file) {
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
  }
  const auto pkey = pkey_of(key);
  if (!pkey) {
    out.wrong = fmt::format("{}: OpenSM chooses its P_Key; write NAME=0x…", out.name);
    return out;
  }
  out.pkey = *pkey;
  // The name is for logs only, and the document does not name the default partition.
  if (pkey->partition() == 0x7fff && base::lower(out.name) == "default") out.name = "Default";
  if (colon != std::string_view::npos && text.find('\n') < colon) {
    out.wrong =
        fmt::format("OpenSM reads what is before the colon from one line; the partition {} is left out",
                    out.pkey->text());
    return out;
  }
  if (colon != std::string_view::npos) parse_properties(text.substr(colon + 1), out);
  // In our document that would mean all.
  if (out.members.empty() && out.wrong.empty()) out.wrong = "it has no members";
  return out;
}

/// A further rule for a P_Key adds to the first (OpenSM, osm_prtn_config.c); of two values the first counts.
/// @param known  the members of the entry
void merge(Entry& entry, const Entry& more, std::vector<std::string> members, std::set<std::string>& known,
           Claims& claims) {
  const auto defmember_of = [](const Entry& one) {
    const auto& value = model::value_of(one.values, "defmember");
    return value == model::Value{} ? std::string("limited") : model::text_of(value);
  };
  const bool fresh = !entry.values.contains("members");
  if (fresh) {
    entry.values.insert(more.values.begin(), more.values.end());
    entry.values["ipoib"] = false;  // until a rule has the flag
  } else {
    for (const auto& [key, value] : more.values) {
      if (key == "name" || key == "defmember") continue;
      const auto [at, added] = entry.values.try_emplace(key, value);
      if (!added && at->second != value)
        claims.miss(more.where, fmt::format("{}={}: {} in an earlier rule for this P_Key", key,
                                            model::text_of(value), model::text_of(at->second)));
    }
    if (defmember_of(more) != defmember_of(entry)) {
      for (auto& one : members) {
        if (one.find('=') == std::string::npos) one += "=" + defmember_of(more);
      }
    }
  }
  if (fresh) entry.values["members"] = std::vector<std::string>{};
  auto& all = std::get<std::vector<std::string>>(entry.values.at("members"));
  for (auto& one : members) {
    if (known.insert(one).second) all.push_back(std::move(one));
  }
}

/// Members and groups of a partition, as far as its rules were read.
struct Taken {
  std::set<std::string> members;
  std::map<std::string, Place> groups;  ///< by MGID
};

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
    return claims.pass(where,
                       fmt::format("mgid={}: {} has it already, which counts", mgid, same->second.text()));
  if (count == kMostEntries)
    claims.miss(where, fmt::format("mgid={}: from here on: more than {} groups", mgid, kMostEntries));
  if (++count > kMostEntries) return;
  Entry group{where, "partition.group", {{"mgid", address->text()}}};
  for (const auto flag : std::span(flags).subspan(1)) {
    const auto [name, value] = name_and_value(flag);
    const auto why = take_common_flag(name, value, group);
    if (!why) {
      claims.miss(where, fmt::format("{}: OpenSM ignores it behind a group", base::trim(flag)));
    } else if (!why->empty()) {
      claims.miss(where, *why);
    }
  }
  claims.took(where);
  partition.children.push_back(std::move(group));
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
  merge(entry, more, std::move(rule.members), known.members, claims);
  if (ipoib) entry.values.erase("ipoib");
  for (const auto& [where, line] : rule.groups) take_group(where, line, entry, known, groups, claims);
}

void parse_partitions(const File& file, Claims& claims) {
  const auto rules = rules_of(file, claims);
  std::vector<Parsed> all;
  std::set<std::uint16_t> broken, populated;
  for (const auto& rule : rules) {
    if (rule.text.empty()) continue;
    const auto& one = all.emplace_back(parse_rule(rule, file));
    if (!one.pkey) continue;
    if (!one.members.empty()) populated.insert(one.pkey->partition());
    if (!one.wrong.empty() && one.groups.empty()) broken.insert(one.pkey->partition());
  }
  std::map<std::uint16_t, Taken> known;  // by partition
  std::size_t groups = 0;
  for (auto& one : all) {
    // A rule of multicast groups alone adds to those that have members.
    const bool only_groups = one.members.empty() && !one.groups.empty();
    if (only_groups && populated.contains(one.pkey->partition())) one.wrong.clear();
    if (one.wrong.empty() && broken.contains(one.pkey->partition()))
      one.wrong =
          fmt::format("another rule for {} was not understood; this one is left out, too", one.pkey->text());
    if (one.wrong.empty()) {
      take_rule(one, known[one.pkey->partition()], groups, claims);
    } else {
      claims.miss(one.where, one.wrong);
    }
  }
}

/// A drop-in of "opensm@0x….service": a subnet manager of its own, whose priority the command line may have.
void parse_instance(const File& file, Claims& claims) {
  auto unit = std::string_view(file.path);
  unit = unit.substr(0, unit.rfind('/'));
  unit = unit.substr(unit.rfind('/') + 1);
  unit = unit.substr(0, unit.find(".service"));
  const auto at = unit.find('@');
  const auto guid = guid_of(at == std::string_view::npos ? "" : unit.substr(at + 1));
  std::optional<std::int64_t> priority;
  for (const auto& group : parse_groups(file, claims)) {
    for (const auto& item : group.items) {
      const auto words = words_of(item.value);
      if (item.key != "ExecStart" || words.empty()) continue;
      claims.took({file.path, item.line});
      for (std::size_t word = 1; word < words.size(); ++word) {
        const bool flag = words[word - 1] == "-p" || words[word - 1] == "--priority";
        const auto number = base::parse_number(words[word]);
        if (flag && number && *number <= 15) priority = static_cast<std::int64_t>(*number);
      }
    }
  }
  if (!guid) return claims.pass({file.path, 0}, "is not for one port; which ports there are the host knows");
  auto& entry = claims.entry("opensm", {{"guid", guid->text()}}, {file.path, 0});
  if (priority) entry.values["priority"] = *priority;
}

/// Rules of partitions under another name: they end with semicolons, and nothing else of OpenSM's does.
bool has_rules(const File& file) {
  for (const auto raw : base::split(file.text, '\n')) {
    if (raw.substr(0, raw.find('#')).find(';') != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

void parse_opensm(std::span<const File> files, Claims& claims) {
  for (const auto& file : files) {
    const auto name = opensm_name(file);
    if (unit_of(file.path).ends_with(".service")) {
      parse_instance(file, claims);
    } else if (name == "partitions.conf" || has_rules(file)) {
      parse_partitions(file, claims);
    } else if (name == "opensm" || file.path.find("sysconfig") != std::string::npos) {
      parse_ports(file, claims);
    } else {
      parse_conf(file, claims);
    }
  }
}

}  // namespace rdmacfg::foreign
