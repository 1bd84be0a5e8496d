// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "system/linux/verbs/late_library.hpp"

namespace rdmacfg::system::detail {

/// The few functions that are needed of libibverbs. It is loaded at the first call: linked in, it and
/// libnl-route would make every start of the program a third longer.
struct VerbsLibrary {
  ibv_device** (*get_device_list)(int*) = nullptr;
  void (*free_device_list)(ibv_device**) = nullptr;
  const char* (*get_device_name)(ibv_device*) = nullptr;
  ibv_context* (*open_device)(ibv_device*) = nullptr;
  int (*close_device)(ibv_context*) = nullptr;
  // The exported function fills an older, shorter form of ibv_port_attr, of which both MTUs are part.
  int (*query_port)(ibv_context*, std::uint8_t, void*) = nullptr;
  int (*query_device)(ibv_context*, ibv_device_attr*) = nullptr;
  bool usable = false;

  VerbsLibrary() {
    const LateLibrary library("libibverbs.so.1");
    const auto load = [&](auto& function, const char* name) { return library.load(function, name); };
    usable = load(get_device_list, "ibv_get_device_list") && load(free_device_list, "ibv_free_device_list") &&
             load(get_device_name, "ibv_get_device_name") && load(open_device, "ibv_open_device") &&
             load(close_device, "ibv_close_device") && load(query_port, "ibv_query_port") &&
             load(query_device, "ibv_query_device");
  }

  static const VerbsLibrary& get() {
    static const VerbsLibrary kLibrary;
    return kLibrary;
  }
};

/// The devices that libibverbs has a provider for.
class VerbsDevices {
 public:
  VerbsDevices() : list_(nullptr, VerbsLibrary::get().free_device_list) {
    if (VerbsLibrary::get().usable) list_.reset(VerbsLibrary::get().get_device_list(&count_));
  }
  [[nodiscard]] std::span<ibv_device*> list() const {
    return list_ && count_ > 0 ? std::span(list_.get(), static_cast<std::size_t>(count_))
                               : std::span<ibv_device*>();
  }

 private:
  int count_ = 0;
  std::unique_ptr<ibv_device*, void (*)(ibv_device**)> list_;
};

using OpenContext = std::unique_ptr<ibv_context, int (*)(ibv_context*)>;

inline OpenContext open(ibv_device* device) {
  const auto& library = VerbsLibrary::get();
  return {library.open_device(device), library.close_device};
}

}  // namespace rdmacfg::system::detail
