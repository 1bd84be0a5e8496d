// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/spelled.hpp"

namespace rdmacfg::kinds {

/// A partition of the fabric, as a rule of OpenSM's partitions.conf. The rule as a whole matters.
struct Partition {
  std::optional<model::Pkey> pkey;
  std::optional<std::string> name;
  std::optional<bool> ipoib;
  std::optional<std::int64_t> mtu;
  std::optional<std::int64_t> rate;
  std::optional<std::int64_t> sl;
  std::optional<std::int64_t> scope;
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
      model::spelled(model::field("rate", &Partition::rate, model::Role::kPolicy,
                                  "Rate of these groups, OpenSM's code (2 to 63).", "OpenSM's: 10 Gb/s"),
                     R"({"type":"integer","minimum":2,"maximum":63})"),
      model::spelled(
          model::field("sl", &Partition::sl, model::Role::kPolicy, "Service level, 0 to 15.", "OpenSM's"),
          R"({"type":"integer","minimum":0,"maximum":15})"),
      model::spelled(model::field("scope", &Partition::scope, model::Role::kPolicy,
                                  "Scope of these groups, 1 to 14.", "OpenSM's"),
                     R"({"type":"integer","minimum":1,"maximum":14})"),
      model::spelled(
          model::field("defmember", &Partition::defmember, model::Role::kPolicy,
                       "Membership where members do not say: full, limited or both.", "limited (OpenSM's)"),
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

model::SectionSpec partition_section();

const Kind& partition();

}  // namespace rdmacfg::kinds
