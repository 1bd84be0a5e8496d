// SPDX-License-Identifier: Apache-2.0
// The names of the interfaces that have addresses, as the document gives them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kinds/world.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// The names that interfaces have once the document is applied.
class ComingNames {
 public:
  ComingNames(const std::vector<model::Desired>& desired, const World& world);

  /// Of the interface {"ipoib", GUID} or {"pkey", GUID/0x8002}; empty if neither the document nor the host
  /// names it.
  [[nodiscard]] std::string of(const std::string& id) const;

 private:
  std::map<std::string, std::string> named_;  ///< by the document
  const World* world_;
};

}  // namespace rdmacfg::kinds
