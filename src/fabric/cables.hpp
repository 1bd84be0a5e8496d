// SPDX-License-Identifier: Apache-2.0
// [[cable]] of a document or of a file of its own: which port leads where. Cables are compared with the
// fabric by `rdma-configctl fabric`; nothing on a host follows from them.
#pragma once

#include <span>
#include <vector>

#include "fabric/compare.hpp"
#include "model/diagnostic.hpp"
#include "model/section.hpp"

namespace rdmacfg::fabric {

/// The grammar of [[cable]].
model::SectionSpec cable_section();

/// Reports what no [[cable]] entry shows by itself: an entry without `to`, a port that is cabled to itself, a
/// port with two cables, and a cable that is written from both ends with different widths or speeds. Both
/// spellings of a GUID name the same node; a description and a GUID are different names, since only the
/// fabric knows which belong together. `sections`: merged, of all files; those of other names are passed
/// over.
void check_cable_entries(std::span<const model::Section> sections, model::Diagnostics& diagnostics);

/// The cables among sections without errors.
std::vector<Cable> cables_of(std::span<const model::Section> sections);

}  // namespace rdmacfg::fabric
