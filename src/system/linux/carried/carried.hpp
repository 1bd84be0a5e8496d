// SPDX-License-Identifier: Apache-2.0
// The state that an interface carries, as raw netlink messages in printable form ("addr <hex>", "route
// <hex>", "rule <hex>", "neigh <hex>"), and back: the way of `ip address save|restore` and `ip route
// save|restore`. Sources: rtnetlink(7), if_addr.h, rtnetlink.h, fib_rules.h, neighbour.h,
// net/ipv4/{devinet,fib_frontend,fib_semantics}.c, net/ipv6/{addrconf,route}.c, net/core/neighbour.c.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "system/linux/netlink/netlink_message.hpp"

namespace rdmacfg::system::detail {

enum class ItemSort { kAddress, kRoute, kRule, kNeighbour };

struct Item {
  ItemSort sort = ItemSort::kAddress;
  std::vector<std::byte> bytes;  ///< a whole message with its header

  [[nodiscard]] const nlmsghdr& header() const { return *reinterpret_cast<const nlmsghdr*>(bytes.data()); }
};

std::string item_text(ItemSort sort, const nlmsghdr& header);

/// Nothing when the text is not an item or its message is torn.
std::optional<Item> parse_item(std::string_view text);

Message address_dump_request(std::uint8_t family);
Message route_dump_request(std::uint8_t family);
Message rule_dump_request(std::uint8_t family);
/// Tables of the kernel.
enum class NeighbourTable { kNeighbours, kProxies };
Message neighbour_dump_request(std::uint8_t family, NeighbourTable table);

/// Where items are put back: interface `from`, then called `old_name`, is now interface `to` called `name`.
struct Target {
  int from = 0;
  std::string old_name;
  int to = 0;
  std::string name;
  std::map<int, int> moved{};         ///< other interfaces that came back with another index
  std::vector<std::string> former{};  ///< names under which policy rules may have been put meanwhile

  [[nodiscard]] int now(int index) const;
};

/// Interface index, family, masked prefix and its length of addresses for which the kernel makes no prefix
/// route.
using BarePrefixes = std::set<std::tuple<int, int, std::vector<std::byte>, int>>;

/// The interface of an address that must be put back; 0 for what the kernel makes by itself. Notes in
/// `bare` what has IFA_F_NOPREFIXROUTE.
int address_owner(const nlmsghdr& header, std::uint8_t family, BarePrefixes& bare);

/// The interfaces over which a route goes; none for what the kernel makes by itself.
std::set<int> route_owners(const nlmsghdr& header, std::uint8_t family, const BarePrefixes& bare);

/// The names of interfaces that a policy rule selects by.
std::set<std::string> rule_owners(const nlmsghdr& header, std::uint8_t family);

/// Equal for two policy rules only if the kernel treats them as the same rule (rule_exists()): it compares
/// all selectors, and releases add more (FRA_DSCP in 6.13, FRA_FLOWLABEL in 6.14, the masks in 6.15). Empty
/// for a truncated message.
std::string rule_identity(const nlmsghdr& header);

/// The interface of a permanent neighbour or a proxy, which only an administrator makes and a link that goes
/// down loses (neigh_ifdown(), pneigh_ifdown()); 0 for what is learned.
int neighbour_owner(const nlmsghdr& header, std::uint8_t family);

struct AddressReplay {
  int family = 0;
  Message add;
  std::optional<Message> remove{};  ///< of IPv4, to be used when the label on the interface is another one
  /// Gives an IPv6 address back its flags; it is added without duplicate address detection, since routes may
  /// prefer it as source at once, which the kernel refuses for a tentative one.
  std::optional<Message> settle{};
};
std::optional<AddressReplay> replay_address(const Item& item, const Target& target);

/// IPv4 only: an address with the label that it has or should have. inetdev_changename() gives all addresses
/// but the first a label of its own ("mlx4_ib0:2"), and no request changes the label of an address.
struct Label {
  std::vector<std::byte> address;
  int length = 0;
  std::string label;

  bool operator==(const Label&) const = default;
};
std::optional<Label> label_of(const nlmsghdr& header, int index);

struct RouteReplay {
  Message add;
  bool gateway = false;  ///< needs other routes first
  bool shared = false;   ///< goes over other interfaces too
};
/// IPv6 multipath routes become one message per next hop of the interface: the kernel takes back what it has
/// added of a multipath request when one of its next hops exists already.
std::vector<RouteReplay> replay_route(const Item& item, const Target& target);

struct RuleReplay {
  Message add;
  std::vector<Message> remove;  ///< the rules of names that the interface no longer has
};
std::optional<RuleReplay> replay_rule(const Item& item, const Target& target);

std::optional<Message> replay_neighbour(const Item& item, const Target& target);

}  // namespace rdmacfg::system::detail
