// SPDX-License-Identifier: Apache-2.0
// Drivers' answers to dcbnl requests. Lines are of drivers/net/ethernet in Linux 6.1.
#include <algorithm>
#include <cerrno>
#include <vector>

#include "fakes/drivers/fake_dcb.hpp"

namespace rdmacfg::fakes {

using system::DcbApp;
using system::DcbState;
using system::Ets;
using system::kDcbSelectorDscp;
using system::kDcbSelectorPcp;
using system::kDcbxFirmware;
using system::kDcbxHost;
using system::kDcbxVersionCee;
using system::kDcbxVersionIeee;
using system::Tsa;

namespace {

constexpr std::uint8_t kWhole = 100;

unsigned highest_of(const Ets& ets) {
  return *std::max_element(ets.traffic_class.begin(), ets.traffic_class.end());
}

int put(DcbState& state, const DcbApp& app) {
  // net/dcb/dcbnl.c:1858 dcb_ieee_setapp()
  if (std::find(state.apps.begin(), state.apps.end(), app) != state.apps.end()) return EEXIST;
  state.apps.push_back(app);
  std::sort(state.apps.begin(), state.apps.end());
  return 0;
}

int take(DcbState& state, const DcbApp& app) {
  const auto at = std::find(state.apps.begin(), state.apps.end(), app);
  if (at == state.apps.end()) return ENOENT;
  state.apps.erase(at);
  return 0;
}

bool has_dscps(const DcbState& state) {
  return std::any_of(state.apps.begin(), state.apps.end(),
                     [](const auto& app) { return app.selector == kDcbSelectorDscp; });
}

/// ice_dcb_get_num_tc(): those in use from 0 without a gap, else 1.
unsigned contiguous(const Ets& ets) {
  unsigned mask = 0;
  for (const auto traffic_class : ets.traffic_class) mask |= 1U << traffic_class;
  unsigned count = 0;
  while ((mask >> count & 1U) != 0) ++count;
  return count == 0 || mask >> count != 0 ? 1 : count;
}

}  // namespace

DcbState FakeDcb::at_first(const std::string& driver, std::uint8_t classes, bool agent) {
  DcbState out;
  out.pfc = std::uint8_t{0};
  out.pfc_capability = classes;
  Ets ets;
  const auto identity = [&] {
    for (std::size_t i = 0; i < 8; ++i) ets.traffic_class[i] = static_cast<std::uint8_t>(i);
  };
  out.dcbx = std::uint8_t(kDcbxHost | kDcbxVersionIeee);
  if (driver == "mlx5_core") {  // mellanox/mlx5/core/en_dcbnl.c:1079 mlx5e_ets_init()
    identity();
    std::swap(ets.traffic_class[0], ets.traffic_class[1]);
    ets.tsa.fill(Tsa::kVendor);
    out.dcbx = std::uint8_t(kDcbxHost | kDcbxVersionCee | kDcbxVersionIeee);
  } else if (driver == "mlx4_core") {  // mellanox/mlx4/en_netdev.c:3238
    identity();
    ets.tsa.fill(Tsa::kVendor);
    out.dcbx = std::uint8_t(kDcbxHost | kDcbxVersionCee | kDcbxVersionIeee);
  } else if (driver == "ice" || driver == "i40e") {
    // intel/ice/ice_dcb_lib.c:627 ice_dcb_sw_dflt_cfg(), intel/i40e/i40e_main.c i40e_dcb_sw_default_config()
    ets.willing = true;
    ets.tsa[0] = Tsa::kEts;
    ets.bandwidth[0] = kWhole;
    if (agent) out.dcbx = std::uint8_t(kDcbxFirmware | kDcbxVersionIeee);
  } else if (driver == "bnxt_en") {  // broadcom/bnxt/bnxt_dcb.c:766 bnxt_dcb_init()
    if (agent) out.dcbx = std::uint8_t(kDcbxFirmware | kDcbxVersionIeee);
  } else if (driver == "hns3") {  // hisilicon/hns3/hns3pf/hclge_dcb.c:45, hclge_tm.c:760
    ets.willing = true;
    ets.tsa[0] = Tsa::kEts;
    ets.bandwidth[0] = kWhole;
  } else if (driver == "qede") {  // qlogic/qed/qed_dcbx.c:1539
    ets.tsa[0] = Tsa::kEts;
    ets.bandwidth[0] = kWhole;
    out.dcbx = kDcbxVersionIeee;
  }
  out.ets = ets;
  return out;
}

void FakeDcb::reload(const std::string& interface) {
  auto& state = interfaces.at(interface);
  auto& adapter = adapters[interface];
  const auto driver = driver_of(interface);
  const bool dscp_trusted = has_dscps(state);
  const auto pfc = state.pfc;
  state = at_first(driver, adapter.classes, adapter.agent);
  state.trust = adapter.trust;
  adapter.ets_was_set = adapter.told = adapter.told_ets = adapter.told_pfc = false;
  if (driver != "mlx5_core") return;
  // mellanox/mlx5/core/en_dcbnl.c:1131 mlx5e_dcbnl_dscp_app(): trust, table and PFC are the firmware's.
  state.pfc = pfc;
  for (std::uint8_t i = 0; dscp_trusted && i < 64; ++i)
    state.apps.push_back({kDcbSelectorDscp, i, adapter.table[i]});
}

void FakeDcb::lose_link(const std::string& interface) {
  // intel/i40e/i40e_main.c:9994 i40e_link_event(): the defaults, without a message of DCB.
  auto& state = interfaces.at(interface);
  if (driver_of(interface) != "i40e" || (state.dcbx.value_or(0) & kDcbxFirmware) != 0) return;
  const auto apps = state.apps;
  state = at_first("i40e", adapters[interface].classes, false);
  state.apps = apps;
}

int FakeDcb::refused(const At& at) {
  if (at.adapter.resetting) return at.driver == "hns3" ? EBUSY : EIO;
  const auto bits = at.state.dcbx.value_or(0);
  const bool ieee = (bits & kDcbxVersionIeee) != 0, host = (bits & kDcbxHost) != 0;
  // ice_dcb_nl.c:76, :267, :772
  if (at.driver == "ice" && ((bits & kDcbxFirmware) != 0 || !ieee)) return EINVAL;
  // i40e_dcb_nl.c:115, :168, :201, :252
  if (at.driver == "i40e" && ((bits & kDcbxFirmware) != 0 || !ieee)) return EINVAL;
  // bnxt_dcb.c:561, :629, :669
  if (at.driver == "bnxt_en" && (!ieee || !host)) return EINVAL;
  // hclge_dcb.c:253, :326
  if (at.driver == "hns3" && !ieee) return EINVAL;
  // qed_dcbx.c:2100, :2185
  if (at.driver == "qede" && !at.adapter.negotiated) return EINVAL;
  return 0;
}

/// Linux 6.6 and later, ice_dcb_nl.c: no change while pf->lag->bonded.
bool FakeDcb::bonded_and_new(const At& at) const {
  const auto* link = machine_.find(at.interface);
  return link != nullptr && link->master != 0 && at.adapter.refuses_in_bond;
}

int FakeDcb::ets_refused(const At& at, const Ets& ets) {
  const unsigned classes = at.adapter.classes;
  int sum = 0;
  bool any = false, zero = false;
  for (std::size_t i = 0; i < 8; ++i) {
    if (ets.tsa[i] == Tsa::kShaper) return EOPNOTSUPP;
    if (ets.tsa[i] != Tsa::kEts) continue;
    any = true;
    sum += ets.bandwidth[i];
    zero = zero || ets.bandwidth[i] == 0;
  }
  if (at.driver == "ice") {  // ice_dcb_lib.c:311 ice_dcb_bwchk()
    const auto count = contiguous(ets);
    int total = 0;
    for (unsigned i = 0; i < count; ++i) total += ets.bandwidth[i];
    return count > 1 && total != 0 && total != kWhole ? EINVAL : 0;
  }
  if (at.driver == "bnxt_en") {  // bnxt_dcb.c:468 bnxt_ets_validate()
    for (std::size_t i = 0; i < 8; ++i) {
      if (ets.traffic_class[i] > classes) return EINVAL;
      if ((ets.bandwidth[i] != 0 || ets.tsa[i] != Tsa::kStrict) && i > classes) return EINVAL;
    }
    int total = 0;
    bool starved = false;
    for (unsigned i = 0; i < highest_of(ets); ++i) {
      if (ets.tsa[i] == Tsa::kVendor) return EOPNOTSUPP;
      if (ets.tsa[i] != Tsa::kEts) continue;
      total += ets.bandwidth[i];
      starved = starved || ets.bandwidth[i] == 0;
    }
    if (total > kWhole || (starved && total == kWhole)) return EINVAL;
    return highest_of(ets) >= classes ? EINVAL : 0;  // bnxt.c:12899 bnxt_setup_mq_tc()
  }
  if (at.driver == "hns3") {  // hclge_dcb.c:126 hclge_ets_sch_mode_validate()
    const unsigned count = highest_of(ets) + 1;
    if (count > classes) return EINVAL;
    for (std::size_t i = 0; i < 8; ++i) {
      if (ets.tsa[i] == Tsa::kVendor) return EINVAL;
      if (ets.tsa[i] == Tsa::kEts && (i >= count || ets.bandwidth[i] == 0)) return EINVAL;
    }
  }
  if (at.driver == "i40e") {  // i40e_main.c:6993: of the classes in use
    for (unsigned i = 0; i < contiguous(ets); ++i) {
      if (ets.tsa[i] == Tsa::kVendor) return EINVAL;
    }
  }
  // mlx5 en_dcbnl.c:303 mlx5e_dbcnl_validate_ets(), mlx4 en_dcb_nl.c:308, hclge_dcb.c:170
  (void)zero;
  return any && sum != kWhole ? EINVAL : 0;
}

int FakeDcb::ets(At& at, const Ets& wanted) {
  if (!at.state.ets) return EOPNOTSUPP;
  if (const int err = refused(at); err != 0) return err;
  auto ets = wanted;
  if (at.driver == "ice" && has_dscps(at.state)) ets.traffic_class = at.state.ets->traffic_class;  // :87
  if (const int err = ets_refused(at, ets); err != 0) return err;
  if (at.driver == "qede") return 0;  // qed_dcbx.c:1208: kept for DCB_CMD_SET_ALL
  if (at.driver == "ice" && bonded_and_new(at)) return EINVAL;
  const bool changed = ets != *at.state.ets;
  if (at.driver == "ice") {
    if (contiguous(ets) == 1) ets.bandwidth[0] = kWhole;
    if (ets.bandwidth == std::array<std::uint8_t, 8>{}) ets.bandwidth[0] = kWhole;  // :97
    if (changed) close_and_open(at.interface);                                      // :108
    at.adapter.told = at.adapter.told_ets = true;                                   // :98
  }
  if (at.driver == "mlx5_core" || at.driver == "mlx4_core") {
    for (std::size_t i = 0; i < 8; ++i) {
      // mlx5 en_dcbnl.c:161: 0 of what is not ETS
      if (at.driver == "mlx5_core" && ets.tsa[i] != Tsa::kEts) ets.bandwidth[i] = 0;
    }
  }
  if (at.driver == "hns3") {
    for (std::size_t i = 0; i < 8; ++i) {
      if (ets.tsa[i] == Tsa::kStrict) ets.bandwidth[i] = 0;  // hclge_dcb.c:17
    }
    ets.willing = true;  // :45
    if (changed) retrain(at.interface);
  }
  if (at.driver == "i40e" && changed) retrain(at.interface);  // i40e_hw_dcb_config(): all VSIs are stopped
  if (at.driver == "bnxt_en") {
    at.adapter.ets_was_set = true;
    ets.willing = false;
    retrain(at.interface);
  }
  at.state.ets = ets;
  return 0;
}

int FakeDcb::pfc(At& at, std::uint8_t priorities) {
  if (!at.state.pfc) return EOPNOTSUPP;
  if (const int err = refused(at); err != 0) return err;
  if (at.driver == "qede") return 0;  // as ETS
  if (at.driver == "ice" && bonded_and_new(at)) return EINVAL;
  const bool changed = *at.state.pfc != priorities;
  if (at.driver == "bnxt_en") {  // bnxt_dcb.c:248 bnxt_hwrm_queue_pfc_cfg()
    if (!at.adapter.ets_was_set) return EINVAL;
    unsigned mask = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      if ((priorities >> i & 1U) != 0) mask |= 1U << at.state.ets->traffic_class[i];
    }
    if (__builtin_popcount(mask) > at.state.pfc_capability) return EINVAL;
  }
  at.state.pfc = priorities;
  // mlx5 en_dcbnl.c:394, hclge_dcb.c:354
  if (changed && (at.driver == "mlx5_core" || at.driver == "hns3" || at.driver == "i40e"))
    retrain(at.interface);
  if (at.driver == "ice") {
    if (changed) close_and_open(at.interface);     // ice_dcb_nl.c:278
    at.adapter.told = at.adapter.told_pfc = true;  // :271
  }
  return 0;
}

