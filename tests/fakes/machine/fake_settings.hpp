// SPDX-License-Identifier: Apache-2.0
// Settings of the fake kernel that belong to no device: /proc/sys, RDMA's network-namespace mode; PCI
// devices.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fakes/faults.hpp"
#include "fakes/machine/machine.hpp"
#include "fakes/memory_files.hpp"
#include "system/packages.hpp"
#include "system/pci.hpp"
#include "system/rdma_system.hpp"
#include "system/sysctl.hpp"

namespace rdmacfg::fakes {

/// /proc/sys: the values set here, and 0 for settings of interfaces that are there. They go with their
/// interface.
class FakeSysctl final : public system::Sysctl {
 public:
  FakeSysctl(Faults& faults, Machine& machine) : faults_(faults), machine_(machine) {}

  void set(const std::string& path, const std::string& value) { values_[key_of(path)] = value; }
  void unset(const std::string& path) { values_.erase(key_of(path)); }
  void reboot() { values_ = booted_; }
  /// The values of set() so far are the kernel's initial ones.
  void keep_as_booted() { booted_ = values_; }
  [[nodiscard]] std::string dump() const;

  std::set<std::string> root_only;  ///< paths of mode 0600

  bool hidden(const std::string& path) override { return root_only.contains(path); }
  std::optional<std::string> read(const std::string& path) override;
  base::Result<void> write(const std::string& path, std::string_view value) override;

 private:
  /// The path with the index of an interface instead of its name; empty when there is no such interface.
  [[nodiscard]] std::string key_of(const std::string& path) const;

  Faults& faults_;
  Machine& machine_;
  std::map<std::string, std::string> values_;
  std::map<std::string, std::string> booted_;
};

class FakePci final : public system::Pci {
 public:
  std::map<std::string, system::PciCapabilities> devices;
  bool readable = true;  ///< beyond the first 64 bytes

  base::Result<std::vector<std::string>> list() override {
    std::vector<std::string> out;
    for (const auto& [address, capabilities] : devices) out.push_back(address);
    return out;
  }
  base::Result<std::optional<system::PciCapabilities>> observe(const std::string& address) override {
    const auto at = devices.find(address);
    if (at == devices.end()) return std::optional<system::PciCapabilities>();
    return std::optional(
        readable
            ? at->second
            : system::PciCapabilities{.bridge = at->second.bridge, .max_read_request = {}, .redirects = {}});
  }
};

/// Files are those of the host; a package that is installed brings its first file.
class FakePackages final : public system::Packages {
 public:
  FakePackages(Faults& faults, MemoryFiles& files) : faults_(faults), files_(files) {}

  bool answers = false;                             ///< PackageKit
  std::map<std::string, std::string> repositories;  ///< a file of each package that can be installed

  bool has(const std::string& path) override { return files_.content.contains(path); }
  bool can_install() override { return answers; }
  base::Result<void> install(std::span<const std::string> names) override;

 private:
  Faults& faults_;
  MemoryFiles& files_;
};

class FakeRdmaSystem final : public system::RdmaSystem {
 public:
  explicit FakeRdmaSystem(Faults& faults) : faults_(faults) {}

  bool loaded = true;  ///< ib_core
  bool shared = true;
  bool other_namespaces = false;  ///< so that the mode cannot be changed

  [[nodiscard]] std::string dump() const { return shared ? "" : "rdma netns exclusive\n"; }

  std::optional<bool> observe_shared() override;
  base::Result<void> set_shared(bool wanted) override;

 private:
  Faults& faults_;
};

}  // namespace rdmacfg::fakes
