// SPDX-License-Identifier: Apache-2.0
// Kernel modules and priorities as the document spells them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/field.hpp"

namespace rdmacfg::model {

/// The name of a kernel module. The kernel takes '-' and '_' for the same; the canonical form has '_'.
struct ModuleName {
  std::string text;
  static base::Result<ModuleName> parse(std::string_view text);
  auto operator<=>(const ModuleName&) const = default;
};

/// One parameter of a module: "pfctx=8"; without a value, "debug", it switches a boolean on.
struct ModuleOption {
  std::string name;
  std::string value;
  bool has_value = true;

  static base::Result<ModuleOption> parse(std::string_view text);
  [[nodiscard]] std::string text() const { return has_value ? name + "=" + value : name; }
  auto operator<=>(const ModuleOption&) const = default;
};

/// The options of a module in the order in which they are given to it; each parameter once.
struct ModuleOptions {
  std::vector<ModuleOption> list;
  auto operator<=>(const ModuleOptions&) const = default;
};

/// 802.1p priorities 0 to 7, as a set: bit N is priority N.
struct Priorities {
  unsigned mask = 0;
  [[nodiscard]] bool has(unsigned priority) const { return (mask >> priority & 1U) != 0; }
  auto operator<=>(const Priorities&) const = default;
};

/// A driver whose PFC is set by module options.
struct PfcDriverName {
  std::string text;  ///< of the module
  auto operator<=>(const PfcDriverName&) const = default;
};

/// The action when the initramfs does not hold our files as they are.
enum class InitramfsPolicy { kRebuild, kReport };

inline constexpr unsigned kPriorities = 8;  ///< 802.1Q: three bits

/// The members of a set of priorities or traffic classes, in ascending order, as the document spells them.
std::vector<std::string> numbers_in(unsigned mask);

RDMACFG_CODEC(ModuleName, "module name", R"({"type":"string","pattern":"^[A-Za-z0-9_-]{1,55}$"})");
RDMACFG_CODEC(ModuleOptions, "list of \"parameter=value\"",
              R"({"type":["array","string"],"pattern":"^[A-Za-z0-9_.-]+(=.*)?$",)"
              R"("items":{"type":"string","pattern":"^[A-Za-z0-9_.-]+(=.*)?$"}})");
RDMACFG_CODEC(
    Priorities, "list of priorities 0 to 7",
    R"({"type":["array","integer","string"],"minimum":0,"maximum":7,"pattern":"^(0[xX])?0*[0-7]$",)"
    R"("items":{"type":["integer","string"],"minimum":0,"maximum":7,"pattern":"^(0[xX])?0*[0-7]$"}})");

RDMACFG_CODEC(PfcDriverName, "\"mlx4_en\"", R"({"enum":["mlx4_en","mlx4"]})");
RDMACFG_CODEC(InitramfsPolicy, "\"rebuild\" or \"report\"", R"({"enum":["rebuild","report"]})");

}  // namespace rdmacfg::model
