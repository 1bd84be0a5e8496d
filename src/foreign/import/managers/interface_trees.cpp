// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "foreign/document.hpp"
#include "foreign/inet.hpp"
#include "kinds/address/request.hpp"
#include "kinds/ipoib/ipoib.hpp"
#include "kinds/ipoib/pkey.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::Section;

namespace {

Inet inet_of(const Section& parent, Family family) {
  Inet out;
  const auto* section =
      parent.child(fmt::format("{}.{}", parent.path, family == Family::kIpv4 ? "ipv4" : "ipv6"));
  if (section == nullptr) return out;
  auto written = model::from_attributes<kinds::InetConfig>(section->attributes());
  out.method = written.method;
  if (written.addresses) out.addresses = std::move(*written.addresses);
  out.gateway = written.gateway;
  if (written.dns) out.dns = std::move(*written.dns);
  if (written.search) out.search = std::move(written.search->names);
  for (const auto& child : section->children) {
    const auto route = model::from_attributes<kinds::RouteConfig>(child.attributes());
    if (!route.to) continue;
    Route entry{*route.to, route.via, {}, 254};
    if (route.metric) entry.metric = route.metric->number;
    if (family == Family::kIpv6 && entry.metric == 0U) entry.metric = kinds::kMetricOfIpv6;
    if (route.table) entry.table = route.table->number;
    add_route(out, entry);
  }
  return out;
}

Interface common_of(const Section& section) {
  Interface out;
  out.where = {section.where.file, section.where.line};
  const auto written = section.attributes();
  out.name = model::text_at(written, "name");
  out.names = !out.name.empty();
  if (const auto mode = model::parse_named_mode(model::text_at(written, "mode"))) out.mode = *mode;
  if (const auto* mtu = std::get_if<std::int64_t>(&model::value_of(written, "mtu"))) out.mtu = *mtu;
  if (const auto* umcast = std::get_if<bool>(&model::value_of(written, "umcast"))) out.umcast = *umcast;
  if (const auto state = model::parse_state(model::text_at(written, "state"))) out.state = *state;
  if (out.state == model::State::kUp) out.state.reset();
  out.ipv4 = inet_of(section, Family::kIpv4);
  out.ipv6 = inet_of(section, Family::kIpv6);
  settle(out);
  return out;
}

}  // namespace

bool is_addressed(const ImportedHost::InterfaceTree& tree) {
  const auto has = [](const Interface& interface, Family family) {
    return !interface.inet(family).empty() && !is_default(interface.inet(family), family);
  };
  const auto addressed = [&](const Interface& interface) {
    const bool there = interface.state != model::State::kAbsent && interface.state != model::State::kIgnore;
    return there && (has(interface, Family::kIpv4) || has(interface, Family::kIpv6));
  };
  return addressed(tree.port) || std::any_of(tree.children.begin(), tree.children.end(), addressed);
}

void drop_default_settings(ImportedHost::InterfaceTree& tree) {
  const bool addressed = is_addressed(tree);
  // Anything that is not there gives nothing away.
  const auto leave_out = [](Interface& interface) {
    bool found = false;
    for (const auto family : {Family::kIpv4, Family::kIpv6}) {
      if (!is_default(interface.inet(family), family)) continue;
      interface.inet(family) = {};
      found = interface.state != model::State::kAbsent && interface.state != model::State::kIgnore;
    }
    return found;
  };
  const auto keep = [&](Interface& interface) { interface.ipv4.method = model::InetMethod::kDisabled; };
  const bool of_port = leave_out(tree.port);
  if (of_port && !addressed) keep(tree.port);
  for (auto& child : tree.children) {
    if (leave_out(child) && !addressed && !of_port) keep(child);
  }
}

std::vector<ImportedHost::InterfaceTree> interface_trees_of(const std::vector<Section>& sections) {
  std::vector<ImportedHost::InterfaceTree> out;
  for (const auto& section : sections) {
    if (section.path != "ipoib") continue;
    ImportedHost::InterfaceTree tree;
    tree.port = common_of(section);
    if (const auto guid = model::Guid::parse(model::text_at(section.attributes(), "guid")))
      tree.port.guid = *guid;
    for (const auto& child : section.children) {
      if (child.path != "ipoib.pkey") continue;
      auto pkey_interface = common_of(child);
      if (const auto pkey = model::Pkey::parse(model::text_at(child.attributes(), "pkey")))
        pkey_interface.pkey = *pkey;
      pkey_interface.guid = tree.port.guid;
      pkey_interface.parent = tree.port.name;
      if (pkey_interface.name == child_name(tree.port.name, pkey_interface.pkey.value_or(model::Pkey{})))
        pkey_interface.names = false;
      if (pkey_interface.name.empty() && !tree.port.name.empty() && pkey_interface.pkey)
        pkey_interface.name = child_name(tree.port.name, *pkey_interface.pkey);
      tree.children.push_back(std::move(pkey_interface));
    }
    drop_default_settings(tree);
    std::sort(tree.children.begin(), tree.children.end(),
              [](const Interface& a, const Interface& b) { return *a.pkey < *b.pkey; });
    out.push_back(std::move(tree));
  }
  return out;
}

}  // namespace rdmacfg::foreign
