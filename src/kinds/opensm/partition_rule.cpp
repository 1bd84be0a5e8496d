// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/partition_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "formats/opensm/partition_syntax.hpp"
#include "kinds/entry.hpp"

namespace rdmacfg::kinds {

using base::Result;

namespace {

bool is_membership(std::string_view text) { return text == "full" || text == "limited" || text == "both"; }

/// The membership that a member of a rule with this defmember has; OpenSM's own default is limited.
std::string_view membership_in(const PartitionMember& member, std::string_view defmember) {
  if (!member.membership.empty()) return member.membership;
  return defmember.empty() ? std::string_view("limited") : defmember;
}

bool is_every_host(const PartitionMember& member) { return member.who == "ALL" || member.who == "ALL_CAS"; }

std::optional<std::int64_t> mtu_code(std::int64_t mtu) {
  if (mtu >= 1 && mtu <= 5) return mtu;
  for (std::int64_t code = 1, bytes = 256; code <= 5; ++code, bytes *= 2) {
    if (mtu == bytes) return code;
  }
  return std::nullopt;
}

}  // namespace

Result<PartitionMember> parse_member(std::string_view text) {
  constexpr std::array<std::string_view, 5> kWords{"ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF"};
  const auto equals = text.find('=');
  const auto who = base::trim(text.substr(0, equals));
  PartitionMember out;
  if (std::find(kWords.begin(), kWords.end(), who) != kWords.end()) {
    out.who = who;
  } else if (const auto guid = model::Guid::parse(who)) {
    out.who = opensm_guid(*guid);
  } else if (who == kNvidiaMembers) {
    return base::fail(base::Code::kInvalid, std::string(kNvidiaMembersText));
  } else {
    const std::vector<std::string> words(kWords.begin(), kWords.end());
    const auto near = base::nearest(who, words);
    return base::fail(
        base::Code::kInvalid,
        fmt::format("\"{}\" is not a port GUID, ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS or SELF{}", who,
                    near ? fmt::format("; did you mean \"{}\"?", *near) : std::string()));
  }
  if (equals == std::string_view::npos) return out;
  out.membership = base::trim(text.substr(equals + 1));
  if (!is_membership(out.membership)) {
    return base::fail(base::Code::kInvalid,
                      fmt::format("\"{}\" is not a membership: full, limited or both", out.membership));
  }
  return out;
}

bool PartitionRule::lists(model::Guid port) const {
  return std::any_of(members.begin(), members.end(), [&](const PartitionMember& member) {
    return is_every_host(member) || member.who == "SELF" || member.who == opensm_guid(port);
  });
}

bool PartitionRule::has_full() const {
  std::map<std::string_view, bool> full;  // by who has it
  for (const auto& member : members) {
    if (member.who == "ALL_SWITCHES" || member.who == "ALL_ROUTERS") continue;
    if (is_every_host(member)) full.clear();
    full.insert_or_assign(member.who, membership_in(member, defmember) != "limited");
  }
  return std::any_of(full.begin(), full.end(), [](const auto& host) { return host.second; });
}

std::optional<PartitionRule::Replaced> PartitionRule::replaced() const {
  // The first of each membership: of all members, and of those that are hosts. A GUID is that of a host's
  // port.
  std::map<std::string_view, const PartitionMember*> all, hosts;
  for (const auto& later : members) {
    const auto membership = membership_in(later, defmember);
    const PartitionMember* first = nullptr;
    if (is_every_host(later)) {
      for (const auto& [other, member] : later.who == "ALL" ? all : hosts) {
        if (other != membership && (first == nullptr || member < first)) first = member;
      }
    }
    if (first != nullptr) return Replaced{*first, later};
    all.emplace(membership, &later);
    if (later.who != "ALL" && later.who != "ALL_SWITCHES" && later.who != "ALL_ROUTERS")
      hosts.emplace(membership, &later);
  }
  return std::nullopt;
}

namespace {

/// Of the broadcast group where nothing says another (osm_base.h): 10 Gb/s, 2048 bytes.
constexpr std::int64_t kRate = 3, kMtuCode = 4;
constexpr std::int64_t kRateLeast = 2,
                       kRateMost = 24;     ///< codes of rates: IB_MIN_RATE, IB_MAX_RATE in ib_types.h
constexpr unsigned kLinkLocal = 1U << 2U;  ///< Scopes::mask

/// A rate in Gb/s that is none of the codes was meant as one.
std::string rate_hint(std::int64_t rate) {
  struct Rate {
    std::int64_t gbps, code;
  };
  constexpr std::array kRates{Rate{25, 15},  Rate{28, 19},  Rate{30, 4},   Rate{40, 7},   Rate{50, 20},
                              Rate{56, 12},  Rate{60, 8},   Rate{80, 9},   Rate{100, 16}, Rate{112, 13},
                              Rate{120, 10}, Rate{168, 14}, Rate{200, 17}, Rate{300, 18}, Rate{400, 21},
                              Rate{600, 22}, Rate{800, 23}, Rate{1200, 24}};
  for (const auto& [gbps, code] : kRates) {
    if (gbps == rate) return fmt::format("rate is OpenSM's code: {} Gb/s is {}", gbps, code);
  }
  return "OpenSM's code: 3 is 10 Gb/s, 7 is 40, 12 is 56, 16 is 100, 17 is 200, 21 is 400";
}

/// Reports what is wrong in an entry, and writes its numbers as OpenSM's flags.
class Flags {
 public:
  Flags(const model::Section& section, std::string_view called, PartitionRule& rule,
        model::Diagnostics& diagnostics)
      : section_(section), called_(called), rule_(rule), diagnostics_(diagnostics) {}

