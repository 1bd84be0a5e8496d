// SPDX-License-Identifier: Apache-2.0
#include "system/linux/fabric/device_management.hpp"

#include <algorithm>
#include <array>

#include "system/linux/fabric/decode.hpp"

namespace rdmacfg::system::detail {

namespace {

constexpr int kDmDataAt = 64, kDmDataBytes = 192;
constexpr unsigned kIoUnitInfo = 0x10, kIoControllerProfile = 0x11, kServiceEntries = 0x12;

using DmData = std::array<std::uint8_t, kDmDataBytes>;

bool ask_dm(const FabricLibraries& libraries, ibmad_port& port, int lid, unsigned attribute,
            unsigned modifier, DmData& answer) {
  answer.fill(0);
  ib_rpc_t rpc{};
  rpc.mgtclass = IB_DEVICE_MGMT_CLASS;
  rpc.method = IB_MAD_METHOD_GET;
  rpc.attr.id = attribute;
  rpc.attr.mod = modifier;
  rpc.dataoffs = kDmDataAt;
  rpc.datasz = kDmDataBytes;
  ib_portid_t path{};
  path.lid = lid;
  path.qp = 1;
  path.qkey = IB_DEFAULT_QP1_QKEY;
  return libraries.rpc(&port, &rpc, &path, nullptr, answer.data()) != nullptr;
}

}  // namespace

std::optional<std::vector<fabric::Target>> read_srp_targets(const FabricLibraries& libraries,
                                                            ibmad_port& port, int lid,
                                                            std::uint64_t port_guid) {
  DmData answer{};
  if (!ask_dm(libraries, port, lid, kIoUnitInfo, 0, answer)) return std::nullopt;
  std::vector<fabric::Target> out;
  for (const unsigned slot : controllers_in(answer)) {
    if (!ask_dm(libraries, port, lid, kIoControllerProfile, slot, answer)) continue;
    const auto profile = profile_in(answer);
    if (!profile) continue;
    for (unsigned first = 0; first < profile->services; first += kServicesOfAnswer) {
      const unsigned last = std::min(first + kServicesOfAnswer, profile->services) - 1;
      if (ask_dm(libraries, port, lid, kServiceEntries, slot << 16U | last << 8U | first, answer))
        add_srp_targets(answer, last - first + 1, port_guid, *profile, out);
    }
  }
  return out;
}

}  // namespace rdmacfg::system::detail
