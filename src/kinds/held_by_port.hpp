// SPDX-License-Identifier: Apache-2.0
// Resources on a port: entries whose port cannot be told now may mean them.
#pragma once

#include <string>
#include <vector>

#include "kinds/abilities.hpp"

namespace rdmacfg::kinds {

/// For kinds whose keys begin with a port's GUID: "GUID", "GUID/0x8002", "GUID/0x8002 192.0.2.1/24".
class HeldByPort : public MayBeMeant {
 public:
  [[nodiscard]] std::string why_held(const model::Key& key, const std::vector<model::Desired>& desired,
                                     const World& world) const override;

 protected:
  ~HeldByPort() = default;
};

}  // namespace rdmacfg::kinds