  void wrong(std::string_view key, std::string_view what, std::string hint) {
    const auto* entry = section_.find(key);
    wrong_at(entry == nullptr ? section_.where : entry->where, key, what, std::move(hint));
  }

  /// `item`: of the list, counted from 0.
  void wrong_item(std::string_view key, std::size_t item, std::string_view what, std::string hint) {
    const auto* entry = section_.find(key);
    wrong_at(entry == nullptr ? section_.where : entry->place_of(item), key, what, std::move(hint));
  }

  void warn(std::string_view key, std::string_view what, std::string hint) {
    const auto* entry = section_.find(key);
    diagnostics_.push_back({model::Severity::kWarning,
                            entry == nullptr ? section_.where : entry->where,
                            fmt::format("[[{}]] {}: {}", called_, key, what),
                            std::move(hint),
                            {}});
  }

  void number(std::string_view key, const std::optional<std::int64_t>& value, std::int64_t least,
              std::int64_t most, std::string_view flag = {}, std::string hint = {}) {
    if (!value) return;
    if (auto why = why_out_of_range(*value, least, most); !why.empty())
      wrong(key, std::move(why), std::move(hint));
    rule_.text += fmt::format(", {}={}", flag.empty() ? key : flag, *value);
  }

  /// Checks what the partition and its groups have in common. @return the code of the MTU
  template <class Wanted>
  std::optional<std::int64_t> all_but_scopes(const Wanted& wanted) {
    std::optional<std::int64_t> code;
    if (wanted.mtu) {
      code = mtu_code(*wanted.mtu);
      if (!code) {
        wrong("mtu", fmt::format("{} is not an InfiniBand MTU", *wanted.mtu),
              "256, 512, 1024, 2048 or 4096 bytes, or OpenSM's code 1 to 5");
      }
      rule_.text += fmt::format(", mtu={}", code.value_or(0));
    }
    number("rate", wanted.rate, kRateLeast, kRateMost, {}, rate_hint(wanted.rate.value_or(0)));
    number("sl", wanted.sl, 0, 15);
    if (wanted.q_key && (*wanted.q_key < 1 || *wanted.q_key > 0xffffffff)) {
      wrong("q_key", fmt::format("{} is out of range; must be from 1 to 0xffffffff", *wanted.q_key), "");
    } else if (wanted.q_key) {
      rule_.text += fmt::format(", Q_Key={:#010x}", *wanted.q_key);
    }
    // OpenSM takes 0 for a mistake in the one, and for the default in both.
    if (wanted.tclass.value_or(0) != 0) number("tclass", wanted.tclass, 0, 255, "TClass");
    number("flow_label", wanted.flow_label, 0, 0xfffff, "FlowLabel");
    return code;
  }

