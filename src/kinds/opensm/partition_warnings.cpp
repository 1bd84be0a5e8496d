// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/partition_warnings.hpp"

#include <fmt/format.h>

#include "formats/opensm/opensm_conf.hpp"
#include "kinds/ports/pkey_link.hpp"

namespace rdmacfg::kinds::detail {

using model::Diagnostics;
using model::Location;
using model::Severity;

namespace {

void warn_without_group(const Location& where, const model::Pkey& pkey, const Location& partition,
                        Diagnostics& diagnostics) {
  auto& d = diagnostics.emplace_back(model::Diagnostic{
      Severity::kWarning,
      where,
      fmt::format("[[ipoib.pkey]] pkey: [[partition]] {} has ipoib = false", pkey.text()),
      "without a broadcast group of the subnet manager the interface has no carrier; leave ipoib out there",
      {}});
  d.related.push_back({partition, "the partition"});
}

}  // namespace

void warn_of_members(const model::Section& section, const PartitionRule& rule, Diagnostics& diagnostics) {
  if (!rule.right) return;
  const auto* members = section.find("members");
  const auto where = members == nullptr ? section.where : members->where;
  if (const auto replaced = rule.replaced())
    diagnostics.push_back(
        {Severity::kWarning,
         where,
         fmt::format("[[partition]] members: {} has no effect, because {} follows with another membership",
                     replaced->member.text(), replaced->by.text()),
         fmt::format("write {} first: OpenSM reads members in their order", replaced->by.text()),
         {}});
  if (rule.has_full()) return;
  diagnostics.push_back({Severity::kWarning,
                         where,
                         rule.members.empty() ? "[[partition]] members: no host is a member"
                                              : "[[partition]] members: every host is a limited member, "
                                                "and limited members cannot reach each other",
                         "\"ALL=full\", or full for the members that all others must reach",
                         {}});
}

void warn_outside(const BoundPort& port, const AllListed& listed, bool offline, Diagnostics& diagnostics) {
  for (const auto& child : port.section->children) {
    if (child.path != "ipoib.pkey") continue;
    const auto* key = child.find("pkey");
    const auto wanted = model::from_attributes<PkeyLink>(child.attributes());
    if (key == nullptr || !wanted.pkey || wanted.state == model::State::kAbsent ||
        wanted.state == model::State::kIgnore)
      continue;
    const auto at = listed.find(wanted.pkey->partition());
    if (at == listed.end()) {
      // On a host check() knows the rules of others, too.
      if (offline && !listed.empty())
        warn_unlisted(key->where, *wanted.pkey, listed.begin()->second.where, diagnostics);
      continue;
    }
    const auto& [where, rule] = at->second;
    if (rule.right && !rule.ipoib) warn_without_group(key->where, *wanted.pkey, where, diagnostics);
    if (!rule.right || !port.guid || rule.lists(*port.guid)) continue;
    auto& d = diagnostics.emplace_back(model::Diagnostic{
        Severity::kWarning,
        key->where,
        fmt::format("[[ipoib.pkey]] pkey: port {} is not a member of [[partition]] {}", port.guid->text(),
                    wanted.pkey->text()),
        fmt::format("add \"{}=full\" to its members; until then the interface has no carrier",
                    opensm_guid(*port.guid)),
        {},
        model::Topic::kPkeyMembership});
    d.related.push_back({where, "the partition"});
  }
}

void warn_unlisted(const Location& where, const model::Pkey& pkey, const Location& partitions,
                   Diagnostics& diagnostics) {
  auto& d = diagnostics.emplace_back(
      model::Diagnostic{Severity::kWarning,
                        where,
                        fmt::format("[[ipoib.pkey]] pkey: no [[partition]] has {}", pkey.text()),
                        "the interface has no carrier until a subnet manager gives the port this P_Key",
                        {},
                        model::Topic::kPkeyMembership});
  d.related.push_back({partitions, "the partitions of this document begin here"});
}

}  // namespace rdmacfg::kinds::detail
