// SPDX-License-Identifier: Apache-2.0
#include "system/linux/kmod.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <optional>

namespace rdmacfg::system::detail {

namespace {

constexpr const char* kLibrary = "libkmod.so.2";

template <class Function>
bool take(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  return into != nullptr;
}

std::optional<Kmod> load() {
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return std::nullopt;
  Kmod out{};
  const bool whole = take(library, "kmod_new", out.create) && take(library, "kmod_unref", out.unref) &&
                     take(library, "kmod_set_log_priority", out.set_log_priority) &&
                     take(library, "kmod_module_new_from_name", out.module_new_from_name) &&
                     take(library, "kmod_module_unref", out.module_unref) &&
                     take(library, "kmod_module_get_initstate", out.module_get_initstate) &&
                     take(library, "kmod_module_get_path", out.module_get_path) &&
                     take(library, "kmod_module_get_info", out.module_get_info) &&
                     take(library, "kmod_module_info_get_key", out.module_info_get_key) &&
                     take(library, "kmod_module_info_get_value", out.module_info_get_value) &&
                     take(library, "kmod_module_info_free_list", out.module_info_free_list) &&
                     take(library, "kmod_list_next", out.list_next) &&
                     take(library, "kmod_module_probe_insert_module", out.module_probe_insert_module) &&
                     take(library, "kmod_module_remove_module", out.module_remove_module);
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
