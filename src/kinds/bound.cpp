// SPDX-License-Identifier: Apache-2.0
#include "kinds/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "kinds/ports/device_names.hpp"
#include "kinds/ports/name_template.hpp"
#include "kinds/ports/selector.hpp"

namespace rdmacfg::kinds {

using model::Diagnostic;
using model::Diagnostics;
using model::Guid;
using model::Section;

namespace {

std::string port_label(const PortRef& port) {
  return fmt::format("{} port {}", port.device->name, port.port->number);
}

/// "mlx4_0 port 1, mlx4_0 port 2 and mlx4_1 port 1"
std::string labels_of(const std::vector<PortRef>& ports) {
  std::string out;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (i > 0) out += i + 1 == ports.size() ? " and " : ", ";
    out += port_label(ports[i]);
  }
  return out;
}

std::vector<std::string> port_guids(const World& world) {
  std::vector<std::string> known;
  for (const auto& device : world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (port.guid.number != 0) known.push_back(port.guid.text());
    }
  }
  return known;
}

constexpr std::size_t kPrefixText = 20;  ///< "fe80:0000:0000:0000:" in front of the GUID in a GID

std::string missing_guid(const World& world, Guid guid) {
  for (const auto& device : world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (port.guid == guid)
        return fmt::format("{} port {} runs {} now", device.name, port.number, port.link_layer);
      if (device.node_guid == guid) {
        return fmt::format("{} is the node GUID of {}; the GUID of its port {} is {}", guid.text(),
                           device.name, port.number, port.guid.text());
      }
    }
  }
  // `show` prints the last half of an Ethernet port's first GID.
  for (const auto& device : world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (port.link_layer != "Ethernet" || world.offline()) continue;
      const auto gids = world.host().rdma.observe_gids(device.name, port.number);
      if (!gids || gids->empty() || gids->front().gid.size() <= kPrefixText) continue;
      const auto end = Guid::parse(std::string_view(gids->front().gid).substr(kPrefixText));
      if (end && *end == guid) {
        return fmt::format(
            "{} port {} has it and runs Ethernet now, so it has no IPoIB interface ([[roce]] is for "
            "such a port)",
            device.name, port.number);
      }
    }
  }
  const auto known = port_guids(world);
  if (const auto near = base::nearest(guid.text(), known)) {
    return fmt::format("no port has this GUID now; the most similar GUID is {}", *near);
  }
  return "no port has this GUID now";
}

/// Fills in what the host has for a port that is known by its GUID.
void bind_guid(BoundPort& bound, Guid guid, const World& world) {
  bound.guid = guid;
  bound.id = guid.text();
  bound.link = world.parent(guid);
  bound.port = world.port(guid);
  if (world.offline()) return;
  if (!bound.port && bound.link == nullptr) {
    bound.pending = missing_guid(world, guid);
  } else if (bound.link == nullptr) {
    bound.pending = fmt::format("{} has no IPoIB interface in this network namespace (is ib_ipoib loaded?)",
                                port_label(*bound.port));
  }
}

class Binder {
 public:
  Binder(const std::vector<Section>& sections, const World& world, Diagnostics& diagnostics)
      : world_(world), names_(DeviceNames::of(sections, world)), diagnostics_(diagnostics) {}

  void bind(const Section& section) {
    const auto selector = selector_of(section);
    if (selector.guid) {
      BoundPort bound;
      bind_guid(bound, *selector.guid, world_);
      check_twin(bound, section.find("guid")->where, std::nullopt);
      add(section, std::move(bound));
    } else if (selector.device && selector.port) {
      bind_device(section, selector.device->text, selector.port->number);
    } else if (const auto* match = section.child("ipoib.match")) {
      bind_match(section, *match);
    }
  }

