// SPDX-License-Identifier: Apache-2.0
// Tests of function: does a packet come back? Sources: InfiniBand architecture (14.2 subnet management, 15.2
// subnet administration), rdma_cm(7), icmp(7).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "model/types.hpp"

namespace rdmacfg::system {

/// How long each answer took; a lost one is not in it.
struct PingTimes {
  std::vector<std::chrono::nanoseconds> answers;
  int sent = 0;
  std::string who;  ///< that answered, as it says itself: "GUID 00:02:… LID 18"
};

class FunctionTest {
 public:
  virtual ~FunctionTest() = default;

  /// Asks the node at a LID for its NodeInfo, by a subnet management datagram from a local port. Every
  /// InfiniBand port and switch answers these by itself.
  virtual base::Result<PingTimes> ping_lid(const std::string& device, int port, int lid, int count,
                                           std::chrono::milliseconds timeout) = 0;

  /// The LID of a port GUID in the subnet of a local port, as the subnet administrator says.
  virtual base::Result<int> resolve_guid(const std::string& device, int port, model::Guid guid,
                                         std::chrono::milliseconds timeout) = 0;

  /// ICMP echo to an IPv4 address, by the given interface.
  virtual base::Result<PingTimes> ping_ip(const std::string& interface, const std::string& address, int count,
                                          std::chrono::milliseconds timeout) = 0;

  /// Waits for clients of rc_client() on an address ("" for all) and answers them, until `clients` have come
  /// and gone. `ready` is called once it listens.
  virtual base::Result<void> rc_server(const std::string& address, int port, int clients,
                                       const std::function<void()>& ready) = 0;

  /// Connects by rdma_cm, and sends messages to and fro over a reliable connection.
  virtual base::Result<PingTimes> rc_client(const std::string& address, int port, int count,
                                            std::chrono::milliseconds timeout) = 0;
};

}  // namespace rdmacfg::system
