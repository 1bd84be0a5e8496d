// SPDX-License-Identifier: Apache-2.0
// Kernel modules, in our words. Sources: /sys/module (Documentation/ABI/stable/sysfs-module), libkmod,
// modprobe.d(5).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

/// The entry of one module in the running kernel's module tree (/lib/modules/VERSION).
struct ModuleInfo {
  bool builtin = false;
  std::vector<std::string> parameters;  ///< sorted; of a built-in module those that /sys/module shows
};

class Modules {
 public:
  virtual ~Modules() = default;

  /// Modules that are loaded, and built-in ones that show themselves, sorted, with '_' for '-'. Loads
  /// nothing.
  virtual base::Result<std::vector<std::string>> observe_loaded() = 0;

  /// The value that the running module has for a parameter; nothing when it is not loaded or does not tell.
  virtual std::optional<std::string> parameter(const std::string& module, const std::string& name) = 0;

  /// Whether the running module shows a parameter, but not to everybody (mode 0400).
  virtual bool hidden(const std::string& /*module*/, const std::string& /*name*/) { return false; }

  /// Whether a file of modprobe.d was already as it is now when a module was loaded, as far as can be told.
  virtual bool loaded_after(const std::string& module, const std::string& path) = 0;

  /// Whether there is a module tree for the running kernel at all; without one nothing can be said of modules
  /// that are not loaded.
  virtual bool has_tree() = 0;

  /// Nothing when the tree has no such module.
  virtual base::Result<std::optional<ModuleInfo>> info(const std::string& module) = 0;

  /// All modules of the tree, for suggestions.
  virtual std::vector<std::string> known() = 0;

  /// Loads a module with the options of modprobe.d, and its dependencies. No error when it is loaded already.
  virtual base::Result<void> load(const std::string& module) = 0;

  /// Unloads a module that nothing uses; kBusy when something does. Its dependencies stay.
  virtual base::Result<void> unload(const std::string& module) = 0;
};

}  // namespace rdmacfg::system
