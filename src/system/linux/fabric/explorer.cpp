// SPDX-License-Identifier: Apache-2.0
#include "system/linux/fabric/explorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/characters.hpp"
#include "fabric/limits.hpp"
#include "system/linux/fabric/administrator.hpp"
#include "system/linux/fabric/decode.hpp"
#include "system/linux/fabric/device_management.hpp"
#include "system/linux/fabric/libraries.hpp"
#include "system/linux/fabric/local_port.hpp"
#include "system/linux/fabric/performance.hpp"
#include "system/linux/fabric/route_trace.hpp"

namespace rdmacfg::system::detail {

namespace {

using base::Code;
using fabric::limits::kFabricNodes;

constexpr unsigned kAnswerTimeout = 500;  // milliseconds of one answer
constexpr int kRetries = 2;
constexpr std::size_t kPkeysOfBlock = 32, kMostPkeyBlocks = 64;
constexpr std::size_t kMostNamed = 10;  // ports that are named of those that gave no answer
constexpr unsigned kIsSm = 1U << 1U, kHasExtendedSpeeds = 1U << 14U,
                   kManagesDevices = 1U << 19U;  // CapabilityMask
constexpr unsigned kQdr = 4;
constexpr std::size_t kProgressEach = 64;

class Explorer {
 public:
  Explorer(const FabricRequest& request, const std::function<void(Frame)>& send)
      : request_(request), send_(send) {}

  std::optional<base::Error> run();
  std::optional<base::Error> clear(const std::vector<CounterPlace>& places);

 private:
  std::optional<base::Error> find_port();
  std::optional<base::Error> open_port();
  std::optional<base::Error> discover();
  std::optional<base::Error> send_nodes();
  void send_pkeys();
  void send_counters();
  void send_managers();
  void send_groups();
  void send_route();
  void send_targets();

  fabric::Node node_of(ibnd_node_t& node);
  fabric::Port port_of(ibnd_node_t& node, ibnd_port_t& port);
  fabric::Manager manager_of(const ibnd_port_t& port, Smp& answer);
  std::optional<std::vector<std::uint16_t>> pkeys_of(const ibnd_port_t& port, std::size_t capacity);
  bool ask(const ibnd_port_t& port, unsigned attribute, unsigned modifier, Smp& answer);
  std::optional<ib_portid_t> path_to(const ibnd_port_t& port) const;
  bool ask_by(ib_portid_t path, unsigned attribute, unsigned modifier, Smp& answer);
  unsigned field(std::uint8_t* from, MAD_FIELDS name) { return libraries_.get_field(from, 0, name); }

  template <class Each>
  void each_end_port(Each each) const {
    for (auto* node : nodes_) {
      if (node->type == IB_NODE_SWITCH) {
        if (node->ports[0] != nullptr) each(*node, *node->ports[0]);
        continue;
      }
      for (int i = 1; i <= node->numports; ++i) {
        if (auto* port = node->ports[i]; port != nullptr && port->remoteport != nullptr) each(*node, *port);
      }
    }
  }

