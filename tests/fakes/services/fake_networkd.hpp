// SPDX-License-Identifier: Apache-2.0
// systemd-networkd 252, as seen in the lab.
#pragma once

#include <map>
#include <set>
#include <string>

#include "fakes/faults.hpp"
#include "fakes/machine/machine.hpp"
#include "fakes/memory_files.hpp"
#include "system/managers/networkd.hpp"

namespace rdmacfg::fakes {

/// Loaded files count, not those on disk. An interface is matched by the properties that udev's rules
/// on disk give it. With KeepConfiguration=static addresses and routes stay when a file has them no longer.
class FakeNetworkd final : public system::Networkd {
 public:
  FakeNetworkd(Faults& faults, MemoryFiles& files, Machine& machine)
      : faults_(faults), files_(files), machine_(machine) {}

  bool running = false;
  std::set<std::string> fails{};                ///< interfaces on which it sets nothing
  std::map<std::string, std::string> loaded{};  ///< file → content
  std::map<std::string, std::string> states{};  ///< of interfaces that it is at work on: "configuring"
  int reloads = 0;
  int reconfigurations = 0;

  /// Starts it, as at boot.
  void start();
  [[nodiscard]] std::string dump() const;

  base::Result<std::optional<std::vector<system::NetworkdLink>>> observe(
      std::span<const int> indexes) override;
  base::Result<void> reload() override;
  base::Result<void> reconfigure(int index) override;
  bool pause(std::chrono::milliseconds duration) override;

 private:
  [[nodiscard]] std::string file_for(const Interface& link) const;
  void read_files();
  enum class Which { kAll, kChanged };  ///< of interfaces, by their files
  void configure_each(Which which);
  void configure(Interface& link);

  Faults& faults_;
  MemoryFiles& files_;
  Machine& machine_;
  std::map<int, std::pair<std::string, std::string>> used_;  // by interface: file and its content
};

}  // namespace rdmacfg::fakes
