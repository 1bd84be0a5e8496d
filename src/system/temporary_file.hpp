// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace rdmacfg::system {

/// How names of the files begin that Files::write renames over others; six letters follow. A killed run
/// leaves one.
inline constexpr std::string_view kTemporaryFile = ".rdma-configd-";

}  // namespace rdmacfg::system
