// SPDX-License-Identifier: Apache-2.0
// Hand-made fabrics.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "fabric/fabric.hpp"
#include "system/fabric_reader.hpp"

namespace rdmacfg::fakes {

inline constexpr std::uint16_t kOnly4x = 1U << 2U;
inline constexpr std::uint16_t kSdrToQdr = 0x07, kQdr = 0x04;

/// A port that supports 1X and 4X at SDR to QDR, and has no link.
inline fabric::Port fabric_port(int number, std::uint64_t guid) {
  fabric::Port port;
  port.number = number;
  port.guid = guid;
  port.state = 1;
  port.physical = 2;
  port.supported = port.enabled = {static_cast<std::uint16_t>(0x05), kSdrToQdr};
  return port;
}

inline fabric::Node fabric_node(fabric::NodeType type, std::uint64_t guid, std::string name, int ports) {
  fabric::Node node;
  node.guid = node.system_guid = guid;
  node.type = type;
  node.description = std::move(name);
  const bool is_switch = type == fabric::NodeType::kSwitch;
  for (int i = is_switch ? 0 : 1; i <= ports; ++i) {
    node.ports.push_back(fabric_port(i, is_switch ? guid : guid + static_cast<std::uint64_t>(i)));
    if (is_switch ? i == 0 : true) node.ports.back().pkeys = {0xffff};
  }
  if (is_switch) node.ports.front().state = 4;
  return node;
}

inline fabric::Node* node_called(fabric::Fabric& fabric, std::string_view name) {
  for (auto& node : fabric.nodes) {
    if (node.description == name) return &node;
  }
  return nullptr;
}

inline fabric::Port* port_of(fabric::Fabric& fabric, std::string_view name, int number) {
  auto* node = node_called(fabric, name);
  for (auto& port : node->ports) {
    if (port.number == number) return &port;
  }
  return nullptr;
}

inline void plug(fabric::Fabric& fabric, std::string_view a, int port_a, std::string_view b, int port_b) {
  const auto connect = [](fabric::Port& port, const fabric::Node& other, int number) {
    port.state = 4;
    port.physical = 5;
    port.mtu = 2048;
    port.active = {kOnly4x, kQdr};
    port.peer = fabric::End{other.guid, number};
  };
  connect(*port_of(fabric, a, port_a), *node_called(fabric, b), port_b);
  connect(*port_of(fabric, b, port_b), *node_called(fabric, a), port_a);
}

/// Two spines, four leaves, `hosts` hosts node001 and so on below the leaves in turn; the master subnet
/// manager is that of node001.
inline fabric::Fabric fat_tree(int hosts) {
  fabric::Fabric out;
  out.from = "mlx5_0/1";
  out.from_port = 0x100001;
  out.prefix = "fe80:0000:0000:0000";
  constexpr int kLeaves = 4, kSpines = 2;
  const int below = (hosts + kLeaves - 1) / kLeaves;
  for (int i = 1; i <= hosts; ++i)
    out.nodes.push_back(fabric_node(fabric::NodeType::kHost,
                                    0x100000 + 0x10 * static_cast<std::uint64_t>(i - 1),
                                    fmt::format("node{:03}", i), 1));
  for (int i = 1; i <= kLeaves; ++i)
    out.nodes.push_back(fabric_node(fabric::NodeType::kSwitch, 0x200000 + static_cast<std::uint64_t>(i),
                                    fmt::format("leaf{}", i), below + kSpines));
  for (int i = 1; i <= kSpines; ++i)
    out.nodes.push_back(fabric_node(fabric::NodeType::kSwitch, 0x300000 + static_cast<std::uint64_t>(i),
                                    fmt::format("spine{}", i), kLeaves));
  for (int i = 0; i < hosts; ++i)
    plug(out, fmt::format("node{:03}", i + 1), 1, fmt::format("leaf{}", i % kLeaves + 1), i / kLeaves + 1);
  for (int leaf = 1; leaf <= kLeaves; ++leaf) {
    for (int spine = 1; spine <= kSpines; ++spine)
      plug(out, fmt::format("leaf{}", leaf), below + spine, fmt::format("spine{}", spine), leaf);
  }
  int lid = 1;
  for (auto& node : out.nodes) {
    node.ports.front().lid = lid++;
    node.ports.front().sm_lid = 1;
  }
  out.nodes.front().ports.front().may_manage = true;
  out.managers = {{0x100001, 1, 14, fabric::ManagerState::kMaster, 7}};
  out.groups = {{"ff12:401b:ffff::ffff:ffff", 0xc000, 0xffff, 2048, 100, 0}};
  return out;
}

/// Answers with what it has been given.
class FakeFabricReader : public system::FabricReader {
 public:
  explicit FakeFabricReader(base::Result<fabric::Fabric> answer) : answer_(std::move(answer)) {}
  base::Result<fabric::Fabric> read(const system::FabricRequest& request,
                                    const system::FabricProgress& progress) override {
    if (progress) progress(0, 0, "discovering the fabric behind mlx5_0/1");
    auto out = answer_;
    if (out && request.route_to != 0)
      out->route = fabric::Route{request.route_to, 0, {}, "no port of the fabric has this GUID"};
    if (out && !request.targets) out->targets.reset();
    for (auto& node : out ? out->nodes : none_) {
      for (auto& port : node.ports) {
        if (!request.counters) port.counters.reset();
      }
    }
    return out;
  }
  base::Result<std::vector<fabric::End>> clear_counters(
      const system::FabricRequest& /*request*/, const std::vector<system::CounterPlace>& places) override {
    cleared = places;
    return silent;
  }

  std::vector<system::CounterPlace> cleared;
  std::vector<fabric::End> silent;  ///< ports that do not answer when they are to be cleared

 private:
  std::vector<fabric::Node> none_;
  base::Result<fabric::Fabric> answer_;
};

}  // namespace rdmacfg::fakes
