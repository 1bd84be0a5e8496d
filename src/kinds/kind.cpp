// SPDX-License-Identifier: Apache-2.0
#include "kinds/kind.hpp"

namespace rdmacfg::kinds {

void Kind::check(std::vector<model::Desired>& /*desired*/, const std::vector<model::Observed>& /*observed*/,
                 World& /*world*/, model::Diagnostics& /*diagnostics*/) const {}

base::Result<void> Kind::prepare(std::span<model::Change*> /*changes*/, World& /*world*/) const { return {}; }

base::Result<Waited> Kind::await(std::span<const model::Change> /*changes*/, World& /*now*/,
                                 std::chrono::milliseconds /*deadline*/) const {
  return Waited::kNot;
}

base::Result<std::set<model::Key>> Kind::limits_standing(std::span<const model::Change> limited,
                                                         system::Host& /*host*/) const {
  std::set<model::Key> all;
  for (const auto& change : limited) all.insert(change.key);
  return all;
}

std::vector<std::string> Kind::clear_away(std::span<const model::Change> /*changes*/,
                                          system::Host& /*host*/) const {
  return {};
}

base::Result<void> Kind::look_closely(system::Host& /*host*/,
                                      const std::set<std::string>& /*handles*/) const {
  return {};
}

base::Result<void> Kind::recover(std::span<const model::Change> /*changes*/, system::Host& /*host*/) const {
  return {};
}

Verdict Kind::judge(const model::Desired& /*desired*/, const model::Observed* /*observed*/,
                    const std::vector<std::string>& /*differing*/, World& /*world*/) const {
  return {};
}

std::string Kind::why_held(const model::Key& key, const std::vector<model::Desired>& /*desired*/,
                           const World& world) const {
  const auto guid = model::Guid::parse(std::string_view(key.id).substr(0, key.id.find_first_of("/ ")));
  return guid ? world.why_held(*guid) : std::string();
}

bool Kind::returns(std::string_view /*field*/, const model::Attributes& /*before*/,
                   const model::Attributes& /*then*/) const {
  return true;
}

}  // namespace rdmacfg::kinds
