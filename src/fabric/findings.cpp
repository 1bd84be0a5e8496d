// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "fabric/compare.hpp"

namespace rdmacfg::fabric {

namespace {

std::string link_name(const Index& index, const Link& link) {
  return fmt::format("{} - {}", index.name(link.a), index.name(link.b));
}

bool is_end_port(const Node& node, const Port& port) {
  return node.type != NodeType::kSwitch || port.number == 0;
}

void find_slow_links(const Fabric& fabric, const Index& index, std::vector<Finding>& out) {
  for (const auto& slow : links_below_best(fabric)) {
    if (slow.why == Shortfall::kLimited) continue;  // as somebody set it; the table has it
    out.push_back({"link", link_name(index, slow.link),
                   fmt::format("runs at {}, although both ends support {}; {}", text_of(slow.active),
                               text_of(slow.best), text_of(slow.why))});
  }
}

constexpr int kLmcMost = 7;  ///< 3 bits: PortInfo, LMC

void find_duplicates(const Fabric& fabric, const Index& index, std::vector<Finding>& out) {
  std::map<std::uint64_t, End> guids;
  std::map<int, std::pair<int, End>> lids;  // the first ones, with the last one of each port
  for (const auto& node : fabric.nodes) {
    for (const auto& port : node.ports) {
      if (!is_end_port(node, port)) continue;
      const End here{node.guid, port.number};
      if (const auto [at, added] = guids.emplace(port.guid, here); !added && port.guid != 0)
        out.push_back(
            {"duplicate_guid", index.name(here),
             fmt::format("has the same port GUID {} as {}; the subnet manager cannot tell them apart",
                         model::Guid{port.guid}.text(), index.name(at->second))});
      if (port.lid == 0) continue;
      // With an LMC the port has 2^LMC LIDs, of which the lowest is told.
      const int last = port.lid + (1 << std::clamp(port.lmc, 0, kLmcMost)) - 1;
      const auto behind = lids.upper_bound(last);
      const auto other = behind == lids.begin() ? lids.end() : std::prev(behind);
      if (other == lids.end() || other->second.first < port.lid) {
        lids.emplace(port.lid, std::pair(last, here));
      } else {
        out.push_back({"duplicate_lid", index.name(here),
                       fmt::format("has the same LID {} as {}; packets reach only one of them",
                                   std::max(port.lid, other->first), index.name(other->second.second))});
      }
    }
  }
}

/// Two nodes with one GUID look like a node with links that the other end does not know.
void find_one_way_links(const Fabric& fabric, const Index& index, std::vector<Finding>& out) {
  for (const auto& node : fabric.nodes) {
    for (const auto& port : node.ports) {
      const End here{node.guid, port.number};
      if (!port.peer) continue;
      const auto* peer = index.port(*port.peer);
      if (peer == nullptr || peer->peer == here) continue;
      out.push_back({"duplicate_guid", index.name(here),
                     fmt::format("leads to {}, which leads elsewhere: two nodes with the same GUID, or a "
                                 "cable that was moved just now",
                                 index.name(*port.peer))});
    }
  }
}

/// Two nodes with one GUID are taken for one, which has the links of the last one found; the ports that led
/// to the first are left without an end.
void find_silent_neighbours(const Fabric& fabric, const Index& index, std::vector<Finding>& out) {
  for (const auto& node : fabric.nodes) {
    for (const auto& port : node.ports) {
      if (port.number == 0 || port.peer || port.state <= kStateDown) continue;
      out.push_back({"neighbour", index.name(End{node.guid, port.number}),
                     "has a link to a node that did not answer, or that has the GUID of another node"});
    }
  }
}

void find_lonely_partitions(const Fabric& fabric, const Index& index, std::vector<Finding>& out) {
  const bool all_read = std::all_of(fabric.nodes.begin(), fabric.nodes.end(), [](const Node& node) {
    return std::all_of(node.ports.begin(), node.ports.end(), [&](const Port& port) {
      return port.pkeys || !is_end_port(node, port) || (port.number != 0 && !port.peer);
    });
  });
  if (!all_read) return;
  for (const auto& members : partitions_of(fabric)) {
    const auto name = fmt::format("P_Key {:#06x}", members.partition | 0x8000U);
    if (members.full.size() + members.limited.size() == 1) {
      const auto& port = members.full.empty() ? members.limited.front() : members.full.front();
      out.push_back({"partition", index.name(port),
                     fmt::format("is the only port with {}, so it reaches no other", name)});
    } else if (members.full.empty()) {
      out.push_back(
          {"partition", name,
           "has limited members only, which cannot reach each other; at least one must be a full member"});
    }
  }
}

/// Of two the one with the higher priority is master; of equal ones, the one with the lower GUID (InfiniBand
/// architecture, 14.4.1).
bool outranks(const Manager& manager, const Manager& other) {
  return manager.priority != other.priority ? manager.priority > other.priority
                                            : manager.port_guid < other.port_guid;
}

std::string port_name(const Index& index, std::uint64_t port_guid) {
  const auto owner = index.owner(port_guid);
  return owner ? index.name(*owner) : fmt::format("{:#018x}", port_guid);
}

void find_outranked(const Fabric& fabric, const Index& index, std::vector<Finding>& out) {
  const auto master =
      std::find_if(fabric.managers.begin(), fabric.managers.end(),
                   [](const Manager& manager) { return manager.state == ManagerState::kMaster; });
  if (master == fabric.managers.end()) return;
  for (const auto& manager : fabric.managers) {
    if (manager.state != ManagerState::kStandby || !outranks(manager, *master)) continue;
    out.push_back(
        {"manager", port_name(index, manager.port_guid),
         fmt::format("stands by with priority {}, while {} is master with priority {}: the master did "
                     "not hand over; `rdma-configctl doctor` on both hosts, and their OpenSM logs, may "
                     "say why",
                     manager.priority, port_name(index, master->port_guid), master->priority)});
  }
}

void find_managers(const Fabric& fabric, std::vector<Finding>& out) {
  const auto masters =
      std::count_if(fabric.managers.begin(), fabric.managers.end(),
                    [](const Manager& manager) { return manager.state == ManagerState::kMaster; });
  std::set<std::uint64_t> answered;
  for (const auto& manager : fabric.managers) answered.insert(manager.port_guid);
  const bool all_answered = std::all_of(fabric.nodes.begin(), fabric.nodes.end(), [&](const Node& node) {
    return std::all_of(node.ports.begin(), node.ports.end(),
                       [&](const Port& port) { return !port.may_manage || answered.contains(port.guid); });
  });
  if (masters == 0 && all_answered)
    out.push_back(
        {"manager", "the subnet",
         "has no master subnet manager: ports get no LIDs or partitions; start one, such as OpenSM"});
  if (masters > 1)
    out.push_back({"manager", "the subnet",
                   fmt::format("has {} master subnet managers; they take ports from one another", masters)});
}

void find_states(const Fabric& fabric, const Index& index, std::vector<Finding>& out) {
  for (const auto& link : links_of(fabric)) {
    const auto* port = index.port(link.a);
    if (port == nullptr || port->state <= kStateDown || port->state >= kStateActive) continue;
    out.push_back({"state", link_name(index, link),
                   fmt::format("has a link, but is in state {}: the subnet manager has not brought it up",
                               state_text(port->state))});
  }
}

}  // namespace

std::vector<Finding> findings_of(const Fabric& fabric) {
  const Index index(fabric);
  std::vector<Finding> out;
  find_managers(fabric, out);
  find_outranked(fabric, index, out);
  find_duplicates(fabric, index, out);
  find_one_way_links(fabric, index, out);
  find_silent_neighbours(fabric, index, out);
  find_slow_links(fabric, index, out);
  find_states(fabric, index, out);
  find_lonely_partitions(fabric, index, out);
  return out;
}

}  // namespace rdmacfg::fabric
