// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace rdmacfg::daemon {

/// Programs that run now and are known to set what we set: "NetworkManager, lldpad". Link notifications do
/// not say who changed something.
std::string suspects(const std::filesystem::path& proc = "/proc");

}  // namespace rdmacfg::daemon
