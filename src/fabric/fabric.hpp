// SPDX-License-Identifier: Apache-2.0
// An InfiniBand fabric as values: nodes, ports, links, subnet managers, multicast groups, a route. Nothing
// here talks to hardware. Sources: InfiniBand architecture 14.2.5 (NodeInfo, PortInfo, P_KeyTable,
// SMInfo), 15.2.5.17 (MCMemberRecord).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/counters.hpp"
#include "fabric/targets.hpp"
#include "model/types.hpp"

namespace rdmacfg::fabric {

enum class NodeType : std::uint8_t { kHost, kSwitch, kRouter, kUnknown };
std::string_view text_of(NodeType type);

/// Link widths and speeds by what they carry, so that a higher bit of a mask is the better one.
enum class Width : std::uint8_t { k1x, k2x, k4x, k8x, k12x };
enum class Speed : std::uint8_t { kSdr, kDdr, kQdr, kFdr10, kFdr, kEdr, kHdr, kNdr, kXdr };

inline constexpr std::array<std::string_view, 5> kWidthNames{"1X", "2X", "4X", "8X", "12X"};
inline constexpr std::array<std::string_view, 9> kSpeedNames{"SDR", "DDR", "QDR", "FDR10", "FDR",
                                                             "EDR", "HDR", "NDR", "XDR"};

/// Abilities of a port, as sets of widths and speeds: bit N is the enumerator N. 0: unknown.
struct Abilities {
  std::uint16_t widths = 0;
  std::uint16_t speeds = 0;
  bool operator==(const Abilities&) const = default;
};

/// A width or speed in words: the best of a set; "-" for none.
std::string width_text(std::uint16_t widths);
std::string speed_text(std::uint16_t speeds);
/// "4X HDR"; empty when both are unknown.
std::string text_of(Abilities abilities);

/// PortInfo's PortState and PortPhysicalState in words: "active", "link up".
std::string_view state_text(int state);
std::string_view physical_text(int state);
inline constexpr int kStateDown = 1, kStateActive = 4;

/// One end of a link.
struct End {
  std::uint64_t node = 0;  ///< node GUID
  int port = 0;
  auto operator<=>(const End&) const = default;
};

struct Port {
  int number = 0;  ///< 0: the management port of a switch
  std::uint64_t guid = 0;
  int lid = 0;
  int lmc = 0;
  int sm_lid = 0;
  int state = 0;
  int physical = 0;
  Abilities active, enabled, supported;
  int mtu = 0;              ///< bytes; NeighborMTU
  bool may_manage = false;  ///< CapabilityMask.IsSM: a subnet manager runs on it
  std::optional<End> peer{};
  /// As they are in the table, without empty entries; nothing: not read (the outer ports of a switch), or no
  /// answer.
  std::optional<std::vector<std::uint16_t>> pkeys{};
  std::optional<PortCounters> counters{};  ///< nothing: not asked for, or no answer
};

struct Node {
  std::uint64_t guid = 0;
  std::uint64_t system_guid = 0;
  NodeType type = NodeType::kUnknown;
  std::string description;  ///< without control characters; may be empty, and need not be unique
  std::uint32_t vendor = 0, device = 0;
  std::vector<Port> ports;  ///< in the order of their numbers; those that did not answer are missing

