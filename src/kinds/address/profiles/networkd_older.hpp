// SPDX-License-Identifier: Apache-2.0
// Files of systemd-networkd that older versions wrote: their names begin with 10-, which let netplan's files
// win (ADR 0057).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "kinds/address/profiles/networkd_file.hpp"
#include "kinds/world.hpp"
#include "model/change.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// "GUID" or "GUID/0x8002" → the path that older versions gave networkd_file().
std::string older_networkd_file(std::string_view id);

/// The id of such a file name; nothing for another's.
std::optional<std::string> older_networkd_id(std::string_view file_name);

/// The files of an interface.
struct NetworkFiles {
  std::optional<std::string> text;   ///< of networkd_file()
  std::optional<std::string> older;  ///< of older_networkd_file(), if its first line is ours

  /// The text that systemd-networkd uses: of two files the first by name.
  [[nodiscard]] const std::optional<std::string>& used() const { return text ? text : older; }
  [[nodiscard]] bool only_older() const { return !text && older; }
};

base::Result<NetworkFiles> read_network_files(std::string_view id, system::Files& files);

/// The settings in used(), with the name of the older file, and whether both files exist.
NetworkdFile parse_network_files(std::string_view id, const NetworkFiles& files);

/// Adds the older file to what a change carries, so that undoing can bring it back.
void carry_older(model::Change& change, const NetworkFiles& now);

/// An older file that a change brings back.
struct FormerOlder {
  std::string text;
  bool alone = false;  ///< networkd_file() was not there
};

/// Nothing when the change leads to a host without the older file.
std::optional<FormerOlder> former_older(const model::Change& change);

/// Warns of drop-ins for older names, which systemd-networkd does not read for the new ones.
void warn_of_older_drop_ins(const std::vector<model::Desired>& desired, World& world,
                            model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
