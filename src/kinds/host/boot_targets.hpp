// SPDX-License-Identifier: Apache-2.0
// Units that are enabled only for targets that the next boot does not reach. Sources: bootup(7),
// systemd.special(7), systemd.unit(5), kernel-command-line(7).
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "system/files.hpp"
#include "system/units.hpp"

namespace rdmacfg::kinds {

/// The targets that a unit is enabled for, and those that the host starts instead.
struct UnreachedTargets {
  std::vector<std::string> wanted_by;  ///< "graphical.target"
  std::vector<std::string> booted;     ///< "multi-user.target"; several where boot entries differ

  /// "enabled for graphical.target alone, and the host starts multi-user.target"
  [[nodiscard]] std::string text() const;
  /// The way to have the next boot start it: "`systemctl add-wants multi-user.target x.service`".
  [[nodiscard]] std::string remedy(std::string_view unit) const;
};

/// Units that start with the default target, or with another one of the next kernel command lines, as far as
/// links and unit files say. Both are read when they are first needed.
class BootTargets {
 public:
  explicit BootTargets(system::Files& files) : files_(files) {}

  /// Has the links count that `systemctl enable` makes for the [Install] section of a unit. One whose section
  /// names an alias, or other units to enable, is not judged. Before any unreached().
  void enable(const system::Unit& unit);

  /// The targets that want the unit if the next boot does not start it. Nothing if it may: a target that the
  /// boot reaches wants it, or another unit, a udev rule or a D-Bus service file names it. Only graphical,
  /// multi-user, rescue and emergency.target are judged, as udev and others may start any other; also nothing
  /// where files cannot be read or name too many units.
  std::optional<UnreachedTargets> unreached(const system::Unit& unit);

 private:
  std::optional<UnreachedTargets> judge(const std::string& unit, const std::set<std::string>& targets);
  void begin();
  void read_links();
  void add_default_target();
  void add(std::string_view unit);
  void add_starters();
  void add_named_by(std::string_view text, const std::string& unit);
  void expand(const std::string& unit);
  bool may_reach(const std::set<std::string>& units);
  bool is_started_on_demand(const std::string& unit);
  std::vector<std::string> texts_of_unit(const std::string& unit);
  std::optional<std::string> text_of_file(const std::string& file, const std::string& unit);

  system::Files& files_;
  bool begun_ = false, unknown_ = false;
  std::map<std::string, std::set<std::string>> targets_by_unit_, units_by_target_;  // by their links
  std::set<std::string> drop_in_folders_;                                           // "x.service.d"
  std::set<std::string> has_other_names_;  // by the [Install] section
  std::vector<std::string> booted_;
  std::set<std::string> reached_;
  std::deque<std::string> queue_;  // reached, and not looked into yet
  std::size_t expanded_ = 0;
};

}  // namespace rdmacfg::kinds