/// ice_dcb_nl.c:802-847
void FakeDcb::ice_to_dscp_mode(At& at) {
  auto& ets = at.state.ets.emplace(at.state.ets.value_or(Ets{}));
  ets.willing = false;
  for (std::size_t i = 0; i < at.adapter.classes; ++i) {
    ets.bandwidth[i] = i == 0 ? kWhole : 0;
    ets.tsa[i] = Tsa::kEts;
    ets.traffic_class[i] = static_cast<std::uint8_t>(i);
  }
}

int FakeDcb::add(At& at, const DcbApp& app) {
  if (at.driver.empty() || at.driver == "mlx4_core")
    return put(at.state, app);  // no ieee_setapp: dcbnl.c:1510
  if (at.driver == "qede") {    // qede_dcbnl.c ieee_setapp: the kernel's list first, then the refusal
    if (const int err = put(at.state, app); err != 0) return err;
    return app.selector == kDcbSelectorDscp ? EINVAL : 0;
  }
  if (const int err = refused(at); err != 0) return err;
  if (at.driver == "i40e") return put(at.state, app);  // i40e_dcb_nl.c:209
  if (!at.adapter.dscp) return EOPNOTSUPP;
  if (app.selector != kDcbSelectorDscp && at.driver != "bnxt_en") return EINVAL;
  const auto old = std::find_if(at.state.apps.begin(), at.state.apps.end(), [&](const auto& other) {
    return other.selector == app.selector && other.protocol == app.protocol;
  });
  if (at.driver == "mlx5_core") {  // en_dcbnl.c:473-521
    at.adapter.table.at(app.protocol) = app.priority;
    if (old != at.state.apps.end()) at.state.apps.erase(old);
    return put(at.state, app);
  }
  if (at.driver == "ice") {
    if (app.priority >= at.adapter.classes) return EINVAL;  // :788
    if (old != at.state.apps.end()) return EINVAL;          // :811
    if (bonded_and_new(at)) return EINVAL;
    if (!has_dscps(at.state)) ice_to_dscp_mode(at);
    at.adapter.told = true;
    close_and_open(at.interface);
    return put(at.state, app);
  }
  if (at.driver == "hns3") {  // hclge_dcb.c:369
    if (old != at.state.apps.end() && old->priority == app.priority) return 0;
    if (old != at.state.apps.end()) at.state.apps.erase(old);
    return put(at.state, app);
  }
  const int err = put(at.state, app);
  // bnxt_dcb.c bnxt_hwrm_queue_dscp2pri_cfg()
  if (err == 0 && at.driver == "bnxt_en" && app.selector == kDcbSelectorDscp)
    at.adapter.table.at(app.protocol) = app.priority;
  return err;
}

