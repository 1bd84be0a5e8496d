// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/port_backends.hpp"

#include <utility>
#include <vector>

#include "formats/udev/udev_backend.hpp"
#include "kinds/address/request.hpp"
#include "kinds/world.hpp"

namespace rdmacfg::kinds {

using model::Backend;

namespace {

std::optional<Backend> written(const BoundPort& port) {
  const auto* entry = port.section->find("backend");
  if (entry == nullptr) return std::nullopt;
  const auto backend = model::Codec<Backend>::parse(entry->value);
  return backend ? std::optional(*backend) : std::nullopt;
}

}  // namespace

Backends::Backends(const Bound& bound) {
  std::vector<const BoundPort*> automatic;
  for (const auto& port : bound.ports) {
    const auto wanted = written(port).value_or(Backend::kAuto);
    if (wanted != Backend::kAuto) {
      decided_.emplace(port.id, wanted);
    } else if (!has_backend(*port.section)) {
      decided_.emplace(port.id, Backend::kDirect);
    } else {
      automatic.push_back(&port);
    }
  }
  if (automatic.empty()) return;
  const auto manager = bound.world == nullptr ? Backend::kAuto : bound.world->manager();
  BackendRules pinned;
  // One that cannot be read fails where it is observed.
  if (manager != Backend::kAuto) {
    if (auto rules = read_backend_rules(bound.world->host().files)) pinned = std::move(*rules);
  }
  for (const auto* port : automatic) {
    const auto at = port->guid ? pinned.find(*port->guid) : pinned.end();
    decided_.emplace(port->id, at == pinned.end() ? manager : at->second);
    if (bound.world == nullptr || at != pinned.end()) continue;
    error_ = bound.world->manager_error();
    if (error_) guessed_.insert(port->id);
  }
}

const base::Error* Backends::why_unknown(const BoundPort& port) const {
  return guessed_.contains(port.id) ? &*error_ : nullptr;
}

Backend Backends::of(const BoundPort& port) const { return decided_.at(port.id); }

}  // namespace rdmacfg::kinds
