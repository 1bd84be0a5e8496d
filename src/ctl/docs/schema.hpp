// SPDX-License-Identifier: Apache-2.0
// Texts that are made of the grammar of the document, so that they cannot disagree with it.
#pragma once

#include <string>
#include <vector>

#include "model/section.hpp"

namespace rdmacfg::ctl {

/// The JSON Schema (draft 2020-12) of the document, for editors and for checks in pipelines. It accepts every
/// file that `validate` does, and refuses what can be seen without a host and without rules across fields.
std::string render_schema(const std::vector<model::SectionSpec>& grammar);

/// The reference of sections and keys in Markdown.
std::string render_reference(const std::vector<model::SectionSpec>& grammar);

/// Whether [defaults.PATH] may give this key.
bool has_default(const model::SectionSpec& section, const model::FieldSpec& field);

}  // namespace rdmacfg::ctl
