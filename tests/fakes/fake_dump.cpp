// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::fakes {

namespace {

std::string device_text(const Device& device) {
  std::string out = fmt::format("device {} driver {} pci {}\n", device.name, device.driver, device.pci);
  for (const auto& port : device.ports) {
    out += fmt::format("  port {} {} {} {} mtu {} {}", port.number, model::Guid{port.guid}.text(),
                       port.link_layer, port.state, port.mtu, port.sm ? "sm" : "no-sm");
    for (const auto key : port.pkeys) out += fmt::format(" {:#06x}", key);
    if (!port.netdev.empty()) out += " netdev " + port.netdev;
    if (!port.roce_mode.empty()) out += fmt::format(" {} tos {}", port.roce_mode, port.roce_tos);
    out += "\n";
  }
  return out;
}

std::string link_text(const Interface& link, const Interface* parent, const DumpOptions& options) {
  std::string out = "link " + link.name;
  if (!link.kind.empty()) out += " " + link.kind;
  if (link.is_ipoib()) out += fmt::format(" {} {:#06x}", model::Guid{link.guid}.text(), link.pkey);
  if (link.parent != 0) out += " over " + (parent == nullptr ? std::string("?") : parent->name);
  if (link.maker != Maker::kKernel && options.makers)
    out += link.maker == Maker::kSysfs ? " by sysfs" : " by netlink";
  out += link.up ? " up" : " down";
  if (link.up && !link.carrier) out += " no-carrier";
  out += fmt::format(" mtu {}", link.mtu);
  if (link.is_ipoib()) out += link.connected ? " connected" : " datagram";
  if (link.umcast) out += " umcast";
  if (link.group != 0 && options.groups) out += fmt::format(" group {}", link.group);
  out += "\n";
  for (const auto& altname : link.altnames) out += "  altname " + altname + "\n";
  std::vector<std::string> items = link.items;
  std::sort(items.begin(), items.end());
  for (const auto& item : items) out += "  " + item + "\n";
  return out;
}

}  // namespace

std::string FakeKernel::dump(const DumpOptions& options) const {
  std::string out;
  if (options.devices) {
    for (const auto& device : machine.devices) out += device_text(device);
  }
  if (!options.devices) {
    for (const auto& device : machine.devices) {
      const auto& port = device.ports.front();
      if (port.link_layer != "Ethernet") continue;
      out += fmt::format("rdma {}{}{}", device.name, device.soft.empty() ? "" : " " + device.soft,
                         port.netdev.empty() ? "" : " over " + port.netdev);
      if (!port.roce_mode.empty()) out += fmt::format(" {} tos {}", port.roce_mode, port.roce_tos);
      out += "\n";
    }
  }
  for (const auto& [name, instance] : machine.rdma_cm_folders) out += "folder " + name + "\n";
  std::vector<std::string> texts;
  for (const auto& link : machine.links) {
    const auto parent = std::find_if(machine.links.begin(), machine.links.end(), [&](const auto& l) {
      return link.parent != 0 && l.index == link.parent;
    });
    texts.push_back(link_text(link, parent == machine.links.end() ? nullptr : &*parent, options));
  }
  std::sort(texts.begin(), texts.end());
  for (const auto& text : texts) out += text;
  std::vector<std::string> rules = machine.rules;
  std::sort(rules.begin(), rules.end());
  for (const auto& rule : rules) out += "rule " + rule + "\n";
  out += units.dump() + resolver.dump() + network_manager.dump() + networkd.dump();
  out += modules.dump() + initramfs.dump() + dcb.dump() + mlx4_ports.dump();
  out += sysctl.dump();
  out += rdma_system.dump();
  out += nfsd.dump();
  out += nvme_target.dump();
  out += nvme_host.dump();
  out += iscsi.dump();
  out += lio.dump();
  for (const auto& [path, text] : files.content) {
    const bool record = path.starts_with("/run/rdma-configd/held.json") ||
                        path.starts_with("/run/rdma-configd/degraded.json") ||
                        path.starts_with("/run/rdma-configd/unwritten.json") ||
                        path == "/run/rdma-configd/roce-defaults" || path == "/run/rdma-configd/ledger-seen";
    if (!options.without_files_below.empty() && (record || path.starts_with(options.without_files_below)))
      continue;
    out += "file " + path + "\n";
    for (std::size_t start = 0; start < text.size();) {
      const auto end = std::min(text.find('\n', start), text.size());
      out += "  | " + text.substr(start, end - start) + (end == text.size() ? " (no newline)" : "") + "\n";
      start = end + 1;
    }
  }
  return out;
}

}  // namespace rdmacfg::fakes
