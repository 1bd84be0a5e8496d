// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kinds/address/request.hpp"
#include "model/diagnostic.hpp"

namespace rdmacfg::kinds {

/// Reports what is wrong with addresses by themselves, whatever the backend, each with its place.
void check_addressing(const std::vector<Addressing>& all, model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
