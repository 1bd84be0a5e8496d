// SPDX-License-Identifier: Apache-2.0
// mlx4.conf of rdma-core's redhat/: port types of ConnectX-3 adapters, a line "PCI-ADDRESS TYPE [TYPE]" each.
#pragma once

#include <string_view>

namespace rdmacfg::kinds {

/// Read by the "install" line for mlx4_core of RHEL's rdma-core; elsewhere we apply the types ourselves when
/// the adapter appears.
inline constexpr std::string_view kMlx4File = "/etc/rdma/mlx4.conf";

}  // namespace rdmacfg::kinds
