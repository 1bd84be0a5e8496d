// SPDX-License-Identifier: Apache-2.0
// [[nfs_mount]]: NFS file systems that this host mounts over RDMA.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/types/storage_types.hpp"

namespace rdmacfg::kinds {

/// A file system of an NFS server, mounted over RDMA by a unit of systemd.
struct NfsMount {
  std::optional<model::PlainPath> path;
  std::optional<model::ServerName> server;
  std::optional<model::PlainPath> exported;
  std::optional<model::ServicePort> port;
  std::optional<std::vector<std::string>> options;
  std::optional<bool> mount;
  std::optional<std::string> unit;
  std::optional<bool> loaded;
  std::optional<bool> at_boot;
  std::optional<std::string> mounted;
  std::optional<std::vector<std::string>> still;
  std::optional<std::string> job;

  static constexpr auto kFields = std::tuple{
      model::field("path", &NfsMount::path, model::Role::kIdentity,
                   "Mount point: \"/scratch\"; created if missing.", "-"),
      model::field(
          "server", &NfsMount::server, model::Role::kSetting,
          "The NFS server on the RDMA network, by its address, or by a name that has an IPv4 address.",
          "an error"),
      model::field("export", &NfsMount::exported, model::Role::kSetting,
                   "Path that the server exports: \"/export/scratch\".", "an error"),
      model::field("port", &NfsMount::port, model::Role::kSetting, "Port on which the server serves RDMA.",
                   "20049"),
      model::field(
          "options", &NfsMount::options, model::Role::kSetting,
          "Further options of nfs(5): [\"vers=4.2\", \"hard\"]. Changes take effect when the file system "
          "is mounted next.",
          "none"),
      model::field("mount", &NfsMount::mount, model::Role::kPolicy,
                   "Whether it is mounted, now and at boot; false writes only the unit.", "true"),
      model::field("unit", &NfsMount::unit, model::Role::kDerived, "The mount unit.", "-"),
      model::field("loaded", &NfsMount::loaded, model::Role::kDerived, "Whether systemd has read the unit."),
      model::field("at_boot", &NfsMount::at_boot, model::Role::kDerived, "Whether it is mounted at boot."),
      model::field("mounted", &NfsMount::mounted, model::Role::kDerived,
                   "The source that is mounted there now, its transport and port."),
      model::field("still", &NfsMount::still, model::Role::kFact,
                   "Options that the mount has, and that are not those of the unit.", "-"),
      model::field("job", &NfsMount::job, model::Role::kFact, "Job that systemd has queued for it.", "-")};
};

model::SectionSpec nfs_mount_section();

const Kind& nfs_mount();

}  // namespace rdmacfg::kinds
