// SPDX-License-Identifier: Apache-2.0
// Looks at the fabric behind a local InfiniBand port. It only asks, and sets nothing but counters back.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "fabric/fabric.hpp"

namespace rdmacfg::system {

struct FabricRequest {
  std::string port;  ///< "mlx5_0/1"; empty: the first active port, else the first with a link
  std::chrono::milliseconds timeout{60'000};  ///< of all of it
  std::uint64_t route_to = 0;                 ///< also the way to this port GUID; 0: none
  bool counters = false;                      ///< also the counters of every port that has a link
  bool targets = false;                       ///< also the SRP targets of every port that has some
};

/// The counters of a port, where performance management finds them.
struct CounterPlace {
  fabric::End port;
  int lid = 0;  ///< of the port; of a switch, its own
};

/// `done` of `total` (0: not known yet) of what is under way.
using FabricProgress = std::function<void(std::size_t done, std::size_t total, const std::string& next)>;

class FabricReader {
 public:
  virtual ~FabricReader() = default;

  /// Fails where nothing can be seen: no such port, no link, no access to the umad device, libraries that are
  /// not installed, kTimeout. Other parts that could not be read are in Fabric::missing.
  virtual base::Result<fabric::Fabric> read(const FabricRequest& request, const FabricProgress& progress) = 0;

  /// Sets the error counters of ports, and those of waiting, to 0; traffic is counted on. @return the places
  /// that did not answer
  virtual base::Result<std::vector<fabric::End>> clear_counters(const FabricRequest& request,
                                                                const std::vector<CounterPlace>& places) = 0;
};

}  // namespace rdmacfg::system
