// SPDX-License-Identifier: Apache-2.0
#include "kinds/ports/held_by_port.hpp"

namespace rdmacfg::kinds {

std::string why_port_held(const model::Key& key, const World& world) {
  const auto guid = model::Guid::parse(std::string_view(key.id).substr(0, key.id.find_first_of("/ ")));
  return guid ? world.why_held(*guid) : std::string();
}

std::string HeldByPort::why_held(const model::Key& key, const std::vector<model::Desired>& /*desired*/,
                                 const World& world) const {
  return why_port_held(key, world);
}

}  // namespace rdmacfg::kinds