  void scopes(const model::Scopes& scopes) {
    for (unsigned scope = 1; scope <= model::kScopeMost; ++scope) {
      if (scopes.has(scope)) rule_.text += fmt::format(", scope={}", scope);
    }
  }

 private:
  void wrong_at(const model::Location& where, std::string_view key, std::string_view what, std::string hint) {
    diagnostics_.push_back({model::Severity::kError,
                            where,
                            fmt::format("[[{}]] {}: {}", called_, key, what),
                            std::move(hint),
                            {}});
    rule_.right = false;
  }

  const model::Section& section_;
  std::string_view called_;
  PartitionRule& rule_;
  model::Diagnostics& diagnostics_;
};

/// A group of IP over InfiniBand (RFC 4391, 4): OpenSM makes none whose MTU, rate or P_Key is not the
/// partition's (mgroup_create() in osm_prtn_config.c), or without a broadcast group of its scope
/// (mcmr_rcv_create_new_mgrp() in osm_sa_mcmember_record.c), which is always 2; it says so in its log alone.
void check_ip_group(const PartitionGroup& group, const Partition& partition, std::optional<std::int64_t> mtu,
                    model::Scopes scopes, Flags& flags) {
  constexpr std::array<std::uint8_t, 2> kIpv4{0x40, 0x1b}, kIpv6{0x60, 0x1b};
  const auto& bytes = group.mgid->bytes;
  const std::array<std::uint8_t, 2> signature{bytes[2], bytes[3]};
  if (signature != kIpv4 && signature != kIpv6) return;
  const auto pkey = static_cast<unsigned>(bytes[4]) << 8U | bytes[5];
  if (pkey != 0 && pkey != partition.pkey->full()) {
    flags.wrong(
        "mgid",
        fmt::format("{} has the P_Key {:#06x}, which is not that of the partition", group.mgid->text(), pkey),
        "leave these bits 0; OpenSM fills them in");
  }
  if (!partition.ipoib.value_or(true)) {
    flags.wrong("mgid",
                fmt::format("{} is a group of IP, and the partition has ipoib = false", group.mgid->text()),
                "without a broadcast group OpenSM makes none of IP; leave ipoib out there");
  }
  if (scopes.mask != kLinkLocal) {
    flags.wrong(
        group.scope || !partition.scope ? "scope" : "mgid",
        fmt::format("{} is a group of IP, which OpenSM creates only with scope 2", group.mgid->text()),
        "leave scope out here and in the partition, and write ff12");
  }
  const auto rate = partition.rate.value_or(kRate);
  const bool is_code = group.rate && *group.rate >= kRateLeast && *group.rate <= kRateMost;  // else reported
  if (is_code && *group.rate != rate) {
    flags.wrong(
        "rate",
        fmt::format("{} here and {} for the partition, whose groups of IP share one rate", *group.rate, rate),
        "leave it out, or change that of the partition");
  }
  const auto whole = partition.mtu ? mtu_code(*partition.mtu).value_or(0) : kMtuCode;
  if (mtu && *mtu != whole) {
    flags.wrong(
        "mtu",
        fmt::format("code {} here and {} for the partition, whose groups of IP share one MTU", *mtu, whole),
        "leave it out, or change that of the partition");
  }
}

/// The groups, each on a line of its own, as OpenSM reads one to the line's end. It takes what the line
/// before has left in its buffer for flags of a group without any, so each has at least its scope.
void add_groups(const model::Section& section, const Partition& partition, PartitionRule& rule,
                model::Diagnostics& diagnostics) {
  for (const auto& child : section.children) {
    if (child.path != "partition.group") continue;
    const auto group = model::from_attributes<PartitionGroup>(child.attributes());
    if (!group.mgid) continue;  // reported already, by the grammar
    Flags flags(child, "partition.group", rule, diagnostics);
    const auto& bytes = group.mgid->bytes;
    if (group.mgid->family != model::Family::kIpv6 || bytes[0] != 0xff) {
      flags.wrong("mgid", fmt::format("{} is not a multicast GID", group.mgid->text()),
                  "one that begins with ff, like \"ff12:401b::707\"");
      continue;
    }
    rule.text += fmt::format("\nmgid={}", group.mgid->text());
    const auto mtu = flags.all_but_scopes(group);
    const unsigned own = bytes[1] & 0xfU;
    if (!group.scope && (own == 0 || own > model::kScopeMost)) {
      flags.wrong("mgid",
                  fmt::format("{} has the scope {}; must be from 1 to {}", group.mgid->text(), own,
                              model::kScopeMost),
                  "write another one, or scope = …");
    }
    const auto scopes = group.scope.value_or(model::Scopes{1U << own});
    flags.scopes(scopes);
    check_ip_group(group, partition, mtu, {scopes.mask | partition.scope.value_or(model::Scopes{}).mask},
                   flags);
  }
}

void add_members(const Partition& wanted, PartitionRule& rule, Flags& flags) {
  std::vector<std::string> texts;
  std::map<std::string, std::string> memberships;  // by who has them; the first counts
  const auto members = wanted.members.value_or(std::vector<std::string>{"ALL=full"});
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto member = parse_member(members[i]);
    if (!member) {
      flags.wrong_item("members", i, member.error().message, "");
      continue;
    }
    const auto membership = membership_in(*member, rule.defmember);
    const auto [same, fresh] = memberships.try_emplace(member->who, membership);
    if (!fresh && same->second != membership)
      flags.wrong_item("members", i,
                       fmt::format("{} is listed twice, with different memberships", member->who),
                       "keep one of the two");
    texts.push_back(member->text());
    rule.members.push_back(std::move(*member));
  }
  // A ';' alone in its line has OpenSM read on behind the line, and then ignore the whole file.
  if (texts.empty() && rule.text.ends_with('\n')) texts.emplace_back("NONE");
  rule.text += base::join(texts, ", ") + ";";
}

}  // namespace

