// SPDX-License-Identifier: Apache-2.0
// FakeKernel's side of the ports of system/.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::fakes {

using base::fail_errno;
using base::Result;

namespace {

system::Link link_of(const Interface& from) {
  system::Link link;
  link.index = from.index;
  link.name = from.name;
  link.altnames = from.altnames;
  link.up = from.up;
  link.carrier = from.carrier;
  link.mtu = from.mtu;
  link.parent = from.parent;
  link.master = from.master;
  link.group = from.group;
  link.kind = from.kind;
  if (system::is_ipoib(from.guid != 0, from.kind)) {
    link.ipoib = system::IpoibInfo{
        .pkey = model::Pkey::make(from.pkey).value_or(model::Pkey{}),
        .mode = from.connected ? model::IpoibMode::kConnected : model::IpoibMode::kDatagram,
        .umcast = from.umcast,
        .child = from.parent != 0,
        .connected_capable = from.capable,
        .guid = model::Guid{from.guid},
    };
  }
  return link;
}

/// One request with the name of its object and its effect.
struct Asked {
  Machine& machine;

  [[nodiscard]] std::string name_of(int index) const {
    const Interface* link = machine.find(index);
    return link == nullptr ? fmt::format("interface {}", index) : link->name;
  }
  template <class Request>
  static std::string settings(const Request& r) {
    std::string out;
    if (r.mtu) out += fmt::format(" mtu {}", *r.mtu);
    if (r.up) out += *r.up ? " up" : " down";
    if (r.umcast) out += *r.umcast ? " umcast on" : " umcast off";
    return out;
  }

  std::string text(const system::SetLink& r) const {
    std::string out = name_of(r.index) + ": set" + settings(r);
    if (r.name) out += " name " + *r.name;
    if (r.group) out += fmt::format(" group {}", *r.group);
    return out;
  }
  std::string text(const system::CreateChild& r) const {
    return fmt::format("{}: create over {} with P_Key {}", r.name, name_of(r.parent), r.pkey.text());
  }
  std::string text(const system::SetCreated& r) const { return r.name + ": set" + settings(r); }
  std::string text(const system::DeleteLink& r) const { return name_of(r.index) + ": delete"; }
  std::string text(const system::DeleteGroup& r) const { return fmt::format("group {}: delete", r.group); }
  std::string text(const system::AddAltname& r) const {
    return name_of(r.index) + ": add altname " + r.altname;
  }
  std::string text(const system::DeleteAltname& r) const {
    return name_of(r.index) + ": delete altname " + r.altname;
  }

  int effect(const system::SetLink& r) const { return machine.set(r); }
  int effect(const system::CreateChild& r) const { return machine.create_netlink(r); }
  int effect(const system::SetCreated& r) const { return machine.set_created(r); }
  int effect(const system::DeleteLink& r) const { return machine.remove(r.index); }
  int effect(const system::DeleteGroup& r) const { return machine.remove_group(r.group); }
  int effect(const system::AddAltname& r) const { return machine.add_altname(r.index, r.altname); }
  int effect(const system::DeleteAltname& r) const { return machine.remove_altname(r.index, r.altname); }
};

}  // namespace

Result<std::vector<system::Link>> FakeKernel::observe_links() {
  ++link_dumps;
  if (observe_error != 0) return fail_errno(observe_error, "RTM_GETLINK");
  std::vector<system::Link> links;
  for (const auto& link : machine.links) links.push_back(link_of(link));
  return links;
}

Result<std::optional<int>> FakeKernel::index_of(const std::string& name) {
  if (observe_error != 0) return fail_errno(observe_error, "SIOCGIFINDEX");
  for (const auto& link : machine.links) {
    const auto& names = link.altnames;
    if (link.name == name || std::find(names.begin(), names.end(), name) != names.end())
      return std::optional(link.index);
  }
  return std::optional<int>();
}

Result<void> FakeKernel::execute(std::span<const system::LinkRequest> requests) {
  Result<void> result;
  for (const auto& request : requests) {
    const Asked asked{machine};
    const std::string what = std::visit([&](const auto& r) { return asked.text(r); }, request);
    const int err = faults.call(
        what, [&] { return std::visit([&](const auto& r) { return asked.effect(r); }, request); });
    if (err == 0) continue;
    if (result) result = fail_errno(err, what);
    if (!go_on_after_refusal) break;
  }
  return result;
}

Result<std::vector<system::Carried>> FakeKernel::observe_carried(std::span<const system::Link> links) {
  if (observe_error != 0) return fail_errno(observe_error, "RTM_GETADDR");
  machine.rules_put_back.clear();
  std::vector<system::Carried> all;
  for (const auto& link : links) {
    system::Carried carried{.index = link.index, .name = link.name, .items = {}};
    if (const Interface* now = machine.find(link.index); now != nullptr) {
      carried.items = now->items;
      for (const auto& rule : machine.rules) {
        if ((rule + " ").find(fmt::format("if {} ", now->name)) != std::string::npos) {
          carried.items.push_back("rule " + rule);
        }
      }
    }
    all.push_back(std::move(carried));
  }
  return all;
}

Result<void> FakeKernel::restore_carried(const system::Carried& carried, int index, const std::string& name) {
  const std::string what = fmt::format("{}: restore what {} carried", name, carried.name);
  const int err = faults.call(what, [&] { return machine.restore(carried, index, name); });
  if (err != 0) return fail_errno(err, what);
  return {};
}

