// SPDX-License-Identifier: Apache-2.0
#include "system/linux/verbs_query.hpp"

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <span>

#include "system/linux/late_library.hpp"

namespace rdmacfg::system::detail {

namespace {

/// The few functions that are needed of libibverbs.
struct Verbs {
  ibv_device** (*get_device_list)(int*) = nullptr;
  void (*free_device_list)(ibv_device**) = nullptr;
  const char* (*get_device_name)(ibv_device*) = nullptr;
  ibv_context* (*open_device)(ibv_device*) = nullptr;
  int (*close_device)(ibv_context*) = nullptr;
  // The exported function fills an older, shorter form of ibv_port_attr, of which both MTUs are part.
  int (*query_port)(ibv_context*, std::uint8_t, void*) = nullptr;
  int (*query_device)(ibv_context*, ibv_device_attr*) = nullptr;
  bool usable = false;

  Verbs() {
    const LateLibrary library("libibverbs.so.1");
    const auto load = [&](auto& function, const char* name) { return library.load(function, name); };
    usable = load(get_device_list, "ibv_get_device_list") && load(free_device_list, "ibv_free_device_list") &&
             load(get_device_name, "ibv_get_device_name") && load(open_device, "ibv_open_device") &&
             load(close_device, "ibv_close_device") && load(query_port, "ibv_query_port") &&
             load(query_device, "ibv_query_device");
  }
};

int bytes_of(ibv_mtu mtu) {
  // IBV_MTU_256 is 1, and each next one is double. InfiniBand architecture, 14.2.5.6.
  return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << static_cast<int>(mtu) : 0;
}

/// What `ask` finds out of a device that is open; nothing where it cannot be opened.
template <typename Found, typename Ask>
std::optional<Found> query(const std::string& device, const Ask& ask) {
  static const Verbs verbs;
  if (!verbs.usable) return std::nullopt;
  int count = 0;
  const std::unique_ptr<ibv_device*, void (*)(ibv_device**)> list(verbs.get_device_list(&count),
                                                                  verbs.free_device_list);
  if (!list || count <= 0) return std::nullopt;
  for (ibv_device* candidate : std::span(list.get(), static_cast<std::size_t>(count))) {
    const char* name = verbs.get_device_name(candidate);
    if (name == nullptr || device != name) continue;
    const std::unique_ptr<ibv_context, int (*)(ibv_context*)> context(verbs.open_device(candidate),
                                                                      verbs.close_device);
    return context ? ask(verbs, context.get()) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<PortMtu> query_verbs_mtu(const std::string& device, int port) {
  if (port < 1 || port > UINT8_MAX) return std::nullopt;
  return query<PortMtu>(device, [&](const Verbs& verbs, ibv_context* context) -> std::optional<PortMtu> {
    ibv_port_attr attributes{};
    if (verbs.query_port(context, static_cast<std::uint8_t>(port), &attributes) != 0) return std::nullopt;
    return PortMtu{bytes_of(attributes.max_mtu), bytes_of(attributes.active_mtu)};
  });
}

std::optional<DeviceIds> query_verbs_ids(const std::string& device) {
  return query<DeviceIds>(device, [](const Verbs& verbs, ibv_context* context) -> std::optional<DeviceIds> {
    ibv_device_attr attributes{};
    if (verbs.query_device(context, &attributes) != 0) return std::nullopt;
    return DeviceIds{attributes.vendor_id, attributes.vendor_part_id};
  });
}

}  // namespace rdmacfg::system::detail
