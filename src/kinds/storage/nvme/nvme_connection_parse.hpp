// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/diagnostic.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {

/// The line for nvme-cli of an [[nvme_connection]] with this address, or a line for each of its ports;
/// reports the entry's mistakes.
std::string nvme_line_of(const model::Section& section, const std::string& address,
                         model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
