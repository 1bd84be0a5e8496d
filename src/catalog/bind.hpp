// SPDX-License-Identifier: Apache-2.0
// Binds a document's entries to a host, with presets expanded: the input of every kind's parse().
#pragma once

#include <vector>

#include "kinds/bound.hpp"

namespace rdmacfg::kinds {

/// bind_ports(), with [[lossless]] replaced by the entries that it stands for on this host's adapters.
Bound bind(const std::vector<model::Section>& sections, const World& world, model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
