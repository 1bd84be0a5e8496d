// SPDX-License-Identifier: Apache-2.0
// Targets of LIO as settings.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/storage/lio/lio_target.hpp"
#include "model/types.hpp"
#include "system/storage/lio.hpp"

namespace rdmacfg::kinds {

/// An initiator that may log in, as a setting has it: its name, and what it sees, unless that is every LUN
/// under its own number.
struct LioGuest {
  std::string initiator{};
  std::optional<std::vector<system::LioMapping>> sees{};

  /// "NAME", "NAME (LUNs 0, 5=1, 2 read-only)", "NAME (no LUNs)".
  /// parse() passes over numbers that cannot belong to a LUN: cut, they would show the initiator another one.
  [[nodiscard]] std::string text() const;
  static LioGuest parse(const std::string& text);
};

/// The id of a target in keys: its iSCSI name, or the GUID of its port.
std::string id_of(const system::LioTargetId& target);

/// Of several with one id (others may have made one by the GUID of the port, beside that by its GID), that by
/// the GID.
const system::LioTarget* find_lio_target(const system::LioState& state, const std::string& id);

/// All targets by their ids, as find_lio_target() finds them.
std::map<std::string, const system::LioTarget*> lio_targets_of(const system::LioState& state);

/// A disk that the document can name, as a setting has it.
struct LioDisk {
  enum class Sort { kBlock, kFile };
  Sort sort = Sort::kBlock;
  std::string path;

  /// "block /dev/x", "file /srv/x"
  [[nodiscard]] std::string text() const;
  /// Nothing of another disk, such as "ramdisk NAME".
  static std::optional<LioDisk> parse(std::string_view text);
};

/// Backstores by their ids: "block /dev/x", "file /srv/x", "ramdisk NAME".
using LioDisks = std::map<std::string, std::string>;
std::string lio_disk_of(const system::LioBackstore& backstore);
LioDisks lio_disks_of(const system::LioState& state);

LioTargetEntry settings_of(const system::LioTarget& target, const LioDisks& disks);

/// A LUN without a disk.
inline constexpr std::string_view kNoLioDisk = "none";
/// "0 block /dev/x"
std::string lio_lun_text(const system::LioLun& lun, const LioDisks& disks);

/// "192.0.2.1:3260" → "192.0.2.1 3260", and back.
std::string lio_portal_text(const system::LioPortal& portal);
system::LioPortal lio_portal_of(const std::string& text);

/// All LUNs as an initiator sees them that is shown each under its own number.
std::vector<system::LioMapping> all_lio_luns(const std::vector<system::LioLun>& luns);

/// Device or file of a disk, from "0 block /dev/x"; empty when it has none.
std::string path_of_lun(const std::string& text);

/// Backstores of ours are known by their names, which rtslib keeps when it saves and restores them.
inline constexpr std::string_view kOurBackstores = "rdma-configd-";
/// The name of ours for a device or file.
std::string lio_backstore_name(std::string_view path);

/// The serial number of a disk, by which initiators know it: the same at each boot, and another one on each
/// host, since disks with one serial number are taken for paths to one disk.
/// @param machine  /etc/machine-id; blanks around it do not count
std::string lio_serial_of(std::string_view machine, std::string_view path);

inline constexpr std::size_t kSrpPortIdDigits = 32;
/// The port identifiers, "0x" and kSrpPortIdDigits digits, of an initiator of an SRP target: of the GUID of a
/// port two, as ib_srp's own begins with zeros, and the one of srp_daemon -n, as its service has it, with the
/// GUID of the target's port. Of an identifier itself that one; of another text none.
std::vector<std::string> srp_port_ids(const model::Guid& target, std::string_view initiator);

}  // namespace rdmacfg::kinds
