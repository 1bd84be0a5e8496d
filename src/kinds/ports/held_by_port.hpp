// SPDX-License-Identifier: Apache-2.0
// Resources on a port: entries whose port cannot be told now may mean them.
#pragma once

#include <string>
#include <vector>

#include "kinds/abilities.hpp"

namespace rdmacfg::kinds {

/// Why a resource on a port is left as it is although no entry mentions it: one that cannot be resolved now
/// may mean the port. Empty: none may. The key begins with the port's GUID: "GUID", "GUID/0x8002",
/// "GUID/0x8002 192.0.2.1/24".
std::string why_port_held(const model::Key& key, const World& world);

/// For kinds with such keys.
class HeldByPort : public MayBeMeant {
 public:
  [[nodiscard]] std::string why_held(const model::Key& key, const std::vector<model::Desired>& desired,
                                     const World& world) const override;

 protected:
  ~HeldByPort() = default;
};

}  // namespace rdmacfg::kinds
