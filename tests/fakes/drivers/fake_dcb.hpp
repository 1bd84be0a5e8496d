// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fakes/faults.hpp"
#include "fakes/machine/machine.hpp"
#include "system/dcb.hpp"

namespace rdmacfg::fakes {

/// The state of an adapter and its driver besides that which dcbnl shows.
struct DcbAdapter {
  std::string driver{};      ///< empty: that of the RDMA device over the interface
  std::uint8_t classes = 8;  ///< ets_cap
  bool agent = false;        ///< the firmware's LLDP agent runs
  bool negotiated = true;    ///< qede: DCBX has found a peer in IEEE mode
  bool resetting = false;    ///< firmware reset: nothing can be read or set
  bool dscp = true;          ///< the board can classify by DSCP
  bool ets_was_set = false;  ///< bnxt
  /// ice: the last request is in force, with its capabilities.
  bool refuses_in_bond = false;
  bool told = false, told_ets = false, told_pfc = false;
  std::optional<std::vector<std::uint8_t>> trust{};  ///< the order at first, of a driver that has one
  /// mlx5, bnxt: dscp2prio, also of what is not listed.
  std::array<std::uint8_t, 64> table = firmware_table();

  static constexpr std::uint8_t kNoPriority = 255;

  static constexpr std::array<std::uint8_t, 64> firmware_table() {
    std::array<std::uint8_t, 64> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(i / 8);
    return out;
  }
};

/// dcbnl of Ethernet interfaces, by name, as the driver of each does it (fake_dcb_drivers.cpp cites the
/// lines). An interface without a known driver takes everything, as net/dcb/dcbnl.c alone would.
class FakeDcb final : public system::Dcb {
 public:
  FakeDcb(Faults& faults, Machine& machine) : faults_(faults), machine_(machine) {}

  std::map<std::string, system::DcbState> interfaces;
  std::map<std::string, DcbAdapter> adapters;  ///< by interface
  std::set<std::string> lost_at_retraining;    ///< interfaces whose link does not come back
  /// The most ports of one bond that have ever been without carrier at the same time by what was set.
  std::size_t most_legs_down = 0;

  void reboot();
  /// The driver is unloaded and loaded again: the interface is another one, the adapter's registers stay.
  void reload(const std::string& interface);
  /// The cable is pulled, and plugged in again.
  void lose_link(const std::string& interface);
  [[nodiscard]] std::string dump() const;
  [[nodiscard]] std::string driver_of(const std::string& interface) const;
  /// The driver's initial state.
  static system::DcbState at_first(const std::string& driver, std::uint8_t classes, bool agent);

  base::Result<std::optional<system::DcbState>> observe_dcb(const std::string& interface) override;
  base::Result<void> set_pfc(const std::string& interface, std::uint8_t priorities) override;
  base::Result<void> set_ets(const std::string& interface, const system::Ets& ets) override;
  base::Result<void> add_app(const std::string& interface, const system::DcbApp& app) override;
  base::Result<void> delete_app(const std::string& interface, const system::DcbApp& app) override;
  base::Result<void> set_dcbx(const std::string& interface, std::uint8_t mode) override;
  base::Result<void> set_trust(const std::string& interface,
                               const std::vector<std::uint8_t>& selectors) override;

 private:
  /// One interface at a request.
  struct At {
    const std::string& interface;
    system::DcbState& state;
    DcbAdapter& adapter;
    std::string driver;
  };
  template <class Effect>
  base::Result<void> change(const std::string& interface, const std::string& what, Effect effect);

  // Each returns 0 or an errno.
  int pfc(At& at, std::uint8_t priorities);
  int ets(At& at, const system::Ets& ets);
  int add(At& at, const system::DcbApp& app);
  int remove(At& at, const system::DcbApp& app);
  int dcbx(At& at, std::uint8_t mode);
  static int trust(At& at, const std::vector<std::uint8_t>& selectors);
  static int refused(const At& at);
  [[nodiscard]] bool bonded_and_new(const At& at) const;
  static int ets_refused(const At& at, const system::Ets& ets);
  static void ice_to_dscp_mode(At& at);
  void close_and_open(const std::string& interface);
  void retrain(const std::string& interface);

  Faults& faults_;
  Machine& machine_;
};

}  // namespace rdmacfg::fakes
