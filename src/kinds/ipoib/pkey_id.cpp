// SPDX-License-Identifier: Apache-2.0
// Which interface a change means.
#include <algorithm>

#include "kinds/ipoib/pkey.hpp"

namespace rdmacfg::kinds {

using model::Change;
using model::Operation;
using model::text_at;
using system::Link;

namespace detail {

const Link* child_of(const Change& change, const World& world) {
  const auto id = pkey_id(change.key);
  if (!id) return nullptr;
  std::vector<const Link*> mine;
  for (const auto* link : siblings_of(*id, world)) {
    const bool is_sibling =
        !change.siblings.empty() && std::find(change.siblings.begin(), change.siblings.end(),
                                              world.instance(*link)) != change.siblings.end();
    if (!is_sibling) mine.push_back(link);
  }
  const auto before = text_at(change.before, "name");
  if (!id->name.empty()) return called(mine, id->name);
  if (change.operation == Operation::kDelete || hands_over(change)) return called(mine, before);
  if (const auto* link = called(mine, text_at(change.after, "name")); link != nullptr) return link;
  if (const auto* link = called(mine, before); link != nullptr) return link;
  return mine.empty() ? nullptr : mine.front();
}

}  // namespace detail

}  // namespace rdmacfg::kinds
