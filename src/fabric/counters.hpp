// SPDX-License-Identifier: Apache-2.0
// Counters of a port, by the names that they have in sysfs. Sources: InfiniBand architecture 16.1.3.5
// (PortCounters), 16.1.4.11 (PortCountersExtended), Documentation/ABI/stable/sysfs-class-infiniband.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rdmacfg::fabric {

enum class CounterSort : std::uint8_t {
  kTraffic,
  kWaiting,  ///< congestion, or packets that a switch has no use for: a busy fabric has these
  kError,
};

/// A counter and what it counts.
struct CounterMeaning {
  std::string_view name;  ///< "symbol_error"
  CounterSort sort = CounterSort::kError;
  std::string_view what;
};

/// The counters of every InfiniBand port, as a MAD asks for them.
inline constexpr std::size_t kPortCounters = 17;
inline constexpr std::array<CounterMeaning, kPortCounters> kPortCounterMeanings{
    {{"port_xmit_data", CounterSort::kTraffic, "sent, in units of 4 bytes"},
     {"port_rcv_data", CounterSort::kTraffic, "received, in units of 4 bytes"},
     {"port_xmit_packets", CounterSort::kTraffic, "packets sent"},
     {"port_rcv_packets", CounterSort::kTraffic, "packets received"},
     {"port_xmit_wait", CounterSort::kWaiting, "ticks in which data waited for credits: congestion"},
     {"port_rcv_switch_relay_errors", CounterSort::kWaiting, "packets that the switch could not forward"},
     {"symbol_error", CounterSort::kError, "symbol errors: bad cable or connector"},
     {"link_error_recovery", CounterSort::kError, "times that the link recovered from errors"},
     {"link_downed", CounterSort::kError, "times that the link went down"},
     {"port_rcv_errors", CounterSort::kError, "packets received with an error"},
     {"port_rcv_remote_physical_errors", CounterSort::kError, "packets that were damaged before this link"},
     {"port_xmit_discards", CounterSort::kError,
      "packets discarded instead of sent: congestion, or a peer that is down"},
     {"port_xmit_constraint_errors", CounterSort::kError,
      "packets not sent, such as those with a wrong P_Key"},
     {"port_rcv_constraint_errors", CounterSort::kError,
      "received packets rejected, such as those with a wrong P_Key"},
     {"local_link_integrity_errors", CounterSort::kError, "times that local errors exceeded their limit"},
     {"excessive_buffer_overrun_errors", CounterSort::kError, "times that buffer overruns persisted"},
     {"VL15_dropped", CounterSort::kError, "management packets dropped"}}};

/// Their values, in that order.
using PortCounters = std::array<std::uint64_t, kPortCounters>;

/// Looks up a sysfs counter by name, including drivers' own (hw_counters); nullptr if it is unknown.
const CounterMeaning* counter_meaning(std::string_view name);

/// "symbol_error 3, link_downed 1": the errors that are not zero; empty: none.
std::string errors_text(const PortCounters& counters);

}  // namespace rdmacfg::fabric
