// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kinds/address/request_check.hpp"
#include "kinds/entry.hpp"
#include "kinds/ports/pkey_link.hpp"

namespace rdmacfg::kinds {

using model::Family;
using model::InetMethod;
using model::Section;
using model::SectionSpec;

namespace {

/// Whether `child` is the part `name` of `section`, without making the text "ipoib.pkey.ipv4".
bool is_part(const Section& child, const Section& section, std::string_view name) {
  return child.path.size() == section.path.size() + 1 + name.size() && child.path.ends_with(name);
}

const Section* part(const Section& section, std::string_view name) {
  const auto at = std::find_if(section.children.begin(), section.children.end(),
                               [&](const Section& child) { return is_part(child, section, name); });
  return at == section.children.end() ? nullptr : &*at;
}

WantedFamily family_of(const Section& section, Family family) {
  WantedFamily out;
  out.family = family;
  const auto* inner = part(section, family == Family::kIpv4 ? "ipv4" : "ipv6");
  if (inner == nullptr) return out;
  out.section = inner;
  auto written = model::from_attributes<InetConfig>(inner->attributes());
  out.method = written.method.value_or(InetMethod::kManual);
  if (written.addresses) out.addresses = std::move(*written.addresses);
  out.gateway = written.gateway;
  if (written.dns) out.dns = std::move(*written.dns);
  if (written.search) out.search = std::move(written.search->names);
  for (const auto& child : inner->children) {
    if (!is_part(child, *inner, "routes")) continue;
    const auto route = model::from_attributes<RouteConfig>(child.attributes());
    if (!route.to) continue;  // reported by the rules
    WantedRoute wanted{*route.to, route.via, {}, 254, child.where};
    if (route.metric) wanted.metric = route.metric->number;
    // ip6_route_add(): 0 is "none given", and becomes IP6_RT_PRIO_USER.
    if (family == Family::kIpv6 && wanted.metric == 0U) wanted.metric = kMetricOfIpv6;
    if (route.table) wanted.table = route.table->number;
    out.routes.push_back(std::move(wanted));
  }
  return out;
}

/// "state" of an entry as text; empty without one.
std::string state_of(const Section& section) {
  const auto* entry = section.find("state");
  return entry == nullptr ? std::string() : model::text_of(entry->value);
}

Addressing of_port(const BoundPort& port) {
  Addressing out;
  out.link = {"ipoib", port.id};
  out.label = port.label;
  out.port = &port;
  out.section = port.section;
  out.ipv4 = family_of(*port.section, Family::kIpv4);
  out.ipv6 = family_of(*port.section, Family::kIpv6);
  const auto state = state_of(*port.section);
  out.ignore = state == "ignore";
  out.down = state == "down";
  return out;
}

Addressing of_child(const BoundPort& port, const Section& section, const Addressing& parent) {
  Addressing out;
  const auto written = model::from_attributes<PkeyLink>(section.attributes());
  out.pkey = written.pkey.value_or(model::Pkey{});
  out.link = {"pkey", fmt::format("{}/{}", port.id, out.pkey->text())};
  out.port = &port;
  out.section = &section;
  out.ipv4 = family_of(section, Family::kIpv4);
  out.ipv6 = family_of(section, Family::kIpv6);
  const auto state = state_of(section);
  out.ignore = parent.ignore || state == "ignore";
  out.absent = state == "absent";
  out.down = state.empty() ? parent.down : state == "down";
  if (written.name) {
    out.label = written.name->text;
  } else if (!port.name.empty()) {
    out.label = fmt::format("{}.{:04x}", port.name, out.pkey->full());
  } else {
    out.label = fmt::format("P_Key {} of {}", out.pkey->text(), port.label);
  }
  return out;
}

}  // namespace

SectionSpec inet_section(Family family) {
  const bool four = family == Family::kIpv4;
  SectionSpec routes{.name = "routes",
                     .doc =
                         "Routes over this interface, besides the connected routes of its addresses. Routes "
                         "of several files are merged."};
  add_written(routes.fields, model::specs<RouteConfig>());
  SectionSpec out{.name = four ? "ipv4" : "ipv6",
                  .repeated = false,
                  .doc = four ? "IPv4 addresses of the interface." : "IPv6 addresses of the interface."};
  add_written(out.fields, model::specs<InetConfig>());
  out.children = {std::move(routes)};
  return out;
}

std::string WantedRoute::text() const {
  std::string out = to.text();
  if (via) out += " via " + via->text();
  if (metric) out += fmt::format(" metric {}", *metric);
  if (table != 254) out += fmt::format(" table {}", table);
  return out;
}

model::Location WantedFamily::place(std::string_view key) const {
  const auto* entry = section->find(key);
  return entry == nullptr ? section->where : entry->where;
}

model::Location WantedFamily::place_of(std::string_view key, std::size_t item) const {
  const auto* entry = section->find(key);
  return entry == nullptr ? section->where : entry->place_of(item);
}

namespace {

std::vector<Addressing> all_of(const Bound& bound) {
  std::vector<Addressing> out;
  for (const auto& port : bound.ports) {
    const auto parent = of_port(port);
    out.push_back(parent);
    for (const auto& section : port.section->children) {
      if (section.path == "ipoib.pkey") out.push_back(of_child(port, section, parent));
    }
  }
  return out;
}

}  // namespace

const std::vector<Addressing>& addressing_of(const Bound& bound, model::Diagnostics* diagnostics) {
  if (!bound.addressing) bound.addressing = std::make_shared<const std::vector<Addressing>>(all_of(bound));
  if (diagnostics != nullptr) check_addressing(*bound.addressing, *diagnostics);
  return *bound.addressing;
}

const system::Link* interface_of(std::string_view id, const World& world) {
  const auto slash = id.find('/');
  const auto guid = model::Guid::parse(id.substr(0, slash));
  if (!guid) return nullptr;
  if (slash == std::string_view::npos) return world.parent(*guid);
  const auto child = detail::pkey_id({"pkey", std::string(id)});
  return child ? detail::child_of(*child, world) : nullptr;
}

bool has_backend(const Section& ipoib) {
  const auto inet = [](const Section& section) {
    return part(section, "ipv4") != nullptr || part(section, "ipv6") != nullptr;
  };
  return ipoib.find("backend") != nullptr || inet(ipoib) ||
         std::any_of(ipoib.children.begin(), ipoib.children.end(),
                     [&](const Section& child) { return child.path == "ipoib.pkey" && inet(child); });
}

}  // namespace rdmacfg::kinds
