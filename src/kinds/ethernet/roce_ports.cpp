// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/roce_ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
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

constexpr std::string_view kRoceSection = "roce";
constexpr std::string_view kBond = "bond";

/// The interfaces that stand for the same port as `link`: itself, the bond that it is in, and its legs.
/// A bridge or VRF is not a port: GIDs only follow bonds (drivers/infiniband/core/roce_gid_mgmt.c).
std::vector<std::string> same_port(const Link& link, const World& world) {
  std::vector<std::string> names{link.name};
  if (link.master == 0 && link.kind != kBond) return names;
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

/// The [[soft_rdma]] entries by the name of their device; the first of a name counts.
std::map<std::string, const Section*> soft_devices_of(const Bound& bound) {
  std::map<std::string, const Section*> out;
  for (const auto* soft : bound.of("soft_rdma")) {
    const auto* name = soft->find("name");
    if (name != nullptr && soft->find("interface") != nullptr && soft->find("type") != nullptr)
      out.emplace(model::text_of(name->value), soft);
  }
  return out;
}

struct Binder {
  const World& world;
  const DeviceNames names;
  const std::map<std::string, const Section*> soft_devices;
  Diagnostics& diagnostics;

  void error(RocePort& out, const model::Location& where, model::Subject subject, std::string_view what,
             std::string hint, std::vector<Diagnostic::Related> related = {}) const {
    diagnostics.push_back(model::diagnose(Severity::kError, where, std::move(subject), what, std::move(hint),
                                          std::move(related)));
    out.pending = diagnostics.back().message;
  }

  void found(RocePort& out, const RdmaDevice& device, const system::RdmaPort& port) const {
    out.port = PortRef{&device, &port};
    out.label = fmt::format("{}/{}", names.name_of(device), port.number);
    // A device without a PCI address (a sub-function) is known by its name, once it has it.
    out.id = device.pci.empty() ? out.label : roce_id(device, port.number);
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
    error(out, number.where, key_of_roce("port"), fmt::format("{} has no port {}", called, wanted),
          fmt::format("{} has {} port{}, counted from 1", called, device->ports.size(),
                      device->ports.size() == 1 ? "" : "s"));
    return out;
  }

  /// A software device that the same document makes, over an interface that is there.
  bool made_by_us(const std::string& name, RocePort& out) const {
    if (const auto at = soft_devices.find(name); at != soft_devices.end()) {
      const auto *interface = at->second->find("interface"), *type = at->second->find("type");
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
      out.pending = fmt::format("interface {} does not exist", name);
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
      error(out, written.where, key_of_roce("interface"),
            fmt::format("{} is a VLAN over {}", name, below->name),
            fmt::format("write interface = \"{}\": the defaults apply to the port and all its VLANs",
                        below->name));
    } else if (link->kind == "bridge") {
      out.pending =
          fmt::format("{} is a bridge without its own RDMA device; use the names of its ports", name);
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

std::string traffic_class_file(const PortRef& port) {
  return fmt::format("/sys/class/infiniband/{}/tc/{}/traffic_class", port.device->name, port.port->number);
}

std::optional<std::int64_t> forced_traffic_class(const PortRef& port, system::Files& files) {
  constexpr std::string_view kGlobal = "Global tclass=";
  const auto text = files.read(traffic_class_file(port));
  if (!text || !*text || !(*text)->starts_with(kGlobal)) return std::nullopt;
  const std::string_view line = std::string_view(**text).substr(0, (*text)->find('\n'));
  const auto number = base::parse_number(base::trim(line.substr(kGlobal.size())));
  return number && *number <= 255 ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

std::vector<PortRef> ports_over(const Link& link, const World& world) {
  const bool bond = link.kind == kBond;
  std::vector<PortRef> out;
  // A leg of a bond is of its own device where it has one; in a RoCE LAG there is one device, over the
  // bond.
  for (const auto& name : same_port(link, world)) {
    for (const auto& device : world.snapshot().devices) {
      for (const auto& port : device.ports) {
        const bool known =
            std::any_of(out.begin(), out.end(), [&](const PortRef& listed) { return listed.port == &port; });
        if (!known && has_netdev(port, name)) out.push_back({&device, &port});
      }
    }
    if (!bond && !out.empty()) break;
  }
  // Software devices that somebody has over what is in a bond are not the bond's.
  const auto hardware = [](const PortRef& port) { return port.device->soft.empty(); };
  if (bond && std::any_of(out.begin(), out.end(), hardware))
    std::erase_if(out,
                  [&](const PortRef& port) { return !hardware(port) && !has_netdev(*port.port, link.name); });
  std::stable_partition(out.begin(), out.end(), hardware);
  if (!bond && out.size() > 1) out.resize(1);
  return out;
}

void RoceEntries::add(std::size_t place, const Section& roce) {
  if (const auto* written = roce.find("interface")) {
    const auto name = model::text_of(written->value);
    by_interface_[name].push_back(place);
    const auto* link = world_.named(name);
    if (link == nullptr) return;
    for (const auto& above : ports_over(*link, world_)) by_port_[above.port].push_back(place);
    return;
  }
  const auto *name = roce.find("device"), *number = roce.find("port");
  const auto* device =
      name == nullptr || number == nullptr ? nullptr : names_.find(model::text_of(name->value));
  if (device == nullptr) return;
  for (const auto& port : device->ports) {
    if (model::Value{std::int64_t{port.number}} != number->value) continue;
    by_port_[&port].push_back(place);
    by_device_[&port].push_back(place);
  }
}

std::set<std::size_t> RoceEntries::about(const std::string& interface) const {
  std::set<std::size_t> out;
  const auto take = [&](const auto& places, const auto& key) {
    if (const auto at = places.find(key); at != places.end())
      out.insert(at->second.begin(), at->second.end());
  };
  take(by_interface_, interface);
  if (by_port_.empty()) return out;
  if (const auto* link = world_.named(interface)) {
    for (const auto& port : ports_over(*link, world_)) take(by_port_, port.port);
  }
  // A second device over it, which only its own name can mean.
  for (const auto& [port, places] : by_device_) {
    if (has_netdev(*port, interface)) out.insert(places.begin(), places.end());
  }
  return out;
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
  const Binder binder{*bound.world, DeviceNames::of(bound.sections, *bound.world), soft_devices_of(bound),
                      diagnostics};
  std::vector<RocePort> out;
  std::map<std::string, const Section*> seen;
  for (const auto* section : bound.of(kRoceSection)) {
    for (auto& port : binder.ports_of(*section)) {
      if (binder.world.offline()) port.pending.reset();
      if (port.port && port.port->port->link_layer != "Ethernet") {
        binder.error(port, section->where, entry_of_roce(),
                     fmt::format("{} runs {} now, and RoCE is for Ethernet ports", port.label,
                                 port.port->port->link_layer),
                     "remove the entry, or make the port an Ethernet port first");
      }
      if (const auto [first, fresh] = seen.try_emplace(port.id, section); !fresh) {
        binder.error(port, section->where, entry_of_roce(),
                     fmt::format("selects the port {} that another entry already selects", port.label),
                     "write one entry for a port; device + port and interface can select the same port",
                     {{first->second->where, "the first entry for this port"}});
      }
      out.push_back(std::move(port));
    }
  }
  return out;
}

}  // namespace rdmacfg::kinds
