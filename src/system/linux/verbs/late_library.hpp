// SPDX-License-Identifier: Apache-2.0
// Shared libraries that are opened when they are first needed (dlopen(3)): most runs do without them, and
// linking them takes longer than such a run.
#pragma once

#include <dlfcn.h>

namespace rdmacfg::system::detail {

/// It stays open: providers of libibverbs do not like to be unloaded.
class LateLibrary {
 public:
  explicit LateLibrary(const char* name) : handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {}

  /// False when there is no such library, or no such function in it.
  template <class Function>
  [[nodiscard]] bool load(Function& function, const char* name) const {
    function = handle_ == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(handle_, name));
    return function != nullptr;
  }

 private:
  void* handle_;
};

}  // namespace rdmacfg::system::detail
