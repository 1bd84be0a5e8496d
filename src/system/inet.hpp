// SPDX-License-Identifier: Apache-2.0
// IP addresses and routes of interfaces, in our words. Sources: rtnetlink(7), net/ipv4/devinet.c,
// net/ipv6/addrconf.c, net/ipv4/fib_semantics.c, net/ipv6/route.c, sock_diag(7).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::system {

/// The lifetime of an address that stays (INFINITY_LIFE_TIME of net/addrconf.h).
inline constexpr std::uint32_t kForever = 0xffff'ffff;

/// An address of an interface.
struct InetAddress {
  int index = 0;  ///< of the interface
  model::IpPrefix prefix;
  bool tentative = false;  ///< duplicate address detection is not over; the address does not work yet
  bool duplicate = false;  ///< another host has it (IFA_F_DADFAILED); it does not work
  bool permanent = true;   ///< IFA_F_PERMANENT; without it, a lease or what a router advertised
  /// Of IPv4, with a peer in another network (`ip address add A peer B/24`): the prefix length is the peer's,
  /// no route leads to the address's own network, and the address without a peer is another one beside it
  /// (find_matching_ifa(), inet_ifa_match()).
  bool peer_elsewhere = false;
  bool no_network_route = false;           ///< IFA_F_NOPREFIXROUTE: the kernel adds no route to the network
  std::optional<model::IpAddress> peer{};  ///< of a point-to-point address; it decides the network
  std::optional<model::IpAddress> broadcast{};  ///< of IPv4
  std::string label{};        ///< of IPv4: mostly the interface's name or an alias of it ("ib0:1")
  std::uint8_t scope = 0;     ///< RT_SCOPE_*
  std::uint32_t metric = 0;   ///< of the route to its network (IFA_RT_PRIORITY, Linux 4.18)
  std::uint8_t protocol = 0;  ///< who set it (IFA_PROTO, Linux 5.18)
  std::uint32_t valid = kForever, preferred = kForever;  ///< remaining lifetimes in seconds

  /// The network that it is in for the kernel, which compares the peers (inet_ifa_match()).
  [[nodiscard]] model::IpPrefix network() const {
    return model::IpPrefix{peer.value_or(prefix.address), prefix.length}.network();
  }
};

/// A unicast route over one interface.
struct InetRoute {
  int index = 0;
  model::Family family = model::Family::kIpv4;
  model::RouteTarget to;
  std::optional<model::IpAddress> via;  ///< of a route of others also of IPv6 for IPv4 (RTA_VIA, RFC 5549)
  std::uint32_t metric = 0;             ///< IPv6 has 1024 where none was given
  std::uint32_t table = 254;
  bool made_by_kernel = false;  ///< RTPROT_KERNEL, RTPROT_RA, RTPROT_REDIRECT
  /// Applies only to packets with one TOS (IPv4) or from one network (IPv6, `ip -6 route add … from`): a
  /// route for all other packets may exist beside it.
  bool selective = false;

  auto operator<=>(const InetRoute&) const = default;
};

/// Adds an address that stays; one that is there with a lifetime loses it.
struct AddAddress {
  int index = 0;
  std::string name;  ///< of the interface, for errors
  model::IpPrefix prefix;
};

/// Deletes an address. With the first IPv4 address of a network the kernel deletes the others of that
/// network unless promote_secondaries is set: `keep` are added again, as they were, in the same system call,
/// so that a crash of ours cannot come between. With the last IPv4 address of an interface it forgets every
/// IPv4 route over it, in all tables and whoever set them, and says nothing of that (fib_disable_ip()): where
/// the others go and come back, `hold` is added with 32 bits before, and goes when they are back.
struct DeleteAddress {
  int index = 0;
  std::string name;
  model::IpPrefix prefix;
  std::vector<InetAddress> keep{};
  std::optional<model::IpAddress> hold{};
};

/// Adds a route; refused (EEXIST) when there is one to the same network with this metric in the table.
struct AddRoute {
  std::string name;  ///< of the interface, for errors
  InetRoute route;
};

struct DeleteRoute {
  std::string name;
  InetRoute route;
};

using InetRequest = std::variant<AddAddress, DeleteAddress, AddRoute, DeleteRoute>;

/// An established TCP connection of this network namespace. A socket for both families has IPv4 addresses as
/// ::ffff:192.0.2.1 (RFC 4291, 2.5.5.2).
struct TcpConnection {
  model::IpAddress local, remote;
  std::uint16_t local_port = 0;

  auto operator<=>(const TcpConnection&) const = default;
};

/// The kernel's addresses and routes.
class Inet {
 public:
  virtual ~Inet() = default;

  /// Addresses of global (and wider than link) scope of all interfaces, without temporary ones of IPv6, by
  /// one dump.
  virtual base::Result<std::vector<InetAddress>> observe_addresses() = 0;

  /// Unicast routes over one interface each, by one dump; no cached ones, none with several next hops.
  virtual base::Result<std::vector<InetRoute>> observe_routes() = 0;

  /// Carries out requests in order. An object that is there already (or gone already, of a deletion) is not
  /// an error; of a route that is only so when it is the same one.
  virtual base::Result<void> execute(std::span<const InetRequest> requests) = 0;

  /// Waits until no address of the interfaces is tentative, or the time is over.
  virtual base::Result<void> wait_for_addresses(const std::set<int>& indexes,
                                                std::chrono::milliseconds deadline) = 0;

  /// The established TCP connections, by one dump for each family; nothing where they cannot be asked for
  /// (a kernel without tcp_diag), which says nothing about whether there are any.
  virtual std::optional<std::vector<TcpConnection>> observe_connections() { return std::nullopt; }
};

}  // namespace rdmacfg::system
