// SPDX-License-Identifier: Apache-2.0
// All kinds, and the grammar of the document that their field tables make.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kinds/kind.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {

/// Every kind, in the order in which reports list them. Plans are sorted by needs, not by this.
std::span<const Kind* const> all_kinds();

const Kind* find(std::string_view name);

/// The unit of a field of a resource; empty for none.
std::string_view field_unit(const model::Key& key, std::string_view field);

/// Whether a field of a resource follows from another key, so that naming it would say the same twice.
bool is_derived(const model::Key& key, std::string_view field);

/// The language of the document, composed from the kinds' field tables.
const std::vector<model::SectionSpec>& grammar();

}  // namespace rdmacfg::kinds
