// SPDX-License-Identifier: Apache-2.0
// One scalar of TOML 1.0.0, decoded by toml11: the only border to that library. Its releases 3 and 4 have
// different interfaces; CMake compiles toml_scalar_v3.cpp or toml_scalar_v4.cpp.
//
// toml11 gets to see single scalars only: for a whole document release 3.7.1 knows no place of a key, needs
// time quadratic in the length of a line, reads before the start of an array for "a = []" with "[a.b]" after
// it, and recurses without limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "config/toml/scalar.hpp"

namespace rdmacfg::config {

using TomlScalar = std::variant<bool, std::int64_t, std::string, Foreign>;

/// @param token  valid UTF-8, checked by guard.hpp
/// @return nothing when the token is not exactly one scalar. Release 3 truncates an integer that does not
/// fit, release 4 takes it for no scalar.
std::optional<TomlScalar> decode_toml(std::string_view token);

}  // namespace rdmacfg::config
