// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/direct_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kinds/address/backend.hpp"
#include "kinds/address/port_backends.hpp"

namespace rdmacfg::kinds {

using model::Backend;
using model::Diagnostics;
using model::InetMethod;

namespace {

void check_direct_method(const WantedFamily& family, Diagnostics& diagnostics) {
  const bool four = family.family == model::Family::kIpv4;
  const auto error = [&](std::string message, std::string hint) {
    diagnostics.push_back(
        {model::Severity::kError, family.place("method"), std::move(message), std::move(hint), {}});
  };
  const auto label = fmt::format("[{}] method", family.section->path);
  if (family.method == InetMethod::kAuto) {
    error(fmt::format("{}: backend direct has no {}", label,
                      four ? "DHCP client" : "DHCP client and does not listen to routers"),
          "write addresses, or a backend that can: networkmanager or networkd");
  } else if (family.is_ipv4_link_local()) {
    error(fmt::format("{}: backend direct cannot choose a link-local address (RFC 3927)", label),
          "write addresses = [\"…\"]");
  } else if (family.method == InetMethod::kDisabled && !four) {
    error(fmt::format("{}: backend direct does not turn IPv6 off", label),
          "leave ipv6 out, or write [[sysctl]] key = \"net/ipv6/conf/NAME/disable_ipv6\", value = 1");
  }
}

using GoingAddresses = std::set<std::pair<int, model::IpPrefix>>;

/// One with a peer elsewhere is another address than the one without, which may go.
bool stays(const system::InetAddress& address, const GoingAddresses& going) {
  return address.peer_elsewhere || !going.contains({address.index, address.prefix});
}

/// Keeps an interface from being without any IPv4 address while those that stay go with others and come
/// back; nothing where one of them does not go, or none stays.
std::optional<model::IpAddress> to_hold(int index, const std::vector<const system::InetAddress*>& now,
                                        const GoingAddresses& going) {
  std::optional<model::IpAddress> out;
  for (const auto* address : now) {
    const auto& prefix = address->prefix;
    if (prefix.address.family != model::Family::kIpv4) continue;
    if (!stays(*address, going)) continue;
    const bool along = std::any_of(going.begin(), going.end(), [&](const auto& other) {
      return other.first == index && other.second.network() == address->network();
    });
    if (!along) return std::nullopt;
    if (!out) out = prefix.address;
  }
  return out;
}

}  // namespace

std::vector<const Addressing*> direct_only(const std::vector<Addressing>& all, const Bound& bound,
                                           Diagnostics* diagnostics) {
  const Backends backends(bound);
  std::vector<const Addressing*> out;
  std::set<const model::Section*> checked;
  for (const auto& addressing : all) {
    if (!addressing.addressed() || addressing.absent || backends.of(*addressing.port) != Backend::kDirect)
      continue;
    for (const auto* family : {&addressing.ipv4, &addressing.ipv6}) {
      if (diagnostics == nullptr || family->section == nullptr || addressing.ignore) continue;
      if (checked.insert(family->section).second) check_direct_method(*family, *diagnostics);
    }
    out.push_back(&addressing);
  }
  return out;
}

model::Desired start(const Addressing& interface, std::string_view kind, const std::string& name) {
  model::Desired out;
  out.key = {std::string(kind), name.empty() ? interface.id() : fmt::format("{} {}", interface.id(), name)};
  out.label = name.empty() ? interface.label : fmt::format("{} {}", interface.label, name);
  out.where = interface.section->where;
  out.ignore = interface.ignore;
  out.pending = interface.port->pending;
  out.needs = {{"backend", interface.port->id}, {"link_name", interface.port->id}, interface.link};
  return out;
}

std::string port_object(std::string_view id, const World& world) {
  return parent_object_on(interface_of(id.substr(0, id.find_first_of("/ ")), world), world);
}

std::vector<model::Key> interface_put_back_by(std::string_view id) {
  const auto interface = id.substr(0, id.find(' '));
  const auto port = interface.substr(0, interface.find('/'));
  std::vector<model::Key> out{{"link_name", std::string(port)}};
  if (port != interface) out.push_back({"pkey", std::string(interface)});
  return out;
}

std::vector<system::InetRequest> address_deletions(const std::set<std::pair<int, model::IpPrefix>>& going,
                                                   const std::vector<system::InetAddress>& now,
                                                   const World& world) {
  std::vector<system::InetRequest> out;
  std::map<int, std::vector<const system::InetAddress*>> by_index;
  for (const auto& address : now) by_index[address.index].push_back(&address);
  for (const auto& [index, prefix] : going) {
    system::DeleteAddress request{index, world.link(index)->name, prefix, {}, {}};
    if (prefix.address.family == model::Family::kIpv4) {
      for (const auto* other : by_index[index]) {
        if (other->network() == prefix.network() && stays(*other, going)) request.keep.push_back(*other);
      }
      request.hold = to_hold(index, by_index[index], going);
    }
    out.emplace_back(std::move(request));
  }
  return out;
}

std::map<int, TrackedInterface> tracked_interfaces(std::string_view kind, const World& world) {
  std::map<int, TrackedInterface> out;
  const auto keys = world.tracked(kind);
  if (keys.empty()) return out;
  // One that cannot be read fails where it is observed.
  const auto backends = read_backend_rules(world.host().files).value_or(BackendRules{});
  for (const auto& key : keys) {
    auto id = key.substr(0, key.find(' '));
    const auto guid = model::Guid::parse(std::string_view(id).substr(0, id.find('/')));
    const auto backend = guid ? backends.find(*guid) : backends.end();
    if (backend != backends.end() && backend->second != Backend::kDirect) continue;
    if (const auto* link = interface_of(id, world))
      out.try_emplace(link->index, TrackedInterface{id, link->name});
  }
  return out;
}

}  // namespace rdmacfg::kinds
