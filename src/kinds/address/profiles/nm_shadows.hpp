// SPDX-License-Identifier: Apache-2.0
// Profiles and marks of deletion that NetworkManager takes in place of a profile with the same UUID. Sources:
// nms-keyfile-plugin.c, nms-keyfile-storage.c, nms-keyfile-utils.h (NMSKeyfileStorageType: /run counts for
// more than /etc, /etc for more than /usr/lib).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kNmMeta = ".nmmeta";

/// Of a keyfile; empty without one.
std::string profile_uuid(const std::string& text);

/// Whether UUID.nmmeta says that the profile was deleted: it is a link to /dev/null, or a file that names
/// that. NetworkManager passes over any other (_load_file() in nms-keyfile-plugin.c).
bool is_tombstone(system::Files& files, const std::string& path, std::string_view uuid);

/// Warns of files in /run that take the place of our profiles.
void warn_of_shadows(const std::vector<model::Desired>& desired, World& world,
                     model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
