// SPDX-License-Identifier: Apache-2.0
// Which interface a change of a plan is about.
#pragma once

#include <span>

#include "kinds/kind.hpp"
#include "model/change.hpp"
#include "system/link.hpp"

namespace rdmacfg::kinds {

/// Whether a change of a kind with these traits is about an interface, or about the port's interface below
/// it. `links`: all interfaces of the host.
bool is_about_link(const model::Change& change, const Traits& traits, const system::Link& link,
                   std::span<const system::Link> links);

}  // namespace rdmacfg::kinds
