// SPDX-License-Identifier: Apache-2.0
// Steps in configfs (Documentation/filesystems/configfs.rst). A step that changes nothing succeeds; an error
// begins with `action`.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "system/modules.hpp"
#include "system/units.hpp"

namespace rdmacfg::system::detail {

/// One part of a path, whatever somebody may call it: neither empty, nor hidden, nor with a '/'.
bool is_path_part(const std::string& name);

base::Result<void> make_folder(const std::filesystem::path& path, const std::string& action);
base::Result<void> remove_folder(const std::filesystem::path& path, const std::string& action);
/// A link at `at` that leads to `to`.
base::Result<void> make_link(const std::filesystem::path& to, const std::filesystem::path& at,
                             const std::string& action);
base::Result<void> remove_link(const std::filesystem::path& path, const std::string& action);
base::Result<void> write_attribute(const std::filesystem::path& path, const std::string& value,
                                   const std::string& action);

/// Loads `module`, mounts configfs, and waits for `folder` to be there.
base::Result<void> start_configfs(const std::filesystem::path& folder, const char* module, Units& units,
                                  Modules& modules);

/// systemd-escape(1), of a path without a '/' before it.
std::string unit_escaped(const std::string& text);

}  // namespace rdmacfg::system::detail
