// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/partition_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"
#include "formats/opensm_conf.hpp"

namespace rdmacfg::kinds {

using base::Result;

namespace {

bool is_membership(std::string_view text) { return text == "full" || text == "limited" || text == "both"; }

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
  } else {
    return base::fail(
        base::Code::kInvalid,
        fmt::format("\"{}\" is not a port GUID, ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS or SELF", who));
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
  return std::any_of(members.begin(), members.end(), [&](const PartitionMember& one) {
    return one.who == "ALL" || one.who == "ALL_CAS" || one.who == "SELF" || one.who == opensm_guid(port);
  });
}

bool PartitionRule::has_full() const {
  return std::any_of(members.begin(), members.end(), [&](const PartitionMember& one) {
    const auto& membership = one.membership.empty() ? defmember : one.membership;
    return one.who != "ALL_SWITCHES" && one.who != "ALL_ROUTERS" &&
           (membership == "full" || membership == "both");
  });
}

PartitionRule make_rule(const model::Section& section, const Partition& wanted,
                        model::Diagnostics& diagnostics) {
  PartitionRule out;
  const auto wrong = [&](std::string_view key, std::string what, std::string hint) {
    const auto* entry = section.find(key);
    diagnostics.push_back({model::Severity::kError,
                           entry == nullptr ? section.where : entry->where,
                           fmt::format("[[partition]] {}: {}", key, what),
                           std::move(hint),
                           {}});
    out.right = false;
  };
  const bool is_default = wanted.pkey->partition() == kDefaultPartition;
  auto name = wanted.name.value_or(is_default ? "Default" : fmt::format("p{:04x}", wanted.pkey->full()));
  if (name.find_first_of(" \t\n=,:;#") != std::string::npos) {
    wrong("name", fmt::format("\"{}\" has a character that partitions.conf cannot hold", name),
          "letters, digits, - and _");
  }
  if ((name == "Default") != is_default) {
    wrong("name", is_default ? "the partition 0x7fff is called Default" : "only 0x7fff is called Default",
          "");
  }
  out.text = fmt::format("{}={:#06x}", name, is_default ? kDefaultPartition : wanted.pkey->full());
  out.ipoib = wanted.ipoib.value_or(true);
  if (out.ipoib) out.text += ", ipoib";
  if (wanted.mtu) {
    const auto code = mtu_code(*wanted.mtu);
    if (!code) {
      wrong("mtu", fmt::format("{} is not an InfiniBand MTU", *wanted.mtu),
            "256, 512, 1024, 2048 or 4096 bytes, or OpenSM's code 1 to 5");
    }
    out.text += fmt::format(", mtu={}", code.value_or(0));
  }
  const auto number = [&](std::string_view key, const std::optional<std::int64_t>& value, std::int64_t least,
                          std::int64_t most) {
    if (!value) return;
    if (*value < least || *value > most) {
      wrong(key, fmt::format("{} is out of range; must be from {} to {}", *value, least, most), "");
    }
    out.text += fmt::format(", {}={}", key, *value);
  };
  number("rate", wanted.rate, 2, 63);
  number("sl", wanted.sl, 0, 15);
  number("scope", wanted.scope, 1, 14);
  if (wanted.defmember) {
    if (!is_membership(*wanted.defmember)) {
      wrong("defmember", fmt::format("\"{}\" is not a membership", *wanted.defmember),
            "full, limited or both");
    }
    out.defmember = *wanted.defmember;
    out.text += ", defmember=" + out.defmember;
  }
  std::vector<std::string> texts;
  std::map<std::string, std::string> memberships;  // by who has them; the first counts
  for (const auto& written : wanted.members.value_or(std::vector<std::string>{"ALL=full"})) {
    auto member = parse_member(written);
    if (!member) {
      wrong("members", member.error().message, "");
      continue;
    }
    const auto [same, fresh] = memberships.try_emplace(member->who, member->membership);
    if (!fresh && same->second != member->membership)
      wrong("members", fmt::format("{} is there twice, with another membership", member->who),
            "keep one of the two");
    texts.push_back(member->text());
    out.members.push_back(std::move(*member));
  }
  out.text += fmt::format(" : {};", base::join(texts, ", "));
  return out;
}

}  // namespace rdmacfg::kinds
