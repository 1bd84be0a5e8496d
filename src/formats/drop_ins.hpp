// SPDX-License-Identifier: Apache-2.0
// Drop-ins of others that count for a systemd unit beside ours. Sources: systemd.unit(5);
// src/shared/dropin.c of systemd (unit_file_find_dropin_paths()).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "system/files.hpp"

namespace rdmacfg::kinds {

struct DropIn {
  std::string path;
  bool after_ours = false;  ///< systemd reads it after ours
};

/// Drop-ins for a unit in all folders, those of its template, of the beginnings of its name and of all units
/// of its type included, in the order in which systemd reads them: by their names. `ours`: the name of our
/// own, which is left out.
std::vector<DropIn> other_drop_ins(system::Files& files, const std::string& unit, std::string_view ours);

/// The values that a unit file or drop-in assigns to a key: "-j %I -R 60" of "ExecStart=-j %I -R 60". An
/// empty one resets the key.
std::vector<std::string> assigned_values(std::string_view text, std::string_view key);

}  // namespace rdmacfg::kinds
