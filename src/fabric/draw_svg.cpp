// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fabric/draw.hpp"

namespace rdmacfg::fabric {

namespace {

constexpr int kColumn = 210, kBoxWidth = 170, kBoxHeight = 30, kLine = 18, kRowGap = 110, kMargin = 30;

/// Text of XML. Control characters, which XML cannot have, were taken out when it was read; U+FFFE and U+FFFF
/// (XML 1.0, 2.2) are left out here.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto rest = text.substr(at);
    if (rest.starts_with("\xef\xbf\xbe") || rest.starts_with("\xef\xbf\xbf")) {
      at += 2;
      continue;
    }
    switch (text[at]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += text[at];
    }
  }
  return out;
}

class Drawing {
 public:
  explicit Drawing(const Fabric& fabric) : fabric_(fabric), index_(fabric), rows_(rows_of(fabric)) {
    for (const auto& slow : links_below_best(fabric)) {
      if (slow.why != Shortfall::kLimited) slow_.insert({slow.link.a, slow.link.b});
    }
  }

  std::string draw() {
    place();
    for (const auto& link : links_of(fabric_)) draw_link(link);
    std::string links = std::move(body_);
    body_.clear();
    for (const auto& node : fabric_.nodes) {
      if (places_.contains(node.guid)) draw_node(node);
    }
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
               "{1}\" "
               "font-family=\"sans-serif\" font-size=\"12\">\n"
               "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
               width_, height_) +
           links + body_ + "</svg>\n";
  }

 private:
  struct Place {
    int x = 0, y = 0;
  };

  /// Nodes that have a box: switches, and hosts that hang on none (back to back).
  void place() {
    std::map<int, std::vector<std::uint64_t>> by_row;
    int top = 0;
    for (const auto& node : fabric_.nodes) {
      const auto row = rows_[node.guid];
      if (row == 0 && hangs_on_switch(node)) continue;
      by_row[row].push_back(node.guid);
      top = std::max(top, row);
    }
    std::size_t widest = 1;
    for (const auto& [row, nodes] : by_row) widest = std::max(widest, nodes.size());
    width_ = static_cast<int>(widest) * kColumn + 2 * kMargin;
    int lowest = 0;
    for (const auto& [row, nodes] : by_row) {
      const auto count = static_cast<int>(nodes.size());
      for (int i = 0; i < count; ++i) {
        const auto place = std::int64_t{width_ - 2 * kMargin} * (2 * i + 1) / (2 * std::int64_t{count});
        const int x = kMargin + static_cast<int>(place);
        places_[nodes[static_cast<std::size_t>(i)]] = {x, kMargin + (top - row) * kRowGap};
      }
    }
    for (const auto& node : fabric_.nodes) {
      const auto at = places_.find(node.guid);
      if (at == places_.end()) continue;
      lowest =
          std::max(lowest, at->second.y + kBoxHeight + kLine * (static_cast<int>(hosts_of(node).size()) + 1));
    }
    height_ = lowest + kMargin;
  }

  [[nodiscard]] bool hangs_on_switch(const Node& node) const {
    return std::any_of(node.ports.begin(), node.ports.end(), [&](const Port& port) {
      const auto* other = port.peer ? index_.node(port.peer->node) : nullptr;
      return other != nullptr && other->type == NodeType::kSwitch;
    });
  }

  /// The ports of a switch that lead to hosts without a box.
  [[nodiscard]] std::vector<const Port*> hosts_of(const Node& node) const {
    std::vector<const Port*> out;
    if (node.type != NodeType::kSwitch) return out;
    for (const auto& port : node.ports) {
      if (port.peer && index_.node(port.peer->node) != nullptr && !places_.contains(port.peer->node))
        out.push_back(&port);
    }
    return out;
  }

  void draw_link(const Link& link) {
    const auto a = places_.find(link.a.node), b = places_.find(link.b.node);
    if (a == places_.end() || b == places_.end()) return;
    const bool slow = slow_.contains(link.a);
    const int offset = spread(link);
    const auto* port = index_.port(link.a);
    body_ += fmt::format(
        "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"><title>{} - {}: "
        "{}</title></line>\n",
        a->second.x + offset, a->second.y + kBoxHeight / 2, b->second.x + offset,
        b->second.y + kBoxHeight / 2, slow ? "#c00" : "#999", slow ? 3 : 1, escaped(index_.name(link.a)),
        escaped(index_.name(link.b)), port == nullptr ? "" : text_of(port->active));
  }

  /// Several links between two switches are drawn beside one another.
  int spread(const Link& link) {
    constexpr int kStep = 4, kMost = 16;
    const int number = drawn_[{link.a.node, link.b.node}]++ % kMost;
    return (number % 2 == 0 ? 1 : -1) * ((number + 1) / 2) * kStep;
  }

  void draw_node(const Node& node) {
    const auto [x, y] = places_[node.guid];
    body_ += fmt::format(
        "<g><title>{} {}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\" "
        "stroke=\"#333\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\" "
        "font-weight=\"bold\">{}</text></g>\n",
        text_of(node.type), model::Guid{node.guid}.text(), x - kBoxWidth / 2, y, kBoxWidth, kBoxHeight,
        node.type == NodeType::kSwitch ? "#dde7f3" : "#fff", x, y + kBoxHeight - 10,
        escaped(index_.name(node.guid)));
    int line = y + kBoxHeight + kLine;
    for (const auto* port : hosts_of(node)) {
      const bool slow = slow_.contains({node.guid, port->number});
      const auto* host = index_.node(port->peer->node);
      const auto name = host->ports.size() > 1 ? index_.name(*port->peer) : index_.name(port->peer->node);
      body_ += fmt::format("<text x=\"{}\" y=\"{}\"{}>{}: {}  {}</text>\n", x - kBoxWidth / 2 + 4, line,
                           slow ? " fill=\"#c00\" font-weight=\"bold\"" : "", port->number, escaped(name),
                           text_of(port->active));
      line += kLine;
    }
  }

  const Fabric& fabric_;
  const Index index_;
  std::map<std::uint64_t, int> rows_;
  std::set<End> slow_;
  std::map<std::uint64_t, Place> places_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> drawn_;
  std::string body_;
  int width_ = 0, height_ = 0;
};

}  // namespace

std::string draw_svg(const Fabric& fabric) { return Drawing(fabric).draw(); }

}  // namespace rdmacfg::fabric
