// SPDX-License-Identifier: Apache-2.0
// [nfs_server]: the kernel's NFS server over RDMA.
#pragma once

#include <optional>
#include <tuple>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/types/storage_types.hpp"

namespace rdmacfg::kinds {

/// The listener of nfsd for RDMA: a drop-in of nfs.conf for its next start, and one in the server that runs.
/// Exports are the same for every transport.
struct NfsServer {
  std::optional<model::ServicePort> rdma_port;
  std::optional<std::int64_t> listening;

  static constexpr auto kFields =
      std::tuple{model::field("rdma_port", &NfsServer::rdma_port, model::Role::kSetting,
                              "Port on which the kernel's NFS server serves RDMA; clients expect 20049."),
                 model::field("listening", &NfsServer::listening, model::Role::kDerived,
                              "The port on which it serves RDMA now, while it runs.")};
};

model::SectionSpec nfs_server_section();

const Kind& nfs_server();

}  // namespace rdmacfg::kinds
