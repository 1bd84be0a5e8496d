// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>

#include "system/linux/carried/carried.hpp"

namespace rdmacfg::system::detail {

namespace {

// Without NLM_F_EXCL the kernel would add the same rule a second time.
constexpr std::uint16_t kAddRule = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
constexpr std::uint16_t kRemove = NLM_F_REQUEST | NLM_F_ACK;

Message rebuilt(const Item& item, const Parsed<fib_rule_hdr>& rule, std::uint16_t type, std::uint16_t how,
                const Target& target, const std::string& name, std::string what) {
  fib_rule_hdr header = rule.family;
  header.flags &= FIB_RULE_INVERT;  // the others say whether the interface is there
  Message message(type, how, header, std::move(what), item.bytes.size() + 64);
  Attributes all = rule.attributes;
  while (const auto attribute = all.next()) {
    if (attribute->type == FRA_PAD) continue;
    const bool names = attribute->type == FRA_IIFNAME || attribute->type == FRA_OIFNAME;
    if (names && rule.attributes.text(attribute->type) == target.old_name) {
      message.put(attribute->type, name);
    } else {
      message.put(attribute->type, attribute->bytes);
    }
  }
  return message;
}

}  // namespace

Message rule_dump_request(std::uint8_t family) {
  fib_rule_hdr header{};
  header.family = family;
  return {RTM_GETRULE, NLM_F_REQUEST | NLM_F_DUMP, header, "reading the policy rules"};
}

std::set<std::string> rule_owners(const nlmsghdr& header, std::uint8_t family) {
  const auto rule = Parsed<fib_rule_hdr>::of(header);
  if (header.nlmsg_type != RTM_NEWRULE || !rule || rule->family.family != family) return {};
  std::set<std::string> owners;
  for (const int type : {FRA_IIFNAME, FRA_OIFNAME}) {
    if (auto name = rule->attributes.text(type); !name.empty()) owners.insert(std::move(name));
  }
  return owners;
}

std::optional<RuleReplay> replay_rule(const Item& item, const Target& target) {
  const auto rule = Parsed<fib_rule_hdr>::of(item.header());
  if (!rule) return std::nullopt;
  const auto priority = rule->attributes.number<std::uint32_t>(FRA_PRIORITY).value_or(0);
  RuleReplay replay{rebuilt(item, *rule, RTM_NEWRULE, kAddRule, target, target.name,
                            fmt::format("{}: put back rule {}", target.name, priority)),
                    {}};
  for (const auto& former : target.former) {
    replay.remove.push_back(
        rebuilt(item, *rule, RTM_DELRULE, kRemove, target, former,
                fmt::format("{}: remove rule {} of the name {}", target.name, priority, former)));
  }
  return replay;
}

}  // namespace rdmacfg::system::detail
