// SPDX-License-Identifier: Apache-2.0
// RDMA netlink and rdma_cm's configfs of the machine. Sources: nldev.c, cma_configfs.c, rxe.c, and the lab.
#include <algorithm>
#include <cerrno>

#include "fakes/machine/machine.hpp"

namespace rdmacfg::fakes {

namespace {

constexpr const char* kV1 = "IB/RoCE v1";
constexpr const char* kV2 = "RoCE v2";

bool offers(const Port& port, const std::string& mode) {
  if (port.link_layer != "Ethernet") return mode == kV1;
  return std::find(port.gid_types.begin(), port.gid_types.end(), mode) != port.gid_types.end();
}

}  // namespace

void Machine::set_default(Port& port) {
  port.roce_mode = offers(port, kV2) ? kV2 : kV1;
  port.roce_tos = 0;
}

int Machine::rename_device(const std::string& name, const std::string& wanted) {
  Device* found = device(name);
  if (found == nullptr) return ENODEV;
  if (device(wanted) != nullptr) return name == wanted ? 0 : EEXIST;
  found->name = wanted;
  for (auto& link : links) {
    if (link.device == name) link.device = wanted;
  }
  return 0;
}

int Machine::new_soft(const std::string& name, const std::string& type, const std::string& interface) {
  if (!soft_types.contains(type)) return EINVAL;
  if (find(interface) == nullptr) return ENODEV;
  for (const auto& each : devices) {
    if (each.soft == type && each.ports.front().netdev == interface) return EEXIST;
  }
  if (device(name) != nullptr) return ENFILE;
  Device made;
  made.name = name;
  made.driver.clear();
  made.soft = type;
  made.node_guid = std::uint64_t{0x020000fffe000000} + static_cast<std::uint64_t>(find(interface)->index);
  Port port;
  port.guid = made.node_guid;
  port.link_layer = "Ethernet";
  port.netdev = interface;
  port.gid_types = {kV2};
  made.ports.push_back(std::move(port));
  devices.push_back(std::move(made));
  probe(devices.back());
  return 0;
}

int Machine::delete_soft(const std::string& name) {
  const Device* found = device(name);
  if (found == nullptr) return 0;
  if (found->soft.empty()) return EINVAL;
  remove_device(name);
  return 0;
}

void Machine::load_rdma_cm() {
  ++rdma_cm;
  rdma_cm_folders.clear();
  for (auto& each : devices) {
    for (auto& port : each.ports) {
      if (port.link_layer == "Ethernet") set_default(port);
    }
  }
}

int Machine::make_folder(const std::string& name) {
  if (rdma_cm == 0) return ENOENT;
  const Device* found = device(name);
  if (rdma_cm_folders.contains(name)) return EEXIST;
  if (found == nullptr) return ENODEV;
  rdma_cm_folders[name] = found->instance;
  return 0;
}

int Machine::remove_folder(const std::string& name) { return rdma_cm_folders.erase(name) == 0 ? ENOENT : 0; }

Port* Machine::folder_port(const std::string& name, int number) {
  Device* found = device(name);
  const auto folder = rdma_cm_folders.find(name);
  // The folder looks its device up by name each time.
  if (folder == rdma_cm_folders.end() || found == nullptr) return nullptr;
  for (auto& port : found->ports) {
    if (port.number == number) return &port;
  }
  return nullptr;
}

int Machine::set_roce_mode(const std::string& name, int number, const std::string& mode) {
  Port* port = folder_port(name, number);
  if (port == nullptr) return ENODEV;
  if (!offers(*port, mode)) return EINVAL;
  port->roce_mode = mode;
  return 0;
}

int Machine::set_roce_tos(const std::string& name, int number, int tos) {
  Port* port = folder_port(name, number);
  if (port == nullptr) return ENODEV;
  if (tos < 0 || tos > 255) return ERANGE;
  port->roce_tos = tos;
  return 0;
}

}  // namespace rdmacfg::fakes
