// SPDX-License-Identifier: Apache-2.0
#include "system/linux/kmod.hpp"

#include <fmt/format.h>

#include <optional>

#include "system/linux/verbs/late_library.hpp"

namespace rdmacfg::system::detail {

namespace {

constexpr const char* kLibrary = "libkmod.so.2";

std::optional<Kmod> load() {
  const LateLibrary library(kLibrary);
  Kmod out{};
  const bool whole = library.load(out.create, "kmod_new") && library.load(out.unref, "kmod_unref") &&
                     library.load(out.set_log_priority, "kmod_set_log_priority") &&
                     library.load(out.module_new_from_name, "kmod_module_new_from_name") &&
                     library.load(out.module_unref, "kmod_module_unref") &&
                     library.load(out.module_get_initstate, "kmod_module_get_initstate") &&
                     library.load(out.module_get_path, "kmod_module_get_path") &&
                     library.load(out.module_get_info, "kmod_module_get_info") &&
                     library.load(out.module_info_get_key, "kmod_module_info_get_key") &&
                     library.load(out.module_info_get_value, "kmod_module_info_get_value") &&
                     library.load(out.module_info_free_list, "kmod_module_info_free_list") &&
                     library.load(out.list_next, "kmod_list_next") &&
                     library.load(out.module_probe_insert_module, "kmod_module_probe_insert_module") &&
                     library.load(out.module_remove_module, "kmod_module_remove_module");
  return whole ? std::optional(out) : std::nullopt;
}

}  // namespace

base::Result<const Kmod*> Kmod::open() {
  static const std::optional<Kmod> library = load();
  if (library) return &*library;
  return base::fail(base::Code::kUnsupported,
                    fmt::format("{} cannot be opened: install the package libkmod2 (kmod-libs)", kLibrary));
}

}  // namespace rdmacfg::system::detail