int FakeDcb::remove(At& at, const DcbApp& app) {
  if (at.driver.empty() || at.driver == "mlx4_core" || at.driver == "qede") return take(at.state, app);
  if (const int err = refused(at); err != 0) return err;
  if (const int err = take(at.state, app); err != 0) return at.driver == "hns3" ? EINVAL : err;
  if (at.driver == "mlx5_core") at.adapter.table.at(app.protocol) = 0;  // en_dcbnl.c:548
  // bnxt_hwrm_queue_dscp2pri_cfg(): mask 0, whatever the entry's priority
  if (at.driver == "bnxt_en" && app.selector == kDcbSelectorDscp)
    at.adapter.table.at(app.protocol) = DcbAdapter::kNoPriority;
  if (at.driver == "ice") {  // ice_dcb_nl.c:885-903
    if (!has_dscps(at.state)) {
      const auto bits = at.state.dcbx;
      const auto apps = at.state.apps;
      at.state = at_first("ice", at.adapter.classes, false);
      at.adapter.told = false;  // ice_dcb_sw_dflt_cfg() has both
      at.state.dcbx = bits;
      at.state.apps = apps;
    }
    close_and_open(at.interface);
  }
  return 0;
}

int FakeDcb::trust(At& at, const std::vector<std::uint8_t>& selectors) {
  if (!at.state.trust) return EOPNOTSUPP;  // net/dcb/dcbnl.c of 6.2, dcbnl_ieee_set(): no dcbnl_setapptrust
  // microchip/sparx5/sparx5_dcb.c of 6.2, sparx5_dcb_apptrust_validate(): these orders and no others
  using Order = std::vector<std::uint8_t>;
  const bool taken = selectors.empty() || selectors == Order{kDcbSelectorDscp} ||
                     selectors == Order{kDcbSelectorPcp} ||
                     selectors == Order{kDcbSelectorDscp, kDcbSelectorPcp};
  if (!taken) return EOPNOTSUPP;
  at.state.trust = selectors;
  return 0;
}

