// SPDX-License-Identifier: Apache-2.0
// Our udev rule file with the names of RDMA devices.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "model/types.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Sorts before rdma-core's 60-rdma-persistent-naming.rules. That one then finds no device of the kernel's
/// name
/// (%k) any more, and leaves ours alone (kernel-boot/rdma_rename.c).
inline constexpr std::string_view kDeviceRuleFile = "/etc/udev/rules.d/59-rdma-configd-rdma-device.rules";

/// PCI address or node GUID → name.
using DeviceRules = std::map<std::string, std::string>;

/// Lines that are not ours (or were damaged) are not in the result; writing drops them.
DeviceRules parse_device_rules(std::string_view text);
std::string render_device_rules(const DeviceRules& rules);

base::Result<DeviceRules> read_device_rules(system::Files& files);

/// Writes the file, or removes it when there is no rule.
base::Result<void> write_device_rules(system::Files& files, const DeviceRules& rules);

/// A rule of another file that gives RDMA devices names before ours is read.
struct ForeignDeviceRule {
  std::string file;
  int line = 0;
  std::string text;
};

/// udev rules of others that call `rdma_rename` with any policy but NAME_KERNEL and are read before ours.
std::vector<ForeignDeviceRule> foreign_device_rules(system::Files& files);

/// Whether it is about this device: it has its PCI address or node GUID, or asks for no device at all. Either
/// may be unknown (empty, 0).
bool names_device(const ForeignDeviceRule& rule, std::string_view pci, model::Guid node_guid);

}  // namespace rdmacfg::kinds
