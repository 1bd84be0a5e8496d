// SPDX-License-Identifier: Apache-2.0
#include "system/linux/verbs/verbs_query.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "system/linux/verbs/verbs_library.hpp"

namespace rdmacfg::system::detail {

namespace {

int bytes_of(ibv_mtu mtu) {
  // IBV_MTU_256 is 1, and each next one is double. InfiniBand architecture, 14.2.5.6.
  return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << static_cast<int>(mtu) : 0;
}

std::vector<std::pair<std::string, std::uint64_t>> limits_of(const ibv_device_attr& of) {
  const auto positive = [](int number) { return static_cast<std::uint64_t>(std::max(number, 0)); };
  return {{"max_mr_size", of.max_mr_size},
          {"page_size_cap", of.page_size_cap},
          {"max_qp", positive(of.max_qp)},
          {"max_qp_wr", positive(of.max_qp_wr)},
          {"device_cap_flags", of.device_cap_flags},
          {"max_sge", positive(of.max_sge)},
          {"max_sge_rd", positive(of.max_sge_rd)},
          {"max_cq", positive(of.max_cq)},
          {"max_cqe", positive(of.max_cqe)},
          {"max_mr", positive(of.max_mr)},
          {"max_pd", positive(of.max_pd)},
          {"max_qp_rd_atom", positive(of.max_qp_rd_atom)},
          {"max_res_rd_atom", positive(of.max_res_rd_atom)},
          {"max_qp_init_rd_atom", positive(of.max_qp_init_rd_atom)},
          {"atomic_cap", static_cast<std::uint64_t>(of.atomic_cap)},
          {"max_mw", positive(of.max_mw)},
          {"max_mcast_grp", positive(of.max_mcast_grp)},
          {"max_mcast_qp_attach", positive(of.max_mcast_qp_attach)},
          {"max_ah", positive(of.max_ah)},
          {"max_srq", positive(of.max_srq)},
          {"max_srq_wr", positive(of.max_srq_wr)},
          {"max_srq_sge", positive(of.max_srq_sge)},
          {"max_pkeys", of.max_pkeys},
          {"local_ca_ack_delay", of.local_ca_ack_delay}};
}

/// The answer of `ask` for a device that is open; nothing where it cannot be opened.
template <typename Found, typename Ask>
std::optional<Found> query(const std::string& device, const Ask& ask) {
  const VerbsDevices devices;
  const auto& verbs = VerbsLibrary::get();
  for (ibv_device* candidate : devices.list()) {
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
  return query<DeviceIds>(
      device, [](const VerbsLibrary& verbs, ibv_context* context) -> std::optional<DeviceIds> {
        ibv_device_attr attributes{};
        if (verbs.query_device(context, &attributes) != 0) return std::nullopt;
        return DeviceIds{attributes.vendor_id, attributes.vendor_part_id, limits_of(attributes)};
      });
}

}  // namespace rdmacfg::system::detail
