// SPDX-License-Identifier: Apache-2.0
// The way back from sections to the text of a document.
#pragma once

#include <string>
#include <vector>

#include "config/check.hpp"
#include "model/section.hpp"

namespace rdmacfg::config {

/// Sections as the text of a document that parse_texts() reads as the same ones: merged, with their defaults
/// written out, without comments and [match].
std::string write_document(const std::vector<model::Section>& sections, const Grammar& grammar);

/// Whether two lists of sections say the same, wherever it is written.
bool say_the_same(const std::vector<model::Section>& a, const std::vector<model::Section>& b);

}  // namespace rdmacfg::config
