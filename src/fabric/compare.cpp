// SPDX-License-Identifier: Apache-2.0
#include "fabric/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace rdmacfg::fabric {

namespace {

std::string peer_name(const Index& index, const std::optional<End>& peer) {
  return peer ? index.name(*peer) : std::string();
}

std::string pkeys_text(std::vector<std::uint16_t> pkeys) {
  std::sort(pkeys.begin(), pkeys.end());
  std::vector<std::string> texts;
  texts.reserve(pkeys.size());
  for (const auto pkey : pkeys) texts.push_back(fmt::format("{:#06x}", pkey));
  return base::join(texts, " ");
}

class Comparison {
 public:
  Comparison(const Fabric& before, const Fabric& after)
      : before_(before), after_(after), was_(before), is_(after) {}

  std::vector<Difference> differences() {
    for (const auto& node : before_.nodes) {
      if (is_.node(node.guid) == nullptr)
        add("node", was_.name(node.guid), std::string(text_of(node.type)), "");
    }
    for (const auto& node : after_.nodes) {
      const auto* old = was_.node(node.guid);
      if (old == nullptr) {
        add("node", is_.name(node.guid), "", std::string(text_of(node.type)));
      } else if (old->description != node.description) {
        add("name", model::Guid{node.guid}.text(), old->description, node.description);
      }
      compare_ports(old, node);
    }
    compare_managers();
    compare_groups();
    return std::move(out_);
  }

 private:
  void add(std::string_view what, std::string object, std::string before, std::string after) {
    if (before != after) out_.push_back({what, std::move(object), std::move(before), std::move(after)});
  }

  void compare_ports(const Node* old, const Node& node) {
    for (const auto& port : node.ports) {
      const End here{node.guid, port.number};
      const auto* was = old == nullptr ? nullptr : old->port(port.number);
      const auto was_peer = was == nullptr ? std::nullopt : was->peer;
      if (was_peer != port.peer) {
        if (!is_told_there(here, was_peer, port.peer))
          add("link", is_.name(here), peer_name(was_, was_peer), peer_name(is_, port.peer));
        continue;
      }
      if (was == nullptr) continue;
      if (!port.peer || here < *port.peer)
        add("speed", link_text(here, port), text_of(was->active), text_of(port.active));
      if (port.peer)
        add("state", is_.name(here), std::string(state_text(was->state)),
            std::string(state_text(port.state)));
      if (was->pkeys && port.pkeys)
        add("pkeys", is_.name(here), pkeys_text(*was->pkeys), pkeys_text(*port.pkeys));
      if (was->counters && port.counters) compare_counters(here, *was->counters, *port.counters);
    }
  }

  /// Errors that were counted since. A counter that is lower than it was has been cleared.
  void compare_counters(End here, const PortCounters& was, const PortCounters& is) {
    PortCounters before{}, after{};
    for (std::size_t i = 0; i < is.size(); ++i) {
      if (is[i] == was[i]) continue;
      before[i] = is[i] > was[i] ? was[i] : 0;
      after[i] = is[i];
    }
    const auto found = errors_text(after);
    const auto expected = errors_text(before);
    if (!found.empty()) add("counters", is_.name(here), expected.empty() ? "no errors" : expected, found);
  }

  /// Whether the other end says the same of a link: of two it is told once.
  [[nodiscard]] bool is_told_there(End here, const std::optional<End>& was,
                                   const std::optional<End>& is) const {
    if (is) return *is < here && is_.port(*is) != nullptr;
    // It is gone; the other end tells so unless it leads elsewhere now.
    const auto* other = was && *was < here ? is_.port(*was) : nullptr;
    return other != nullptr && !other->peer;
  }

  std::string link_text(End here, const Port& port) {
    return port.peer ? fmt::format("{} - {}", is_.name(here), is_.name(*port.peer)) : is_.name(here);
  }

  static std::string manager_text(const Manager& manager) {
    return fmt::format("{}, priority {}", text_of(manager.state), manager.priority);
  }

  /// Whether a port has a subnet manager that did not answer.
  static bool is_silent(const Index& index, std::uint64_t guid) {
    const auto end = index.owner(guid);
    const auto* port = end ? index.port(*end) : nullptr;
    return port != nullptr && port->may_manage;
  }

  void compare_managers() {
    std::map<std::uint64_t, std::pair<std::string, std::string>> all;
    for (const auto& manager : before_.managers) all[manager.port_guid].first = manager_text(manager);
    for (const auto& manager : after_.managers) all[manager.port_guid].second = manager_text(manager);
    for (const auto& [guid, texts] : all) {
      if (texts.first.empty() && is_silent(was_, guid)) continue;
      if (texts.second.empty() && is_silent(is_, guid)) continue;
      const auto port = is_.owner(guid);
      add("manager", port ? is_.name(*port) : model::Guid{guid}.text(), texts.first, texts.second);
    }
  }

  static std::string group_text(const Group& group) {
    return fmt::format("P_Key {:#06x}, MTU {}, {}", group.pkey, group.mtu, rate_text(group.rate));
  }

  void compare_groups() {
    if (!before_.groups || !after_.groups) return;
    std::map<std::string, std::pair<std::string, std::string>> all;
    for (const auto& group : *before_.groups) all[group.gid].first = group_text(group);
    for (const auto& group : *after_.groups) all[group.gid].second = group_text(group);
    for (const auto& [gid, texts] : all) add("group", gid, texts.first, texts.second);
  }

  const Fabric &before_, &after_;
  const Index was_, is_;
  std::vector<Difference> out_;
};

}  // namespace

std::vector<Difference> compare(const Fabric& before, const Fabric& after) {
  return Comparison(before, after).differences();
}

std::vector<Difference> check_cables(const Fabric& fabric, const std::vector<Cable>& cables) {
  const Index index(fabric);
  std::vector<Difference> out;
  for (const auto& cable : cables) {
    std::string why;
    const auto from = index.called_port(cable.from, why);
    if (!from) {
      out.push_back({"cable", cable.from, cable.to, why});
      continue;
    }
    const auto to = index.called_port(cable.to, why);
    const auto* port = index.port(*from);
    const auto found = port == nullptr ? std::nullopt : port->peer;
    if (!to || found != to) {
      auto now = found ? index.name(*found) : std::string("no link");
      if (!to) now += fmt::format(" ({} {})", cable.to, why);
      out.push_back({"cable", cable.from, cable.to, now});
      continue;
    }
    const auto object = fmt::format("{} - {}", cable.from, cable.to);
    const auto check = [&](std::string wanted, std::string is) {
      if (wanted != is) out.push_back({"speed", object, std::move(wanted), std::move(is)});
    };
    if (cable.width)
      check(std::string(kWidthNames[static_cast<std::size_t>(*cable.width)]),
            width_text(port->active.widths));
    if (cable.speed)
      check(std::string(kSpeedNames[static_cast<std::size_t>(*cable.speed)]),
            speed_text(port->active.speeds));
  }
  return out;
}

}  // namespace rdmacfg::fabric
