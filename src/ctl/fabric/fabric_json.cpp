// SPDX-License-Identifier: Apache-2.0
#include "ctl/fabric/fabric_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <set>
#include <string_view>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "ctl/json.hpp"
#include "fabric/limits.hpp"

namespace rdmacfg::ctl {

namespace {

using Json = nlohmann::ordered_json;
using base::Code;
using base::fail;
using base::Result;
using fabric::Abilities;
using fabric::limits::kFabricNodes;

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
Json target_json(const fabric::Fabric& all, const fabric::Target& target) {
  return {{"port_guid", guid_text(target.port_guid)},
          {"id_ext", fmt::format("{:016x}", target.id_ext)},
          {"ioc_guid", fmt::format("{:016x}", target.ioc_guid)},
          {"service_id", fmt::format("{:016x}", target.service_id)},
          {"io_class", fmt::format("{:#06x}", target.io_class)},
          {"controller", target.controller},
          {"logins", fabric::target_texts(all, target)}};
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

/// Read ones have sorted members: an ordered object looks through all of them for each that is added.
using Parsed = nlohmann::json;

/// Reads members of objects, and remembers the first that is not as it should be.
class Reader {
 public:
  std::string wrong;

  template <class Number>
  Number number(const Parsed& from, const char* key, std::int64_t most) {
    const auto at = from.find(key);
    if (at == from.end() || at->is_null()) return 0;
    if (!at->is_number_integer() || at->get<std::int64_t>() < 0 || at->get<std::int64_t>() > most)
      return no<Number>(key);
    return static_cast<Number>(at->get<std::int64_t>());
  }

  std::uint64_t counter(const Parsed& from, const char* key) {
    const auto at = from.find(key);
    if (at == from.end() || at->is_null()) return 0;
    return at->is_number_unsigned() ? at->get<std::uint64_t>() : no<std::uint64_t>(key);
  }

  std::string text(const Parsed& from, const char* key) {
    constexpr std::size_t kMost = 256;
    const auto at = from.find(key);
    if (at == from.end() || at->is_null()) return {};
    if (!at->is_string()) return no<std::string>(key);
    auto out = base::harmless(at->get_ref<const std::string&>());
    return out.size() > kMost ? no<std::string>(key) : out;
  }

  std::uint64_t guid(const Parsed& from, const char* key) {
    const auto written = text(from, key);
    if (written.empty()) return 0;
    const auto parsed = model::Guid::parse(written);
    return parsed ? parsed->number : no<std::uint64_t>(key);
  }

  /// The items of a list; nothing where it is null.
  const Parsed* list(const Parsed& from, const char* key, std::size_t most) {
    const auto at = from.find(key);
    if (at == from.end() || at->is_null()) return nullptr;
    if (!at->is_array() || at->size() > most) return no<const Parsed*>(key);
    return &*at;
  }

  /// Each object of a list through a function.
  template <class Each>
  void objects(const Parsed& from, const char* key, std::size_t most, Each each) {
    const auto* items = list(from, key, most);
    if (items == nullptr) return;
    for (const auto& item : *items) {
      if (item.is_object())
        each(item);
      else
        (void)no<int>(key);
    }
  }

  template <std::size_t N>
  std::uint16_t set(const Parsed& from, const char* key, const std::array<std::string_view, N>& names) {
    const auto at = from.find(key);
    if (at == from.end() || at->is_null()) return 0;
    unsigned out = 0;
    const auto add = [&](const Parsed& word) {
      const auto name =
          word.is_string() ? std::find(names.begin(), names.end(), word.get<std::string>()) : names.end();
      if (name == names.end()) {
        (void)no<int>(key);
      } else {
        out |= 1U << static_cast<unsigned>(name - names.begin());
      }
    };
    if (!at->is_array())
      add(*at);
    else if (at->size() > N)
      (void)no<int>(key);
    else
      for (const auto& word : *at) add(word);
    return static_cast<std::uint16_t>(out);
  }

  template <class T>
  T no(const char* key) {
    if (wrong.empty()) wrong = key;
    return T{};
  }
};

constexpr std::int64_t kMost16 = 0xffff, kMost32 = 0xffffffff;
constexpr std::size_t kMostPorts = 256, kMostPkeys = 4096;

template <class Text>
int number_of_text(const std::string& text, int most, Text name) {
  for (int i = 0; i <= most; ++i) {
    if (name(i) == text) return i;
  }
  return 0;
}

std::uint16_t read_pkey(Reader& reader, const Parsed& item) {
  const auto number = item.is_string() ? base::parse_number(item.get<std::string>()) : std::nullopt;
  return number && *number <= 0xffff ? static_cast<std::uint16_t>(*number)
                                     : reader.no<std::uint16_t>("pkeys");
}

fabric::Port read_port(Reader& reader, const Parsed& from) {
  fabric::Port port;
  port.number = reader.number<int>(from, "port", kMostPorts - 1);
  port.guid = reader.guid(from, "guid");
  port.lid = reader.number<int>(from, "lid", kMost16);
  port.lmc = reader.number<int>(from, "lmc", 7);
  port.sm_lid = reader.number<int>(from, "sm_lid", kMost16);
  port.state = number_of_text(reader.text(from, "state"), 4, fabric::state_text);
  port.physical = number_of_text(reader.text(from, "physical_state"), 7, fabric::physical_text);
  port.active = {reader.set(from, "width", fabric::kWidthNames),
                 reader.set(from, "speed", fabric::kSpeedNames)};
  const auto abilities = [&](const char* key) {
    const auto at = from.find(key);
    if (at == from.end() || !at->is_object()) return Abilities();
    return Abilities{reader.set(*at, "widths", fabric::kWidthNames),
                     reader.set(*at, "speeds", fabric::kSpeedNames)};
  };
  port.enabled = abilities("enabled");
  port.supported = abilities("supported");
  port.mtu = reader.number<int>(from, "mtu", kMost16);
  const auto manages = from.find("subnet_manager");
  port.may_manage = manages != from.end() && manages->is_boolean() && manages->get<bool>();
  if (const auto at = from.find("peer"); at != from.end() && at->is_object())
    port.peer = fabric::End{reader.guid(*at, "node"), reader.number<int>(*at, "port", kMostPorts - 1)};
  if (const auto* list = reader.list(from, "pkeys", kMostPkeys)) {
    port.pkeys.emplace();
    for (const auto& item : *list) port.pkeys->push_back(read_pkey(reader, item));
  }
  if (const auto at = from.find("counters"); at != from.end() && at->is_object()) {
    auto& counters = port.counters.emplace();
    for (std::size_t i = 0; i < counters.size(); ++i)
      counters[i] = reader.counter(*at, std::string(fabric::kPortCounterMeanings[i].name).c_str());
  }
  return port;
}

fabric::Node read_node(Reader& reader, const Parsed& from) {
  fabric::Node node;
  node.guid = reader.guid(from, "guid");
  if (node.guid == 0) (void)reader.no<int>("guid");
  node.system_guid = reader.guid(from, "system_guid");
  const auto type = reader.text(from, "type");
  node.type = fabric::NodeType::kUnknown;
  for (const auto known : {fabric::NodeType::kHost, fabric::NodeType::kSwitch, fabric::NodeType::kRouter}) {
    if (fabric::text_of(known) == type) node.type = known;
  }
  node.description = reader.text(from, "description");
  node.vendor = reader.number<std::uint32_t>(from, "vendor_id", kMost32);
  node.device = reader.number<std::uint32_t>(from, "device_id", kMost32);
  std::bitset<kMostPorts> numbers;
  reader.objects(from, "ports", kMostPorts, [&](const Parsed& item) {
    node.ports.push_back(read_port(reader, item));
    const auto number = static_cast<std::size_t>(node.ports.back().number);
    if (numbers.test(number)) (void)reader.no<int>("port");
    numbers.set(number);
  });
  return node;
}

fabric::Manager read_manager(Reader& reader, const Parsed& from) {
  fabric::Manager manager;
  manager.port_guid = reader.guid(from, "port_guid");
  manager.lid = reader.number<int>(from, "lid", kMost16);
  manager.priority = reader.number<int>(from, "priority", 15);
  auto state = reader.text(from, "state");
  std::replace(state.begin(), state.end(), '_', ' ');
  manager.state = fabric::ManagerState::kUnknown;
  for (const auto known : {fabric::ManagerState::kNotActive, fabric::ManagerState::kDiscovering,
                           fabric::ManagerState::kStandby, fabric::ManagerState::kMaster}) {
    if (fabric::text_of(known) == state) manager.state = known;
  }
  manager.activity = reader.number<std::uint32_t>(from, "activity", kMost32);
  return manager;
}

fabric::Group read_group(Reader& reader, const Parsed& from) {
  fabric::Group group;
  group.gid = reader.text(from, "gid");
  group.lid = reader.number<int>(from, "lid", kMost16);
  group.pkey = from.contains("pkey") ? read_pkey(reader, from["pkey"]) : std::uint16_t{0};
  group.mtu = reader.number<int>(from, "mtu", kMost16);
  const auto rate = from.find("rate_gbps");
  constexpr double kMostRate = 100'000;
  if (rate != from.end() && rate->is_number() && rate->get<double>() >= 0 && rate->get<double>() <= kMostRate)
    group.rate = static_cast<int>(rate->get<double>() * 10 + 0.5);
  group.sl = reader.number<int>(from, "sl", 15);
  return group;
}

/// Whether brackets outside of strings nest no deeper than a fabric does. Counted before parsing: the
/// parser's own way to leave parts out looks at every element of a list once for each of them.
bool is_flat(std::string_view text) {
  constexpr int kDeepest = 16;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
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
  if (all.targets)
    out["targets"] =
        array_of(*all.targets, [&](const fabric::Target& target) { return target_json(all, target); });
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

Result<fabric::Fabric> parse_fabric(const std::string& text) {
  if (text.size() > fabric::limits::kFabricFileBytes)
    return fail(Code::kInvalid, fmt::format("has more than {} bytes", fabric::limits::kFabricFileBytes));
  if (!is_flat(text)) return fail(Code::kInvalid, "is not a saved fabric: its values nest too deep");
  const auto json = Parsed::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return fail(Code::kInvalid, "is not a JSON object");
  if (json.value("schema", Parsed()) != kFabricSchema)
    return fail(Code::kInvalid,
                fmt::format("was not written by `rdma-configctl fabric --json`: its schema is not {}",
                            kFabricSchema));
  Reader reader;
  fabric::Fabric out;
  const auto* nodes = reader.list(json, "nodes", kFabricNodes);
  if (nodes == nullptr)
    return fail(Code::kInvalid, reader.wrong.empty()
                                    ? "has no fabric: it is the result of a run that failed"
                                    : fmt::format("its nodes are not a list of at most {}", kFabricNodes));
  std::set<std::uint64_t> guids;
  reader.objects(json, "nodes", kFabricNodes, [&](const Parsed& item) {
    out.nodes.push_back(read_node(reader, item));
    if (!guids.insert(out.nodes.back().guid).second) (void)reader.no<int>("guid");
  });
  reader.objects(json, "managers", kFabricNodes,
                 [&](const Parsed& item) { out.managers.push_back(read_manager(reader, item)); });
  if (reader.list(json, "groups", kFabricNodes) != nullptr) out.groups.emplace();
  reader.objects(json, "groups", kFabricNodes,
                 [&](const Parsed& item) { out.groups->push_back(read_group(reader, item)); });
  if (!reader.wrong.empty())
    return fail(Code::kInvalid,
                fmt::format("is damaged: a value of \"{}\" is not one of a fabric", reader.wrong));
  return out;
}

}  // namespace rdmacfg::ctl
