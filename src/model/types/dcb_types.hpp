// SPDX-License-Identifier: Apache-2.0
// Data center bridging as the document spells it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/types/module_types.hpp"

namespace rdmacfg::model {

/// The traffic class of each of the 8 priorities.
struct TrafficClasses {
  std::array<std::uint8_t, kPriorities> of{};
  auto operator<=>(const TrafficClasses&) const = default;
};

/// Percent of the bandwidth for each of the 8 traffic classes.
struct Bandwidth {
  std::array<std::uint8_t, kPriorities> percent{};
  auto operator<=>(const Bandwidth&) const = default;
};

/// Traffic classes as a set: bit N is class N.
struct ClassSet {
  unsigned mask = 0;
  [[nodiscard]] bool has(unsigned traffic_class) const { return (mask >> traffic_class & 1U) != 0; }
  auto operator<=>(const ClassSet&) const = default;
};

/// Pairs of a DSCP and its priority, sorted. The kernel may hold a DSCP twice; the document
/// says may not.
struct DscpMap {
  std::vector<std::pair<std::uint8_t, std::uint8_t>> list;
  [[nodiscard]] std::optional<std::uint8_t> priority_of(unsigned dscp) const;
  auto operator<=>(const DscpMap&) const = default;
};

/// The side that negotiates DCB with the peer.
enum class Dcbx { kHost, kFirmware };

inline constexpr unsigned kDscps = 64;  ///< RFC 2474: six bits

/// A selector of the application table: the part of a packet that tells its priority (IEEE_8021QAZ_APP_SEL_*
/// and DCB_APP_SEL_PCP of linux/dcbnl.h, by their numbers). Spelled as dcb-apptrust(8) does.
enum class TrustSelector : std::uint8_t {
  kEthertype = 1,
  kStreamPort = 2,
  kDgramPort = 3,
  kPort = 4,
  kDscp = 5,
  kPcp = 255
};

/// The selector with that number; nothing when there is none.
std::optional<TrustSelector> trust_selector(unsigned number);

/// Selectors that an adapter trusts, in order of precedence, each once; empty: none.
struct TrustOrder {
  std::vector<TrustSelector> list;
  [[nodiscard]] bool trusts(TrustSelector selector) const;
  auto operator<=>(const TrustOrder&) const = default;
};

/// One 802.1p priority.
struct Priority {
  std::uint8_t number = 0;
  auto operator<=>(const Priority&) const = default;
};

RDMACFG_CODEC(
    TrafficClasses, "8 traffic classes",
    R"({"type":"array","minItems":8,"maxItems":8,"items":{"type":["integer","string"],"minimum":0,"maximum":7,"pattern":"^(0[xX])?0*[0-7]$"}})");
RDMACFG_CODEC(
    Bandwidth, "list of percents",
    R"({"type":"array","maxItems":8,"items":{"type":["integer","string"],"minimum":0,"maximum":100,"pattern":"^(0[xX][0-9A-Fa-f]+|[0-9]+)$"}})");
RDMACFG_CODEC(
    ClassSet, "list of traffic classes 0 to 7",
    R"({"type":"array","items":{"type":["integer","string"],"minimum":0,"maximum":7,"pattern":"^(0[xX])?0*[0-7]$"}})");
RDMACFG_CODEC(DscpMap, "list of \"DSCP:priority\"",
              R"({"type":"array","items":{"type":"string","pattern":"^[0-9]+:[0-7]$"}})");
RDMACFG_CODEC(
    TrustOrder, "list of selectors, such as \"dscp\" and \"pcp\"",
    R"({"type":"array","items":{"enum":["ethtype","stream-port","dgram-port","port","dscp","pcp"]}})");
RDMACFG_CODEC(Dcbx, "\"host\" or \"firmware\"", R"({"enum":["host","firmware"]})");
RDMACFG_CODEC(Priority, "priority 0 to 7", R"({"type":"integer","minimum":0,"maximum":7})");

}  // namespace rdmacfg::model
