// SPDX-License-Identifier: Apache-2.0
// systemd as far as starting a unit has an effect on a folder of the test.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "system/units.hpp"

namespace rdmacfg::system {

/// systemd that starts what it is asked for.
class StartingUnits final : public Units {
 public:
  std::vector<std::string> started;
  std::function<void()> effect = [] {};

  base::Result<std::optional<std::vector<Unit>>> observe_units(
      std::span<const std::string> /*names*/) override {
    return std::optional<std::vector<Unit>>();
  }
  base::Result<std::optional<std::vector<Unit>>> observe_instances(const std::string& /*unit*/) override {
    return std::optional<std::vector<Unit>>();
  }
  base::Result<void> set_enabled(const std::string& /*unit*/, bool /*enabled*/) override { return {}; }
  base::Result<void> act(UnitAction /*action*/, const std::string& unit) override {
    started.push_back(unit);
    effect();
    return {};
  }
  base::Result<void> signal(const std::string& /*unit*/, int /*number*/) override { return {}; }
  base::Result<void> kill(const std::string& /*unit*/) override { return {}; }
  std::optional<model::LockLimit> observe_memlock(std::int64_t /*pid*/) override { return std::nullopt; }
  base::Result<void> reload_manager() override { return {}; }
};

}  // namespace rdmacfg::system
