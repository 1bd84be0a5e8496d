// SPDX-License-Identifier: Apache-2.0
#include "fabric/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/text.hpp"

namespace rdmacfg::fabric {

namespace {

template <std::size_t N>
std::string best_name(std::uint16_t set, const std::array<std::string_view, N>& names) {
  const auto bits = static_cast<std::size_t>(std::bit_width(set));
  return bits == 0 || bits > N ? "-" : std::string(names[bits - 1]);
}

/// The best of a set alone.
std::uint16_t best_of(std::uint16_t set) { return std::bit_floor(set); }

/// The common part of two ends; where one is silent, the other decides.
std::uint16_t common(std::uint16_t a, std::uint16_t b) {
  if (a == 0 || b == 0) return static_cast<std::uint16_t>(a | b);
  return a & b;
}

Abilities common_best(Abilities a, Abilities b) {
  return {best_of(common(a.widths, b.widths)), best_of(common(a.speeds, b.speeds))};
}

/// The width and speed of a link: its ends say the same, or the worse one counts.
Abilities active_of(const Port& a, const Port& b) {
  const auto worse = [](std::uint16_t x, std::uint16_t y) {
    return best_of(x == 0 || y == 0 ? std::max(x, y) : std::min(x, y));
  };
  return {worse(a.active.widths, b.active.widths), worse(a.active.speeds, b.active.speeds)};
}

bool falls_short(Abilities active, Abilities best) {
  return active.widths < best.widths || active.speeds < best.speeds;
}

}  // namespace

std::string_view text_of(NodeType type) {
  constexpr std::array<std::string_view, 4> kNames{"host", "switch", "router", "unknown"};
  return kNames[std::min<std::size_t>(static_cast<std::size_t>(type), kNames.size() - 1)];
}

std::string_view text_of(ManagerState state) {
  constexpr std::array<std::string_view, 5> kNames{"not active", "discovering", "standby", "master",
                                                   "unknown"};
  return kNames[std::min<std::size_t>(static_cast<std::size_t>(state), kNames.size() - 1)];
}

std::string_view text_of(Shortfall why) {
  switch (why) {
    case Shortfall::kTrained:
      return "both ends have a better setting enabled: check the cable and the connectors";
    case Shortfall::kOneEnd:
      return "one end has less enabled than the other";
    case Shortfall::kLimited:
      return "neither end has a better setting enabled";
  }
  return "";
}

std::string width_text(std::uint16_t widths) { return best_name(widths, kWidthNames); }
std::string speed_text(std::uint16_t speeds) { return best_name(speeds, kSpeedNames); }

std::string text_of(Abilities abilities) {
  if (abilities.widths == 0 && abilities.speeds == 0) return "";
  return width_text(abilities.widths) + ' ' + speed_text(abilities.speeds);
}

std::string_view state_text(int state) {
  constexpr std::array<std::string_view, 5> kNames{"unknown", "down", "initialize", "armed", "active"};
  return state < 0 || state >= static_cast<int>(kNames.size()) ? "unknown"
                                                               : kNames[static_cast<std::size_t>(state)];
}

std::string_view physical_text(int state) {
  constexpr std::array<std::string_view, 8> kNames{"unknown",  "sleep",   "polling",        "disabled",
                                                   "training", "link up", "error recovery", "test"};
  return state < 0 || state >= static_cast<int>(kNames.size()) ? "unknown"
                                                               : kNames[static_cast<std::size_t>(state)];
}

std::string rate_text(int tenths) {
  if (tenths <= 0) return "-";
  return tenths % 10 == 0 ? fmt::format("{} Gbit/s", tenths / 10)
                          : fmt::format("{}.{} Gbit/s", tenths / 10, tenths % 10);
}

const Port* Node::port(int number) const {
  const auto at = std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.number == number; });
  return at == ports.end() ? nullptr : &*at;
}

Index::Index(const Fabric& fabric) {
  for (const auto& node : fabric.nodes) {
    nodes_.emplace(node.guid, &node);
    descriptions_.emplace(node.description, &node);
    for (const auto& port : node.ports) {
      // All ports of a switch have the GUID of its management port.
      const bool own = node.type != NodeType::kSwitch || port.number == 0;
      if (own && port.guid != 0) owners_.emplace(port.guid, End{node.guid, port.number});
    }
  }
}

const Node* Index::node(std::uint64_t guid) const {
  const auto at = nodes_.find(guid);
  return at == nodes_.end() ? nullptr : at->second;
}

const Port* Index::port(End end) const {
  const auto* owner = node(end.node);
  return owner == nullptr ? nullptr : owner->port(end.port);
}

std::optional<End> Index::owner(std::uint64_t port_guid) const {
  const auto at = owners_.find(port_guid);
  return at == owners_.end() ? std::nullopt : std::optional(at->second);
}

