// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/error.hpp"

namespace rdmacfg::system {

/// Settings of the RDMA subsystem as a whole. Source: drivers/infiniband/core/{device,nldev}.c.
class RdmaSystem {
 public:
  virtual ~RdmaSystem() = default;

  /// Whether RDMA devices are seen in every network namespace (shared) or in their own only (exclusive);
  /// nothing while ib_core is not loaded.
  virtual std::optional<bool> observe_shared() = 0;

  /// Changes that. kBusy while there is another network namespace.
  virtual base::Result<void> set_shared(bool shared) = 0;
};

}  // namespace rdmacfg::system
