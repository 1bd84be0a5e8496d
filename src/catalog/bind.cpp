// SPDX-License-Identifier: Apache-2.0
#include "catalog/bind.hpp"

#include <algorithm>
#include <memory>

#include "kinds/ethernet/lossless.hpp"

namespace rdmacfg::kinds {

using model::Section;

Bound bind(const std::vector<Section>& sections, const World& world, model::Diagnostics& diagnostics) {
  auto bound = bind_ports(sections, world, diagnostics);
  const auto is = [](std::string_view path) {
    return [path](const Section& section) { return section.path == path; };
  };
  if (std::any_of(sections.begin(), sections.end(), is("lossless"))) {
    bound.expanded = std::make_shared<const std::vector<Section>>(expand_lossless(sections, world));
    bound.sections = *bound.expanded;
  }
  if (std::any_of(bound.sections.begin(), bound.sections.end(), is("pfc")))
    lint_lossless(bound.sections, world, diagnostics);
  return bound;
}

}  // namespace rdmacfg::kinds
