// SPDX-License-Identifier: Apache-2.0
// Fakes of the initramfs and of the port types of mlx4 adapters.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fakes/memory_files.hpp"
#include "system/initramfs.hpp"
#include "system/mlx4_ports.hpp"

namespace rdmacfg::fakes {

/// An image that holds the files that were there when it was made.
class FakeInitramfs final : public system::Initramfs {
 public:
  FakeInitramfs(Faults& faults, MemoryFiles& files) : faults_(faults), files_(files) {}

  std::string command{};  ///< of the tool; empty: none is installed
  bool newer = false;     ///< somebody rebuilt it by hand
  std::string reason{};   ///< why only an administrator can run it; empty: a service can, too
  bool there = true;      ///< false: this host has no image
  bool makes = true;      ///< false: the tool ends well, and makes none
  std::string awaits{};   ///< the folder that an automount keeps, so that `newer` and `there` are not known
  bool ahead = false;     ///< the clock was set back since the image was made
  int made = 0;           ///< images so far
  std::map<std::string, std::string> image{};

  [[nodiscard]] std::string dump() const;

  std::optional<std::string> tool() override;
  std::optional<std::string> by_hand() override;
  bool has_image() override { return there || !awaits.empty(); }
  std::optional<std::string> unseen() override;
  bool newer_than(std::span<const std::string> paths) override;
  std::string marks_ahead_of_clock() override;
  bool is_marked(const std::string& marks) override;
  base::Result<void> rebuild() override;

 private:
  Faults& faults_;
  MemoryFiles& files_;
};

/// Adapters by PCI address. Port 1 can be Ethernet only while port 2 is. Boards without DPDP take one type
/// for both only, and keep in mind what they refused.
class FakeMlx4Ports final : public system::Mlx4Ports {
 public:
  explicit FakeMlx4Ports(Faults& faults) : faults_(faults) {}

  std::map<std::string, std::vector<std::string>> adapters;
  std::set<std::string> without_dpdp;
  std::set<std::string> fixed;                                ///< with SR-IOV
  std::map<std::string, std::map<int, std::string>> in_mind;  ///< types by port that were refused

  void reboot();
  [[nodiscard]] std::string dump() const;

  base::Result<std::vector<system::Mlx4Device>> observe_mlx4() override;
  base::Result<void> set_type(const std::string& pci, int port, const std::string& type) override;

 private:
  Faults& faults_;
};

}  // namespace rdmacfg::fakes
