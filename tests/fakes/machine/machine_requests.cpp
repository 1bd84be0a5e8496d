// SPDX-License-Identifier: Apache-2.0
// The model's reaction to requests.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fakes/machine/machine.hpp"

namespace rdmacfg::fakes {

namespace {

bool valid_name(const std::string& name) {
  return !name.empty() && name.size() <= model::kInterfaceNameMax && name != "." && name != ".." &&
         name.find_first_of("/: \t\n") == std::string::npos;
}

bool names_ipv6(const std::string& item) { return item.find(':') != std::string::npos; }

}  // namespace

// do_setlink() goes in this order, and does not take back what it did when a later part is refused.
int Machine::set(const system::SetLink& request) {
  Interface* link = find(request.index);
  if (link == nullptr) return ENODEV;
  if (request.umcast) {
    if (!link->is_ipoib()) return EOPNOTSUPP;
    link->umcast = *request.umcast;
  }
  if (request.mtu) {
    if (const int err = change_mtu(*link, *request.mtu); err != 0) return err;
  }
  if (request.group) link->group = *request.group;
  if (request.name) {
    if (const int err = rename(*link, *request.name); err != 0) return err;
  }
  if (request.up) set_up(*link, *request.up);
  return 0;
}

int Machine::set_created(const system::SetCreated& request) {
  const Interface* link = find(request.name);
  if (link == nullptr) return ENODEV;
  return set({.index = link->index, .mtu = request.mtu, .up = request.up, .umcast = request.umcast});
}

int Machine::rename(Interface& link, const std::string& name) {
  if (!valid_name(name)) return EINVAL;
  if (link.up && !rename_up) return EBUSY;
  if (name == link.name) return 0;
  if (in_use(name)) return EEXIST;
  link.name = name;
  return 0;
}

Interface& Machine::add_child(Interface& parent, std::string name, std::uint16_t pkey, Maker maker) {
  Interface child;
  child.name = std::move(name);
  child.kind = "ipoib";
  child.device = parent.device;
  child.port = parent.port;
  child.guid = parent.guid;
  child.parent = parent.index;
  child.maker = maker;
  child.pkey = static_cast<std::uint16_t>(pkey | 0x8000U);
  child.capable = parent.capable;
  child.link_mtu = child.mcast_mtu = child.admin_mtu = child.mtu = parent.link_mtu;
  return append(std::move(child));
}

int Machine::create_netlink(const system::CreateChild& request) {
  if (!valid_name(request.name)) return EINVAL;
  if (in_use(request.name)) return EEXIST;
  Interface* parent = find(request.parent);
  if (parent == nullptr) return ENODEV;
  if (!parent->is_ipoib() || parent->parent != 0) return EINVAL;
  if (request.pkey.partition() == 0) return EINVAL;
  add_child(*parent, request.name, request.pkey.full(), Maker::kNetlink);
  return 0;
}

int Machine::create_sysfs(const std::string& name, std::uint16_t pkey) {
  Interface* parent = find(name);
  if (parent == nullptr || !parent->is_ipoib() || parent->parent != 0) return ENOENT;
  if ((pkey & 0x7fffU) == 0) return EINVAL;
  const auto full = static_cast<std::uint16_t>(pkey | 0x8000U);
  const bool taken = parent->pkey == full || std::any_of(links.begin(), links.end(), [&](const auto& l) {
                       return l.parent == parent->index && l.maker == Maker::kSysfs && l.pkey == full;
                     });
  if (taken) return ENOTUNIQ;
  // "%.10s.%04x", and "%s.%04x" into IFNAMSIZ bytes before.
  const std::string child = cuts_whole_names
                                ? fmt::format("{}.{:04x}", name, pkey).substr(0, model::kInterfaceNameMax)
                                : fmt::format("{:.10}.{:04x}", name, pkey);
  if (in_use(child)) return EEXIST;
  add_child(*parent, child, full, Maker::kSysfs);
  return 0;
}

int Machine::remove(int index) {
  const Interface* link = find(index);
  if (link == nullptr) return ENODEV;
  if (link->kind.empty()) return EOPNOTSUPP;
  if (link->is_ipoib() && link->parent == 0) return 0;  // the kernel says so and does nothing
  links.remove_if([&](const auto& l) { return l.index == index; });
  return 0;
}

int Machine::remove_group(std::uint32_t group) {
  if (group == 0) return EPERM;
  const auto member = [&](const Interface& l) { return l.group == group; };
  if (std::none_of(links.begin(), links.end(), member)) return ENODEV;
  if (std::any_of(links.begin(), links.end(), [&](const auto& l) { return member(l) && l.kind.empty(); })) {
    return EOPNOTSUPP;
  }
  links.remove_if([&](const auto& l) { return member(l) && !(l.is_ipoib() && l.parent == 0); });
  return 0;
}

int Machine::add_altname(int index, const std::string& altname) {
  Interface* link = find(index);
  if (link == nullptr) return ENODEV;
  if (altname.empty() || altname.size() > 127) return EINVAL;
  if (in_use(altname)) return EEXIST;
  link->altnames.push_back(altname);
  return 0;
}

int Machine::remove_altname(int index, const std::string& altname) {
  Interface* link = find(index);
  if (link == nullptr) return ENODEV;
  const auto at = std::find(link->altnames.begin(), link->altnames.end(), altname);
  if (at == link->altnames.end()) return ENOENT;
  link->altnames.erase(at);
  return 0;
}

int Machine::set_mode(const std::string& name, model::IpoibMode mode) {
  Interface* link = find(name);
  if (link == nullptr || !link->is_ipoib() || link->maker == Maker::kNetlink) return ENOENT;
  const bool connected = mode == model::IpoibMode::kConnected;
  if (link->connected == connected) return 0;
  if (connected && !link->capable) return EINVAL;
  link->connected = connected;
  return change_mtu(*link, connected ? model::kMtuConnectedMax : std::min(link->mcast_mtu, link->mtu));
}

int Machine::restore(const system::Carried& carried, int index, const std::string& name) {
  Interface* link = find(index);
  if (link == nullptr) return ENODEV;
  int failure = 0;  // of the first; the others are tried all the same
  for (const auto& item : carried.items) {
    if (item.starts_with("rule ")) {
      // "rule iif NAME …" or "rule oif NAME …"
      const std::string old = item.substr(5);
      const auto start = old.find(' ') + 1;
      const auto end = old.find(' ', start);
      std::string moved = old;
      moved.replace(start, end == std::string::npos ? end : end - start, name);
      if (std::find(rules.begin(), rules.end(), moved) == rules.end()) rules.push_back(moved);
      for (const auto& former_name : system::former_names(carried, name)) {
        std::string former = old;
        former.replace(start, end == std::string::npos ? end : end - start, former_name);
        rules_put_back[moved] = index;
        if (!rules_put_back.contains(former) || rules_put_back.at(former) == index)
          rules.erase(std::remove(rules.begin(), rules.end(), former), rules.end());
      }
      continue;
    }
    if (std::find(link->items.begin(), link->items.end(), item) != link->items.end()) continue;
    const bool down = item.starts_with("route ") && !link->up;
    const bool no_ipv6 = names_ipv6(item) && link->mtu < model::kMtuIpv6Min;
    if (down || no_ipv6) {
      if (failure == 0) failure = down ? ENETDOWN : EINVAL;
    } else {
      link->items.push_back(item);
    }
  }
  return failure;
}

}  // namespace rdmacfg::fakes