  Bound take() {
    auto& out = bound_.unresolved;
    for (const auto& bound : bound_.ports) {
      if (bound.guid) out.meant.insert(*bound.guid);
    }
    for (const auto& reference : open_) {
      if (out.elsewhere.empty()) out.elsewhere = reference.why;
      for (const auto& device : world_.snapshot().devices) {
        for (const auto& port : device.ports) {
          if (port.link_layer == "InfiniBand" && !out.meant.contains(port.guid) &&
              reference.may_mean(device, port))
            out.ports.try_emplace(port.guid, reference.why);
        }
      }
    }
    return std::move(bound_);
  }

 private:
  using MayMean = std::function<bool(const system::RdmaDevice&, const system::RdmaPort&)>;

  /// An entry of which the port cannot be told now.
  struct Open {
    std::string why;
    MayMean may_mean;  ///< of the ports that are here
  };

  /// Objects that the entry has made on such a port are not to be taken for dropped.
  void leave_open(const BoundPort& bound, MayMean may_mean) {
    open_.push_back(
        {fmt::format("[[ipoib]] {} may mean its port ({})", bound.id, *bound.pending), std::move(may_mean)});
  }

  void bind_device(const Section& section, const std::string& name, std::int64_t number) {
    BoundPort bound;
    bound.id = fmt::format("{}/{}", name, number);
    if (const auto* device = names_.find(name)) {
      for (const auto& port : device->ports) {
        if (port.number != number) continue;
        if (port.link_layer != "InfiniBand") {
          bound.pending = fmt::format("{} port {} runs {} now", name, number, port.link_layer);
        } else if (port.guid.number == 0) {
          bound.pending = fmt::format("{} port {} has no GUID yet", name, number);
        } else {
          bind_guid(bound, port.guid, world_);
          check_twin(bound, section.find("device")->where, PortRef{device, &port});
        }
        if (!bound.guid) leave_open(bound, [](const auto&, const auto&) { return false; });
        add(section, std::move(bound));
        return;
      }
      wrong(bound, section.find("port")->where,
            fmt::format("[[ipoib]] port: {} has no port {}", name, number),
            fmt::format("{} has {} port{}, counted from 1", name, device->ports.size(),
                        device->ports.size() == 1 ? "" : "s"));
      leave_open(bound, [](const auto&, const auto&) { return true; });
      add(section, std::move(bound));
      return;
    }
    bound.pending = world_.offline()
                        ? "the port can only be determined on the running host; a guid can be used offline"
                        : names_.missing(name);
    leave_open(bound, [number](const auto&, const auto& port) { return port.number == number; });
    add(section, std::move(bound));
  }

  void bind_match(const Section& section, const Section& match) {
    const auto pattern = match_of(match);
    std::vector<PortRef> found;
    for (const auto& device : world_.snapshot().devices) {
      for (const auto& port : device.ports) {
        if (port.link_layer == "InfiniBand" && port.guid.number != 0 &&
            matches(pattern, renamed(device), port)) {
          found.push_back({&device, &port});
        }
      }
    }
    if (found.empty()) {
      BoundPort bound;
      bound.id = "match " + text_of(pattern);
      bound.pending = world_.offline() ? "the matching ports can only be determined on the running host"
                                       : "no port matches now";
      // Names come and go; the slot, the driver and the port's number stay.
      auto lasting = pattern;
      lasting.device.reset();
      leave_open(bound, [lasting = std::move(lasting)](const auto& device, const auto& port) {
        return matches(lasting, device, port);
      });
      add(section, std::move(bound));
      return;
    }
    const auto* name = section.find("name");
    const bool one_name_for_all =
        name != nullptr && found.size() > 1 && model::NameTemplate{model::text_of(name->value)}.fixed();
    for (const auto& port : found) {
      BoundPort bound;
      bind_guid(bound, port.port->guid, world_);
      check_twin(bound, section.where, port);
      if (one_name_for_all) {
        wrong(bound, name->where,
              fmt::format("[[ipoib]] name: \"{}\" would be the name of {} ports: {}",
                          model::text_of(name->value), found.size(), labels_of(found)),
              "use a template, such as \"ib_s{pci_slot}p{port}\", or a narrower match");
      }
      add(section, std::move(bound));
    }
  }

