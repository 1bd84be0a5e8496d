// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace rdmacfg::kinds {

/// Whether a version is older than another: numbers between dots are compared as numbers, from the left
/// ("28.9.1000" before "28.39.1002"). Text after the digits of a part, as in "6.1.0-18", counts
/// only where the numbers are the same; a part that is missing comes first.
bool version_before(std::string_view version, std::string_view other);

}  // namespace rdmacfg::kinds
