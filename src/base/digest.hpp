// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace rdmacfg::base {

/// SHA-256 as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace rdmacfg::base
