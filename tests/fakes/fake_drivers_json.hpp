// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::fakes {

/// "modules", "module_tree", "initramfs", "dcb" and "mlx4_ports" of a host's description.
void describe_drivers(FakeKernel& kernel, const nlohmann::json& host);

}  // namespace rdmacfg::fakes
