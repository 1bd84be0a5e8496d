// SPDX-License-Identifier: Apache-2.0
// Rules of [[nvme_target]] that need no host.
#pragma once

#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {

/// Reports all that is wrong with an entry, and adds the settings that follow from it.
void complete_nvme_target(const model::Section& section, model::Desired& desired,
                          model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
