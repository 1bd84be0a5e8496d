// SPDX-License-Identifier: Apache-2.0
// Files of units in the administrator's folder. Source: systemd.unit(5).
#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>

namespace rdmacfg::system::detail {

/// Drop-ins in `folder` of a unit with these names (its own and its aliases) that are none of `read`, the
/// paths that systemd says it has read. One of the same name in a folder that counts for more takes the place
/// of another, so names decide.
std::set<std::string> unread_drop_ins(const std::filesystem::path& folder, const std::set<std::string>& names,
                                      std::span<const std::string> read);

}  // namespace rdmacfg::system::detail
