// SPDX-License-Identifier: Apache-2.0
// The unit of systemd that has open-iscsi log in to iSER targets. Sources: iscsiadm(8), usr/idbm.c,
// usr/iface.c and usr/iscsiadm.c of open-iscsi 2.1.8 to 2.1.11; systemd.service(5).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "model/types/inet_types.hpp"

namespace rdmacfg::kinds {

/// Withdrawing leaves it under this name.
inline constexpr std::string_view kIserUnit = "iser-sessions.service";
inline constexpr std::string_view kIserUnitFile = "/etc/systemd/system/iser-sessions.service";
inline constexpr std::string_view kIserBootDropIn =
    "/etc/systemd/system/remote-fs.target.d/50-rdma-configd-iser.conf";

/// The interface of open-iscsi that our records and sessions have (iface.iscsi_ifacename); those of others
/// have another one.
inline constexpr std::string_view kIserInterface = "rdma-configd";

/// A portal of a target, as iscsiadm tells them apart.
struct IserPortal {
  std::string target;  ///< in small letters
  model::IpAddress address;
  std::int64_t port = 0;
  std::int64_t group = 0;  ///< tag of the portal group

  /// text(), nothing else.
  static std::optional<IserPortal> parse(std::string_view text);
  [[nodiscard]] std::string portal() const;  ///< "192.0.2.1:3260,1", "[2001:db8::1]:3260,1"
  [[nodiscard]] std::string text() const;    ///< "iqn.2026-01.org.example:disk 192.0.2.1:3260,1"
  auto operator<=>(const IserPortal&) const = default;
};

struct IserLogins {
  std::set<IserPortal> wanted{};
  /// To be logged out, with their records removed; a run after an interruption sees them here.
  std::set<IserPortal> leaving{};
  /// To be logged out with their records left as they are: a login that is undone.
  std::set<IserPortal> resting{};
  /// Boot in which those of `resting` have a session to be logged out; from the next one on they are logged
  /// in like all others, should nobody have finished it by then. Empty without any, or where it is not known.
  std::string boot{};
  [[nodiscard]] bool empty() const { return wanted.empty() && leaving.empty() && resting.empty(); }
  void erase(const IserPortal& portal);  ///< whichever it is among
  bool operator==(const IserLogins&) const = default;
};

/// Whether the first line says that it is ours.
bool is_our_iser_unit(std::string_view text);
/// Those of a unit of ours; nothing else of it is read.
IserLogins parse_iser_unit(std::string_view text);
/// Empty without any.
std::string render_iser_unit(const IserLogins& logins);

/// Of remote-fs.target: has the unit started at boot, and the interfaces waited for. Not of the unit, whose
/// start in an apply would start the daemon, which waits for the apply.
std::string render_iser_boot_drop_in();

/// Whether open-iscsi logs in at boot by a record (node.startup).
bool logs_in_at_boot(std::string_view record);

}  // namespace rdmacfg::kinds
