// SPDX-License-Identifier: Apache-2.0
// PCI devices by their configuration space. Sources: PCI Express Base Specification 6.0, 7.5.3 (PCI Express
// Capability) and 7.7.11 (Access Control Services); include/uapi/linux/pci_regs.h;
// Documentation/ABI/testing/sysfs-bus-pci.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

/// The kernel shows the first 64 bytes of the space to everybody, and the rest to root: values beyond are
/// missing for others.
struct PciCapabilities {
  bool bridge = false;
  std::optional<int> max_read_request;  ///< bytes (MaxReadReq); nothing: not known, or not PCI Express
  /// Whether access control (ACS) sends peer-to-peer requests or completions up to the root complex; false
  /// without that capability; nothing: not known.
  std::optional<bool> redirects;
  bool operator==(const PciCapabilities&) const = default;
};

/// Nothing for fewer than the 64 bytes that every device has. Never reads beyond `bytes`, and ends on lists
/// of capabilities that lead in circles.
std::optional<PciCapabilities> parse_pci_config(std::string_view bytes);

class Pci {
 public:
  virtual ~Pci() = default;

  /// Addresses of all devices, sorted: "0000:10:00.0". Empty without PCI.
  virtual base::Result<std::vector<std::string>> list() = 0;

  /// Nothing when it is not there.
  virtual base::Result<std::optional<PciCapabilities>> observe(const std::string& address) = 0;
};

}  // namespace rdmacfg::system
