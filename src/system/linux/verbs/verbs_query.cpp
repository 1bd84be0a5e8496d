// SPDX-License-Identifier: Apache-2.0
#include "system/linux/verbs/verbs_query.hpp"

#include <infiniband/verbs.h>

#include <cstdint>

#include "system/linux/verbs/verbs_library.hpp"

namespace rdmacfg::system::detail {

namespace {

int bytes_of(ibv_mtu mtu) {
  // IBV_MTU_256 is 1, and each next one is double. InfiniBand architecture, 14.2.5.6.
  return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << static_cast<int>(mtu) : 0;
}

/// The answer of `ask` for a device that is open; nothing where it cannot be opened.
template <typename Found, typename Ask>
std::optional<Found> query(const std::string& device, const Ask& ask) {
  const VerbsDevices devices;
  const auto& verbs = VerbsLibrary::get();
  for (ibv_device* candidate : devices.all()) {
    const char* name = verbs.get_device_name(candidate);
    if (name == nullptr || device != name) continue;
    const auto context = open(candidate);
    return context ? ask(verbs, context.get()) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<PortMtu> query_verbs_mtu(const std::string& device, int port) {
  if (port < 1 || port > UINT8_MAX) return std::nullopt;
  return query<PortMtu>(device,
                        [&](const VerbsLibrary& verbs, ibv_context* context) -> std::optional<PortMtu> {
                          ibv_port_attr attributes{};
                          if (verbs.query_port(context, static_cast<std::uint8_t>(port), &attributes) != 0)
                            return std::nullopt;
                          return PortMtu{bytes_of(attributes.max_mtu), bytes_of(attributes.active_mtu)};
                        });
}

std::optional<DeviceIds> query_verbs_ids(const std::string& device) {
  return query<DeviceIds>(device,
                          [](const VerbsLibrary& verbs, ibv_context* context) -> std::optional<DeviceIds> {
                            ibv_device_attr attributes{};
                            if (verbs.query_device(context, &attributes) != 0) return std::nullopt;
                            return DeviceIds{attributes.vendor_id, attributes.vendor_part_id};
                          });
}

}  // namespace rdmacfg::system::detail
