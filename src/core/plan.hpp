// SPDX-License-Identifier: Apache-2.0
// The order of changes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/world.hpp"
#include "model/change.hpp"

namespace rdmacfg::core {

/// Puts changes into an order in which each follows what it needs; changes of one kind and operation that are
/// ready together stand together. Removals come before everything else, so that names and partitions are free
/// again.
model::Plan order(std::vector<model::Change> changes);

/// The runs of a plan that may be handed to their kind at once: same kind, same operation, none needs
/// another.
std::vector<std::span<const model::Change>> batches(const model::Plan& plan);

/// Within it names are unique: interfaces of ports and of P_Keys share the kernel's names of interfaces.
std::string_view name_space_of(const model::Change& change);

/// Of what the plan does: two plans that do the same have the same one.
std::string digest_of(const model::Plan& plan);

/// Why a plan that somebody asks for is not begun: it has more than limits::kPlanChanges. Empty: it is short
/// enough. The active one is held in any case.
std::string too_long(const model::Plan& plan);

/// Why a change can hold no longer, if so: the kernel object that it was planned on has gone ("its device was
/// removed during the apply"), also when another one has taken its place.
std::optional<std::string> lost_parent_object(const model::Change& change, const kinds::World& world);

/// Why a change cannot hold whose settings are all gone while its kernel object is as it was planned on: "its
/// device was removed during the apply". Mounts, connections and files depend on no device.
std::string why_gone(const model::Change& change);

}  // namespace rdmacfg::core
