// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include "fakes/faults.hpp"
#include "system/dcb.hpp"

namespace rdmacfg::fakes {

/// dcbnl of Ethernet interfaces, by name. As the kernel: an APP entry may be added twice; the third bit of
/// the mode (host) has to be set.
class FakeDcb final : public system::Dcb {
 public:
  explicit FakeDcb(Faults& faults) : faults_(faults) {}

  std::map<std::string, system::DcbState> interfaces;
  std::set<std::string> mlx5;  ///< interfaces that read their shares back as mlx5 does

  void reboot();
  [[nodiscard]] std::string dump() const;

  base::Result<std::optional<system::DcbState>> observe_dcb(const std::string& interface) override;
  base::Result<void> set_pfc(const std::string& interface, std::uint8_t priorities) override;
  base::Result<void> set_ets(const std::string& interface, const system::Ets& ets) override;
  base::Result<void> add_app(const std::string& interface, const system::DcbApp& app) override;
  base::Result<void> delete_app(const std::string& interface, const system::DcbApp& app) override;
  base::Result<void> set_dcbx(const std::string& interface, std::uint8_t mode) override;

 private:
  template <class Effect>
  base::Result<void> change(const std::string& interface, const std::string& what, Effect effect);

  Faults& faults_;
};

}  // namespace rdmacfg::fakes
