// SPDX-License-Identifier: Apache-2.0
#include "system/linux/fabric/device_management.hpp"

#include <algorithm>
#include <array>

#include "system/linux/fabric/decode.hpp"

namespace rdmacfg::system::detail {

namespace {

constexpr int kDmDataAt = 64, kDmDataBytes = 192;
constexpr unsigned kIoUnitInfo = 0x10, kIoControllerProfile = 0x11, kServiceEntries = 0x12;
constexpr int kUnitReadings = 3;  // of a unit that changes while it is read

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

/// ChangeID of an IOUnitInfo: another one for each controller that comes or goes.
unsigned change_id_of(const DmData& unit) { return static_cast<unsigned>(unit[0]) << 8U | unit[1]; }

SrpTargets targets_of_unit(const FabricLibraries& libraries, ibmad_port& port, int lid,
                           std::uint64_t port_guid, const DmData& unit) {
  SrpTargets out;
  DmData answer{};
  for (const unsigned slot : controllers_in(unit)) {
    std::optional<ControllerProfile> profile;
    if (ask_dm(libraries, port, lid, kIoControllerProfile, slot, answer)) profile = profile_in(answer);
    if (!profile) {
      out.complete = false;
      continue;
    }
    for (unsigned first = 0; first < profile->services; first += kServicesOfAnswer) {
      const unsigned last = std::min(first + kServicesOfAnswer, profile->services) - 1;
      if (ask_dm(libraries, port, lid, kServiceEntries, slot << 16U | last << 8U | first, answer)) {
        add_srp_targets(answer, last - first + 1, port_guid, *profile, out.targets);
      } else {
        out.complete = false;
      }
    }
  }
  return out;
}

}  // namespace

std::optional<SrpTargets> read_srp_targets(const FabricLibraries& libraries, ibmad_port& port, int lid,
                                           std::uint64_t port_guid) {
  DmData unit{};
  if (!ask_dm(libraries, port, lid, kIoUnitInfo, 0, unit)) return std::nullopt;
  SrpTargets out;
  for (int reading = 0; reading < kUnitReadings; ++reading) {
    out = targets_of_unit(libraries, port, lid, port_guid, unit);
    const auto before = change_id_of(unit);
    if (!ask_dm(libraries, port, lid, kIoUnitInfo, 0, unit)) break;
    if (change_id_of(unit) == before) return out;
  }
  out.complete = false;
  return out;
}

}  // namespace rdmacfg::system::detail
