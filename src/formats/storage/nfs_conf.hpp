// SPDX-License-Identifier: Apache-2.0
// nfs-utils' configuration. Source: nfs.conf(5), and nfsconf(8) of 2.6.2: /etc/nfs.conf, then the files of
// /etc/nfs.conf.d whose names end in ".conf", in the order of their names (versionsort(3)); the last line for
// a key counts, and neither sections nor keys have case. A line "include=FILE" is replaced by that file.
// Newer releases read those of the distribution in /usr/etc before. support/nfs/conffile.c.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Named so that it is read after the files that distributions and administrators have.
inline constexpr std::string_view kNfsServerFile = "/etc/nfs.conf.d/zz-rdma-configd.conf";

/// Lines about RDMA in the section [nfsd] of a file, up to a line "include=" or from there on.
struct NfsdRdma {
  std::optional<bool> rdma;
  std::optional<std::int64_t> port;
  int line = 0;  ///< of the last of them
};

/// Of a text that includes no other.
NfsdRdma parse_nfs_conf(std::string_view text);

/// The port that a text of ours gives; nothing when it does not let nfsd serve RDMA.
std::optional<std::int64_t> parse_nfs_server(std::string_view text);
std::string render_nfs_server(std::int64_t port);

/// A file of others with such lines, in the order in which nfs-utils reads them; once more for its lines
/// behind an "include=".
struct ForeignNfsConf {
  std::string path;
  NfsdRdma says;
  bool wins = false;  ///< it is read after ours
};
base::Result<std::vector<ForeignNfsConf>> read_foreign_nfs_conf(system::Files& files);

/// The port on which nfsd serves RDMA by the files of others alone.
std::optional<std::int64_t> foreign_rdma_port(const std::vector<ForeignNfsConf>& others);

}  // namespace rdmacfg::kinds
