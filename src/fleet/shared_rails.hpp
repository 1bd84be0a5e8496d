// SPDX-License-Identifier: Apache-2.0
// The rails from which subnet managers run.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "fleet/site.hpp"

namespace rdmacfg::fleet {

/// The rails of ports, as far as several hosts have them: others tell nothing.
class SharedRails {
 public:
  explicit SharedRails(const Site& site);

  /// 0: not known.
  [[nodiscard]] std::uint32_t rail_of(const Manager& manager) const;

  /// Whether each of these manages another rail, which may be a fabric of its own.
  [[nodiscard]] bool apart(const std::vector<const Manager*>& managers) const;

 private:
  std::map<std::pair<HostId, std::uint64_t>, std::uint32_t> by_port_;
};

}  // namespace rdmacfg::fleet
