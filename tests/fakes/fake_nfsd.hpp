// SPDX-License-Identifier: Apache-2.0
// The kernel's NFS server as rpc.nfsd of nfs-server.service starts it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "fakes/fake_units.hpp"
#include "fakes/faults.hpp"
#include "fakes/memory_files.hpp"
#include "system/nfsd.hpp"

namespace rdmacfg::fakes {

/// It runs while nfs-server.service does, with the listeners that nfs.conf has at its start and those that
/// were added since. A test may have it run without a unit.
class FakeNfsd final : public system::Nfsd {
 public:
  FakeNfsd(Faults& faults, MemoryFiles& files, FakeUnits& units)
      : faults_(faults), files_(files), units_(units) {}

  bool by_hand = false;  ///< it runs, and not by its unit
  int listen_error = 0;  ///< of every new listener

  [[nodiscard]] std::string dump() const;

  base::Result<std::optional<std::vector<int>>> observe_rdma_ports() override;
  base::Result<void> listen_rdma(int port) override;

 private:
  bool runs() const;

  Faults& faults_;
  MemoryFiles& files_;
  FakeUnits& units_;
  mutable int starts_seen_ = 0;
  mutable std::set<int> ports_;  // taken from the files at the first question after a start
};

}  // namespace rdmacfg::fakes
