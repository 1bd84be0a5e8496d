// SPDX-License-Identifier: Apache-2.0
// Limits of the processes that run already, of units and of instances of a template.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "model/types/host_types.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

inline constexpr const char* kUserSessions = "user@.service";

/// "user@.service"; an instance, "user@1000.service", is none.
bool is_template(const std::string& unit);

/// The named units by name, templates left out; nothing when no systemd answers.
base::Result<std::map<std::string, system::Unit>> observe_loaded(system::Host& host,
                                                                 std::vector<std::string> names);

bool systemd_answers(system::Host& host);

/// Of the main process of a unit; nothing while there is none.
base::Result<std::optional<model::LockLimit>> process_limit(const std::string& unit, system::Host& host);

/// Running instances of a template keep the limit that they were started with; empty when all have the one
/// wanted.
std::string why_instances_wait(const std::string& unit, const model::LockLimit& wanted, system::Host& host);

/// "64 KiB", "any amount"
std::string words_of(const model::LockLimit& limit);

}  // namespace rdmacfg::kinds
