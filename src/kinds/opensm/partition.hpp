// SPDX-License-Identifier: Apache-2.0
// The kind "partition": rules of OpenSM's partitions.conf (doc/partition-config.txt of opensm).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/spelled.hpp"
#include "model/types/fabric_types.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kQkeySchema = R"({"type":"integer","minimum":1,"maximum":4294967295})";
inline constexpr std::string_view kTclassSchema = R"({"type":"integer","minimum":0,"maximum":255})";
inline constexpr std::string_view kFlowLabelSchema = R"({"type":"integer","minimum":0,"maximum":1048575})";

/// A partition of the fabric, as a rule of OpenSM's partitions.conf. The rule as a whole matters.
struct Partition {
  std::optional<model::Pkey> pkey;
  std::optional<std::string> name;
  std::optional<bool> ipoib;
  std::optional<std::int64_t> mtu;
  std::optional<std::int64_t> rate;
  std::optional<std::int64_t> sl;
  std::optional<model::Scopes> scope;
  std::optional<std::int64_t> q_key;
  std::optional<std::int64_t> tclass;
  std::optional<std::int64_t> flow_label;
  std::optional<bool> indx0;
  std::optional<std::string> defmember;
  std::optional<std::vector<std::string>> members;
  std::optional<std::string> rule;

  static constexpr auto kFields = std::tuple{
      model::field("pkey", &Partition::pkey, model::Role::kIdentity,
                   "P_Key; 0x7fff is the default partition, which every fabric needs.", "-"),
      model::field("name", &Partition::name, model::Role::kPolicy, "Name in OpenSM's log.",
                   "Default for 0x7fff, else p and the P_Key"),
      model::field("ipoib", &Partition::ipoib, model::Role::kPolicy,
                   "Whether OpenSM makes the multicast groups that IPoIB needs.", "true"),
      model::spelled(
          model::field(
              "mtu", &Partition::mtu, model::Role::kPolicy,
              "MTU of these groups: 256 to 4096 bytes, or OpenSM's code 1 to 5; 4096 (5) for an IPoIB "
              "MTU of 4092.",
              "OpenSM's: 2048"),
          R"({"enum":[1,2,3,4,5,256,512,1024,2048,4096]})"),
      model::spelled(
          model::field("rate", &Partition::rate, model::Role::kPolicy,
                       "Rate of these groups, OpenSM's code (2 to 24; 23 and 24 since OpenSM 3.3.24).",
                       "OpenSM's: 10 Gb/s"),
          R"({"type":"integer","minimum":2,"maximum":24})"),
      model::spelled(
          model::field("sl", &Partition::sl, model::Role::kPolicy, "Service level, 0 to 15.", "OpenSM's"),
          R"({"type":"integer","minimum":0,"maximum":15})"),
      model::field("scope", &Partition::scope, model::Role::kPolicy,
                   "Scopes, 1 to 14, that the groups in [[partition.group]] have besides their own: 5 or [2, "
                   "5]. IPoIB's groups always have 2."),
      model::spelled(model::field("q_key", &Partition::q_key, model::Role::kPolicy, "Q_Key of these groups.",
                                  "OpenSM's: 0x0b1b"),
                     kQkeySchema),
      model::spelled(model::field("tclass", &Partition::tclass, model::Role::kPolicy,
                                  "Traffic class of these groups, 0 to 255.", "0"),
                     kTclassSchema),
      model::spelled(model::field("flow_label", &Partition::flow_label, model::Role::kPolicy,
                                  "Flow label of these groups, 0 to 0xfffff.", "0"),
                     kFlowLabelSchema),
      model::field("indx0", &Partition::indx0, model::Role::kPolicy,
                   "Whether the P_Key is the first entry in each member's table.", "false"),
      model::spelled(
          model::field("defmember", &Partition::defmember, model::Role::kPolicy,
                       "Default membership of members: full, limited or both.", "limited (OpenSM's)"),
          R"({"enum":["full","limited","both"]})"),
      model::spelled(
          model::field(
              "members", &Partition::members, model::Role::kPolicy,
              "Port GUIDs, ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS or SELF, each perhaps with =full, "
              "=limited or =both.",
              "[\"ALL=full\"]"),
          R"({"type":["array","string"],"minLength":1,"items":{"type":"string","minLength":1}})"),
      model::field("rule", &Partition::rule, model::Role::kDerived, "The rule in partitions.conf.")};
};

/// A multicast group that OpenSM makes in a partition: a line "mgid=" of its rule.
struct PartitionGroup {
  std::optional<model::IpAddress> mgid;
  std::optional<std::int64_t> mtu;
  std::optional<std::int64_t> rate;
  std::optional<std::int64_t> sl;
  std::optional<model::Scopes> scope;
  std::optional<std::int64_t> q_key;
  std::optional<std::int64_t> tclass;
  std::optional<std::int64_t> flow_label;

  static constexpr auto kFields = std::tuple{
      model::spelled(
          model::field(
              "mgid", &PartitionGroup::mgid, model::Role::kIdentity,
              "Its multicast GID, \"ff12:401b::707\". Of a group of IPv4 (401b) or IPv6 (601b) OpenSM "
              "fills in the P_Key.",
              "-"),
          R"({"type":"string","pattern":"^[fF][fF]"})"),
      model::spelled(model::field("mtu", &PartitionGroup::mtu, model::Role::kPolicy,
                                  "MTU: 256 to 4096 bytes, or OpenSM's code 1 to 5; a group of IP has the "
                                  "partition's.",
                                  "the partition's"),
                     R"({"enum":[1,2,3,4,5,256,512,1024,2048,4096]})"),
      model::spelled(
          model::field("rate", &PartitionGroup::rate, model::Role::kPolicy,
                       "Rate, OpenSM's code (2 to 24; 23 and 24 since OpenSM 3.3.24); a group of IP "
                       "has the partition's.",
                       "the partition's"),
          R"({"type":"integer","minimum":2,"maximum":24})"),
      model::spelled(model::field("sl", &PartitionGroup::sl, model::Role::kPolicy, "Service level, 0 to 15.",
                                  "the partition's"),
                     R"({"type":"integer","minimum":0,"maximum":15})"),
      model::field(
          "scope", &PartitionGroup::scope, model::Role::kPolicy,
          "Scope, 1 to 14, or several such as [2, 5], each with a separate group; a group of IP has 2.",
          "that of mgid"),
      model::spelled(model::field("q_key", &PartitionGroup::q_key, model::Role::kPolicy, "Q_Key.",
                                  "the partition's; else 0x0b1b for IP, 0 for others"),
                     kQkeySchema),
      model::spelled(model::field("tclass", &PartitionGroup::tclass, model::Role::kPolicy,
                                  "Traffic class, 0 to 255.", "0"),
                     kTclassSchema),
      model::spelled(model::field("flow_label", &PartitionGroup::flow_label, model::Role::kPolicy,
                                  "Flow label, 0 to 0xfffff.", "the partition's"),
                     kFlowLabelSchema)};
};

model::SectionSpec partition_section();

const Kind& partition();

}  // namespace rdmacfg::kinds
