// SPDX-License-Identifier: Apache-2.0
// Drop-ins of others that count for a systemd unit beside ours. Sources: systemd.unit(5);
// src/shared/dropin.c of systemd (unit_file_find_dropin_paths()), src/basic/path-lookup.c
// (lookup_paths_init()), src/shared/conf-parser.c (config_parse()).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Folders of units of the system manager; the first ones count for more.
inline constexpr std::array<std::string_view, 13> kUnitLoadPath{
    "/etc/systemd/system.control",   "/run/systemd/system.control",  "/run/systemd/transient",
    "/run/systemd/generator.early",  "/etc/systemd/system",          "/etc/systemd/system.attached",
    "/run/systemd/system",           "/run/systemd/system.attached", "/run/systemd/generator",
    "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",      "/lib/systemd/system",
    "/run/systemd/generator.late",
};

struct DropIn {
  std::string path;
  bool after_ours = false;  ///< systemd reads it after ours
};

/// Drop-ins for a unit in all folders, those of its template, of the beginnings of its name and of all units
/// of its type included, in the order in which systemd reads them: by their names. `ours`: the name of our
/// own, which is left out.
std::vector<DropIn> other_drop_ins(system::Files& files, const std::string& unit, std::string_view ours);

/// A line of a unit file or drop-in as systemd reads it: one that ends with a backslash goes on in the next
/// line, comments left out, with a blank in place of the backslash.
struct UnitLine {
  std::string text;
  int number = 0;  ///< of its first line, from 1
};
/// Without comments.
std::vector<UnitLine> unit_lines(std::string_view text);

/// The values that a unit file or drop-in assigns to a key: "-j %I -R 60" of "ExecStart=-j %I -R 60". An
/// empty one resets the key.
std::vector<std::string> assigned_values(std::string_view text, std::string_view key);

}  // namespace rdmacfg::kinds