  [[nodiscard]] const Port* port(int number) const;
};

enum class ManagerState : std::uint8_t { kNotActive, kDiscovering, kStandby, kMaster, kUnknown };
std::string_view text_of(ManagerState state);

struct Manager {
  std::uint64_t port_guid = 0;
  int lid = 0;
  int priority = 0;
  ManagerState state = ManagerState::kUnknown;
  std::uint32_t activity = 0;
};

struct Group {
  std::string gid;  ///< "ff12:401b:ffff::1"
  int lid = 0;
  std::uint16_t pkey = 0;
  int mtu = 0;   ///< bytes
  int rate = 0;  ///< tenths of Gbit/s
  int sl = 0;
};

/// "56 Gbit/s", "2.5 Gbit/s"; "-" for 0.
std::string rate_text(int tenths);

/// A node on the way: entered by one port and left by another; 0: it begins or ends there.
struct Hop {
  std::uint64_t node = 0;
  int in = 0, out = 0;
};

/// The way that packets to a port take, by the linear forwarding tables of the switches.
struct Route {
  std::uint64_t to = 0;  ///< port GUID
  int lid = 0;
  std::vector<Hop> hops;
  std::string broken;  ///< why it does not arrive; empty: it does
};

struct Fabric {
  std::string from;               ///< local port: "mlx5_0/1"
  std::uint64_t from_port = 0;    ///< its GUID
  std::string prefix;             ///< subnet prefix, "fe80:0000:0000:0000"
  std::vector<Node> nodes;        ///< by type and name
  std::vector<Manager> managers;  ///< the master first
  std::optional<std::vector<Group>>
      groups;  ///< nothing: the subnet administrator was not asked or did not answer
  std::optional<Route> route;
  std::optional<std::vector<Target>> targets{};  ///< nothing: not asked for
  /// Parts that could not be read, each with its reason.
  std::vector<std::string> missing;
};

/// The nodes of a fabric, found by GUID and named. It lives no longer than the fabric.
class Index {
 public:
  explicit Index(const Fabric& fabric);

  [[nodiscard]] const Node* node(std::uint64_t guid) const;
  [[nodiscard]] const Port* port(End end) const;
  /// The node and port with a port GUID; nothing when there is none.
  [[nodiscard]] std::optional<End> owner(std::uint64_t port_guid) const;
  /// The description, followed by the GUID where several nodes have it or it is empty.
  [[nodiscard]] std::string name(std::uint64_t guid) const;
  /// "leaf1/7"
  [[nodiscard]] std::string name(End end) const;
  /// Nodes that are called so: by name(), description or GUID.
  [[nodiscard]] std::vector<const Node*> called(std::string_view text) const;
  /// The port "leaf1/7" of a node that is called so; nothing, with the reason in `why`, when there is no
  /// such.
  [[nodiscard]] std::optional<End> called_port(std::string_view text, std::string& why) const;

 private:
  std::map<std::uint64_t, const Node*> nodes_;
  std::map<std::uint64_t, End> owners_;
  std::multimap<std::string_view, const Node*> descriptions_;
};

/// How many ports have counted errors.
std::size_t ports_with_errors(const Fabric& fabric);

/// The ways to log in to the targets of a fabric. It lives no longer than the fabric and its index.
class Logins {
 public:
  Logins(const Fabric& fabric, const Index& index);

  /// A target as `ibsrpdm -c` prints it: a line for each partition over which the local port reaches it, one
  /// without a partition where a P_Key table is not known. None: no partition leads there.
  [[nodiscard]] std::vector<std::string> of(const Target& target) const;

 private:
  const Fabric* fabric_;
  const Index* index_;
  const Port* local_;  ///< null: not known
};

/// A link, from its smaller end; each once.
struct Link {
  End a, b;
};
std::vector<Link> links_of(const Fabric& fabric);

/// Why a link runs below the best that both its ends support.
enum class Shortfall : std::uint8_t {
  kTrained,  ///< both ends have better enabled: the cable, or what it is plugged into
  kOneEnd,   ///< one end has less enabled than the other
  kLimited,  ///< both ends have no better enabled
};
struct Below {
  Link link;
  Abilities active, best;
  Shortfall why = Shortfall::kLimited;
};
/// The links that are up and below their best, the most surprising first.
std::vector<Below> links_below_best(const Fabric& fabric);
std::string_view text_of(Shortfall why);

/// A partition, with the ports that have it.
struct Members {
  std::uint16_t partition = 0;  ///< 15 bits
  std::vector<End> full, limited;
};
std::vector<Members> partitions_of(const Fabric& fabric);

}  // namespace rdmacfg::fabric
