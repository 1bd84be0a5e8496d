// SPDX-License-Identifier: Apache-2.0
// Answers of hosts: the output of `show --json` and `diff --json`, read and kept as far as
// hosts are compared by it; and that of `fabric --json`, with whose multicast groups they are compared.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/document.hpp"
#include "fleet/finding.hpp"
#include "fleet/majority.hpp"
#include "fleet/site.hpp"

namespace rdmacfg::fleet {

/// A difference of hosts from their documents; those that are equal but for addresses, GUIDs and the host's
/// own name are one, unmet expectations also where numbers in their reasons differ.
struct Difference {
  /// Worst first. All but two are the status of a resource.
  enum class Status {
    kError,  ///< the host did not report it
    kFailed,
    kDiffers,
    kUnmet,
    kUnlike,  ///< other hosts, whatever the document says
    kLimited,
    kPending,
  };

  Status status = Status::kError;
  std::string kind, label, attribute;  ///< of the resource; empty where there is none
  std::string now, wanted;             ///< empty where they are not known
  std::string reason;
  bool absent = false;  ///< the resource is not there, and `attribute` is empty
  bool varies = false;  ///< texts are those of the first host, and not the same on all
  std::vector<HostId> hosts;
};

/// "differs"
std::string_view text_of(Difference::Status status);

/// Facts by which hosts are compared with each other.
enum class Fact { kDevices, kFirmware, kPortState, kRate, kInterfaceMode, kInterfaceMtu, kPortMtu };

/// A port that a subnet manager has set up.
struct FabricPort {
  HostId host = 0;
  std::uint64_t guid = 0;
  std::int64_t lid = 0;
  std::int64_t sm_lid = 0;
};

/// The P_Key tables of one port of the hosts.
struct PortTables {
  std::vector<HostId> hosts;      ///< whose table is known
  std::vector<FabricPort> ports;  ///< those of them that are active, by host
  struct Members {
    std::vector<HostId> full, limited;
  };
  std::map<std::uint16_t, Members> partitions;
};

/// An IPoIB interface that is up, on a port that a subnet manager has set up, and the multicast group in
/// which the interface broadcasts, as far as an answer of its fabric has the group.
struct GroupMember {
  HostId host = 0;
  std::uint16_t partition = 0;
  std::string interface, port;  ///< "ib0", "mlx5_0/1"
  std::uint64_t guid = 0;       ///< of the port
  std::int64_t lid = 0;
  std::int64_t mtu = 0;       ///< in datagram mode, bytes; 0: nothing to compare
  std::int64_t link_mtu = 0;  ///< active, of the port, bytes; 0: not known
  int rate = 0;               ///< active, of the port, tenths of Gbit/s; 0: not known
  /// Of the group: equal unless two answers differ. MTU of the IB link in bytes, tenths of Gbit/s; 0: not
  /// known
  std::int64_t least_mtu = 0, most_mtu = 0;
  int least_rate = 0;
};

/// An interface whose MTU, in datagram mode, is larger than its link carries; bytes.
struct ExcessMtu {
  std::string interface;
  std::int64_t mtu = 0;
  std::int64_t carried = 0;
  auto operator<=>(const ExcessMtu&) const = default;
};

class HostAnswers {
 public:
  explicit HostAnswers(std::vector<std::string> hosts) : hosts_(std::move(hosts)) {}

  /// Takes the output of a subcommand on a host. @return what is wrong with it, with its place; nothing of it
  /// is used then. Each host is given once for each of the two, hosts in ascending order.
  [[nodiscard]] std::optional<model::Diagnostic> add(HostId host, const config::Text& json);
  /// Takes note of a host that has not answered, and why. Also in ascending order.
  void add_silent(HostId host, std::string reason);

  /// Takes the output of `fabric --json`, when all hosts have been added: its multicast groups are those of
  /// the ports that it has with the same GUID and LID. Where several answers have a port and differ, the one
  /// that demands less counts. @return what is wrong with it, with its place; nothing of it is used then
  [[nodiscard]] std::optional<model::Diagnostic> add_fabric(const config::Text& json);

  [[nodiscard]] const std::vector<std::string>& hosts() const { return hosts_; }
  [[nodiscard]] const std::vector<Difference>& differences() const { return differences_; }
  /// By the thing that is compared: a port "mlx5_0/1", a board, an interface.
  [[nodiscard]] const std::map<std::pair<Fact, std::string>, Shares<std::string>>& facts() const {
    return facts_;
  }
  /// The rates of a port by the board of its device: "mlx5_0/1" and "MT_0000000838".
  [[nodiscard]] const std::map<std::pair<std::string, std::string>, Shares<std::string>>& rates_by_board()
      const {
    return rates_by_board_;
  }
  [[nodiscard]] const std::map<std::string, PortTables>& tables() const { return tables_; }
  /// Rules of partitions that subnet managers have as their documents say, by host and partition.
  [[nodiscard]] const std::map<HostId, std::map<std::uint16_t, PartitionMembers>>& partitions() const {
    return partitions_;
  }
  /// Hosts with a P_Key interface that waits for its P_Key, or cannot be made, by partition.
  [[nodiscard]] const std::map<std::uint16_t, std::vector<HostId>>& waiting() const { return waiting_; }
  [[nodiscard]] const std::map<ExcessMtu, std::vector<HostId>>& too_large() const { return too_large_; }
  /// In no order.
  [[nodiscard]] const std::vector<GroupMember>& group_members() const { return group_members_; }

 private:
  friend class AnswerReader;
  void difference(HostId host, Difference difference);

  std::vector<std::string> hosts_;
  std::vector<Difference> differences_;
  std::unordered_map<std::string, std::size_t> by_text_;  ///< differences_
  std::map<std::pair<Fact, std::string>, Shares<std::string>> facts_;
  std::map<std::pair<std::string, std::string>, Shares<std::string>> rates_by_board_;
  std::map<std::string, PortTables> tables_;
  std::map<HostId, std::map<std::uint16_t, PartitionMembers>> partitions_;
  std::map<std::uint16_t, std::vector<HostId>> waiting_;
  std::map<ExcessMtu, std::vector<HostId>> too_large_;
  std::vector<GroupMember> group_members_;
  bool members_by_guid_ = false;  ///< whether group_members_ are sorted by GUID
};

}  // namespace rdmacfg::fleet
