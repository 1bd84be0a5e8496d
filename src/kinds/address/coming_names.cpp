// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/coming_names.hpp"

#include <utility>

#include "kinds/address/request.hpp"
#include "model/value.hpp"

namespace rdmacfg::kinds {

using model::Desired;

ComingNames::ComingNames(const std::vector<Desired>& desired, const World& world) : world_(&world) {
  for (const auto& resource : desired) {
    if (resource.ignore) continue;
    auto name =
        resource.key.kind == "link_name" ? model::text_at(resource.settings, "rule") : resource.netdev;
    if (!name.empty()) named_.insert_or_assign(resource.key.id, std::move(name));
  }
}

std::string ComingNames::of(const std::string& id) const {
  if (const auto coming = named_.find(id); coming != named_.end()) return coming->second;
  const auto* link = interface_of(id, *world_);
  return link != nullptr ? link->name : std::string();
}

}  // namespace rdmacfg::kinds
