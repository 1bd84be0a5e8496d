// SPDX-License-Identifier: Apache-2.0
// Writes DCB to interfaces, in the order and the portions that their drivers take.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/ethernet/dcb.hpp"
#include "kinds/ethernet/dcb_drivers.hpp"
#include "system/link.hpp"

namespace rdmacfg::kinds {

/// Ports of one bond, team or bridge are disturbed one after the other.
class BondMembers {
 public:
  explicit BondMembers(system::Links& links) : links_(links) {}

  /// Notes that `link` is about to lose its carrier. Waits for that of the ports of the same master that were
  /// disturbed before; fails when it does not come back: the host may hang on this one.
  base::Result<void> disturb(const system::Link& link);

 private:
  struct Member {
    int index = 0;
    int master = 0;
    std::string name;
  };
  system::Links& links_;
  std::vector<Member> disturbed_;
};

/// Sets the DCB of one interface as wanted, from any state. Settings that are right already are not written.
class DcbWriter {
 public:
  /// `about_to`: called once, before the first request that changes anything.
  DcbWriter(std::string interface, system::Dcb& dcb, std::function<base::Result<void>()> about_to)
      : interface_(std::move(interface)), dcb_(dcb), about_to_(std::move(about_to)) {}

  base::Result<void> reach(const InterfaceDcb& wanted);

 private:
  base::Result<void> look();
  base::Result<void> begin();
  base::Result<void> reach_dcbx(const InterfaceDcb& wanted);
  [[nodiscard]] base::Result<void> without_effect(std::string_view setting) const;
  enum class EtsWrite { kIfDifferent, kAlways };
  base::Result<void> reach_ets(const InterfaceDcb& wanted, EtsWrite when);
  base::Result<void> reach_dscps(const model::DscpMap& wanted);
  base::Result<void> reach_trust(const InterfaceDcb& wanted);
  base::Result<void> clear_unlisted(const model::DscpMap& wanted);
  base::Result<void> reach_pfc(const InterfaceDcb& wanted);
  base::Result<void> add(std::uint8_t dscp, std::uint8_t priority);
  base::Result<void> remove(std::uint8_t dscp, std::uint8_t priority);

  [[nodiscard]] const DcbDriver& driver() const { return dcb_driver(state_.driver); }

  std::string interface_;
  system::Dcb& dcb_;
  std::function<base::Result<void>()> about_to_;
  system::DcbState state_;
  InterfaceDcb now_;
};

}  // namespace rdmacfg::kinds
