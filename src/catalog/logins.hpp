// SPDX-License-Identifier: Apache-2.0
// Login sessions over the network. Sources: sock_diag(7), /proc/net/tcp (net/ipv4/tcp_ipv4.c,
// net/ipv6/tcp_ipv6.c), sshd_config(5), sd-login(3).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "model/types/inet_types.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

struct LoginSession {
  model::IpAddress peer;                  ///< the host that the user is logged in from
  std::optional<model::IpAddress> local;  ///< this host's end; nothing when only logind knows the session
};

struct Logins {
  std::vector<LoginSession> sessions;
  bool hidden = false;  ///< the connections cannot be read: there may be others
};

/// Established TCP connections to sshd's ports, or from a host that logind has a session of, at whatever
/// port; and sessions of logind without such a connection (mosh(1)). One for all connections between the same
/// two addresses.
Logins observe_logins(system::Host& host);

/// TCP ports on which sshd accepts logins: 22, and those of its configuration.
std::set<std::uint16_t> login_ports(system::Files& files);

}  // namespace rdmacfg::kinds