int FakeDcb::dcbx(At& at, std::uint8_t mode) {
  if (!at.state.dcbx) return EOPNOTSUPP;
  const auto bits = *at.state.dcbx;
  const bool host = (mode & kDcbxHost) != 0;
  // The driver answers 1, which the adapter of ours tells as an error.
  if (at.driver == "mlx5_core") {  // en_dcbnl.c:443-471
    if ((mode & kDcbxFirmware) != 0 || (mode != 0 && !host)) return EOPNOTSUPP;
    at.state.dcbx = mode == 0 ? std::uint8_t(bits & ~kDcbxHost) : mode;
    return 0;
  }
  const bool both = (mode & kDcbxVersionIeee) != 0 && (mode & kDcbxVersionCee) != 0;
  if (at.driver == "i40e") {  // i40e_dcb_nl.c:783-790
    if ((bits & kDcbxFirmware) != 0 || (mode & kDcbxFirmware) != 0 || both || !host) return EOPNOTSUPP;
  } else if (at.driver == "ice") {  // ice_dcb_nl.c:157
    if (at.adapter.agent || (mode & kDcbxFirmware) != 0 || both || !host || mode == bits ||
        has_dscps(at.state))
      return EOPNOTSUPP;
  } else if (at.driver == "bnxt_en") {  // bnxt_dcb.c:731
    if ((bits & kDcbxFirmware) != 0 || (host && at.adapter.agent) || (host && (mode & kDcbxVersionIeee) == 0))
      return EOPNOTSUPP;
  } else if (at.driver == "hns3" || at.driver == "mlx4_core") {  // hclge_dcb.c:469, mlx4 en_dcb_nl.c:443
    if ((mode & kDcbxFirmware) != 0 || !host) return EOPNOTSUPP;
    if (at.driver == "mlx4_core" && mode != bits) {
      at.state.ets = Ets{};
      at.state.pfc = std::uint8_t{0};
    }
  } else if (at.driver == "qede") {  // qed_dcbx.c:1806
    return (mode & (kDcbxVersionIeee | kDcbxVersionCee)) == 0 ? EOPNOTSUPP : 0;
  } else {
    at.state.dcbx = mode == 0 ? kDcbxFirmware : mode;
    return 0;
  }
  at.state.dcbx = mode;
  return 0;
}

}  // namespace rdmacfg::fakes
