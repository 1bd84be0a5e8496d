// SPDX-License-Identifier: Apache-2.0
// The comparison of an expectation with the host.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "kinds/kind.hpp"

namespace rdmacfg::kinds {

// Policies of a Desired beside those of rows, which have the row's name.
inline constexpr std::string_view kPorts = "ports";       ///< names of the ports that are meant
inline constexpr std::string_view kNoPorts = "no ports";  ///< although something is expected of each
std::string growth_key(std::string_view counter);
std::string window_key(std::string_view counter);
std::string least_key(std::string_view setting);

/// Unmet where an answer is not as expected, or not known; pending where a growth only is not known yet.
Verdict judge_expectation(const model::Desired& desired, World& world);

/// Writes what `resources` show of counters whose growth is expected to the record (kCounterRecord). Counters
/// that no resource has any more leave it; without any it is removed.
base::Result<void> keep_counters(std::span<const model::ResourceReport> resources, system::Host& host);

}  // namespace rdmacfg::kinds
