// SPDX-License-Identifier: Apache-2.0
#include "fakes/fake_nfsd.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "formats/nfs_conf.hpp"

namespace rdmacfg::fakes {

using base::fail_errno;
using base::Result;

bool FakeNfsd::runs() const {
  const auto at = units_.units.find("nfs-server.service");
  const bool running = at != units_.units.end() && at->second.running;
  if (!running) {
    if (!by_hand) ports_.clear();
    return by_hand;
  }
  if (at->second.starts_seen != starts_seen_) {  // rpc.nfsd, as the files are read then
    starts_seen_ = at->second.starts_seen;
    ports_.clear();
    std::string all;
    for (const auto& [path, text] : files_.content) {
      const bool read =
          path == "/etc/nfs.conf" || (path.starts_with("/etc/nfs.conf.d/") && path.ends_with(".conf"));
      if (read) all += text + "\n";
    }
    const auto says = kinds::parse_nfs_conf(all);
    if (says.rdma == true) ports_.insert(static_cast<int>(says.port.value_or(20049)));
  }
  return true;
}

std::string FakeNfsd::dump() const {
  if (!runs()) return {};
  std::string out = "nfsd";
  for (const int port : ports_) out += fmt::format(" rdma {}", port);
  return out + "\n";
}

Result<std::optional<std::vector<int>>> FakeNfsd::observe_rdma_ports() {
  if (!runs()) return std::optional<std::vector<int>>{};
  return std::optional(std::vector<int>(ports_.begin(), ports_.end()));
}

Result<void> FakeNfsd::listen_rdma(int port) {
  const auto what = fmt::format("nfsd: serve RDMA on port {}", port);
  const int err = faults_.call(what, [&] {
    if (!runs()) return EIO;
    if (listen_error != 0) return listen_error;
    return ports_.insert(port).second ? 0 : EADDRINUSE;
  });
  return err == 0 ? Result<void>() : fail_errno(err, what);
}

}  // namespace rdmacfg::fakes
