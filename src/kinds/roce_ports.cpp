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
constexpr std::string_view kBond = "bond";

/// The interfaces that stand for the same port as `link`: itself, the bond that it is in, and what is in it.
/// A bridge or VRF is no port: GIDs only follow bonds (drivers/infiniband/core/roce_gid_mgmt.c).
std::vector<std::string> same_port(const Link& link, const World& world) {
  std::vector<std::string> names{link.name};
  for (const auto& other : world.snapshot().links) {
    const bool over = other.index == link.master && other.kind == kBond;
    const bool in = link.kind == kBond && other.master == link.index;
    if (over || in) names.push_back(other.name);
  }
  return names;
}

/// Where a file stands in the order of merging: the main file, or the only one, then drop-ins by their name.
std::string_view rank_of(const model::Location& where) {
  const std::string_view file = where.file;
  const auto slash = file.rfind('/');
  if (slash == std::string_view::npos || !file.substr(0, slash).ends_with("/conf.d")) return {};
  return file.substr(slash + 1);
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

  /// The ports that an entry means: one, or all under a bond.
  [[nodiscard]] std::vector<RocePort> ports_of(const Section& section) const {
    const auto *name = section.find("device"), *number = section.find("port");
    if (name != nullptr && number != nullptr) return {by_device(section, *name, *number)};
    const auto* interface = section.find("interface");
    return interface == nullptr ? std::vector<RocePort>{} : by_interface(section, *interface);
  }

  [[nodiscard]] RocePort by_device(const Section& section, const model::Entry& name,
                                   const model::Entry& number) const {
    RocePort out;
    out.section = &section;
    const auto called = model::text_of(name.value);
    const auto wanted = std::get<std::int64_t>(number.value);
    out.id = out.label = fmt::format("{}/{}", called, wanted);
    const auto* device = names.find(called);
    if (device == nullptr) {
      if (!made_by_us(called, out)) out.pending = names.missing(called);
      return out;
    }
    for (const auto& port : device->ports) {
      if (port.number == wanted) {
        found(out, *device, port);
        return out;
      }
    }
    error(out, number.where, fmt::format("[[roce]] port: {} has no port {}", called, wanted),
          fmt::format("it has {} port(s), counted from 1", device->ports.size()));
    return out;
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

  [[nodiscard]] std::vector<RocePort> by_interface(const Section& section,
                                                   const model::Entry& written) const {
    RocePort out;
    out.section = &section;
    const auto name = model::text_of(written.value);
    out.id = out.label = name;
    const auto* link = world.named(name);
    if (link == nullptr) {
      out.pending = fmt::format("no interface {} now", name);
      return {out};
    }
    std::vector<RocePort> all;
    for (const auto& port : ports_over(*link, world)) {
      all.push_back(out);
      found(all.back(), *port.device, *port.port);
    }
    if (!all.empty()) return all;
    const auto* below = link->kind == "vlan" ? world.link(link->parent) : nullptr;
    if (below != nullptr) {
      error(out, written.where, fmt::format("[[roce]] interface: {} is a VLAN over {}", name, below->name),
            fmt::format("write interface = \"{}\": the defaults are the port's, with all its VLANs",
                        below->name));
    } else if (link->kind == "bridge") {
      out.pending = fmt::format(
          "{} is a bridge without an RDMA device of its own; ports in it go by their names", name);
    } else {
      out.pending = fmt::format("{} has no RDMA device now (is its RDMA driver loaded?)", name);
    }
    return {out};
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

std::vector<PortRef> ports_over(const Link& link, const World& world) {
  const bool bond = link.kind == kBond;
  std::vector<PortRef> out;
  // What is in a bond is of its own device where it has one; in a RoCE LAG there is one device, over the
  // bond.
  for (const auto& name : same_port(link, world)) {
    for (const auto& device : world.snapshot().devices) {
      for (const auto& port : device.ports) {
        const bool known =
            std::any_of(out.begin(), out.end(), [&](const PortRef& one) { return one.port == &port; });
        if (!known && has_netdev(port, name)) out.push_back({&device, &port});
      }
    }
    if (!bond && !out.empty()) break;
  }
  // Software devices that somebody has over what is in a bond are not the bond's.
  const auto hardware = [](const PortRef& one) { return one.device->soft.empty(); };
  if (bond && std::any_of(out.begin(), out.end(), hardware))
    std::erase_if(out,
                  [&](const PortRef& one) { return !hardware(one) && !has_netdev(*one.port, link.name); });
  std::stable_partition(out.begin(), out.end(), hardware);
  if (!bond && out.size() > 1) out.resize(1);
  return out;
}

bool is_about(const Section& roce, const PortRef& port, const DeviceNames& names, const World& world) {
  if (const auto* written = roce.find("interface")) {
    const auto* link = world.named(model::text_of(written->value));
    const auto its = link == nullptr ? std::vector<PortRef>{} : ports_over(*link, world);
    return std::any_of(its.begin(), its.end(), [&](const PortRef& one) { return one.port == port.port; });
  }
  const auto *name = roce.find("device"), *number = roce.find("port");
  return name != nullptr && number != nullptr && names.find(model::text_of(name->value)) == port.device &&
         model::Value{std::int64_t{port.port->number}} == number->value;
}

bool is_about(const Section& roce, const std::string& interface, const DeviceNames& names,
              const World& world) {
  const auto* written = roce.find("interface");
  if (written != nullptr && model::text_of(written->value) == interface) return true;
  const auto* link = world.named(interface);
  auto ports = link == nullptr ? std::vector<PortRef>{} : ports_over(*link, world);
  // A second device over it, which only its own name can mean.
  for (const auto& device : world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (written == nullptr && has_netdev(port, interface)) ports.push_back({&device, &port});
    }
  }
  return std::any_of(ports.begin(), ports.end(),
                     [&](const PortRef& port) { return is_about(roce, port, names, world); });
}

RoceMarking roce_marking(const Section& roce) {
  const auto *dscp = roce.find("dscp"), *tos = roce.find("tos");
  if (dscp == nullptr || tos == nullptr) return {dscp != nullptr ? dscp : tos, dscp != nullptr, nullptr};
  // An entry is closer than [defaults.roce], whatever files they are in.
  if (dscp->from_defaults != tos->from_defaults) {
    const bool is_dscp = tos->from_defaults;
    return {is_dscp ? dscp : tos, is_dscp, nullptr};
  }
  if (dscp->where.file == tos->where.file) return {dscp, true, tos};
  const bool is_dscp = rank_of(tos->where) < rank_of(dscp->where);
  return {is_dscp ? dscp : tos, is_dscp, nullptr};
}

std::vector<RocePort> bind_roce(const Bound& bound, Diagnostics& diagnostics) {
  const Binder binder{bound, *bound.world, DeviceNames::of(bound.sections, *bound.world), diagnostics};
  std::vector<RocePort> out;
  std::map<std::string, const Section*> seen;
  for (const auto* section : bound.of(kSection)) {
    for (auto& port : binder.ports_of(*section)) {
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
  }
  return out;
}

}  // namespace rdmacfg::kinds
