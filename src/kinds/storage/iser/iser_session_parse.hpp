// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "formats/storage/iser_unit.hpp"
#include "model/diagnostic.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {

/// The portal of an [[iser_session]]; reports the entry's mistakes, and is nothing where they leave none.
std::optional<IserPortal> iser_portal_of(const model::Section& section, model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
