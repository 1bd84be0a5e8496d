// SPDX-License-Identifier: Apache-2.0
// The RoCE defaults that we last wrote. They can only be read through a folder in configfs, which observing
// does not make; see docs/adr (RoCE defaults are known from a record).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "kinds/world.hpp"
#include "system/rdma_admin.hpp"

namespace rdmacfg::kinds {

/// Its subject contains the boot id, as the defaults do not outlive a boot.
inline constexpr std::string_view kRoceRecordFile = "/var/lib/rdma-configd/roce-defaults";

/// Our settings of a port's defaults, at the last look; others are not known.
struct RoceWritten {
  std::optional<std::string> gid_type;
  std::optional<int> tos;
  bool operator==(const RoceWritten&) const = default;
};

/// Of one port of one registration of a device under one loading of rdma_cm.
struct RoceRecord {
  RoceWritten written;                        ///< while a change is under way: its outcome
  std::optional<system::RoceDefaults> found;  ///< before we first wrote
  std::string folder;  ///< of a change under way: the folder that it makes; empty otherwise
  bool operator==(const RoceRecord&) const = default;
};

using RoceRecords = std::map<std::string, RoceRecord>;  // by roce_instance()

/// "<boot id>/<device>/<rdma_cm>/<port>": the subject of a record. Empty while rdma_cm is not loaded.
std::string roce_instance(const system::RdmaDevice& device, int port, const std::string& rdma_cm,
                          const std::string& boot_id);

RoceRecords parse_roce_records(std::string_view text);
std::string render_roce_records(const RoceRecords& records);
base::Result<RoceRecords> read_roce_records(system::Files& files);
base::Result<void> write_roce_records(system::Files& files, const RoceRecords& records);

}  // namespace rdmacfg::kinds
