// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "ctl/fabric/fabric_json.hpp"
#include "ctl/json.hpp"
#include "fabric/limits.hpp"
#include "model/types.hpp"

namespace rdmacfg::ctl {

namespace {

using base::Code;
using base::fail;
using base::Result;
using fabric::Abilities;
using fabric::limits::kFabricNodes;

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
constexpr std::size_t kMostPorts = 256, kMostPkeys = 4096, kMostParts = 1000;

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

Result<fabric::Fabric> parse_fabric(const std::string& text) {
  if (text.size() > fabric::limits::kFabricFileBytes)
    return fail(Code::kInvalid, fmt::format("has more than {} bytes", fabric::limits::kFabricFileBytes));
  if (!is_flat(text)) return fail(Code::kInvalid, "is not a saved fabric: its values are nested too deeply");
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
                                    ? "has no fabric: the run that wrote it failed"
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
  if (const auto* missing = reader.list(json, "missing", kMostParts)) {
    for (const auto& part : *missing)
      out.missing.push_back(part.is_string() ? base::harmless(part.get_ref<const std::string&>())
                                             : reader.no<std::string>("missing"));
  }
  if (!reader.wrong.empty())
    return fail(Code::kInvalid,
                fmt::format("is damaged: a value of \"{}\" is not one of a fabric", reader.wrong));
  return out;
}

}  // namespace rdmacfg::ctl
