// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "model/diagnostic.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {

/// A [[lossless]] entry stands for [[pfc]] and [[roce]] entries, whose rules speak of those. Diagnostics at a
/// place of a [[lossless]] entry name [[lossless]] afterwards, which is what the user wrote.
void name_presets(std::span<const model::Section> sections, model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
