// SPDX-License-Identifier: Apache-2.0
// PackageKit on the bus, as org.freedesktop.PackageKit.Transaction.xml has it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fakes/bus/peer.hpp"

namespace rdmacfg::fakes::bus {

class PackageKit {
 public:
  PackageKit();

  /// The state is read and changed by peer().locked().
  std::set<std::string> available, installed;  ///< names of packages
  std::string trouble;                         ///< ErrorCode of an installation; empty without one
  bool finishes = true;                        ///< a transaction comes to its end
  std::vector<std::string> log;                ///< "InstallPackages opensm;1;amd64;debian"

  Peer& peer() { return peer_; }
  /// The path of the transaction that was begun last.
  [[nodiscard]] std::string transaction() const { return "/" + std::to_string(transactions_) + "_test"; }
  static std::string id_of(const std::string& name) { return name + ";1;amd64;debian"; }

 private:
  int resolve(sd_bus_message* call);
  int install(sd_bus_message* call);
  int end(sd_bus_message* call, std::uint32_t exit);

  int transactions_ = 0;
  Peer peer_{"org.freedesktop.PackageKit"};
};

}  // namespace rdmacfg::fakes::bus
