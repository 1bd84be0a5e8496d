// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "fakes/faults.hpp"
#include "fakes/machine/machine.hpp"
#include "system/inet.hpp"

namespace rdmacfg::fakes {

/// Addresses and routes: the items of the machine's interfaces, read as text ("addr4 192.0.2.1/24", "route
/// 198.51.100.0/24 via 192.0.2.9 metric 150 table 7").
class FakeInet final : public system::Inet {
 public:
  FakeInet(Faults& faults, Machine& machine) : faults_(faults), machine_(machine) {}

  bool promote_secondaries = false;
  std::set<std::string> duplicates{};  ///< addresses that another host has: "2001:db8::1"
  std::set<std::string> tentative{};   ///< addresses that the kernel still asks about: "2001:db8::1"
  bool slow_check = false;             ///< it does so for longer than anybody waits
  std::vector<std::chrono::milliseconds> check_waits{};  ///< how long each wait might have taken
  int observe_error = 0;
  std::optional<std::vector<system::TcpConnection>> connections;  ///< nothing: a kernel without tcp_diag

  base::Result<std::vector<system::InetAddress>> observe_addresses() override;
  base::Result<std::vector<system::InetRoute>> observe_routes() override;
  base::Result<void> execute(std::span<const system::InetRequest> requests) override;
  base::Result<void> wait_for_addresses(const std::set<int>& indexes,
                                        std::chrono::milliseconds deadline) override;
  std::optional<std::vector<system::TcpConnection>> observe_connections() override { return connections; }

 private:
  int effect(const system::AddAddress& request);
  int effect(const system::DeleteAddress& request);
  int effect(const system::AddRoute& request);
  int effect(const system::DeleteRoute& request);

  Faults& faults_;
  Machine& machine_;
};

}  // namespace rdmacfg::fakes
