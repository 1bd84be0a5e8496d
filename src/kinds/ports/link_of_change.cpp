// SPDX-License-Identifier: Apache-2.0
#include "kinds/ports/link_of_change.hpp"

#include <algorithm>

#include "model/value.hpp"

namespace rdmacfg::kinds {

bool is_about_link(const model::Change& change, const Traits& traits, const system::Link& link,
                   std::span<const system::Link> links) {
  if (traits.id_is_interface && change.key.id == link.name) return true;
  if (traits.names_interface && model::text_at(change.before, "name") == link.name) return true;
  if (!link.ipoib) return false;
  const auto parent =
      std::find_if(links.begin(), links.end(), [&](const auto& other) { return other.index == link.parent; });
  const bool over = link.ipoib->child && parent != links.end() && parent->ipoib;
  const auto guid = (over ? *parent : link).ipoib->guid.text();
  return change.key.id == guid ||
         (link.ipoib->child && change.key.id == guid + "/" + link.ipoib->pkey.text());
}

}  // namespace rdmacfg::kinds