std::vector<std::string> FakeKernel::lacking(const system::Carried& then, const system::Carried& now) {
  std::vector<std::string> out;
  for (const auto& item : then.items) {
    const bool there = std::find(now.items.begin(), now.items.end(), item) != now.items.end();
    if (!there && !item.ends_with(" dynamic")) out.push_back(item);
  }
  return out;
}

Result<std::vector<int>> FakeKernel::wait_for_carrier(std::span<const int> indexes,
                                                      std::chrono::milliseconds deadline) {
  carrier_waits.push_back(deadline);
  machine.settle();
  for (const int index : indexes) {
    Interface* link = machine.find(index);
    if (link != nullptr && machine.retraining.erase(index) != 0) link->carrier = link->up;
  }
  std::vector<int> without;
  for (const int index : indexes) {
    const Interface* link = machine.find(index);
    if (link == nullptr || !link->carrier) without.push_back(index);
  }
  return without;
}

bool FakeKernel::has_mode_file(const std::string& name) {
  const Interface* link = machine.find(name);
  return link != nullptr && link->is_ipoib() && link->maker != Maker::kNetlink;
}

Result<void> FakeKernel::write_mode(const std::string& name, model::IpoibMode mode) {
  const std::string what = fmt::format("{}: write mode {}", name, model::text_of(mode));
  const int err = faults.call(what, [&] { return machine.set_mode(name, mode); });
  if (err != 0) return fail_errno(err, what);
  return {};
}

Result<void> FakeKernel::create_child(const std::string& parent, model::Pkey pkey) {
  const std::string what = fmt::format("{}: create_child {}", parent, pkey.text());
  const int err = faults.call(what, [&] { return machine.create_sysfs(parent, pkey.full()); });
  if (err != 0) return fail_errno(err, what);
  return {};
}

Result<std::vector<system::RdmaDevice>> FakeKernel::observe_devices(
    const std::set<std::string>& /*children*/) {
  if (observe_error != 0) return fail_errno(observe_error, "RDMA_NLDEV_CMD_GET");
  std::vector<system::RdmaDevice> all;
  for (const auto& from : machine.devices) {
    system::RdmaDevice device;
    device.name = from.name;
    device.firmware = from.firmware;
    device.node_type = from.iwarp ? "RNIC" : "CA";
    device.node_guid = device.system_guid = model::Guid{from.node_guid};
    device.driver = from.driver;
    device.pci = from.pci;
    device.soft = from.soft;
    device.instance = std::to_string(from.instance);
    device.leaving = from.leaving;
    for (const auto& p : from.ports) {
      system::RdmaPort port;
      port.number = p.number;
      port.state = p.state;
      port.physical_state = !p.physical_state.empty() ? p.physical_state
                            : p.state == "DOWN"       ? "Polling"
                                                      : "LinkUp";
      port.rate = p.rate;
      port.link_layer = p.link_layer;
      port.lid = p.sm ? p.number : 0;
      port.sm_lid = p.sm ? p.sm_lid : 0;
      port.lmc = 0;
      port.guid = model::Guid{p.guid};
      port.gid_prefix = "fe80:0000:0000:0000";
      device.omni_path = device.omni_path || p.mtu > 4096;  // InfiniBand ends there
      if (!p.netdev.empty()) port.netdevs.push_back(p.netdev);
      if (!p.in_bond.empty()) port.netdevs.push_back(p.in_bond);
      for (const auto& link : machine.links) {
        if (link.device == from.name && link.port == p.number && link.parent == 0)
          port.netdevs.push_back(link.name);
      }
      device.ports.push_back(std::move(port));
    }
    all.push_back(std::move(device));
  }
  return all;
}

Result<std::vector<std::uint16_t>> FakeKernel::observe_pkeys(const std::string& device, int number) {
  Device* owner = machine.device(device);
  if (owner == nullptr) return fail_errno(ENOENT, device);
  for (const auto& port : owner->ports) {
    if (port.number != number) continue;
    if (!port.pkeys_readable) return fail_errno(EACCES, device + ": pkeys");
    std::vector<std::uint16_t> keys = port.pkeys;
    keys.erase(std::remove(keys.begin(), keys.end(), 0), keys.end());
    return keys;
  }
  return fail_errno(ENOENT, fmt::format("{}: port {}", device, number));
}

std::optional<system::PortMtu> FakeKernel::observe_mtu(const std::string& device, int number) {
  Device* owner = machine.device(device);
  if (owner == nullptr || !owner->verbs) return std::nullopt;
  for (const auto& port : owner->ports) {
    if (port.number == number) return system::PortMtu{.max = port.mtu, .active = port.mtu};
  }
  return std::nullopt;
}

std::optional<system::DeviceIds> FakeKernel::observe_ids(const std::string& device) {
  const Device* owner = machine.device(device);
  if (owner == nullptr || !owner->verbs) return std::nullopt;
  return system::DeviceIds{.vendor = 0x02c9, .part = 4103, .limits = device_limits};  // a ConnectX-3
}

Result<void> FakeKernel::reload_rules() {
  ++udev_reloads;
  if (udev_error != 0) return fail_errno(udev_error, "telling udevd to read its rules");
  return {};
}

Result<void> FakeKernel::trigger(std::span<const std::string> interfaces) {
  udev_triggers.insert(udev_triggers.end(), interfaces.begin(), interfaces.end());
  return {};
}

Result<void> FakeKernel::trigger_rdma_device(const std::string& device) {
  udev_triggers.push_back(device);
  return {};
}

}  // namespace rdmacfg::fakes
