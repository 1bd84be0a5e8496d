// SPDX-License-Identifier: Apache-2.0
// The parts of all hosts' documents that concern other hosts: the facts that the rules across hosts
// compare.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/document.hpp"
#include "fleet/finding.hpp"
#include "kinds/opensm/partition_rule.hpp"
#include "model/types.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::fleet {

/// Texts by number, since most of them are said by every host.
class StringTable {
 public:
  StringTable() { id(""); }  // number 0
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;

  std::uint32_t id(std::string_view text);
  [[nodiscard]] const std::string& text(std::uint32_t id) const { return *texts_[id]; }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<const std::string*> texts_;
};

/// A model::Location in little room.
struct SourcePosition {
  std::uint32_t file = 0;  ///< of StringTable
  int line = 0, column = 0, length = 1;
  auto operator<=>(const SourcePosition&) const = default;
};

/// A value and where the document says it.
struct SourcedValue {
  std::uint32_t value = 0;  ///< of StringTable; 0: not said
  SourcePosition where;
};

/// An IPoIB interface.
struct Interface {
  HostId host = 0;
  std::uint32_t rail = 0;  ///< of StringTable: tells the ports of a host apart, the same on all hosts
  std::uint16_t partition = kinds::kDefaultPartition;
  bool child = false;
  model::Guid guid;  ///< of its port; 0: not known without the host
  SourcePosition where;
  SourcedValue mode, mtu;
};

struct Address {
  std::uint32_t interface = 0;  ///< in Site::interfaces
  model::IpPrefix prefix;
  SourcePosition where;
  SourcePosition from;  ///< the line of a table that it is from; line 0: of none
};

/// A GUID that only one host can have.
struct OwnGuid {
  std::uint64_t number = 0;
  HostId host = 0;
  bool node = false;  ///< of a device, not of a port
  SourcePosition where;
  SourcePosition from;
};

/// An OpenSM.
struct Manager {
  HostId host = 0;
  std::uint32_t fabric = 0;    ///< its place among those of its host: the first serve one fabric
  std::int64_t priority = -1;  ///< -1: not said
  SourcePosition where;
  model::Guid port;  ///< 0: not said
};

/// The members that a rule gives a partition.
struct PartitionMembers {
  enum class Membership : std::uint8_t { kNone, kLimited, kFull };
  std::map<std::uint64_t, Membership> ports;
  Membership all = Membership::kNone;   ///< of every host
  Membership self = Membership::kNone;  ///< of the subnet manager's
  auto operator<=>(const PartitionMembers&) const = default;

  /// Takes a member of its rule. OpenSM reads members in their order, and a later one replaces an earlier one
  /// of the same port (osm_prtn_add_port() in osm_prtn.c).
  void add(const kinds::PartitionMember& member, std::string_view defmember);
  /// The membership of a port that is not the subnet manager's.
  [[nodiscard]] Membership of(std::uint64_t port) const;
};

/// A [[partition]] of a host.
struct PartitionFact {
  HostId host = 0;
  std::uint16_t number = 0;
  std::uint32_t name = 0;
  SourcePosition where;
  std::uint32_t group_mtu = 0;                ///< bytes, of its multicast groups; 0: it has none for IPoIB
  bool without_ipoib = false;                 ///< it says ipoib = false
  std::uint32_t how = 0;                      ///< of StringTable: its service level, rate and other values
  const PartitionMembers* members = nullptr;  ///< in Site::members: the same for equal ones
};

/// RoCE and flow control of a port or interface.
struct Traffic {
  enum class What : std::uint8_t { kMode, kDscp, kPriorities, kMap };
  HostId host = 0;
  What what = What::kMode;
  std::uint32_t rail = 0;
  SourcedValue sourced_value;
};

struct Site {
  explicit Site(std::vector<std::string> names) : hosts(std::move(names)) {}

  std::vector<std::string> hosts;
  StringTable words;
  std::vector<Interface> interfaces;
  std::vector<Address> addresses;
  std::vector<OwnGuid> guids;
  std::vector<Manager> managers;
  std::set<PartitionMembers> members;  ///< shared: hosts with the same document have equal ones
  std::vector<PartitionFact> partitions;
  std::vector<Traffic> traffic;

  /// Collects the facts of a host's document that rules compare across hosts. Hosts are added in order, each
  /// once.
  void add(HostId host, const config::Document& document);

  [[nodiscard]] model::Location location(const SourcePosition& spot) const {
    return {words.text(spot.file), spot.line, spot.column, spot.length};
  }
};

}  // namespace rdmacfg::fleet
