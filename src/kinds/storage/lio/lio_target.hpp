// SPDX-License-Identifier: Apache-2.0
// [[lio_target]]: disks that this host offers to others by iSER or SRP, through the kernel's SCSI target
// (LIO).
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/types/storage_types.hpp"

namespace rdmacfg::kinds {

/// A target with all that belongs to it.
struct LioTargetEntry {
  std::optional<model::TargetName> wwn;
  std::optional<std::vector<std::string>> initiators;
  std::optional<bool> any_initiator;
  std::optional<std::vector<std::string>> addresses;
  std::optional<model::ServicePort> port;
  std::optional<std::vector<std::string>> portals;
  std::optional<std::vector<std::string>> luns;
  std::optional<bool> enabled;
  std::optional<std::vector<std::string>> logged_in;

  static constexpr auto kFields = std::tuple{
      model::field(
          "wwn", &LioTargetEntry::wwn, model::Role::kIdentity,
          "iSER: name of the target, \"iqn.2026-01.org.example:scratch\". SRP: GUID of the port of this "
          "host on which it is offered.",
          "-"),
      model::field(
          "initiators", &LioTargetEntry::initiators, model::Role::kSetting,
          "Initiators that may log in. iSER: their names, as /etc/iscsi/initiatorname.iscsi has them. SRP: "
          "GUIDs of their ports, or their port identifiers of 32 digits.",
          "none"),
      model::field("any_initiator", &LioTargetEntry::any_initiator, model::Role::kSetting,
                   "Whether every initiator may log in, read and write. Not for SRP.", "false"),
      model::field("addresses", &LioTargetEntry::addresses, model::Role::kPolicy,
                   "iSER: addresses of this host on which it is offered: [\"192.0.2.1\"]."),
      model::field("port", &LioTargetEntry::port, model::Role::kPolicy, "iSER: port at these addresses.",
                   "3260"),
      model::field("portals", &LioTargetEntry::portals, model::Role::kDerived,
                   "Addresses and ports on which it is offered."),
      model::field("luns", &LioTargetEntry::luns, model::Role::kDerived,
                   "Its disks: number, and device or file."),
      model::field("enabled", &LioTargetEntry::enabled, model::Role::kDerived,
                   "Whether initiators may log in at all."),
      model::field("logged_in", &LioTargetEntry::logged_in, model::Role::kFact,
                   "iSER initiators that are logged in.")};
};

/// A disk of a target.
struct LioLunEntry {
  std::optional<std::int64_t> number;
  std::optional<model::PlainPath> device;
  std::optional<model::PlainPath> file;

  static constexpr auto kFields = std::tuple{
      model::field("number", &LioLunEntry::number, model::Role::kIdentity,
                   "Its logical unit number, from 0 to 255; initiators see the disk under it.", "-"),
      model::field("device", &LioLunEntry::device, model::Role::kPolicy,
                   "A block device: \"/dev/disk/by-id/…\". Use a name that persists across reboots."),
      model::field("file", &LioLunEntry::file, model::Role::kPolicy,
                   "A file in place of a device; it must exist, and its size is that of the disk.")};
};

model::SectionSpec lio_target_section();

const Kind& lio_target();

}  // namespace rdmacfg::kinds
