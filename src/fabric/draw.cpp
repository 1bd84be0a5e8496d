// SPDX-License-Identifier: Apache-2.0
#include "fabric/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "fabric/names.hpp"

namespace rdmacfg::fabric {

namespace {

std::set<End> slow_ends(const Fabric& fabric) {
  std::set<End> out;
  for (const auto& slow : links_below_best(fabric)) {
    if (slow.why != Shortfall::kLimited) out.insert({slow.link.a, slow.link.b});
  }
  return out;
}

/// The neighbours of a node, with the first port of its own that leads there and the number of links.
struct Neighbour {
  const Port* port = nullptr;
  int links = 0;
};
std::map<std::uint64_t, Neighbour> neighbours_of(const Node& node) {
  std::map<std::uint64_t, Neighbour> out;
  for (const auto& port : node.ports) {
    if (!port.peer) continue;
    auto& neighbour = out[port.peer->node];
    if (neighbour.port == nullptr) neighbour.port = &port;
    ++neighbour.links;
  }
  return out;
}

/// Which node each hangs below: breadth first, from the topmost row down.
class Tree {
 public:
  Tree(const Fabric& fabric, const TreeLook& look)
      : index_(fabric), rows_(rows_of(fabric)), slow_(slow_ends(fabric)), look_(look) {
    int top = 0;
    for (const auto& [guid, row] : rows_) top = std::max(top, row);
    for (const auto& node : fabric.nodes) {
      if (rows_[node.guid] == top) grow_from(node.guid);
    }
    // Nodes without a way to them.
    for (const auto& node : fabric.nodes) grow_from(node.guid);
  }

  std::string draw() {
    for (const auto root : roots_) {
      out_ += index_.name(root) + mates(root, 0) + '\n';
      draw_children(root, "");
    }
    return std::move(out_);
  }

 private:
  void grow_from(std::uint64_t root) {
    if (!parents_.emplace(root, 0).second) return;
    roots_.push_back(root);
    waiting_.push_back(root);
    // Roots of the top row share their children, so that these hang below the first.
    while (!waiting_.empty()) {
      const auto guid = waiting_.front();
      waiting_.pop_front();
      const auto* node = index_.node(guid);
      if (node == nullptr) continue;
      for (const auto& [other, link] : neighbours_of(*node)) {
        const bool below = rows_[other] < rows_[guid] || rows_[guid] == 0;
        if (!below || index_.node(other) == nullptr || !parents_.emplace(other, guid).second) continue;
        children_[guid].push_back(other);
        waiting_.push_back(other);
      }
    }
  }

  /// Other neighbours that are not below: "; also to spine2".
  std::string mates(std::uint64_t guid, std::uint64_t parent) {
    const auto* node = index_.node(guid);
    if (node == nullptr || (parent == 0 && node->type == NodeType::kHost)) return {};
    std::vector<std::string> names;
    for (const auto& [other, link] : neighbours_of(*node)) {
      const auto at = parents_.find(other);
      if (other != parent && at != parents_.end() && at->second != guid) names.push_back(index_.name(other));
    }
    return names.empty() ? std::string() : "; also to " + fold_names(std::move(names));
  }

  std::string link_text(std::uint64_t guid, std::uint64_t parent) {
    const auto* node = index_.node(guid);
    const auto all = neighbours_of(*node);
    const auto at = all.find(parent);
    if (at == all.end()) return {};
    auto out = text_of(at->second.port->active);
    if (at->second.links > 1) out += fmt::format(", {} links", at->second.links);
    if (slow_.contains({guid, at->second.port->number})) out += ", below its best";
    return out;
  }

  void draw_children(std::uint64_t guid, const std::string& indent) {
    // Alike: the same text behind the name.
    std::map<std::string, std::vector<std::string>> alike;
    std::vector<std::uint64_t> others;
    for (const auto child : children_[guid]) {
      if (!look_.wide && index_.node(child)->type == NodeType::kHost && !children_.contains(child)) {
        alike[fmt::format("  {}{}", link_text(child, guid), mates(child, guid))].push_back(
            index_.name(child));
      } else {
        others.push_back(child);
      }
    }
    std::size_t left = alike.size() + others.size();
    const auto branch = [&] { return look_.utf8 ? (left > 1 ? "├─ " : "└─ ") : (left > 1 ? "|- " : "`- "); };
    for (auto& [text, names] : alike) {
      const auto count = names.size();
      out_ += indent + branch() + fold_names(std::move(names)) + text +
              (count > 1 ? fmt::format("  ({} hosts)", count) : "") + '\n';
      --left;
    }
    for (const auto child : others) {
      out_ +=
          indent + branch() + index_.name(child) + "  " + link_text(child, guid) + mates(child, guid) + '\n';
      draw_children(child, indent + (left > 1 ? (look_.utf8 ? "│  " : "|  ") : "   "));
      --left;
    }
  }

  const Index index_;
  std::map<std::uint64_t, int> rows_;
  const std::set<End> slow_;
  const TreeLook look_;
  std::map<std::uint64_t, std::uint64_t> parents_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> children_;
  std::deque<std::uint64_t> waiting_;
  std::vector<std::uint64_t> roots_;
  std::string out_;
};

/// A label of Graphviz's language, which knows the entities of HTML in labels ("&copy;").
std::string dot_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
    if (c == '&') out += "amp;";
  }
  return out + '"';
}

}  // namespace

std::map<std::uint64_t, int> rows_of(const Fabric& fabric) {
  const Index index(fabric);
  std::map<std::uint64_t, int> rows;
  std::deque<const Node*> waiting;
  for (const auto& node : fabric.nodes) {
    if (node.type == NodeType::kSwitch) continue;
    rows.emplace(node.guid, 0);
    waiting.push_back(&node);
  }
  for (; !waiting.empty(); waiting.pop_front()) {
    for (const auto& port : waiting.front()->ports) {
      const auto* other = port.peer ? index.node(port.peer->node) : nullptr;
      if (other != nullptr && rows.emplace(other->guid, rows[waiting.front()->guid] + 1).second)
        waiting.push_back(other);
    }
  }
  for (const auto& node : fabric.nodes) rows.emplace(node.guid, 1);
  return rows;
}

std::string draw_tree(const Fabric& fabric, const TreeLook& look) { return Tree(fabric, look).draw(); }

std::string draw_dot(const Fabric& fabric) {
  const Index index(fabric);
  const auto slow = slow_ends(fabric);
  std::string out = "graph fabric {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n";
  const auto id = [](std::uint64_t guid) { return dot_text(model::Guid{guid}.text()); };
  for (const auto& node : fabric.nodes) {
    out += fmt::format("  {} [label={}{}];\n", id(node.guid), dot_text(index.name(node.guid)),
                       node.type == NodeType::kSwitch ? ", style=filled, fillcolor=lightgrey" : "");
  }
  for (const auto& link : links_of(fabric)) {
    const auto* port = index.port(link.a);
    out += fmt::format("  {} -- {} [taillabel=\"{}\", headlabel=\"{}\", label={}{}];\n", id(link.a.node),
                       id(link.b.node), link.a.port, link.b.port,
                       dot_text(port == nullptr ? "" : text_of(port->active)),
                       slow.contains(link.a) ? ", color=red, fontcolor=red" : "");
  }
  return out + "}\n";
}

}  // namespace rdmacfg::fabric
