// SPDX-License-Identifier: Apache-2.0
// RoCE defaults are written through a folder in configfs, which is made for that and removed again.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "kinds/ethernet/roce_record.hpp"
#include "model/change.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// The kernel's words for RoCE modes (drivers/infiniband/core/cache.c): "IB/RoCE v1", "RoCE v2".
std::string_view gid_type_of(model::RoceMode mode);
std::optional<model::RoceMode> mode_of(std::string_view gid_type);

/// The port number at the end of a key's id or an instance; 0 without one.
int number_at_end(std::string_view id);

/// Whether a device has its folder.
base::Result<bool> has_roce_folder(system::Host& host, const std::string& device);

/// Removes it, and sees that it has gone.
base::Result<void> remove_roce_folder(system::Host& host, const std::string& device);

/// Writes the defaults of ports of one device, as `changes` want them, and leaves its folder as it was. The
/// record says on disk what is to be before it is done, so that undoing and recovery know that something may
/// have changed. A mode that the kernel refuses is reported with those that the port offers.
base::Result<void> write_roce_defaults(system::Host& host, const system::RdmaDevice& device,
                                       std::span<const model::Change* const> changes, RoceRecords& records,
                                       std::string rdma_cm);

}  // namespace rdmacfg::kinds
