// SPDX-License-Identifier: Apache-2.0
#include "kinds/roce_ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using model::Diagnostic;
using model::Diagnostics;
using model::Section;
using model::Severity;
using system::Link;
using system::RdmaDevice;

namespace {

constexpr std::string_view kSection = "roce";

/// The interfaces that stand for the same port as `link`: itself, the bond that it is in, and what is in it.
std::vector<std::string> same_port(const Link& link, const World& world) {
  std::vector<std::string> names{link.name};
  for (const auto& other : world.snapshot().links) {
    if (other.index == link.master || (other.master != 0 && other.master == link.index))
      names.push_back(other.name);
  }
  return names;
}

bool has_netdev(const system::RdmaPort& port, const std::string& name) {
  return std::find(port.netdevs.begin(), port.netdevs.end(), name) != port.netdevs.end();
}

struct Binder {
  const Bound& bound;
  const World& world;
  const DeviceNames names;
  Diagnostics& diagnostics;

  void error(RocePort& out, const model::Location& where, std::string message, std::string hint,
             std::vector<Diagnostic::Related> related = {}) const {
    out.pending = message;
    diagnostics.push_back(
        Diagnostic{Severity::kError, where, std::move(message), std::move(hint), std::move(related)});
  }

  void found(RocePort& out, const RdmaDevice& device, const system::RdmaPort& port) const {
    out.port = PortRef{&device, &port};
    out.id = roce_id(device, port.number);
    out.label = fmt::format("{}/{}", names.name_of(device), port.number);
    if (const auto soft = model::parse_soft_type(device.soft)) out.soft = *soft;
    if (const auto key = names.renaming(device)) out.needs.push_back(*key);
  }

  [[nodiscard]] bool by_device(const Section& section, RocePort& out) const {
    const auto *name = section.find("device"), *number = section.find("port");
    if (name == nullptr || number == nullptr) return false;
    const auto called = model::text_of(name->value);
    const auto wanted = std::get<std::int64_t>(number->value);
    out.id = out.label = fmt::format("{}/{}", called, wanted);
    const auto* device = names.find(called);
    if (device == nullptr) {
      if (!made_by_us(called, out)) out.pending = names.missing(called);
      return true;
    }
    for (const auto& port : device->ports) {
      if (port.number == wanted) {
        found(out, *device, port);
        return true;
      }
    }
    error(out, number->where, fmt::format("[[roce]] port: {} has no port {}", called, wanted),
          fmt::format("it has {} port(s), counted from 1", device->ports.size()));
    return true;
  }

  /// A software device that the same document makes, over an interface that is there.
  bool made_by_us(const std::string& name, RocePort& out) const {
    for (const auto* soft : bound.of("soft_rdma")) {
      const auto *its = soft->find("name"), *interface = soft->find("interface"), *type = soft->find("type");
      if (its == nullptr || interface == nullptr || type == nullptr || model::text_of(its->value) != name)
        continue;
      if (const auto parsed = model::parse_soft_type(model::text_of(type->value))) out.soft = *parsed;
      if (world.named(model::text_of(interface->value)) == nullptr) return false;
      out.needs.push_back(
          {"soft_rdma", fmt::format("{}/{}", model::text_of(interface->value), model::text_of(type->value))});
      return true;
    }
    return false;
  }

  [[nodiscard]] bool by_interface(const Section& section, RocePort& out) const {
    const auto* written = section.find("interface");
    if (written == nullptr) return false;
    const auto name = model::text_of(written->value);
    out.id = out.label = name;
    const auto* link = world.named(name);
    if (link == nullptr) {
      out.pending = fmt::format("no interface {} now", name);
    } else if (const auto port = port_over(*link, world)) {
      found(out, *port->device, *port->port);
    } else {
      out.pending = fmt::format("{} has no RDMA device now (is its RDMA driver loaded?)", name);
    }
    return true;
  }
};

}  // namespace

std::string roce_id(const RdmaDevice& device, int port) {
  return fmt::format("{}/{}", device.pci.empty() ? device.name : device.pci, port);
}

std::optional<PortRef> roce_port(const std::string& id, const World& world) {
  for (const auto& device : world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (roce_id(device, port.number) == id) return PortRef{&device, &port};
    }
  }
  return std::nullopt;
}

std::optional<PortRef> port_over(const Link& link, const World& world) {
  for (const auto& name : same_port(link, world)) {
    for (const auto& device : world.snapshot().devices) {
      for (const auto& port : device.ports) {
        if (has_netdev(port, name)) return PortRef{&device, &port};
      }
    }
  }
  return std::nullopt;
}

bool is_about(const Section& roce, const std::string& interface, const DeviceNames& names,
              const World& world) {
  const auto* link = world.named(interface);
  const auto port = link == nullptr ? std::nullopt : port_over(*link, world);
  if (const auto* written = roce.find("interface")) {
    const auto name = model::text_of(written->value);
    const auto* other = name == interface ? link : world.named(name);
    if (name == interface || other == nullptr || !port) return name == interface;
    const auto its = port_over(*other, world);
    return its && its->port == port->port;
  }
  const auto *name = roce.find("device"), *number = roce.find("port");
  const auto* device =
      name == nullptr || number == nullptr ? nullptr : names.find(model::text_of(name->value));
  if (device == nullptr) return false;
  return std::any_of(device->ports.begin(), device->ports.end(), [&](const auto& one) {
    return model::Value{std::int64_t{one.number}} == number->value &&
           ((port && port->port == &one) || has_netdev(one, interface));
  });
}

std::vector<RocePort> bind_roce(const Bound& bound, Diagnostics& diagnostics) {
  const Binder binder{bound, *bound.world, DeviceNames::of(bound.sections, *bound.world), diagnostics};
  std::vector<RocePort> out;
  std::map<std::string, const Section*> seen;
  for (const auto* section : bound.of(kSection)) {
    RocePort port;
    port.section = section;
    if (!binder.by_device(*section, port) && !binder.by_interface(*section, port)) continue;
    if (binder.world.offline()) port.pending.reset();
    if (port.port && port.port->port->link_layer != "Ethernet") {
      binder.error(port, section->where,
                   fmt::format("[[roce]] {} runs {} now, and RoCE is for Ethernet ports", port.label,
                               port.port->port->link_layer),
                   "remove the entry, or make the port an Ethernet port first");
    }
    if (const auto [first, fresh] = seen.try_emplace(port.id, section); !fresh) {
      binder.error(port, section->where,
                   fmt::format("[[roce]] means the port {} that another entry means already", port.label),
                   "write one entry for a port; device + port and interface can mean the same one",
                   {{first->second->where, "the first entry for this port"}});
    }
    out.push_back(std::move(port));
  }
  return out;
}

}  // namespace rdmacfg::kinds
