// SPDX-License-Identifier: Apache-2.0
// Looks at systemd's units that several kinds take (system/units.hpp).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// Of a resource that waits for systemd, where nothing answers for it.
inline constexpr const char* kNoSystemd = "no systemd answers here";

/// The unit of this name; nothing when no systemd answers.
base::Result<std::optional<system::Unit>> observe_unit(const std::string& name, system::Host& host);

/// Whether it is rdma-configd's, or one of those that come with it.
bool is_own_unit(std::string_view name);

using UnitsByName = std::map<std::string, system::Unit>;

/// Units by the names that they were asked for; empty when no systemd answers.
base::Result<UnitsByName> observe_units_by_name(std::span<const std::string> names, system::Host& host);

/// The state of a unit as facts have it.
struct UnitState {
  std::string active;
  std::string sub{};  ///< empty of a masked unit, whose state is "masked" alone

  /// "activating (auto-restart)"
  [[nodiscard]] std::string text() const;
  static UnitState parse(const std::string& text);
  /// It has exited, and systemd is about to start it again.
  [[nodiscard]] bool restarts() const;
};

/// Whether it runs, or is about to. A service that has ended and waits for systemd to start it again
/// (Restart=) neither runs nor is at rest.
bool is_up(const system::Unit& unit);
bool waits_for_restart(const system::Unit& unit);

/// Has systemd read its files again when those of one of these units changed since it did. Succeeds when no
/// systemd answers.
base::Result<void> reload_changed_units(std::span<const std::string> names, system::Host& host);

}  // namespace rdmacfg::kinds
