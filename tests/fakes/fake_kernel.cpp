// SPDX-License-Identifier: Apache-2.0
#include "fakes/fake_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace rdmacfg::fakes {

namespace {

void require(int err, const std::string& what) {
  if (err != 0) throw std::runtime_error(fmt::format("fake kernel: {}: errno {}", what, err));
}

model::Guid guid_of(const std::string& text) {
  auto guid = model::Guid::parse(text);
  if (!guid) throw std::runtime_error("fake kernel: " + guid.error().message);
  return *guid;
}

}  // namespace

DeviceBuilder FakeKernel::add_device(Device device) {
  machine.devices.push_back(std::move(device));
  machine.probe(machine.devices.back());
  return {*this, machine.devices.back().name};
}

DeviceBuilder& DeviceBuilder::ib_port(const PortSpec& spec) {
  Device& device = *kernel_.machine.device(device_);
  Port port;
  port.number = static_cast<int>(device.ports.size()) + 1;
  port.guid = guid_of(spec.guid).number;
  port.state = spec.state;
  port.link_layer = spec.link_layer;
  port.mtu = spec.mtu;
  port.group_mtu = spec.group_mtu;
  port.pkeys = spec.pkeys;
  port.sm = spec.sm;
  if (device.node_guid == 0) device.node_guid = port.guid - 1;
  device.ports.push_back(std::move(port));
  kernel_.machine.probe(device);
  if (!spec.interface.empty() && spec.link_layer == "InfiniBand") {
    Interface& made = kernel_.machine.links.back();
    if (made.name != spec.interface && kernel_.machine.in_use(spec.interface)) {
      throw std::runtime_error("fake kernel: two interfaces " + spec.interface);
    }
    made.name = spec.interface;
  }
  return *this;
}

Interface& FakeKernel::link(const std::string& name) {
  Interface* found = machine.find(name);
  if (found == nullptr) throw std::runtime_error("fake kernel: no interface " + name);
  return *found;
}

void FakeKernel::set_up(const std::string& name) {
  require(machine.set({.index = link(name).index, .up = true}), name + ": up");
}

void FakeKernel::set_down(const std::string& name) {
  require(machine.set({.index = link(name).index, .up = false}), name + ": down");
}

void FakeKernel::set_mode(const std::string& name, model::IpoibMode mode) {
  Interface& target = link(name);
  const Maker maker = target.maker;
  target.maker = Maker::kSysfs;  // netlink can set a mode at creation
  require(machine.set_mode(name, mode), name + ": mode");
  target.maker = maker;
}

void FakeKernel::set_mtu(const std::string& name, std::int64_t mtu) {
  require(machine.set({.index = link(name).index, .mtu = mtu}), name + ": mtu");
}

Interface& FakeKernel::add_child(const std::string& parent, std::uint16_t pkey, const std::string& name,
                                 Maker maker) {
  const auto key = model::Pkey::make(pkey);
  if (!key) throw std::runtime_error("fake kernel: " + key.error().message);
  if (maker == Maker::kSysfs) {
    require(machine.create_sysfs(parent, key->full()), parent + ": create_child");
    Interface& made = machine.links.back();
    if (!name.empty() && name != made.name) require(machine.set({.index = made.index, .name = name}), name);
    return made;
  }
  const std::string wanted = name.empty() ? fmt::format("{}.{:04x}", parent, key->full()) : name;
  require(machine.create_netlink({.parent = link(parent).index, .name = wanted, .pkey = *key}),
          wanted + ": create");
  return machine.links.back();
}

void FakeKernel::carry(const std::string& name, const std::string& item) {
  if (item.starts_with("rule ")) {
    machine.rules.push_back(item.substr(5));
    return;
  }
  require(machine.restore({.index = 0, .name = name, .items = {item}}, link(name).index, name),
          name + ": " + item);
}

void FakeKernel::remove_device_at(std::size_t n, const std::string& device) {
  faults.before(n, [this, device] { machine.remove_device(device); });
}

void FakeKernel::leave_device_at(std::size_t n, const std::string& device) {
  faults.before(n, [this, device] { machine.leave_device(device); });
}

void FakeKernel::replug_device_at(std::size_t n, const std::string& device, Naming naming) {
  faults.before(n, [this, device, naming] {
    machine.replug_device(device);
    if (naming == Naming::kAtOnce) name_by_rules();
  });
}

void FakeKernel::reboot() {
  boot_id.back() = boot_id.back() == '9' ? '1' : static_cast<char>(boot_id.back() + 1);
  machine.links.remove_if([](const auto& l) { return l.is_ipoib(); });
  machine.rules.clear();
  nvme_host.reboot();
  iscsi.reboot();
  iscsi.boot_id = boot_id;
  units.reboot();
  sysctl.reboot();
  modules.reboot();
  dcb.reboot();
  mlx4_ports.reboot();
  nvme_target.reboot();
  lio.reboot();
  const auto options = files.content.find("/etc/modprobe.d/rdma-configd-netns.conf");
  rdma_system.shared =
      options == files.content.end() || options->second.find("netns_mode=0") == std::string::npos;
  machine.devices.remove_if([](const auto& d) { return !d.soft.empty(); });
  machine.rdma_cm = 0;
  machine.rdma_cm_folders.clear();
  std::erase_if(files.content, [](const auto& file) { return file.first.starts_with("/run/"); });
  for (auto& device : machine.devices) {
    device.instance = 0;
    for (auto& port : device.ports) port.roce_mode.clear();
    machine.probe(device);
  }
  name_by_rules();
  resolver.links.clear();
  if (network_manager.running) network_manager.start();
  if (networkd.running) networkd.start();
}

void FakeKernel::name_by_rules() {
  const auto value_after = [](const std::string& line, const std::string& key) -> std::string {
    const auto at = line.find(key + "\"");
    if (at == std::string::npos) return {};
    const auto start = at + key.size() + 1;
    return line.substr(start, line.find('"', start) - start);
  };
  for (auto& target : machine.links) {
    if (!target.is_ipoib() || target.parent != 0) continue;
    const std::string guid = model::Guid{target.guid}.text();
    for (const auto& [path, text] : files.content) {
      if (!path.starts_with("/etc/udev/rules.d/") || !path.ends_with(".rules")) continue;
      for (std::size_t start = 0; start < text.size();) {
        const auto end = std::min(text.find('\n', start), text.size());
        const std::string line = text.substr(start, end - start);
        start = end + 1;
        if (line.starts_with('#') || !value_after(line, "ATTR{address}==").ends_with(guid)) continue;
        const std::string name = value_after(line, " NAME=");
        if (!name.empty() && !machine.in_use(name)) target.name = name;
      }
    }
  }
}

system::Host FakeKernel::host() {
  iscsi.boot_id = boot_id;
  return {.links = *this,
          .inet = inet,
          .resolver = resolver,
          .network_manager = network_manager,
          .networkd = networkd,
          .ipoib = *this,
          .rdma = *this,
          .rdma_admin = *this,
          .rdma_cm = *this,
          .files = files,
          .udev = *this,
          .units = units,
          .timers = timers,
          .modules = modules,
          .initramfs = initramfs,
          .dcb = dcb,
          .mlx4_ports = mlx4_ports,
          .nfsd = nfsd,
          .nvme_target = nvme_target,
          .nvme_host = nvme_host,
          .iscsi = iscsi,
          .lio = lio,
          .accounts = accounts,
          .sysctl = sysctl,
          .rdma_system = rdma_system,
          .pci = pci,
          .packages = packages,
          .boot_id = boot_id};
}

}  // namespace rdmacfg::fakes
