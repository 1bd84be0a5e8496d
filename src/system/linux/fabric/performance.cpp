// SPDX-License-Identifier: Apache-2.0
#include "system/linux/fabric/performance.hpp"

#include <array>

namespace rdmacfg::system::detail {

namespace {

using Answer = std::array<std::uint8_t, IB_MAD_SIZE>;

constexpr unsigned kTimeout = 0;  // that of the port
constexpr unsigned kAbilitiesAt = 2;
// CapabilityMask of ClassPortInfo, 16.1.2.1
constexpr unsigned kExtended = 1U << 9U, kExtendedNoIetf = 1U << 10U, kCountsWaiting = 1U << 12U;
// CounterSelect of PortCounters has the errors in its bits 0 to 11, behind them traffic; bit 16 is the one of
// CounterSelect2, PortXmitWait. 16.1.3.5
constexpr unsigned kErrorsAndWaiting = 0x0fffU | 1U << 16U;

ib_portid_t agent_of(int lid) {
  ib_portid_t path{};
  path.lid = lid;
  path.qp = 1;
  path.qkey = IB_DEFAULT_QP1_QKEY;
  return path;
}

/// In the order of fabric::kPortCounterMeanings; the first four are counted in 64 bits, too.
constexpr std::array<MAD_FIELDS, fabric::kPortCounters> kFields{
    IB_PC_XMT_BYTES_F,     IB_PC_RCV_BYTES_F,      IB_PC_XMT_PKTS_F,       IB_PC_RCV_PKTS_F,
    IB_PC_XMT_WAIT_F,      IB_PC_ERR_SWITCH_REL_F, IB_PC_ERR_SYM_F,        IB_PC_LINK_RECOVERS_F,
    IB_PC_LINK_DOWNED_F,   IB_PC_ERR_RCV_F,        IB_PC_ERR_PHYSRCV_F,    IB_PC_XMT_DISCARDS_F,
    IB_PC_ERR_XMTCONSTR_F, IB_PC_ERR_RCVCONSTR_F,  IB_PC_ERR_LOCALINTEG_F, IB_PC_ERR_EXCESS_OVR_F,
    IB_PC_VL15_DROPPED_F};
constexpr std::array<MAD_FIELDS, 4> kWideFields{IB_PC_EXT_XMT_BYTES_F, IB_PC_EXT_RCV_BYTES_F,
                                                IB_PC_EXT_XMT_PKTS_F, IB_PC_EXT_RCV_PKTS_F};
constexpr std::size_t kWaitingAt = 4;

}  // namespace

std::optional<std::uint16_t> counter_abilities(const FabricLibraries& libraries, ibmad_port& port, int lid,
                                               int number) {
  Answer answer{};
  auto path = agent_of(lid);
  if (libraries.pma_query(answer.data(), &path, number, kTimeout, CLASS_PORT_INFO, &port) == nullptr)
    return std::nullopt;
  return static_cast<std::uint16_t>(answer[kAbilitiesAt] << 8U | answer[kAbilitiesAt + 1]);
}

std::optional<fabric::PortCounters> read_counters(const FabricLibraries& libraries, ibmad_port& port, int lid,
                                                  int number, std::uint16_t abilities) {
  Answer answer{};
  auto path = agent_of(lid);
  if (libraries.pma_query(answer.data(), &path, number, kTimeout, IB_GSI_PORT_COUNTERS, &port) == nullptr)
    return std::nullopt;
  fabric::PortCounters out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = libraries.get_field(answer.data(), 0, kFields[i]);
  if ((abilities & kCountsWaiting) == 0) out[kWaitingAt] = 0;
  if ((abilities & (kExtended | kExtendedNoIetf)) == 0) return out;
  answer.fill(0);
  if (libraries.pma_query(answer.data(), &path, number, kTimeout, IB_GSI_PORT_COUNTERS_EXT, &port) == nullptr)
    return out;
  for (std::size_t i = 0; i < kWideFields.size(); ++i)
    out[i] = libraries.get_field64(answer.data(), 0, kWideFields[i]);
  return out;
}

bool clear_counters(const FabricLibraries& libraries, ibmad_port& port, int lid, int number) {
  Answer answer{};
  auto path = agent_of(lid);
  return libraries.pma_reset(answer.data(), &path, number, kErrorsAndWaiting, kTimeout, IB_GSI_PORT_COUNTERS,
                             &port) != nullptr;
}

}  // namespace rdmacfg::system::detail
