// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace rdmacfg::base {

/// SHA-256 as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

/// A name-based UUID (version 5, RFC 9562) below a namespace of rdma-configd: the same name always has the
/// same one.
std::string uuid_of(std::string_view name);

}  // namespace rdmacfg::base
