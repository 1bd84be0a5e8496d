// SPDX-License-Identifier: Apache-2.0
#include "config/toml/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rdmacfg::config {

namespace {

class Walk {
 public:
  Walk(const Text& text, const Limits& limits, Counted& counted)
      : text_(text), limits_(limits), counted_(counted) {}

  void table(const Node& node, const std::string& path) {
    for (const auto& [name, member] : node.members) {
      if (wrong_) return;
      if (name.size() > limits_.string_bytes) return refuse(member.key, long_text("a key", name.size()));
      value(member, path.empty() ? name : path + "." + name);
    }
  }

  std::optional<model::Diagnostic> take() { return std::move(wrong_); }

 private:
  void value(const Node& node, const std::string& path) {
    switch (node.sort) {
      case Node::Sort::kScalar:
        if (const auto* written = std::get_if<std::string>(&node.scalar);
            written != nullptr && written->size() > limits_.string_bytes)
          refuse(node.at, long_text(path, written->size()));
        return;
      case Node::Sort::kForeign:
        return;
      case Node::Sort::kTable:
        if (node.origin != Node::Origin::kImplied) entry(node, path);
        return table(node, path);
      case Node::Sort::kList:
        return list(node, path);
    }
  }

  void list(const Node& node, const std::string& path) {
    const bool entries = node.origin == Node::Origin::kHeader;
    if (!entries && node.items.size() > limits_.list_items)
      return refuse(node.at, fmt::format("{} has {} items, more than the {} allowed", shortened(path),
                                         node.items.size(), limits_.list_items));
    for (const auto& item : node.items) {
      if (wrong_) return;
      value(item, path);
    }
  }

  void entry(const Node& node, const std::string& path) {
    if (++counted_.entries > limits_.entries)
      return refuse(node.at,
                    fmt::format("the document has more than the {} entries allowed", limits_.entries));
    if (++counted_.of_kind[path] > limits_.entries_of_kind)
      refuse(node.at, fmt::format("the document has more than the {} [[{}]] entries allowed",
                                  limits_.entries_of_kind, shortened(path)));
  }

  [[nodiscard]] std::string long_text(const std::string& what, std::size_t bytes) const {
    return fmt::format("{} has {} bytes, more than the {} allowed", shortened(what), bytes,
                       limits_.string_bytes);
  }

  static std::string shortened(const std::string& path) {
    constexpr std::size_t kMost = 64;
    return path.size() <= kMost ? path : path.substr(0, kMost) + "...";
  }

  void refuse(const Span& at, std::string message) {
    if (!wrong_)
      wrong_ = model::Diagnostic{model::Severity::kError, location_of(text_, at), std::move(message), "", {}};
  }

  const Text& text_;
  const Limits& limits_;
  Counted& counted_;
  std::optional<model::Diagnostic> wrong_;
};

}  // namespace

std::optional<model::Diagnostic> check_bounds(const Node& root, const Text& text, const Limits& limits,
                                              Counted& counted) {
  Walk walk(text, limits, counted);
  walk.table(root, "");
  return walk.take();
}

}  // namespace rdmacfg::config