PartitionRule make_rule(const model::Section& section, const Partition& wanted,
                        model::Diagnostics& diagnostics) {
  PartitionRule out;
  Flags flags(section, "partition", out, diagnostics);
  const bool is_default = wanted.pkey->partition() == kDefaultPartition;
  auto name = wanted.name.value_or(is_default ? "Default" : fmt::format("p{:04x}", wanted.pkey->full()));
  if (name.find_first_of(" \t\n=,:;#") != std::string::npos) {
    flags.wrong("name", fmt::format("\"{}\" has a character that is not allowed in partitions.conf", name),
                "letters, digits, - and _");
  }
  if (name.size() > kPartitionNameMost) {
    flags.warn("name", fmt::format("has {} bytes, and OpenSM keeps only {}", name.size(), kPartitionNameMost),
               "a QoS policy that names the partition does not find it by the whole name");
  }
  if ((name == "Default") != is_default) {
    flags.wrong("name",
                is_default ? "the partition 0x7fff is called Default" : "only 0x7fff is called Default", "");
  }
  out.text = fmt::format("{}={:#06x}", name, is_default ? kDefaultPartition : wanted.pkey->full());
  out.ipoib = wanted.ipoib.value_or(true);
  if (out.ipoib) out.text += ", ipoib";
  flags.all_but_scopes(wanted);
  if (wanted.scope) flags.scopes(*wanted.scope);
  if (wanted.indx0.value_or(false)) out.text += ", indx0";
  if (wanted.defmember) {
    if (!is_membership(*wanted.defmember)) {
      flags.wrong("defmember", fmt::format("\"{}\" is not a membership", *wanted.defmember),
                  "full, limited or both");
    }
    out.defmember = *wanted.defmember;
    out.text += ", defmember=" + out.defmember;
  }
  out.text += " :";
  const auto head = out.text.size();
  add_groups(section, wanted, out, diagnostics);
  out.text += out.text.size() == head ? " " : "\n";
  add_members(wanted, out, flags);
  return out;
}

}  // namespace rdmacfg::kinds
