// SPDX-License-Identifier: Apache-2.0
#include "system/linux/fabric/route_trace.hpp"

#include <fmt/format.h>

#include <string>

namespace rdmacfg::system::detail {

namespace {

/// The port that a packet to the LID reaches next; null where it ends, or `broken` says why it does not go
/// on.
const ibnd_port_t* left_by(const ibnd_fabric_t& discovered, const ibnd_node_t& node, int in, int lid,
                           const ReadForwarding& read_block, fabric::Hop& hop, std::string& broken) {
  hop = {node.guid, in, 0};
  if (node.type == IB_NODE_SWITCH) {
    constexpr unsigned kLidsOfBlock = 64, kNoPort = 255;
    Smp table{};
    const auto block = static_cast<unsigned>(lid) / kLidsOfBlock;
    if (!read_block(node, block, table)) {
      broken = "the switch does not return its forwarding table";
      return nullptr;
    }
    const auto out = table[static_cast<unsigned>(lid) % kLidsOfBlock];
    if (out == kNoPort || out > node.numports) broken = fmt::format("the switch has no route to LID {}", lid);
    if (!broken.empty() || out == 0) return nullptr;
    hop.out = out;
  } else {
    hop.out = discovered.from_portnum;
  }
  const auto* port = node.ports[hop.out];
  if (port == nullptr || port->remoteport == nullptr) {
    broken = fmt::format("port {} leads nowhere", hop.out);
    return nullptr;
  }
  return port->remoteport;
}

}  // namespace

fabric::Route trace_route(const ibnd_fabric_t& discovered, const ibnd_port_t& target,
                          const ReadForwarding& read_block) {
  fabric::Route route{target.guid, target.base_lid, {}, {}};
  const ibnd_node_t* node = discovered.from_node;
  int in = 0;
  while (route.hops.size() < IB_SUBNET_PATH_HOPS_MAX) {
    // A LID of a host is that of one port; all ports of a switch lead to its own.
    const bool is_switch = node->type == IB_NODE_SWITCH;
    const int reached = in == 0 ? discovered.from_portnum : in;
    const bool arrived = node == target.node && (is_switch || reached == target.portnum);
    if (arrived || (in != 0 && !is_switch)) {
      route.hops.push_back({node->guid, in, 0});
      if (!arrived)
        route.broken =
            node == target.node ? "it ends at another port of the host" : "it ends at another host";
      return route;
    }
    fabric::Hop hop;
    const auto* next = left_by(discovered, *node, in, target.base_lid, read_block, hop, route.broken);
    route.hops.push_back(hop);
    if (next == nullptr) {
      if (route.broken.empty()) route.broken = "the switch treats the LID as its own";
      return route;
    }
    node = next->node;
    in = next->portnum;
  }
  route.broken = "the route loops";
  return route;
}

}  // namespace rdmacfg::system::detail
