// SPDX-License-Identifier: Apache-2.0
// Which device each [[rdma_device]] entry means on this host, and what devices are called once all of them
// are carried out: that is what `device = ` means everywhere else in the document.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {

/// An [[rdma_device]] entry and the device that it means.
struct NamedDevice {
  const model::Section* section = nullptr;
  const system::RdmaDevice* device = nullptr;  ///< while it is there
  /// PCI address or node GUID as the entry has it; of `device = ` what the device has or, while that is away,
  /// what our udev rule with this name has. The present name while neither is known.
  std::string id;
  std::string name;    ///< wanted
  bool known = false;  ///< `id` is what a rule can match
  std::optional<std::string> pending;
  std::optional<std::string> wrong;  ///< the error because of which the entry is not carried out; reported
  std::optional<model::Key> rival;   ///< of the entry that means the same device
};

class DeviceNames {
 public:
  /// Errors of resolution (two entries for one device, one name for two) are added to `diagnostics` if given;
  /// such an entry renames nothing.
  static DeviceNames of(std::span<const model::Section> sections, const World& world,
                        model::Diagnostics* diagnostics = nullptr);

  [[nodiscard]] const std::vector<NamedDevice>& entries() const { return entries_; }

  /// The device that has this name after our renames; nullptr without one.
  [[nodiscard]] const system::RdmaDevice* find(std::string_view name) const;

  /// The name of a device after our renames.
  [[nodiscard]] const std::string& name_of(const system::RdmaDevice& device) const;

  /// Of the entry that renames `device`; nothing when none does.
  [[nodiscard]] std::optional<model::Key> renaming(const system::RdmaDevice& device) const;

  /// Why no device has this name, and which there are.
  [[nodiscard]] std::string missing(std::string_view name) const;

 private:
  [[nodiscard]] const NamedDevice* entry_of(const system::RdmaDevice& device) const;

  const World* world_ = nullptr;
  std::vector<NamedDevice> entries_;
};

/// "mlx5_storage (0000:10:00.0, mlx5_core)"
std::string describe(const system::RdmaDevice& device);

}  // namespace rdmacfg::kinds
