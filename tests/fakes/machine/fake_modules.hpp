// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "fakes/memory_files.hpp"
#include "system/modules.hpp"

namespace rdmacfg::fakes {

/// The kernel's modules. A module takes the options of /etc/modprobe.d when it is loaded, and never later.
class FakeModules final : public system::Modules {
 public:
  struct Module {
    bool loaded = false;
    bool builtin = false;
    bool in_use = false;
    std::map<std::string, std::string> parameters{};  ///< with their defaults; values while loaded
    std::map<std::string, std::string> values{};
    std::set<std::string> hidden{};               ///< parameters without a file in /sys/module
    std::set<std::string> root_only{};            ///< parameters of mode 0400
    std::map<std::string, std::string> makes{};   ///< what the driver makes of whatever it is given
    std::map<std::string, std::string> files{};   ///< that were there when it was loaded
    std::map<std::string, std::string> brings{};  ///< kernel settings that are there while it is loaded
  };
  /// A kernel setting comes with its value, or goes.
  using Setting = std::function<void(const std::string& path, const std::optional<std::string>& value)>;

  FakeModules(Faults& faults, MemoryFiles& files, Setting setting)
      : faults_(faults), files_(files), setting_(std::move(setting)) {}

  bool tree = true;
  std::map<std::string, Module> modules;

  /// Loads it, as the kernel does by itself: no call.
  void start(const std::string& name);
  void reboot();
  [[nodiscard]] std::string dump() const;

  base::Result<std::vector<std::string>> observe_loaded() override;
  std::optional<std::string> parameter(const std::string& module, const std::string& name) override;
  bool hidden(const std::string& module, const std::string& name) override {
    const auto at = modules.find(module);
    return at != modules.end() && at->second.root_only.contains(name);
  }
  bool loaded_after(const std::string& module, const std::string& path) override;
  bool has_tree() override { return tree; }
  base::Result<std::optional<system::ModuleInfo>> info(const std::string& module) override;
  std::vector<std::string> known() override;
  base::Result<void> load(const std::string& module) override;
  base::Result<void> unload(const std::string& module) override;

 private:
  Faults& faults_;
  MemoryFiles& files_;
  Setting setting_;
};

}  // namespace rdmacfg::fakes
