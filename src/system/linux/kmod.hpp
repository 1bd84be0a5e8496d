// SPDX-License-Identifier: Apache-2.0
// libkmod, opened when it is first needed: it brings libcrypto, whose linking takes as long as reading a
// thousand interfaces, and most runs ask nothing of it. Source: libkmod.h.
#pragma once

#include <libkmod.h>

#include <memory>

#include "base/error.hpp"

namespace rdmacfg::system::detail {

/// The functions of libkmod.so.2 that are called here, under their own names.
struct Kmod {
  decltype(&::kmod_new) create;
  decltype(&::kmod_unref) unref;
  decltype(&::kmod_set_log_priority) set_log_priority;
  decltype(&::kmod_module_new_from_name) module_new_from_name;
  decltype(&::kmod_module_unref) module_unref;
  decltype(&::kmod_module_get_initstate) module_get_initstate;
  decltype(&::kmod_module_get_path) module_get_path;
  decltype(&::kmod_module_get_info) module_get_info;
  decltype(&::kmod_module_info_get_key) module_info_get_key;
  decltype(&::kmod_module_info_get_value) module_info_get_value;
  decltype(&::kmod_module_info_free_list) module_info_free_list;
  decltype(&::kmod_list_next) list_next;
  decltype(&::kmod_module_probe_insert_module) module_probe_insert_module;
  decltype(&::kmod_module_remove_module) module_remove_module;

  /// Opened once, and never closed.
  static base::Result<const Kmod*> open();
};

using KmodContext = std::unique_ptr<kmod_ctx, decltype(&::kmod_unref)>;
using KmodModule = std::unique_ptr<kmod_module, decltype(&::kmod_module_unref)>;

}  // namespace rdmacfg::system::detail
