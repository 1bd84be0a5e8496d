// SPDX-License-Identifier: Apache-2.0
// The words of OpenSM's qos-policy.conf: blocks, their keys, the rules of qos-ulps. Sources:
// osm_qos_parser_l.l and osm_qos_parser_y.y of OpenSM.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rdmacfg::kinds {

enum class PolicyForm {
  kText,
  kName,
  kNames,
  kPortNames,
  kNumber,
  kNumbers,
  kPairs,
  kRanges,
  kPorts,
  kTypes
};

struct PolicyBlock {
  std::string_view name, parent;
};

inline constexpr std::array<PolicyBlock, 12> kPolicyBlocks{{{"qos-ulps", ""},
                                                            {"port-groups", ""},
                                                            {"port-group", "port-groups"},
                                                            {"qos-setup", ""},
                                                            {"vlarb-tables", "qos-setup"},
                                                            {"vlarb-scope", "vlarb-tables"},
                                                            {"sl2vl-tables", "qos-setup"},
                                                            {"sl2vl-scope", "sl2vl-tables"},
                                                            {"qos-levels", ""},
                                                            {"qos-level", "qos-levels"},
                                                            {"qos-match-rules", ""},
                                                            {"qos-match-rule", "qos-match-rules"}}};

struct PolicyKey {
  std::string_view block, name;
  PolicyForm form;
  std::uint64_t least = 0, most = 0;  ///< of numbers
};

inline constexpr std::uint64_t kPolicyAny = ~0ULL;

inline constexpr std::array<PolicyKey, 32> kPolicyKeys{
    {{"port-group", "name", PolicyForm::kName},
     {"port-group", "use", PolicyForm::kText},
     {"port-group", "port-guid", PolicyForm::kRanges, 0, kPolicyAny},
     {"port-group", "port-name", PolicyForm::kPortNames},
     {"port-group", "pkey", PolicyForm::kRanges, 0, 0xffff},
     {"port-group", "partition", PolicyForm::kNames},
     {"port-group", "node-type", PolicyForm::kTypes},
     {"vlarb-scope", "group", PolicyForm::kNames},
     {"vlarb-scope", "across", PolicyForm::kNames},
     {"vlarb-scope", "vlarb-high", PolicyForm::kPairs},
     {"vlarb-scope", "vlarb-low", PolicyForm::kPairs},
     {"vlarb-scope", "vl-high-limit", PolicyForm::kNumber, 0, 255},
     {"sl2vl-scope", "group", PolicyForm::kNames},
     {"sl2vl-scope", "across", PolicyForm::kNames},
     {"sl2vl-scope", "across-from", PolicyForm::kNames},
     {"sl2vl-scope", "across-to", PolicyForm::kNames},
     {"sl2vl-scope", "from", PolicyForm::kPorts, 0, 127},
     {"sl2vl-scope", "to", PolicyForm::kPorts, 0, 127},
     {"sl2vl-scope", "sl2vl-table", PolicyForm::kNumbers, 0, 15},
     {"qos-level", "name", PolicyForm::kName},
     {"qos-level", "use", PolicyForm::kText},
     {"qos-level", "sl", PolicyForm::kNumber, 0, 15},
     {"qos-level", "mtu-limit", PolicyForm::kNumber, 1, 5},
     {"qos-level", "rate-limit", PolicyForm::kNumber, 2, 24},
     {"qos-level", "packet-life", PolicyForm::kNumber, 0, 63},
     {"qos-level", "path-bits", PolicyForm::kRanges, 0, 127},
     {"qos-match-rule", "use", PolicyForm::kText},
     {"qos-match-rule", "source", PolicyForm::kNames},
     {"qos-match-rule", "destination", PolicyForm::kNames},
     {"qos-match-rule", "qos-class", PolicyForm::kRanges, 0, 0xfff},
     {"qos-match-rule", "service-id", PolicyForm::kRanges, 0, kPolicyAny},
     {"qos-match-rule", "qos-level-name", PolicyForm::kName}}};
inline constexpr PolicyKey kPolicyPkeyOfRule{"qos-match-rule", "pkey", PolicyForm::kRanges, 0, 0xffff};
inline constexpr PolicyKey kPolicyPkeyOfLevel{"qos-level", "pkey", PolicyForm::kRanges, 0, 0xffff};

/// Rules of qos-ulps: "ipoib, pkey 0x1 : 3". The word after the comma, with a range; empty: none.
struct PolicyProtocol {
  std::string_view name, selector;
  std::uint64_t most = kPolicyAny;
};
inline constexpr std::array<PolicyProtocol, 15> kPolicyProtocols{{{"default", ""},
                                                                  {"sdp", ""},
                                                                  {"sdp", "port-num", 0xffff},
                                                                  {"rds", ""},
                                                                  {"rds", "port-num", 0xffff},
                                                                  {"iser", ""},
                                                                  {"iser", "port-num", 0xffff},
                                                                  {"srp", "target-port-guid"},
                                                                  {"ipoib", ""},
                                                                  {"ipoib", "pkey", 0xffff},
                                                                  {"any", "service-id"},
                                                                  {"any", "pkey", 0xffff},
                                                                  {"any", "target-port-guid"},
                                                                  {"any", "source-port-guid"},
                                                                  {"any", "source-target-port-guid"}}};

inline constexpr std::string_view kPolicyEnd = "end-";

}  // namespace rdmacfg::kinds
