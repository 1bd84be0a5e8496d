// SPDX-License-Identifier: Apache-2.0
// Network interfaces, in our words. Source: rtnetlink(7), if_link.h,
// drivers/infiniband/ulp/ipoib/ipoib_netlink.c.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "model/types.hpp"

namespace rdmacfg::system {

/// An IPoIB interface's own attributes (IFLA_INFO_DATA of kind "ipoib").
struct IpoibInfo {
  model::Pkey pkey;
  model::IpoibMode mode = model::IpoibMode::kDatagram;
  bool umcast = false;
  bool child = false;              ///< a P_Key interface: IFLA_LINK names its parent
  bool connected_capable = false;  ///< bit 0x80 of the first address byte: the port can do connected mode
  model::Guid guid;                ///< of the port: the last 8 bytes of the hardware address. 0: none
};

/// One network interface of this network namespace.
struct Link {
  int index = 0;
  std::string name;
  std::vector<std::string> altnames;
  bool up = false;       ///< administratively (IFF_UP)
  bool carrier = false;  ///< IFF_LOWER_UP
  std::int64_t mtu = 0;  ///< bytes
  int parent = 0;        ///< ifindex of the parent, 0 without one
  int master = 0;        ///< ifindex of the bond or bridge that it is in, 0 without one
  std::uint32_t group = 0;
  std::string kind;                ///< IFLA_INFO_KIND: "ipoib", "dummy", "" for most hardware
  std::optional<IpoibInfo> ipoib;  ///< of IPoIB interfaces: is_ipoib()
};

/// Whether an interface is an IPoIB one. `infiniband`: its type is ARPHRD_INFINIBAND. A bond takes that type
/// and the hardware address of what is in it, and tun any type it is told; kernels where ib_ipoib registers
/// no kind for a port's own interface give none.
bool is_ipoib(bool infiniband, std::string_view kind);

/// Changes what is set of one existing interface, in one message.
struct SetLink {
  int index = 0;
  std::optional<std::string> name{};
  std::optional<std::int64_t> mtu{};
  std::optional<bool> up{};
  std::optional<bool> umcast{};
  std::optional<std::uint32_t> group{};
};

/// Creates a P_Key child over netlink: datagram, down. The mode is not asked for: ipoib_changelink() may lose
/// RTNL.
struct CreateChild {
  int parent = 0;
  std::string name;
  model::Pkey pkey;
};

/// Sets the same as SetLink on a link that this batch has just created, found by name.
struct SetCreated {
  std::string name;
  std::optional<std::int64_t> mtu{};
  std::optional<bool> up{};
  std::optional<bool> umcast{};
};

struct DeleteLink {
  int index = 0;
};

/// Deletes every link of the group. The caller has checked by a dump that it holds only what it should.
struct DeleteGroup {
  std::uint32_t group = 0;
};

struct AddAltname {
  int index = 0;
  std::string altname;
};

struct DeleteAltname {
  int index = 0;
  std::string altname;
};

using LinkRequest =
    std::variant<SetLink, CreateChild, SetCreated, DeleteLink, DeleteGroup, AddAltname, DeleteAltname>;

/// Everything an interface holds that the kernel drops when it goes down or is deleted, one opaque printable
/// text per item: IPv4 and IPv6 addresses, routes, and policy rules that name it. Replaying an item that is
/// still there is harmless. Items are only understood by the adapter that made them.
struct Carried {
  int index = 0;     ///< of the interface when it was read
  std::string name;  ///< then
  std::vector<std::string> items;
  /// The name that it is about to get. When it is put back under the old one after all, policy rules that had
  /// moved to the new one go.
  std::string becomes{};
};

/// The name of an interface while it makes room for another in a swap: "rdmacfg3".
std::string temporary_name(int index);

/// The names under which policy rules of `carried` may have been left when the interface is called `name`:
/// its old one, the one that it was about to get, and the temporary one of a rename that was killed.
std::vector<std::string> former_names(const Carried& carried, const std::string& name);

/// The kernel's network interfaces.
class Links {
 public:
  virtual ~Links() = default;

  /// All interfaces by one dump, in the order of their indexes; repeated while the kernel says it was
  /// interrupted.
  virtual base::Result<std::vector<Link>> observe_links() = 0;

  /// The index of the interface that has a name or an alternative name of at most 15 characters; nothing
  /// without one. Costs the same however many interfaces there are.
  virtual base::Result<std::optional<int>> index_of(const std::string& name) = 0;

  /// Carries out requests in order, many to a message. After the first refusal later ones may or may not have
  /// been carried out; the error names the object and the request. Success is the kernel's word, not the
  /// fact.
  virtual base::Result<void> execute(std::span<const LinkRequest> requests) = 0;

  /// The addresses, routes and rules of the given interfaces, by one dump per sort, whatever their number.
  virtual base::Result<std::vector<Carried>> observe_carried(std::span<const Link> links) = 0;

  /// Puts back what is missing of `carried` on interface `index`, now called `name`. First addresses, then
  /// routes and rules. A policy rule of the old name is moved to the new one.
  virtual base::Result<void> restore_carried(const Carried& carried, int index, const std::string& name) = 0;

  /// Waits until every one of the interfaces has carrier, or the time is over; says which have none.
  virtual base::Result<std::vector<int>> wait_for_carrier(std::span<const int> indexes,
                                                          std::chrono::milliseconds deadline) = 0;

  /// The items that `then` had and `now` lacks, in words: "192.0.2.1/24", "a route to 198.51.100.0/24". Items
  /// that comes and goes by itself (leases, advertised addresses) is left out.
  virtual std::vector<std::string> lacking(const Carried& then, const Carried& now) = 0;
};

/// The sysfs files of ib_ipoib: the only safe way to change a mode (the sysfs writer knows when RTNL was
/// lost).
class Ipoib {
 public:
  virtual ~Ipoib() = default;

  /// Whether /sys/class/net/NAME/mode is there; children that were made over netlink have none.
  virtual bool has_mode_file(const std::string& name) = 0;

  /// Writes the mode. Success means that the kernel took it; the MTU changes with it.
  virtual base::Result<void> write_mode(const std::string& name, model::IpoibMode mode) = 0;

  /// Creates a child whose mode can be changed later. Its name is the kernel's choice (PARENT.%04x).
  virtual base::Result<void> create_child(const std::string& parent, model::Pkey pkey) = 0;
};

}  // namespace rdmacfg::system
