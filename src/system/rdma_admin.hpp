// SPDX-License-Identifier: Apache-2.0
// Requests to RDMA devices themselves. Sources: drivers/infiniband/core/nldev.c (RDMA netlink),
// drivers/infiniband/core/cma_configfs.c.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

/// RDMA netlink: names of devices, and software devices over network interfaces.
class RdmaAdmin {
 public:
  virtual ~RdmaAdmin() = default;

  /// Renames a live device; nothing that uses it is interrupted. kBusy (EEXIST) when the name is taken.
  virtual base::Result<void> rename_device(const std::string& device, const std::string& name) = 0;

  /// Makes a software device ("rxe", "siw") over a network interface; the kernel loads its driver by itself.
  /// EEXIST: the interface has one of this type already; ENFILE: the name is taken; kUnsupported: there is no
  /// such driver.
  virtual base::Result<void> new_link(const std::string& name, const std::string& type,
                                      const std::string& interface) = 0;

  /// Removes a software device. No error when it is not there.
  virtual base::Result<void> delete_link(const std::string& name) = 0;
};

/// Defaults of a RoCE port for users of rdma_cm.
struct RoceDefaults {
  std::string gid_type;  ///< as configfs spells it: "IB/RoCE v1", "RoCE v2"
  int tos = 0;           ///< 0 to 255
  bool operator==(const RoceDefaults&) const = default;
};

/// rdma_cm's folder in configfs. A folder of a device is only a handle on the defaults: they are kept in the
/// device's rdma_cm state and outlive the folder, which pins the module while it is there.
class RdmaCm {
 public:
  virtual ~RdmaCm() = default;

  /// Another text for each loading of the module rdma_cm; empty while it is not loaded.
  virtual base::Result<std::string> observe_instance() = 0;

  /// Devices with a folder; none when configfs is not mounted. A device may have been renamed or gone since.
  virtual base::Result<std::vector<std::string>> observe_folders() = 0;

  /// Through a folder that is there; nothing without one, or when its device has gone (ENODEV).
  virtual base::Result<std::optional<RoceDefaults>> observe_defaults(const std::string& device, int port) = 0;

  /// Loads rdma_cm and mounts configfs, if need be.
  virtual base::Result<void> start() = 0;

  /// True when it was not there before.
  virtual base::Result<bool> make_folder(const std::string& device) = 0;
  /// How many folders this has made so far.
  [[nodiscard]] virtual std::size_t folders_made() const = 0;
  virtual base::Result<void> write_gid_type(const std::string& device, int port,
                                            const std::string& gid_type) = 0;
  virtual base::Result<void> write_tos(const std::string& device, int port, int tos) = 0;
  /// No error when it is not there.
  virtual base::Result<void> remove_folder(const std::string& device) = 0;
};

}  // namespace rdmacfg::system
