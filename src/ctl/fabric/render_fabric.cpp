// SPDX-License-Identifier: Apache-2.0
#include "ctl/fabric/render_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.hpp"
#include "ctl/render/render_table.hpp"
#include "fabric/names.hpp"

namespace rdmacfg::ctl {

namespace {

using fabric::Fabric;
using fabric::Index;

Cell plain(std::string text) {
  return text.empty() ? Cell{"-", Style::kDim} : Cell{std::move(text), Style::kPlain};
}

Cell number_cell(int number) { return plain(number == 0 ? std::string() : std::to_string(number)); }

Cell port_state_cell(const fabric::Port& port) {
  const auto style = port.state == fabric::kStateActive ? Style::kGood
                     : port.state <= fabric::kStateDown ? Style::kDim
                                                        : Style::kNotice;
  return {std::string(fabric::state_text(port.state)), style};
}

std::string pkeys_of(const fabric::Port& port) {
  if (!port.pkeys) return "unknown";
  std::vector<std::string> texts;
  for (const auto pkey : *port.pkeys) texts.push_back(fmt::format("{:#06x}", pkey));
  return base::join(texts, " ");
}

/// Hosts' ports that are alike but for their names.
struct HostRow {
  std::vector<std::string> names;
  const fabric::Node* node = nullptr;
  const fabric::Port* port = nullptr;
};

Table hosts_table(const Fabric& all, bool wide) {
  const Index index(all);
  std::map<std::tuple<std::string, int, int, std::string, std::string>, HostRow> rows;
  for (const auto& node : all.nodes) {
    if (node.type == fabric::NodeType::kSwitch) continue;
    for (const auto& port : node.ports) {
      // A second port that is not connected is not worth a line.
      if (!port.peer && node.ports.size() > 1) continue;
      auto key = std::tuple(port.peer ? index.name(port.peer->node) : std::string(), port.number, port.state,
                            fabric::text_of(port.active), pkeys_of(port));
      if (wide) std::get<0>(key) = fmt::format("{}\n{:016x}", std::get<0>(key), node.guid);
      auto& row = rows[std::move(key)];
      row.names.push_back(index.name(node.guid));
      row.node = &node;
      row.port = &port;
    }
  }
  Table table{{{"HOSTS", 0, !wide},
               {"N", 4},
               {"PORT", 2},
               {"LID"},
               {"GUID", 5},
               {"STATE", 3},
               {"LINK"},
               {"TO"},
               {"P_KEYS", 1, true}},
              {}};
  for (auto& [key, row] : rows) {
    const bool single = row.names.size() == 1;
    const auto& port = *row.port;
    const auto to = !port.peer ? std::string()
                    : single   ? index.name(*port.peer)
                               : index.name(port.peer->node);
    table.rows.push_back({{fabric::fold_names(row.names), Style::kBold},
                          single ? Cell{} : plain(std::to_string(row.names.size())),
                          number_cell(port.number),
                          wide ? number_cell(port.lid) : Cell{},
                          wide ? plain(model::Guid{port.guid}.text()) : Cell{},
                          port_state_cell(port),
                          plain(fabric::text_of(port.active)),
                          plain(to),
                          plain(pkeys_of(port))});
  }
  return table;
}

Table switches_table(const Fabric& all) {
  const Index index(all);
  Table table{{{"SWITCHES"}, {"GUID", 2}, {"LID", 3}, {"PORTS"}, {"UP"}, {"HOSTS"}, {"LEADS TO", 1, true}},
              {}};
  for (const auto& node : all.nodes) {
    if (node.type != fabric::NodeType::kSwitch) continue;
    int ports = 0, up = 0, hosts = 0;
    std::vector<std::string> others;
    for (const auto& port : node.ports) {
      if (port.number == 0) continue;
      ++ports;
      if (port.state > fabric::kStateDown) ++up;
      const auto* other = port.peer ? index.node(port.peer->node) : nullptr;
      if (other == nullptr) continue;
      if (other->type == fabric::NodeType::kSwitch)
        others.push_back(index.name(other->guid));
      else
        ++hosts;
    }
    const auto* own = node.port(0);
    table.rows.push_back({{index.name(node.guid), Style::kBold},
                          plain(model::Guid{node.guid}.text()),
                          number_cell(own == nullptr ? 0 : own->lid),
                          plain(std::to_string(ports)),
                          plain(std::to_string(up)),
                          plain(std::to_string(hosts)),
                          plain(fabric::fold_names(std::move(others)))});
  }
  return table;
}

/// Every link, slow ones with their best.
Table links_table(const Fabric& all) {
  const Index index(all);
  std::map<fabric::End, fabric::Below> below;
  for (auto& slow : fabric::links_below_best(all)) below.emplace(slow.link.a, slow);
  Table table{{{"LINKS"}, {""}, {"NOW"}, {"BEST"}, {"WHY", 1, true}}, {}};
  for (const auto& link : fabric::links_of(all)) {
    const auto at = below.find(link.a);
    const bool slow = at != below.end();
    const bool bad = slow && at->second.why != fabric::Shortfall::kLimited;
    table.rows.push_back({plain(index.name(link.a)),
                          plain(index.name(link.b)),
                          {fabric::text_of(index.port(link.a)->active), bad ? Style::kBad : Style::kPlain},
                          slow ? plain(fabric::text_of(at->second.best)) : Cell{},
                          slow ? plain(std::string(fabric::text_of(at->second.why))) : Cell{}});
  }
  return table;
}

/// Links below their best only because both ends are set so, folded to a line each kind.
Table slow_table(const Fabric& all) {
  const Index index(all);
  Table table{{{"LINKS BELOW THEIR BEST", 0, true}, {"NOW"}, {"BEST"}, {"WHY", 1, true}}, {}};
  std::map<std::pair<std::string, std::string>, int> limited;
  for (const auto& slow : fabric::links_below_best(all)) {
    if (slow.why == fabric::Shortfall::kLimited) {
      ++limited[{fabric::text_of(slow.active), fabric::text_of(slow.best)}];
      continue;
    }
    table.rows.push_back({plain(fmt::format("{} - {}", index.name(slow.link.a), index.name(slow.link.b))),
                          {fabric::text_of(slow.active), Style::kBad},
                          plain(fabric::text_of(slow.best)),
                          plain(std::string(fabric::text_of(slow.why)))});
  }
  for (const auto& [texts, count] : limited)
    table.rows.push_back({plain(fmt::format("{} {}", count, count == 1 ? "link" : "links")),
                          plain(texts.first), plain(texts.second),
                          plain(std::string(text_of(fabric::Shortfall::kLimited)))});
  return table;
}

Table managers_table(const Fabric& all) {
  const Index index(all);
  Table table{{{"SUBNET MANAGERS"}, {"STATE"}, {"PRIORITY"}, {"LID"}, {"GUID", 2}, {"ACTIVITY", 1}}, {}};
  for (const auto& manager : all.managers) {
    const auto port = index.owner(manager.port_guid);
    table.rows.push_back({{port ? index.name(*port) : model::Guid{manager.port_guid}.text(), Style::kBold},
                          {std::string(fabric::text_of(manager.state)),
                           manager.state == fabric::ManagerState::kMaster ? Style::kGood : Style::kPlain},
                          plain(std::to_string(manager.priority)),
                          number_cell(manager.lid),
                          plain(model::Guid{manager.port_guid}.text()),
                          plain(std::to_string(manager.activity))});
  }
  return table;
}

/// `possible`: ports whose tables were read.
std::string members_text(const Index& index, const std::vector<fabric::End>& ends, std::size_t possible,
                         bool wide) {
  if (!wide && ends.size() == possible && possible > 2) return fmt::format("all {} ports", possible);
  std::vector<std::string> names;
  for (const auto& end : ends) {
    const auto* node = index.node(end.node);
    const bool only = node == nullptr || node->ports.size() <= 1 || node->type == fabric::NodeType::kSwitch;
    names.push_back(only ? index.name(end.node) : index.name(end));
  }
  return fabric::fold_names(std::move(names));
}

Table partitions_table(const Fabric& all, bool wide) {
  const Index index(all);
  Table table{{{"PARTITIONS"}, {"FULL MEMBERS", 0, true}, {"LIMITED MEMBERS", 0, true}}, {}};
  std::size_t possible = 0;
  for (const auto& node : all.nodes) {
    for (const auto& port : node.ports) possible += port.pkeys ? 1U : 0U;
  }
  for (const auto& members : fabric::partitions_of(all)) {
    table.rows.push_back({{fmt::format("{:#06x}", members.partition | 0x8000U), Style::kBold},
                          plain(members_text(index, members.full, possible, wide)),
                          plain(members_text(index, members.limited, possible, wide))});
  }
  return table;
}

Table groups_table(const Fabric& all) {
  Table table{{{"MULTICAST GROUPS"}, {"LID", 1}, {"P_KEY"}, {"MTU"}, {"RATE"}, {"SL", 2}}, {}};
  for (const auto& group : all.groups.value_or(std::vector<fabric::Group>())) {
    table.rows.push_back({plain(group.gid), plain(fmt::format("{:#06x}", group.lid)),
                          plain(fmt::format("{:#06x}", group.pkey)), number_cell(group.mtu),
                          plain(fabric::rate_text(group.rate)), plain(std::to_string(group.sl))});
  }
  return table;
}

/// The ports that have counted errors; all that were read with `every`.
Table counters_table(const Fabric& all, bool every) {
  constexpr std::size_t kSent = 0, kReceived = 1, kWaited = 4;
  constexpr std::uint64_t kWord = 4;  // bytes of a unit
  const Index index(all);
  Table table{{{"COUNTERS"}, {"TO", 1}, {"SENT", 3}, {"RECEIVED", 3}, {"WAITED", 2}, {"ERRORS", 0, true}},
              {}};
  for (const auto& node : all.nodes) {
    for (const auto& port : node.ports) {
      if (!port.counters) continue;
      const auto errors = fabric::errors_text(*port.counters);
      if (errors.empty() && !every) continue;
      const auto bytes = [&](std::size_t at) {
        return every ? plain(fmt::format("{} B", (*port.counters)[at] * kWord)) : Cell{};
      };
      table.rows.push_back({{index.name(fabric::End{node.guid, port.number}), Style::kBold},
                            plain(port.peer ? index.name(*port.peer) : std::string()),
                            bytes(kSent),
                            bytes(kReceived),
                            every ? plain(std::to_string((*port.counters)[kWaited])) : Cell{},
                            errors.empty() ? Cell{"none", Style::kDim} : Cell{errors, Style::kBad}});
    }
  }
  return table;
}

/// A line for each way to log in.
Table targets_table(const Fabric& all) {
  const Index index(all);
  const fabric::Logins logins(all, index);
  Table table{{{"SRP TARGETS"}, {"PORT", 1}, {"CONTROLLER", 2, true}}, {}};
  for (const auto& target : all.targets.value_or(std::vector<fabric::Target>())) {
    const auto end = index.owner(target.port_guid);
    const auto port = end ? index.name(*end) : model::Guid{target.port_guid}.text();
    auto texts = logins.of(target);
    const bool reached = !texts.empty();
    if (!reached) texts.push_back(fabric::text_of(target, all.prefix, 0) + ": no common partition");
    for (auto& text : texts)
      table.rows.push_back(
          {{std::move(text), reached ? Style::kBold : Style::kBad}, plain(port), plain(target.controller)});
  }
  return table;
}

Table route_table(const Fabric& all) {
  const Index index(all);
  Table table{{{fmt::format("ROUTE TO {}", model::Guid{all.route->to}.text())}, {"ENTERS BY"}, {"LEAVES BY"}},
              {}};
  for (const auto& hop : all.route->hops)
    table.rows.push_back({plain(index.name(hop.node)), number_cell(hop.in), number_cell(hop.out)});
  if (!all.route->broken.empty())
    table.rows.push_back({{"the destination is not reached: " + all.route->broken, Style::kBad}, {}, {}});
  return table;
}

Table findings_table(const FabricView& view) {
  Table table{{{"FINDINGS"}, {"", 0, true}}, {}};
  for (const auto& finding : view.findings)
    table.rows.push_back({{finding.object, Style::kBad}, plain(finding.what)});
  return table;
}

Table differences_table(const FabricView& view) {
  Table table{{{"DIFFERENCES"}, {""}, {"EXPECTED", 0, true}, {"FOUND", 0, true}}, {}};
  for (const auto& difference : view.differences)
    table.rows.push_back({{difference.object, Style::kBad},
                          plain(std::string(difference.what)),
                          plain(difference.before),
                          plain(difference.after)});
  return table;
}

std::string head_line(const FabricView& view) {
  const auto& nodes = view.fabric.nodes;
  const auto of = [&](fabric::NodeType type) {
    return std::count_if(nodes.begin(), nodes.end(), [&](const auto& node) { return node.type == type; });
  };
  const auto counted = [](auto number, const char* singular, const char* more) {
    return fmt::format("{} {}", number, number == 1 ? singular : more);
  };
  auto out = fmt::format("seen from {}: {}, {}, {}", view.fabric.from,
                         counted(of(fabric::NodeType::kHost), "host", "hosts"),
                         counted(of(fabric::NodeType::kSwitch), "switch", "switches"),
                         counted(fabric::links_of(view.fabric).size(), "link", "links"));
  if (const auto routers = of(fabric::NodeType::kRouter); routers > 0)
    out += ", " + counted(routers, "router", "routers");
  return out + "; subnet prefix " + view.fabric.prefix;
}

}  // namespace

std::string render_fabric(const FabricView& view, const std::set<std::string>& topics, bool wide,
                          const Terminal& terminal, bool* left_out) {
  const auto& all = view.fabric;
  std::string out;
  const auto add = [&](const char* topic, const Table& table) {
    const bool always = *topic == '\0';  // it was asked for by an option
    if (table.rows.empty() || (!always && !topics.empty() && !topics.contains(topic))) return;
    if (!out.empty()) out += '\n';
    out += render_table(table, terminal, left_out);
  };
  if (topics.empty()) out = clean(head_line(view), terminal.utf8) + '\n';
  add("managers", managers_table(all));
  add("hosts", hosts_table(all, wide));
  add("switches", switches_table(all));
  add("links", wide || topics.contains("links") ? links_table(all) : slow_table(all));
  add("partitions", partitions_table(all, wide));
  add("groups", groups_table(all));
  add("counters", counters_table(all, wide));
  add("targets", targets_table(all));
  if (all.route) add("", route_table(all));
  add("findings", findings_table(view));
  add("", differences_table(view));
  return out;
}

std::string fabric_names(const FabricView& view, const std::set<std::string>& topics) {
  const Index index(view.fabric);
  std::string out;
  for (const auto& node : view.fabric.nodes) {
    const auto* topic = node.type == fabric::NodeType::kSwitch ? "switches" : "hosts";
    if (topics.empty() || topics.contains(topic)) out += index.name(node.guid) + '\n';
  }
  return out;
}

}  // namespace rdmacfg::ctl
