// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::fakes {

/// Throws for a key that is not known: a typing error in a description must not make a test pass.
void allow_keys(const nlohmann::json& object, const std::set<std::string>& known, const std::string& where);

/// "modules", "module_tree", "initramfs", "dcb" and "mlx4_ports" of a host's description.
void describe_drivers(FakeKernel& kernel, const nlohmann::json& host);

}  // namespace rdmacfg::fakes