  const FabricRequest& request_;
  const std::function<void(Frame)>& send_;
  FabricLibraries libraries_;
  LocalPort local_;
  ibmad_port* port_ = nullptr;      ///< for subnet management
  ibmad_port* services_ = nullptr;  ///< for the other classes: the same, but for a port with several planes
  ibnd_fabric_t* fabric_ = nullptr;
  std::vector<ibnd_node_t*> nodes_;
};

std::optional<base::Error> Explorer::find_port() {
  if (!libraries_.usable)
    return base::Error{Code::kUnsupported,
                       "exploring the fabric requires libibnetdisc and libibmad; install infiniband-diags, "
                       "which provides them",
                       0};
  if (libraries_.init() < 0) return base::Error{Code::kIo, "libibumad could not be set up", 0};
  auto local = find_local_port(libraries_, request_.port);
  if (!local) return local.error();
  local_ = std::move(*local);
  return std::nullopt;
}

std::optional<base::Error> Explorer::open_port() {
  const auto open = open_management(libraries_, local_, request_.targets);
  port_ = open.subnet;
  services_ = open.services;
  if (port_ == nullptr) return why_not_open(local_);
  for (auto* port : {port_, services_}) {
    libraries_.set_timeout(port, kAnswerTimeout);
    libraries_.set_retries(port, kRetries);
  }
  return std::nullopt;
}

std::optional<base::Error> Explorer::run() {
  if (auto error = find_port()) return error;
  if (auto error = discover()) return error;
  if (auto error = send_nodes()) return error;
  send_managers();
  send_groups();
  send_route();
  if (request_.counters) send_counters();
  if (request_.targets) send_targets();
  send_pkeys();  // last: on a large fabric it takes longest
  return std::nullopt;
}

std::optional<base::Error> Explorer::discover() {
  send_(StartFrame{
      local_.name(), local_.guid,
      fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", local_.prefix >> 48U, local_.prefix >> 32U & 0xffffU,
                  local_.prefix >> 16U & 0xffffU, local_.prefix & 0xffffU)});
  send_(ProgressFrame{0, 0, fmt::format("discovering the fabric behind {}", local_.name())});
  ibnd_config_t config{};
  config.timeout_ms = kAnswerTimeout;
  config.retries = kRetries;
  config.flags = IBND_CONFIG_MLX_EPI;
  fabric_ = libraries_.discover(local_.device.data(), local_.number, nullptr, &config);
  // Of a port with several planes the other device may have subnet management; libibnetdisc looks for that
  // device by itself only since rdma-core 56.
  if (fabric_ == nullptr && !local_.twin.empty())
    fabric_ = libraries_.discover(local_.twin.data(), local_.twin_number, nullptr, &config);
  if (auto error = open_port()) return error;  // only now, as libibnetdisc opens it for itself
  if (fabric_ == nullptr || fabric_->nodes == nullptr)
    return base::Error{
        Code::kIo, fmt::format("{}: the fabric could not be discovered: no port answered", local_.name()), 0};
  return std::nullopt;
}

std::optional<base::Error> Explorer::send_nodes() {
  for (auto* node = fabric_->nodes; node != nullptr; node = node->next) {
    if (nodes_.size() == kFabricNodes) {
      send_(MissingFrame{fmt::format("the nodes after the first {}", kFabricNodes)});
      break;
    }
    if (node->numports < 0 || node->ports == nullptr) continue;
    nodes_.push_back(node);
    send_(NodeFrame{node_of(*node)});
  }
  send_(NodesDoneFrame{});
  return std::nullopt;
}

fabric::Node Explorer::node_of(ibnd_node_t& node) {
  fabric::Node out;
  out.guid = node.guid;
  out.system_guid = libraries_.get_field64(node.info, 0, IB_NODE_SYSTEM_GUID_F);
  out.type = node.type == IB_NODE_CA       ? fabric::NodeType::kHost
             : node.type == IB_NODE_SWITCH ? fabric::NodeType::kSwitch
             : node.type == IB_NODE_ROUTER ? fabric::NodeType::kRouter
                                           : fabric::NodeType::kUnknown;
  auto* end = std::find(std::begin(node.nodedesc), std::end(node.nodedesc), '\0');
  auto text = std::string(std::begin(node.nodedesc), end);
  text.erase(text.find_last_not_of(' ') + 1);
  out.description = base::harmless(text);
  out.vendor = field(node.info, IB_NODE_VENDORID_F);
  out.device = field(node.info, IB_NODE_DEVID_F);
  for (int i = 0; i <= node.numports; ++i) {
    if (node.ports[i] != nullptr) out.ports.push_back(port_of(node, *node.ports[i]));
  }
  return out;
}

fabric::Port Explorer::port_of(ibnd_node_t& node, ibnd_port_t& port) {
  auto* info = port.info;
  // The management port of a switch has the capabilities of all (14.2.5.6).
  auto* able = node.type == IB_NODE_SWITCH && node.ports[0] != nullptr ? node.ports[0]->info : info;
  const auto capabilities = field(able, IB_PORT_CAPMASK_F);
  const auto extended = [&](MAD_FIELDS name) {
    return (capabilities & kHasExtendedSpeeds) != 0 ? field(info, name) : 0;
  };
  const auto fdr10 = [&](MAD_FIELDS name) { return (field(port.ext_info, name) & 1U) != 0; };
  fabric::Port out;
  out.number = port.portnum;
  out.guid = port.guid;
  out.lid = port.base_lid;
  out.lmc = port.lmc;
  out.sm_lid = static_cast<int>(field(info, IB_PORT_SMLID_F));
  out.state = static_cast<int>(field(info, IB_PORT_STATE_F));
  out.physical = static_cast<int>(field(info, IB_PORT_PHYS_STATE_F));
  out.mtu = mtu_of(field(info, IB_PORT_NEIGHBOR_MTU_F));
  const bool is_end = node.type != IB_NODE_SWITCH || port.portnum == 0;
  out.may_manage = is_end && (capabilities & kIsSm) != 0;
  if (node.type == IB_NODE_SWITCH && port.portnum == 0) return out;  // it has no link
  const auto speed = field(info, IB_PORT_LINK_SPEED_ACTIVE_F);
  const auto second = second_speeds_in(std::span<const std::uint8_t>(info, IB_SMP_DATA_SIZE),
                                       std::span<const std::uint8_t>(able, IB_SMP_DATA_SIZE));
  const auto faster = second.active != 0 ? 0 : extended(IB_PORT_LINK_SPEED_EXT_ACTIVE_F);
  const bool is_fdr10 = speed == kQdr && fdr10(IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F);
  if (out.state > fabric::kStateDown)
    out.active = {widths_of(field(info, IB_PORT_LINK_WIDTH_ACTIVE_F)),
                  speeds_of({.first = faster != 0 || second.active != 0 ? 0 : speed,
                             .extended = faster,
                             .fdr10 = is_fdr10,
                             .second = second.active})};
  out.enabled = {widths_of(field(info, IB_PORT_LINK_WIDTH_ENABLED_F)),
                 speeds_of({.first = field(info, IB_PORT_LINK_SPEED_ENABLED_F),
                            .extended = extended(IB_PORT_LINK_SPEED_EXT_ENABLED_F),
                            .fdr10 = fdr10(IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F),
                            .second = second.enabled})};
  out.supported = {widths_of(field(info, IB_PORT_LINK_WIDTH_SUPPORTED_F)),
                   speeds_of({.first = field(info, IB_PORT_LINK_SPEED_SUPPORTED_F),
                              .extended = extended(IB_PORT_LINK_SPEED_EXT_SUPPORTED_F),
                              .fdr10 = fdr10(IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F),
                              .second = second.supported})};
  if (port.remoteport != nullptr && port.remoteport->node != nullptr)
    out.peer = fabric::End{port.remoteport->node->guid, port.remoteport->portnum};
  return out;
}

bool Explorer::ask_by(ib_portid_t path, unsigned attribute, unsigned modifier, Smp& answer) {
  answer.fill(0);
  return libraries_.smp_query(answer.data(), &path, attribute, modifier, 0, port_) != nullptr;
}

/// The directed route to a port: P_Key tables of a host are those of the port that is asked.
std::optional<ib_portid_t> Explorer::path_to(const ibnd_port_t& port) const {
  if (port.node->type == IB_NODE_SWITCH) return port.node->path_portid;
  if (port.node == fabric_->from_node && port.portnum == fabric_->from_portnum) return ib_portid_t{};
  const auto* peer = port.remoteport;
  if (peer == nullptr || peer->node == nullptr) return std::nullopt;
  ib_portid_t path{};
  if (peer->node->type == IB_NODE_SWITCH)
    path = peer->node->path_portid;
  else if (peer->node != fabric_->from_node || peer->portnum != fabric_->from_portnum)
    return std::nullopt;
  if (path.drpath.cnt < 0 || path.drpath.cnt + 1 >= IB_SUBNET_PATH_HOPS_MAX) return std::nullopt;
  path.lid = 0;
  path.drpath.p[++path.drpath.cnt] = static_cast<std::uint8_t>(peer->portnum);
  return path;
}

bool Explorer::ask(const ibnd_port_t& port, unsigned attribute, unsigned modifier, Smp& answer) {
  const auto path = path_to(port);
  return path && ask_by(*path, attribute, modifier, answer);
}

std::optional<std::vector<std::uint16_t>> Explorer::pkeys_of(const ibnd_port_t& port, std::size_t capacity) {
  std::vector<std::uint16_t> out;
  const auto blocks = std::min((capacity + kPkeysOfBlock - 1) / kPkeysOfBlock, kMostPkeyBlocks);
  for (std::size_t block = 0; block < blocks; ++block) {
    Smp answer{};
    if (!ask(port, IB_ATTR_PKEY_TBL, static_cast<unsigned>(block), answer)) return std::nullopt;
    add_pkeys(answer, out);
  }
  return out;
}

void Explorer::send_pkeys() {
  std::size_t total = 0, done = 0, silent = 0;
  each_end_port([&](ibnd_node_t&, ibnd_port_t&) { ++total; });
  each_end_port([&](ibnd_node_t& node, ibnd_port_t& port) {
    if (done++ % kProgressEach == 0) send_(ProgressFrame{done, total, "reading P_Key tables"});
    auto pkeys = pkeys_of(port, field(node.info, IB_NODE_PARTITION_CAP_F));
    if (pkeys) {
      send_(PkeysFrame{{node.guid, port.portnum}, std::move(*pkeys)});
    } else if (++silent <= kMostNamed) {
      send_(MissingFrame{fmt::format("the P_Key table of {}: no answer", model::Guid{port.guid}.text())});
    }
  });
  if (silent > kMostNamed)
    send_(MissingFrame{fmt::format("{} more P_Key tables: no answer", silent - kMostNamed)});
}

/// Switches answer for all of their ports.
void Explorer::send_counters() {
  std::size_t done = 0, silent = 0, lidless = 0;
  const auto ask_port = [&](const ibnd_node_t& node, int lid, int number, std::uint16_t abilities) {
    const auto found = read_counters(libraries_, *services_, lid, number, abilities);
    if (found) send_(CountersFrame{{node.guid, number}, *found});
    return found.has_value();
  };
  for (auto* node : nodes_) {
    if (done++ % kProgressEach == 0) send_(ProgressFrame{done, nodes_.size(), "reading counters"});
    const bool is_switch = node->type == IB_NODE_SWITCH;
    std::optional<std::uint16_t> abilities;
    for (int i = 1; i <= node->numports; ++i) {
      const auto* port = node->ports[i];
      if (port == nullptr || port->remoteport == nullptr) continue;
      const auto* owner = is_switch ? node->ports[0] : port;
      const int lid = owner == nullptr ? 0 : static_cast<int>(owner->base_lid);
      if (lid == 0) {
        ++lidless;
        continue;
      }
      if (!abilities) abilities = counter_abilities(libraries_, *services_, lid, i);
      if (abilities && ask_port(*node, lid, i, *abilities)) continue;
      if (++silent <= kMostNamed)
        send_(MissingFrame{
            fmt::format("the counters of port {} of {}: no answer", i, model::Guid{node->guid}.text())});
      if (!abilities && is_switch) break;  // it does not answer for the others either
    }
  }
  if (silent > kMostNamed)
    send_(MissingFrame{fmt::format("the counters of {} more ports: no answer", silent - kMostNamed)});
  if (lidless > 0)
    send_(
        MissingFrame{fmt::format("the counters of {} {}: no LID yet, so no subnet manager has configured {}",
                                 lidless, lidless == 1 ? "port" : "ports", lidless == 1 ? "it" : "them")});
}

/// Ports say themselves whether somebody behind them tells of I/O controllers.
void Explorer::send_targets() {
  send_(ProgressFrame{0, 0, "asking the I/O controllers"});
  TargetsFrame found;
  std::size_t silent = 0;
  each_end_port([&](ibnd_node_t&, ibnd_port_t& port) {
    if ((field(port.info, IB_PORT_CAPMASK_F) & kManagesDevices) == 0 || port.base_lid == 0) return;
    auto read = read_srp_targets(libraries_, *services_, static_cast<int>(port.base_lid), port.guid);
    if ((!read || !read->complete) && ++silent <= kMostNamed)
      send_(MissingFrame{fmt::format("{} of {}: no answer",
                                     read ? "some I/O controllers" : "the I/O controllers",
                                     model::Guid{port.guid}.text())});
    if (!read) return;
    for (auto& target : read->targets) {
      // One beyond the limit: the reader leaves that out, and names the rest as missing.
      if (found.targets.size() <= fabric::limits::kFabricTargets) found.targets.push_back(std::move(target));
    }
  });
  if (silent > kMostNamed)
    send_(MissingFrame{fmt::format("the I/O controllers of {} more ports: no answer", silent - kMostNamed)});
  send_(std::move(found));
}

std::optional<base::Error> Explorer::clear(const std::vector<CounterPlace>& places) {
  if (auto error = find_port()) return error;
  if (auto error = open_port()) return error;
  std::size_t done = 0;
  for (const auto& place : places) {
    if (done++ % kProgressEach == 0) send_(ProgressFrame{done, places.size(), "clearing counters"});
    if (!clear_counters(libraries_, *services_, place.lid, place.port.port))
      send_(NotClearedFrame{place.port});
  }
  return std::nullopt;
}

fabric::Manager Explorer::manager_of(const ibnd_port_t& port, Smp& answer) {
  fabric::Manager out;
  out.port_guid = port.guid;
  out.lid = port.base_lid;
  out.priority = static_cast<int>(field(answer.data(), IB_SMINFO_PRIO_F));
  out.activity = field(answer.data(), IB_SMINFO_ACT_F);
  const auto state = field(answer.data(), IB_SMINFO_STATE_F);
  out.state = state <= 3 ? static_cast<fabric::ManagerState>(state) : fabric::ManagerState::kUnknown;
  return out;
}

void Explorer::send_managers() {
  send_(ProgressFrame{0, 0, "querying the subnet managers"});
  std::size_t silent = 0;
  each_end_port([&](ibnd_node_t& node, ibnd_port_t& port) {
    if ((field(port.info, IB_PORT_CAPMASK_F) & kIsSm) == 0) return;
    Smp answer{};
    if (ask(port, IB_ATTR_SMINFO, 0, answer)) {
      send_(ManagerFrame{manager_of(port, answer)});
    } else if (++silent <= kMostNamed) {
      send_(MissingFrame{fmt::format("the subnet manager of {}: no answer", model::Guid{node.guid}.text())});
    }
  });
}

void Explorer::send_groups() {
  if (local_.sm_lid == 0 || local_.state != fabric::kStateActive) return;
  send_(ProgressFrame{0, 0, "querying the subnet administrator for the multicast groups"});
  auto groups = read_groups(libraries_, *services_, local_);
  if (groups) {
    send_(GroupsFrame{std::move(*groups)});
  } else {
    send_(MissingFrame{"the multicast groups: " + groups.error().message});
  }
}

void Explorer::send_route() {
  if (request_.route_to == 0) return;
  send_(ProgressFrame{0, 0, "following the route"});
  const ibnd_port_t* target = nullptr;
  each_end_port([&](ibnd_node_t& node, ibnd_port_t& port) {
    if (port.guid == request_.route_to || (target == nullptr && node.guid == request_.route_to))
      target = &port;
  });
  if (target == nullptr) {
    send_(RouteFrame{{request_.route_to, 0, {}, "no port of the fabric has this GUID"}});
  } else if (target->base_lid == 0) {
    send_(RouteFrame{{target->guid, 0, {}, "the port has no LID: no subnet manager has configured it"}});
  } else {
    const auto read_block = [this](const ibnd_node_t& node, unsigned block, Smp& table) {
      return ask_by(node.path_portid, IB_ATTR_LINEARFORWTBL, block, table);
    };
    send_(RouteFrame{trace_route(*fabric_, *target, read_block)});
  }
}

void send_end(std::optional<base::Error> error, const std::function<void(Frame)>& send) {
  if (error) {
    send(FailureFrame{std::move(*error)});
  } else {
    send(EndFrame{});
  }
}

}  // namespace

void explore(const FabricRequest& request, const std::function<void(Frame)>& send) {
  send_end(Explorer(request, send).run(), send);
}

void clear_counters_at(const FabricRequest& request, const std::vector<CounterPlace>& places,
                       const std::function<void(Frame)>& send) {
  send_end(Explorer(request, send).clear(places), send);
}

}  // namespace rdmacfg::system::detail
