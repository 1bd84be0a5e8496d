// SPDX-License-Identifier: Apache-2.0
#include "ctl/host_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "fabric/counters.hpp"
#include "kinds/ethernet/roce.hpp"
#include "kinds/ethernet/roce_ports.hpp"

namespace rdmacfg::ctl {

using system::Link;

namespace {

InterfaceView interface_view(const Link& link, const std::string& parent, const kinds::World& world) {
  InterfaceView view{&link, parent, std::nullopt, {}};
  if (link.ipoib->guid.number != 0) view.port = world.port(link.ipoib->guid);
  return view;
}

bool is_called(const Link& link, const std::string& name) {
  return link.name == name ||
         std::find(link.altnames.begin(), link.altnames.end(), name) != link.altnames.end();
}

/// Whether a resource's key starts with that GUID.
bool is_of(const model::ResourceReport& resource, const std::string& id) {
  return resource.key.id == id || resource.key.id.starts_with(id + "/");
}

/// The meaning of a name on this host.
struct Meaning {
  std::vector<const system::RdmaPort*> ports;
  std::vector<const system::RdmaDevice*> devices;
  std::vector<const Link*> links;
  std::vector<std::string> ids;  ///< of keys, each with all below it
};

void add_port(Meaning& meaning, const PortView& port) {
  meaning.ports.push_back(port.port);
  if (port.port->guid.number != 0) meaning.ids.push_back(port.port->guid.text());
  meaning.ids.push_back(port.name());
}

Meaning meaning_of(const std::string& name, const HostView& host) {
  Meaning meaning;
  const auto guid = model::Guid::parse(name);
  const auto is = [&](model::Guid other) { return guid && other == *guid; };
  for (const auto& device : host.devices) {
    const auto& d = *device.device;
    const bool whole =
        d.name == name || is(d.node_guid) || is(d.system_guid) || (!d.pci.empty() && d.pci == name);
    if (whole) meaning.devices.push_back(&d);
    for (const auto& port : device.ports) {
      const auto& netdevs = port.port->netdevs;
      const bool has_netdev = std::find(netdevs.begin(), netdevs.end(), name) != netdevs.end();
      if (whole || port.name() == name || is(port.port->guid) || has_netdev) add_port(meaning, port);
    }
  }
  if (guid) meaning.ids.push_back(guid->text());
  for (const auto& interface : host.interfaces) {
    const bool child = interface.link->ipoib->child;
    const bool over = std::any_of(meaning.ports.begin(), meaning.ports.end(), [&](const auto* port) {
      return interface.port && interface.port->port == port;
    });
    if (over) {
      meaning.links.push_back(interface.link);
    } else if (is_called(*interface.link, name)) {
      meaning.links.push_back(interface.link);
      const auto port = interface.link->ipoib->guid.text();
      meaning.ids.push_back(child ? fmt::format("{}/{}", port, interface.link->ipoib->pkey.text()) : port);
    }
  }
  return meaning;
}

/// Attributes that the library's picture of a device lacks, as only `show` prints them.
std::string hardware_of(const system::RdmaDevice& device, const kinds::World& world) {
  if (world.offline()) return {};
  const auto text = world.host().files.read("/sys/class/infiniband/" + device.name + "/hw_rev");
  return text && *text ? std::string(base::trim(**text)) : std::string();
}

void read_counters(const std::string& folder, kinds::World& world, std::vector<CounterView>& out) {
  constexpr std::size_t kMost = 512;
  auto& files = world.host().files;
  const auto names = files.list(folder);
  if (!names) return;
  for (const auto& name : *names) {
    if (name == "lifespan" || out.size() == kMost) continue;  // that is a setting
    const auto text = files.read(folder + "/" + name);
    if (!text || !*text) continue;
    const auto value = base::parse_number(base::trim(**text));
    constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (value && *value <= kLargest) out.push_back({name, static_cast<std::int64_t>(*value)});
  }
}

/// Errors first and traffic last; counters without a meaning here stand between.
void sort_counters(std::vector<CounterView>& counters) {
  const auto rank = [](const CounterView& counter) {
    const auto* meaning = fabric::counter_meaning(counter.name);
    const auto sort = meaning == nullptr ? fabric::CounterSort::kWaiting : meaning->sort;
    return std::tuple(sort == fabric::CounterSort::kError     ? 0
                      : sort == fabric::CounterSort::kWaiting ? 1
                                                              : 2,
                      std::string_view(counter.name));
  };
  std::sort(counters.begin(), counters.end(),
            [&](const CounterView& a, const CounterView& b) { return rank(a) < rank(b); });
}

}  // namespace

void add_counters(HostView& host, kinds::World& world) {
  if (world.offline()) return;
  for (auto& device : host.devices) {
    const auto folder = "/sys/class/infiniband/" + device.device->name;
    read_counters(folder + "/hw_counters", world, device.counters);
    sort_counters(device.counters);
    for (auto& port : device.ports) {
      const auto of_port = fmt::format("{}/ports/{}", folder, port.port->number);
      read_counters(of_port + "/counters", world, port.counters);
      read_counters(of_port + "/hw_counters", world, port.counters);
      sort_counters(port.counters);
    }
  }
}

model::Guid PortView::guid() const {
  if (port->guid.number != 0 || !gids || gids->empty() || gids->front().index != 0) return port->guid;
  constexpr std::size_t kPrefixText = 20;  // "fe80:0000:0000:0000:"
  const auto& gid = gids->front().gid;
  if (gid.size() <= kPrefixText) return {};
  return model::Guid::parse(std::string_view(gid).substr(kPrefixText)).value_or(model::Guid{});
}

HostView view_of(kinds::World& world) {
  HostView host;
  std::map<std::string, model::Attributes> roce;
  if (auto observed = kinds::roce().observe(world)) {
    for (auto& resource : *observed) {
      resource.settings.merge(resource.facts);
      roce.emplace(resource.key.id, std::move(resource.settings));
    }
  }
  for (const auto& device : world.snapshot().devices) {
    DeviceView view{&device, hardware_of(device, world), world.host().rdma.observe_ids(device.name), {}};
    for (const auto& port : device.ports) {
      const kinds::PortRef ref{&device, &port};
      PortView shown{&device, &port, world.pkeys(ref), world.mtu(ref), std::nullopt, {}};
      if (auto gids = world.host().rdma.observe_gids(device.name, port.number)) shown.gids = std::move(*gids);
      if (const auto at = roce.find(kinds::roce_id(device, port.number)); at != roce.end())
        shown.roce = at->second;
      view.ports.push_back(std::move(shown));
    }
    host.devices.push_back(std::move(view));
  }
  std::vector<const Link*> seen;
  for (const auto* parent : world.parents()) {
    host.interfaces.push_back(interface_view(*parent, "", world));
    for (const auto* child : world.children(parent->index)) {
      host.interfaces.push_back(interface_view(*child, parent->name, world));
      seen.push_back(child);
    }
  }
  for (const auto& link : world.snapshot().links) {
    if (!link.ipoib || !link.ipoib->child || std::find(seen.begin(), seen.end(), &link) != seen.end())
      continue;
    host.interfaces.push_back(interface_view(link, "", world));  // the parent is in another network namespace
  }
  if (world.offline()) return host;
  const auto addresses = world.host().inet.observe_addresses();
  if (!addresses) return host;
  for (auto& view : host.interfaces) {
    for (const auto& address : *addresses) {
      if (address.index == view.link->index) view.addresses.push_back(address.prefix.text());
    }
  }
  return host;
}

bool narrow(const std::vector<std::string>& wanted, HostView& host,
            std::vector<model::ResourceReport>& resources) {
  Meaning meaning;
  for (const auto& name : wanted) {
    auto named = meaning_of(name, host);
    meaning.ports.insert(meaning.ports.end(), named.ports.begin(), named.ports.end());
    meaning.devices.insert(meaning.devices.end(), named.devices.begin(), named.devices.end());
    meaning.links.insert(meaning.links.end(), named.links.begin(), named.links.end());
    meaning.ids.insert(meaning.ids.end(), named.ids.begin(), named.ids.end());
  }
  const auto has = [](const auto& list, const auto& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  std::erase_if(resources, [&](const auto& resource) {
    const bool named = has(wanted, resource.label) || has(wanted, resource.key.id);
    return !named && std::none_of(meaning.ids.begin(), meaning.ids.end(),
                                  [&](const auto& id) { return is_of(resource, id); });
  });
  std::erase_if(host.interfaces, [&](const auto& interface) { return !has(meaning.links, interface.link); });
  for (auto& device : host.devices) {
    std::erase_if(device.ports, [&](const auto& port) {
      const bool below = std::any_of(
          host.interfaces.begin(), host.interfaces.end(),
          [&](const auto& interface) { return interface.port && interface.port->port == port.port; });
      return !below && !has(meaning.ports, port.port);
    });
  }
  std::erase_if(host.devices, [&](const auto& device) {
    return device.ports.empty() && !has(meaning.devices, device.device);
  });
  auto names = wanted;
  for (const auto& device : host.devices) {
    for (const auto& port : device.ports)
      names.insert(names.end(), port.port->netdevs.begin(), port.port->netdevs.end());
  }
  narrow(names, host.facts);
  return !host.devices.empty() || !host.interfaces.empty() || !resources.empty() || !host.facts.empty();
}

std::vector<std::string> names_in(const HostView& host, const std::vector<model::ResourceReport>& resources) {
  std::vector<std::string> names;
  for (const auto& device : host.devices) {
    names.push_back(device.device->name);
    for (const auto& port : device.ports) names.push_back(port.name());
  }
  for (const auto& interface : host.interfaces) names.push_back(interface.link->name);
  for (auto& name : names_in(host.facts)) names.push_back(std::move(name));
  for (const auto& resource : resources) names.push_back(resource.label);
  return names;
}

std::string compress(const std::vector<std::uint16_t>& pkeys) {
  std::vector<std::string> parts;
  for (const bool full : {true, false}) {
    std::vector<std::uint16_t> keys;
    std::copy_if(pkeys.begin(), pkeys.end(), std::back_inserter(keys),
                 [&](std::uint16_t key) { return ((key & 0x8000U) != 0) == full; });
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (std::size_t i = 0; i < keys.size();) {
      std::size_t last = i;
      while (last + 1 < keys.size() && keys[last + 1] == keys[last] + 1) ++last;
      const auto text =
          last == i ? fmt::format("{:#06x}", keys[i])
                    : fmt::format("{:#06x}{}{:#06x}", keys[i], last == i + 1 ? ", " : "-", keys[last]);
      parts.push_back(full ? text : "limited " + text);
      i = last + 1;
    }
  }
  return base::join(parts, ", ");
}

}  // namespace rdmacfg::ctl
