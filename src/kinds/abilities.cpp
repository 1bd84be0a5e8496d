// SPDX-License-Identifier: Apache-2.0
#include "kinds/abilities.hpp"

namespace rdmacfg::kinds {

std::vector<model::Key> put_back_by(const Kind* kind, const model::Key& key) {
  const auto* put_back = ability<PutBackByOthers>(kind);
  return put_back == nullptr ? std::vector<model::Key>{} : put_back->put_back_by(key);
}

std::string why_held(const Kind* kind, const model::Key& key, const std::vector<model::Desired>& desired,
                     const World& world) {
  const auto* meant = ability<MayBeMeant>(kind);
  return meant == nullptr ? std::string() : meant->why_held(key, desired, world);
}

}  // namespace rdmacfg::kinds
