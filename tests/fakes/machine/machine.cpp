// SPDX-License-Identifier: Apache-2.0
#include "fakes/machine/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace rdmacfg::fakes {

namespace {

template <class Items, class Condition>
void drop(Items& items, const Condition& condition) {
  items.erase(std::remove_if(items.begin(), items.end(), condition), items.end());
}

bool is_ipv6(const std::string& item) { return item.find(':') != std::string::npos; }

}  // namespace

Machine::Machine() {
  Interface& lo = add_link("lo", "");
  lo.up = lo.carrier = true;
  lo.mtu = 65536;
}

Interface* Machine::find(int index) {
  const auto at = std::find_if(links.begin(), links.end(), [&](const auto& l) { return l.index == index; });
  return at == links.end() ? nullptr : &*at;
}

Interface* Machine::find(const std::string& name) {
  const auto at = std::find_if(links.begin(), links.end(), [&](const auto& l) { return l.name == name; });
  return at == links.end() ? nullptr : &*at;
}

bool Machine::in_use(const std::string& name) const {
  return std::any_of(links.begin(), links.end(), [&](const auto& l) {
    return l.name == name || std::find(l.altnames.begin(), l.altnames.end(), name) != l.altnames.end();
  });
}

Device* Machine::device(const std::string& name) {
  const auto at = std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.name == name; });
  return at == devices.end() ? nullptr : &*at;
}

Port* Machine::port_of(const Interface& link) {
  Device* owner = device(link.device);
  if (owner == nullptr) return nullptr;
  for (auto& port : owner->ports) {
    if (port.number == link.port) return &port;
  }
  return nullptr;
}

Interface& Machine::append(Interface link) {
  link.index = next_index_++;
  return links.emplace_back(std::move(link));
}

Interface& Machine::add_link(std::string name, std::string kind) {
  Interface link;
  link.name = std::move(name);
  link.kind = std::move(kind);
  return append(std::move(link));
}

void Machine::probe(Device& device) {
  if (device.instance == 0) device.instance = next_instance_++;
  for (auto& port : device.ports) {
    if (rdma_cm != 0 && port.link_layer == "Ethernet" && port.roce_mode.empty()) set_default(port);
  }
  for (const auto& port : device.ports) {
    if (port.link_layer != "InfiniBand") continue;
    const bool there = std::any_of(links.begin(), links.end(), [&](const auto& l) {
      return l.device == device.name && l.port == port.number && l.parent == 0;
    });
    if (there) continue;
    int number = 0;
    while (in_use(fmt::format("ib{}", number))) ++number;
    Interface link;
    link.name = fmt::format("ib{}", number);
    link.kind = "ipoib";
    link.device = device.name;
    link.port = port.number;
    link.guid = port.guid;
    link.capable = device.connected;
    link.pkey = static_cast<std::uint16_t>((port.pkeys.empty() ? 0xffffU : port.pkeys.front()) | 0x8000U);
    link.link_mtu = link.mcast_mtu = link.admin_mtu = link.mtu = port.mtu - model::kIpoibHeader;
    append(std::move(link));
  }
}

void Machine::remove_device(const std::string& name) {
  links.remove_if([&](const auto& l) { return l.is_ipoib() && l.device == name; });
  devices.remove_if([&](const auto& d) { return d.name == name; });
}

void Machine::replug_device(const std::string& name) {
  const auto* found = device(name);
  if (found == nullptr) return;
  Device again = *found;
  remove_device(name);
  again.instance = 0;
  again.leaving = false;
  for (auto& port : again.ports) port.roce_mode.clear();
  devices.push_back(std::move(again));
  probe(devices.back());
}

void Machine::leave_device(const std::string& name) {
  auto* found = device(name);
  if (found == nullptr) return;
  found->leaving = true;
  for (auto& link : links) {
    if (link.device != name) continue;
    link.up = link.carrier = false;
  }
}

int Machine::change_mtu(Interface& link, std::int64_t mtu) {
  if (mtu == link.mtu) return 0;
  if (mtu < 0) return EINVAL;
  if (!link.is_ipoib()) {
    if (mtu < 68 || mtu > 65535) return EINVAL;
    link.mtu = mtu;
  } else if (link.connected) {
    if (mtu > model::kMtuConnectedMax) return EINVAL;
    link.mtu = mtu;
  } else {
    if (mtu < 72 || mtu > link.link_mtu) return EINVAL;
    link.admin_mtu = mtu;
    link.mtu = std::min(mtu, link.mcast_mtu);
  }
  if (link.mtu < model::kMtuIpv6Min) {
    drop(link.items, [](const auto& item) { return is_ipv6(item); });
  }
  return 0;
}

void Machine::flush(Interface& link) {
  drop(link.items, [](const auto& item) { return item.starts_with("addr6 ") || item.starts_with("route "); });
}

void Machine::set_up(Interface& link, bool up) {
  if (link.up != up) {
    link.up = up;
    if (up) {
      link.carrier = !link.is_ipoib();
      if (!slow_carrier) settle(link);
    } else {
      link.carrier = false;
      flush(link);
      drop(link.items, [](const auto& item) { return item.starts_with("neigh "); });
    }
    if (link.is_ipoib() && link.parent == 0) {
      for (auto& child : links) {
        if (child.parent == link.index) set_up(child, up);
      }
    }
  }
}

bool Machine::joinable(const Interface& link) {
  const Port* port = port_of(link);
  if (!link.up || port == nullptr || port->state != "ACTIVE" || !port->sm) return false;
  return std::any_of(port->pkeys.begin(), port->pkeys.end(),
                     [&](std::uint16_t key) { return key != 0 && ((key ^ link.pkey) & 0x7fffU) == 0; });
}

void Machine::settle() {
  for (auto& link : links) settle(link);
}

void Machine::settle(Interface& link) {
  if (!link.is_ipoib() || !link.up) return;
  Port* port = port_of(link);
  const bool can = joinable(link);
  if (link.carrier) {
    // A subnet manager that dies is noticed only at the next join.
    if (!can && port != nullptr && !port->sm) {
      port->sm = true;
      link.carrier = joinable(link);
      port->sm = false;
    } else {
      link.carrier = can;
    }
    return;
  }
  if (!can) return;
  link.carrier = true;
  const auto own = port->group_mtus.find(link.pkey & 0x7fffU);
  const std::int64_t group =
      (own == port->group_mtus.end() ? port->group_mtu : own->second) - model::kIpoibHeader;
  if (link.mcast_mtu == link.admin_mtu) link.admin_mtu = group;
  link.mcast_mtu = group;
  if (!link.connected) change_mtu(link, std::min({link.mcast_mtu, link.admin_mtu, link.link_mtu}));
}

}  // namespace rdmacfg::fakes