std::string Index::name(std::uint64_t guid) const {
  const auto* found = node(guid);
  if (found == nullptr || found->description.empty()) return model::Guid{guid}.text();
  const auto first = descriptions_.lower_bound(found->description), next = std::next(first);
  if (next != descriptions_.end() && next->first == first->first)
    return fmt::format("{} ({})", found->description, model::Guid{guid}.text());
  return found->description;
}

std::string Index::name(End end) const { return fmt::format("{}/{}", name(end.node), end.port); }

std::vector<const Node*> Index::called(std::string_view text) const {
  std::vector<const Node*> out;
  const auto [first, last] = descriptions_.equal_range(text);
  for (auto at = first; at != last; ++at) out.push_back(at->second);
  // By GUID, also as name() writes it: "leaf1 (GUID)".
  auto written = text;
  if (const auto bracket = text.rfind(" ("); bracket != std::string_view::npos && text.ends_with(')'))
    written = text.substr(bracket + 2, text.size() - bracket - 3);
  const auto guid = model::Guid::parse(written);
  const auto* found = guid ? node(guid->number) : nullptr;
  const bool named = found != nullptr && (written == text || name(found->guid) == text);
  if (named && std::find(out.begin(), out.end(), found) == out.end()) out.push_back(found);
  return out;
}

std::size_t ports_with_errors(const Fabric& fabric) {
  std::size_t out = 0;
  for (const auto& node : fabric.nodes) {
    for (const auto& port : node.ports) {
      if (port.counters && !errors_text(*port.counters).empty()) ++out;
    }
  }
  return out;
}

std::optional<End> Index::called_port(std::string_view text, std::string& why) const {
  const auto slash = text.rfind('/');
  const auto number =
      slash == std::string_view::npos ? std::nullopt : base::parse_number(text.substr(slash + 1));
  if (!number || *number == 0 || *number > 254) {
    why = "is not a node and a port, such as leaf1/7";
    return std::nullopt;
  }
  // Any number of nodes may have one description, and a cable file many lines with it.
  const auto [same, behind] = descriptions_.equal_range(text.substr(0, slash));
  if (same != behind && std::next(same) != behind) {
    why = "is the name of several nodes; use the GUID";
    return std::nullopt;
  }
  const auto nodes = called(text.substr(0, slash));
  if (nodes.size() != 1) {
    why = nodes.empty() ? "is not in the fabric" : "is the name of several nodes; use the GUID";
    // Descriptions of hosts have the device behind the name of the host: "node007 mlx5_0".
    const auto host = std::string(text.substr(0, slash)) + ' ';
    const auto near = descriptions_.lower_bound(host);
    if (nodes.empty() && near != descriptions_.end() && near->first.starts_with(host))
      why += fmt::format("; did you mean \"{}\"?", near->first);
    return std::nullopt;
  }
  return End{nodes.front()->guid, static_cast<int>(*number)};
}

std::vector<Link> links_of(const Fabric& fabric) {
  std::vector<Link> out;
  for (const auto& node : fabric.nodes) {
    for (const auto& port : node.ports) {
      const End here{node.guid, port.number};
      if (port.peer && here < *port.peer) out.push_back({here, *port.peer});
    }
  }
  return out;
}

std::vector<Below> links_below_best(const Fabric& fabric) {
  const Index index(fabric);
  std::vector<Below> out;
  for (const auto& link : links_of(fabric)) {
    const auto *a = index.port(link.a), *b = index.port(link.b);
    if (a == nullptr || b == nullptr || a->state <= kStateDown) continue;
    const auto active = active_of(*a, *b);
    const auto best = common_best(a->supported, b->supported);
    if (!falls_short(active, best)) continue;
    // The best of each end if the other had everything enabled.
    const auto of_a = common_best(a->enabled, b->supported), of_b = common_best(b->enabled, a->supported);
    auto why = Shortfall::kLimited;
    if (falls_short(active, common_best(a->enabled, b->enabled))) {
      why = Shortfall::kTrained;
    } else if (of_a != of_b) {
      why = Shortfall::kOneEnd;
    }
    out.push_back({link, active, best, why});
  }
  std::stable_sort(out.begin(), out.end(), [](const Below& a, const Below& b) { return a.why < b.why; });
  return out;
}

std::vector<Members> partitions_of(const Fabric& fabric) {
  std::map<std::uint16_t, Members> found;
  for (const auto& node : fabric.nodes) {
    for (const auto& port : node.ports) {
      if (!port.pkeys) continue;
      for (const auto raw : *port.pkeys) {
        const auto partition = static_cast<std::uint16_t>(raw & 0x7fffU);
        auto& members = found[partition];
        members.partition = partition;
        ((raw & 0x8000U) != 0 ? members.full : members.limited).push_back({node.guid, port.number});
      }
    }
  }
  std::vector<Members> out;
  out.reserve(found.size());
  for (auto& [partition, members] : found) out.push_back(std::move(members));
  return out;
}

}  // namespace rdmacfg::fabric
