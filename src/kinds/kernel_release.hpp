// SPDX-License-Identifier: Apache-2.0
// The release of the running kernel, where its behaviour follows from nothing else that can be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kinds/world.hpp"

namespace rdmacfg::kinds {

/// "6.1.0-18-amd64"; empty where it cannot be read.
std::string kernel_release(const World& world);

/// 606 of "6.6.9-amd64"; nothing where the text says no release.
std::optional<std::uint64_t> release_number(std::string_view release);

/// Whether an interface keeps running while it is renamed: Linux 6.2 and later, dev_change_name(), commit
/// bd039b5ea2a9. False where the release is not known.
bool renames_running_links(const World& world);

}  // namespace rdmacfg::kinds
