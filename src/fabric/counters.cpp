// SPDX-License-Identifier: Apache-2.0
#include "fabric/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace rdmacfg::fabric {

namespace {

/// hw_counters, of which several drivers share the names. Sources: drivers/infiniband/hw/mlx5/counters.c,
/// hw/bnxt_re/hw_counters.c, hw/irdma/verbs.c, sw/rxe/rxe_hw_counters.c.
constexpr auto kDriverCounters = std::to_array<CounterMeaning>({
    {"duplicate_request", CounterSort::kError, "requests received twice: answers were lost"},
    {"implied_nak_seq_err", CounterSort::kError, "answers that show that earlier ones were lost"},
    {"local_ack_timeout_err", CounterSort::kError, "requests without an answer in time"},
    {"out_of_buffer", CounterSort::kError, "packets dropped, as no receive buffer was posted"},
    {"out_of_sequence", CounterSort::kError, "packets out of sequence: others were lost"},
    {"out_of_seq_request", CounterSort::kError, "requests out of sequence: others were lost"},
    {"ack_deffered", CounterSort::kWaiting, "acknowledgements that were sent later"},
    {"packet_seq_err", CounterSort::kError, "NAKs for packets that were lost"},
    {"req_cqe_error", CounterSort::kError, "requests that ended with an error"},
    {"req_cqe_flush_error", CounterSort::kWaiting,
     "requests flushed when a queue pair went into error state"},
    {"req_remote_access_errors", CounterSort::kError, "requests refused by the peer's memory protection"},
    {"req_remote_invalid_request", CounterSort::kError, "requests that the peer called invalid"},
    {"resp_cqe_error", CounterSort::kError, "answers that ended with an error"},
    {"resp_cqe_flush_error", CounterSort::kWaiting,
     "answers flushed when a queue pair went into error state"},
    {"resp_local_length_error", CounterSort::kError, "messages longer than their receive buffer"},
    {"resp_remote_access_errors", CounterSort::kError, "requests refused by memory protection here"},
    {"rnr_nak_retry_err", CounterSort::kError, "requests sent again, as the peer was not ready to receive"},
    {"roce_adp_retrans", CounterSort::kWaiting, "adaptive retransmissions"},
    {"roce_adp_retrans_to", CounterSort::kWaiting, "adaptive retransmissions that timed out"},
    {"roce_slow_restart", CounterSort::kWaiting, "restarts of transmission at a low rate"},
    {"rx_icrc_encapsulated", CounterSort::kError, "RoCE packets received damaged"},
    {"np_cnp_sent", CounterSort::kWaiting, "congestion notifications sent"},
    {"np_ecn_marked_roce_packets", CounterSort::kWaiting, "packets received with a congestion mark (ECN)"},
    {"rp_cnp_handled", CounterSort::kWaiting, "congestion notifications followed"},
    {"rp_cnp_ignored", CounterSort::kError, "congestion notifications not followed"},
    {"rx_read_requests", CounterSort::kTraffic, "RDMA reads received"},
    {"rx_write_requests", CounterSort::kTraffic, "RDMA writes received"},
    {"rx_atomic_requests", CounterSort::kTraffic, "atomic operations received"},
    {"sent_pkts", CounterSort::kTraffic, "packets sent"},
    {"rcvd_pkts", CounterSort::kTraffic, "packets received"},
    {"rcvd_seq_err", CounterSort::kError, "NAKs for packets that were lost"},
    {"retry_exceeded_err", CounterSort::kError, "requests abandoned after all retries"},
    {"retry_rnr_exceeded_err", CounterSort::kError, "requests abandoned, as the peer was never ready"},
    {"completer_retry_err", CounterSort::kError, "requests sent again"},
    {"send_rnr_err", CounterSort::kError, "requests that found no receive buffer here"},
    {"send_err", CounterSort::kError, "packets that could not be sent"},
    {"rcvd_rnr_err", CounterSort::kError, "answers of a peer that was not ready to receive"},
    {"rdma_sends", CounterSort::kTraffic, "sends"},
    {"rdma_recvs", CounterSort::kTraffic, "receives"},
    {"unicast_xmit_packets", CounterSort::kTraffic, "unicast packets sent"},
    {"unicast_rcv_packets", CounterSort::kTraffic, "unicast packets received"},
    {"multicast_xmit_packets", CounterSort::kTraffic, "multicast packets sent"},
    {"multicast_rcv_packets", CounterSort::kTraffic, "multicast packets received"},
    {"lifespan", CounterSort::kTraffic, "milliseconds between two readings of the adapter"},
});

}  // namespace

const CounterMeaning* counter_meaning(std::string_view name) {
  const auto find = [&](const auto& table) -> const CounterMeaning* {
    const auto at = std::find_if(table.begin(), table.end(),
                                 [&](const CounterMeaning& meaning) { return meaning.name == name; });
    return at == table.end() ? nullptr : &*at;
  };
  const auto* found = find(kPortCounterMeanings);
  return found != nullptr ? found : find(kDriverCounters);
}

std::string errors_text(const PortCounters& counters) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kPortCounters; ++i) {
    const auto& meaning = kPortCounterMeanings[i];
    if (meaning.sort == CounterSort::kError && counters[i] != 0)
      parts.push_back(fmt::format("{} {}", meaning.name, counters[i]));
  }
  return base::join(parts, ", ");
}

}  // namespace rdmacfg::fabric