  /// An IPoIB interface is known by its port's GUID alone: of two with the same GUID, it would be the wrong
  /// one. The functions of one adapter may share a port and its interface, though.
  void check_twin(BoundPort& bound, const model::Location& where, std::optional<PortRef> meant) {
    for (const auto& device : world_.snapshot().devices) {
      for (const auto& port : device.ports) {
        const auto first = meant ? meant : bound.port;
        if (!first || first->port == &port || port.guid != bound.guid || port.link_layer != "InfiniBand" ||
            port.netdevs == first->port->netdevs)
          continue;
        twins_.insert(bound.id);
        wrong(
            bound, where,
            fmt::format(
                "[[ipoib]] {} and {} have the same port GUID {}, so their interfaces cannot be distinguished",
                port_label(*first), port_label({&device, &port}), bound.guid->text()),
            "change one of the two GUIDs with the vendor's tools");
        return;
      }
    }
  }

  /// The device as it is called after our renames.
  [[nodiscard]] system::RdmaDevice renamed(const system::RdmaDevice& device) const {
    auto out = device;
    out.name = names_.name_of(device);
    return out;
  }

  void add(const Section& section, BoundPort bound) {
    bound.section = &section;
    if (!bound.wrong) name(bound);
    if (bound.name.empty() && bound.link != nullptr) bound.name = bound.link->name;
    bound.label = !bound.name.empty() ? bound.name : bound.port ? port_label(*bound.port) : bound.id;
    const auto [first, fresh] = seen_.try_emplace(bound.id, &section);
    if (!fresh && !twins_.contains(bound.id)) {
      wrong(bound, section.where,
            fmt::format("[[ipoib]] selects the port {} that another entry already selects", bound.id),
            "write one entry for a port; guid, device + port and match can all select the same port",
            {{first->second->where, "the first entry for this port"}});
    }
    // An interface that an entry in error would rename keeps its name.
    if (bound.wrong) bound.names = false;
    if (bound.wrong && bound.link != nullptr) bound.name = bound.link->name;
    bound_.ports.push_back(std::move(bound));
  }

  /// The wanted name.
  void name(BoundPort& bound) {
    const auto* wanted = bound.section->find("name");
    if (wanted == nullptr) return;
    const model::NameTemplate pattern{model::text_of(wanted->value)};
    std::optional<system::RdmaDevice> called;
    auto port = bound.port;
    if (port) port->device = &called.emplace(renamed(*port->device));
    auto expanded = expand(pattern, port);
    if (!expanded) {
      wrong(bound, wanted->where, "[[ipoib]] name: " + expanded.error().message, "");
      return;
    }
    bound.names = expanded->has_value();
    if (*expanded) bound.name = **expanded;
  }

  /// Reports what keeps the entry from being carried out for this port; once, where it is so of several.
  void wrong(BoundPort& bound, const model::Location& where, std::string message, std::string hint,
             std::vector<Diagnostic::Related> related = {}) {
    if (!bound.wrong) bound.wrong = message;
    if (!bound.guid) bound.pending = message;
    const bool said = std::any_of(diagnostics_.begin(), diagnostics_.end(), [&](const Diagnostic& d) {
      return d.where == where && d.message == message;
    });
    if (said) return;
    diagnostics_.push_back(
        Diagnostic{model::Severity::kError, where, std::move(message), std::move(hint), std::move(related)});
  }

  const World& world_;
  DeviceNames names_;
  Diagnostics& diagnostics_;
  Bound bound_;
  std::map<std::string, const Section*> seen_;
  std::vector<Open> open_;
  std::set<std::string> twins_;  // ids of ports that cannot be told apart
};

}  // namespace

Bound bind_ports(const std::vector<Section>& sections, const World& world, Diagnostics& diagnostics) {
  Binder binder(sections, world, diagnostics);
  for (const auto& section : sections) {
    if (section.path == "ipoib") binder.bind(section);
  }
  auto bound = binder.take();
  bound.sections = sections;
  bound.world = &world;
  return bound;
}

}  // namespace rdmacfg::kinds
