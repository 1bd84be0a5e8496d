// SPDX-License-Identifier: Apache-2.0
// The kind "module": modules of the kernel and their options (modprobe.d(5), modules-load.d(5)).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "formats/modprobe_conf.hpp"
#include "formats/tmpfiles_conf.hpp"
#include "kinds/kind.hpp"
#include "model/types/module_types.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kModuleKind = "module";

/// A kernel module: loaded now and at every boot, with options.
struct KernelModule {
  std::optional<model::ModuleName> name;
  std::optional<bool> load;
  std::optional<model::ModuleOptions> options;
  std::optional<bool> at_boot;
  std::optional<bool> loaded;
  std::optional<model::ModuleOptions> running;

  static constexpr auto kFields = std::tuple{
      model::field("name", &KernelModule::name, model::Role::kIdentity,
                   "Name of the module, such as \"mlx4_en\".", "-"),
      model::field("load", &KernelModule::load, model::Role::kPolicy,
                   "Whether it is loaded now and at every boot; false only gives it its options.", "true"),
      model::field(
          "options", &KernelModule::options, model::Role::kSetting,
          "Its parameters, each \"name=value\" (modprobe.d). A loaded module takes most of them only "
          "when it is reloaded.",
          "left unchanged", model::Effect::kDriverReload),
      model::field("at_boot", &KernelModule::at_boot, model::Role::kDerived,
                   "Whether our list of modules to load names it (modules-load.d, or /etc/rdma/modules)."),
      model::field("loaded", &KernelModule::loaded, model::Role::kDerived, "Whether it is loaded."),
      model::field("running", &KernelModule::running, model::Role::kFact,
                   "The loaded module's values of the parameters in options.", "-")};
};

model::SectionSpec module_section();
const Kind& kernel_module();

/// Why a module that is loaded has not (all of) the options: "mlx4_en runs with pfctx=0, not pfctx=8"; empty
/// when it has them, is not loaded, or does not tell.
std::string why_not_running(const std::string& module, const model::ModuleOptions& wanted,
                            system::Modules& modules);

inline constexpr std::string_view kReloadNeeded = "driver reload or reboot needed";

/// The remedy: a driver reload or a reboot, but first another file's line that modprobe
/// reads after ours and that no reload gets around.
std::string what_it_takes(const std::string& module, const model::ModuleOptions& wanted, system::Host& host);

/// Whether our options reach a module when it is loaded: other modprobe.d files that set the same parameters
/// are warned about. `lines`: read_foreign_lines(), those of other modules may be left out.
void warn_foreign_options(const std::string& section, const std::string& module,
                          const model::ModuleOptions& wanted, const model::Location& where,
                          std::span<const ForeignLine> lines, model::Diagnostics& diagnostics);

/// Settings of modules on kernel command lines of the next boot, by module: those that the running one does
/// not have, and of the same for several kernels the first.
std::map<std::string, std::vector<ForeignLine>> next_boot_settings(system::Host& host);

/// Warns where one of these settings, all of the module, gives an option another value. Messages begin with
/// `section`, as in warn_foreign_options().
void warn_of_options_at_next_boot(const std::string& section, const std::string& module,
                                  const model::ModuleOptions& wanted, const model::Location& where,
                                  std::span<const ForeignLine> settings, model::Diagnostics& diagnostics);

/// Words for a line that keeps its module out: "/etc/modprobe.d/a.conf:3 keeps mlx4_en from being loaded
/// (blacklist)". `what` replaces "loaded": "loaded at boot".
std::string kept_out_by(const ForeignLine& line, std::string_view what = "loaded");

/// How to undo that, for hints.
std::string remedy_of_keeping_out(const ForeignLine& line);

/// Warns where one of these settings of the next boot, all of the module, keeps it from being loaded.
void warn_of_blacklist_at_next_boot(const std::string& section, const std::string& module,
                                    const model::Location& where, std::span<const ForeignLine> settings,
                                    model::Diagnostics& diagnostics);

/// Warns where a line of tmpfiles.d gives a parameter of the module another value at boot.
void warn_of_parameter_writes(const std::string& module, const model::ModuleOptions& wanted,
                              const model::Location& where, std::span<const TmpfilesLine> lines,
                              model::Diagnostics& diagnostics);

/// False, and an error, when the running kernel's module tree has no such module, or that has no such
/// parameter.
bool check_known(const std::string& section, const std::string& module, const model::ModuleOptions& options,
                 const model::Location& name_at, const model::Location& options_at, World& world,
                 model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
