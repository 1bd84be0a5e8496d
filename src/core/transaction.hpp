// SPDX-License-Identifier: Apache-2.0
// Carries out a plan, and takes it back.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/observation.hpp"
#include "core/touched.hpp"
#include "model/change.hpp"

namespace rdmacfg::core {

/// Why a resource is pending whose device went while the plan was carried out.
inline constexpr std::string_view kDeviceRemoved = "its device was removed during the apply";

/// How carrying out a plan went.
struct Outcome {
  std::optional<base::Error> error;             ///< the first refusal; later changes were not tried
  std::map<model::Key, std::string> postponed;  ///< changes whose object went away meanwhile, with the reason
  TouchedLinks touched{};                       ///< what interfaces carried before
};

/// Carries out a plan batch by batch. A change whose object is not there any more is postponed, not failed.
/// `progress` is told before each batch: changes done, of how many, and what comes. `cancelled` is asked
/// then, and ends it with an error.
Outcome carry_out(const model::Plan& plan, system::Host& host,
                  const std::function<void(std::size_t, std::size_t, const std::string&)>& progress,
                  const std::function<bool()>& cancelled = {});

/// After a kill: takes away the scaffolding of a plan that was under way, as each kind knows it.
/// @return what could not be put back.
std::vector<std::string> put_back(const model::Plan& plan, system::Host& host);

/// Whether undo() brings a change back. Files outlive a device; all else went with it when it was
/// removed, also when another one has taken its place.
bool can_be_undone(const model::Change& change, const kinds::World& world);

/// Undoes whatever there is of a plan, in reverse, and verifies by a fresh observation.
/// @return what could not be restored, one sentence each; empty when everything is as before. `seen`: the
/// host then.
std::vector<std::string> undo(const model::Plan& plan, system::Host& host,
                              std::optional<Observation>* seen = nullptr);

}  // namespace rdmacfg::core
