// SPDX-License-Identifier: Apache-2.0
#include "ctl/fabric/fabric_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ctl/json.hpp"
#include "model/types.hpp"

namespace rdmacfg::ctl {

namespace {

using Json = nlohmann::ordered_json;
using fabric::Abilities;

Json guid_text(std::uint64_t guid) { return guid == 0 ? Json(nullptr) : Json(model::Guid{guid}.text()); }

template <class List, class Each>
Json array_of(const List& list, Each each) {
  Json out = Json::array();
  for (const auto& item : list) out.push_back(each(item));
  return out;
}

Json end_json(const fabric::End& end) { return {{"node", guid_text(end.node)}, {"port", end.port}}; }

Json width_or_null(std::uint16_t widths) {
  return widths == 0 ? Json(nullptr) : Json(fabric::width_text(widths));
}
Json speed_or_null(std::uint16_t speeds) {
  return speeds == 0 ? Json(nullptr) : Json(fabric::speed_text(speeds));
}

template <std::size_t N>
Json names_of(std::uint16_t set, const std::array<std::string_view, N>& names) {
  Json out = Json::array();
  for (std::size_t i = 0; i < N; ++i) {
    if ((set >> i & 1U) != 0) out.push_back(names[i]);
  }
  return out;
}

Json abilities_json(const Abilities& abilities) {
  return {{"widths", names_of(abilities.widths, fabric::kWidthNames)},
          {"speeds", names_of(abilities.speeds, fabric::kSpeedNames)}};
}

Json pkey_text(std::uint16_t pkey) { return fmt::format("{:#06x}", pkey); }

Json counters_json(const fabric::PortCounters& counters) {
  Json out = Json::object();
  for (std::size_t i = 0; i < counters.size(); ++i) out[fabric::kPortCounterMeanings[i].name] = counters[i];
  return out;
}

Json fabric_port_json(const fabric::Port& port) {
  return {{"port", port.number},
          {"guid", guid_text(port.guid)},
          {"lid", port.lid},
          {"lmc", port.lmc},
          {"sm_lid", port.sm_lid},
          {"state", fabric::state_text(port.state)},
          {"physical_state", fabric::physical_text(port.physical)},
          {"width", width_or_null(port.active.widths)},
          {"speed", speed_or_null(port.active.speeds)},
          {"enabled", abilities_json(port.enabled)},
          {"supported", abilities_json(port.supported)},
          {"mtu", port.mtu == 0 ? Json(nullptr) : Json(port.mtu)},
          {"subnet_manager", port.may_manage},
          {"peer", port.peer ? end_json(*port.peer) : Json(nullptr)},
          {"pkeys", port.pkeys ? array_of(*port.pkeys, pkey_text) : Json(nullptr)},
          {"counters", port.counters ? counters_json(*port.counters) : Json(nullptr)}};
}

Json node_json(const fabric::Node& node) {
  return {{"guid", guid_text(node.guid)},
          {"system_guid", guid_text(node.system_guid)},
          {"type", fabric::text_of(node.type)},
          {"description", node.description},
          {"vendor_id", node.vendor},
          {"device_id", node.device},
          {"ports", array_of(node.ports, fabric_port_json)}};
}

std::string_view word_of(fabric::Shortfall why) {
  return why == fabric::Shortfall::kTrained  ? "trained"
         : why == fabric::Shortfall::kOneEnd ? "one_end"
                                             : "limited";
}

Json links_json(const fabric::Fabric& all) {
  const fabric::Index index(all);
  std::map<fabric::End, fabric::Below> below;
  for (auto& slow : fabric::links_below_best(all)) below.emplace(slow.link.a, slow);
  return array_of(fabric::links_of(all), [&](const fabric::Link& link) {
    const auto at = below.find(link.a);
    const auto* port = index.port(link.a);
    const bool slow = at != below.end();
    return Json{{"a", end_json(link.a)},
                {"b", end_json(link.b)},
                {"width", width_or_null(port->active.widths)},
                {"speed", speed_or_null(port->active.speeds)},
                {"below_best", slow ? Json(word_of(at->second.why)) : Json(nullptr)},
                {"best_width", slow ? width_or_null(at->second.best.widths) : Json(nullptr)},
                {"best_speed", slow ? speed_or_null(at->second.best.speeds) : Json(nullptr)}};
  });
}

Json manager_json(const fabric::Manager& manager) {
  auto state = std::string(fabric::text_of(manager.state));
  std::replace(state.begin(), state.end(), ' ', '_');
  return {{"port_guid", guid_text(manager.port_guid)},
          {"lid", manager.lid},
          {"priority", manager.priority},
          {"state", state},
          {"activity", manager.activity}};
}

Json group_json(const fabric::Group& group) {
  return {{"gid", group.gid},
          {"lid", group.lid},
          {"pkey", pkey_text(group.pkey)},
          {"mtu", group.mtu},
          {"rate_gbps", group.rate / 10.0},
          {"sl", group.sl}};
}

/// With all that a [[srp_rule]] can ask for; `logins`: as `ibsrpdm -c` prints it.
Json target_json(const fabric::Logins& logins, const fabric::Target& target) {
  return {{"port_guid", guid_text(target.port_guid)},
          {"id_ext", fmt::format("{:016x}", target.id_ext)},
          {"ioc_guid", fmt::format("{:016x}", target.ioc_guid)},
          {"service_id", fmt::format("{:016x}", target.service_id)},
          {"io_class", fmt::format("{:#06x}", target.io_class)},
          {"controller", target.controller},
          {"logins", logins.of(target)}};
}

Json route_json(const fabric::Route& route) {
  return {{"to", guid_text(route.to)},
          {"lid", route.lid == 0 ? Json(nullptr) : Json(route.lid)},
          {"arrives", route.broken.empty()},
          {"reason", route.broken},
          {"hops", array_of(route.hops, [](const fabric::Hop& hop) {
             return Json{{"node", guid_text(hop.node)},
                         {"in", hop.in == 0 ? Json(nullptr) : Json(hop.in)},
                         {"out", hop.out == 0 ? Json(nullptr) : Json(hop.out)}};
           })}};
}

Json counts_json(const FabricView& view) {
  const auto& nodes = view.fabric.nodes;
  const auto count = [&](fabric::NodeType type) {
    return std::count_if(nodes.begin(), nodes.end(), [&](const auto& node) { return node.type == type; });
  };
  return {{"hosts", count(fabric::NodeType::kHost)},
          {"switches", count(fabric::NodeType::kSwitch)},
          {"routers", count(fabric::NodeType::kRouter)},
          {"links", fabric::links_of(view.fabric).size()},
          {"links_below_best", fabric::links_below_best(view.fabric).size()},
          {"findings", view.findings.size()},
          {"differences", view.differences.size()},
          {"missing", view.fabric.missing.size()}};
}

}  // namespace

void add_fabric(Json& out, const FabricView& view) {
  const auto& all = view.fabric;
  out["summary"] = counts_json(view);
  out["from"] = {{"port", all.from}, {"guid", guid_text(all.from_port)}, {"subnet_prefix", all.prefix}};
  out["nodes"] = array_of(all.nodes, node_json);
  out["links"] = links_json(all);
  out["managers"] = array_of(all.managers, manager_json);
  out["partitions"] = array_of(fabric::partitions_of(all), [](const fabric::Members& members) {
    return Json{{"pkey", pkey_text(static_cast<std::uint16_t>(members.partition | 0x8000U))},
                {"full", array_of(members.full, end_json)},
                {"limited", array_of(members.limited, end_json)}};
  });
  out["groups"] = all.groups ? array_of(*all.groups, group_json) : Json(nullptr);
  out["route"] = all.route ? route_json(*all.route) : Json(nullptr);
  if (all.targets) {
    const fabric::Index index(all);
    const fabric::Logins logins(all, index);
    out["targets"] =
        array_of(*all.targets, [&](const fabric::Target& target) { return target_json(logins, target); });
  }
  out["findings"] = array_of(view.findings, [](const fabric::Finding& finding) {
    return Json{{"check", finding.check}, {"object", finding.object}, {"what", finding.what}};
  });
  out["differences"] = array_of(view.differences, [](const fabric::Difference& difference) {
    const auto text = [](const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); };
    return Json{{"what", difference.what},
                {"object", difference.object},
                {"expected", text(difference.before)},
                {"found", text(difference.after)}};
  });
  out["missing"] = all.missing;
  if (!view.not_cleared.empty()) out["not_cleared"] = view.not_cleared;
}

}  // namespace rdmacfg::ctl
