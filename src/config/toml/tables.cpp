// SPDX-License-Identifier: Apache-2.0
#include "config/toml/tables.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rdmacfg::config {

namespace {

using Origin = Node::Origin;
using Sort = Node::Sort;

Node new_table(Origin origin, const Span& key, const Span& at) {
  Node table;
  table.sort = Sort::kTable;
  table.origin = origin;
  table.key = key;
  table.at = at;
  return table;
}

bool is_list_of_headers(const Node& node) {
  return node.sort == Sort::kList && node.origin == Origin::kHeader;
}

/// The table that a header's part names on the way to the last one.
Node* step(Node& table, const KeyPart& part, const Span& header, std::span<const KeyPart> so_far,
           Clash& clash) {
  const auto [at, added] = table.members.try_emplace(part.name);
  Node& node = at->second;
  if (added) node = new_table(Origin::kImplied, part.at, header);
  if (is_list_of_headers(node)) return &node.items.back();
  if (node.sort == Sort::kTable && node.origin != Origin::kValue) return &node;
  const auto name = text_of(so_far);
  clash = {part.at, fmt::format("{} is already {} and cannot contain a section", name, sort_of(node)), "",
           node.key};
  if (node.sort == Sort::kTable) clash.message = fmt::format("{} was closed by its }}", name);
  if (node.sort == Sort::kList) clash.message = fmt::format("{} was closed by its ]", name);
  if (node.sort == Sort::kTable || node.sort == Sort::kList)
    clash.hint = "write everything inside the brackets, or everything in sections";
  return nullptr;
}

}  // namespace

bool is_substitute(const Node& node) {
  return node.faulty ||
         std::any_of(node.items.begin(), node.items.end(), [](const Node& item) { return item.faulty; });
}

std::string_view sort_of(const Node& node) {
  if (node.sort == Sort::kTable) return "a table";
  if (node.sort == Sort::kList) return "a list";
  if (node.sort == Sort::kForeign) return node.foreign;
  constexpr std::string_view kSorts[] = {"nothing", "a boolean", "an integer", "a string", "a list"};
  return kSorts[node.scalar.index()];
}

std::string text_of(std::span<const KeyPart> key) {
  const auto bare = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  };
  std::string out;
  for (const auto& part : key) {
    if (&part != key.data()) out += '.';
    const bool plain = !part.name.empty() && std::all_of(part.name.begin(), part.name.end(), bare);
    out += plain ? part.name : '"' + part.name + '"';
  }
  return out;
}

Node* open_header(Node& root, const Key& key, Node::Sort sort, const Span& header, Clash& clash) {
  const bool list = sort == Sort::kList;
  Node* table = &root;
  const std::span parts(key);
  for (std::size_t i = 0; i + 1 < key.size(); ++i) {
    table = step(*table, key[i], header, parts.first(i + 1), clash);
    if (!table) return nullptr;
  }
  const auto& last = key.back();
  const auto [at, added] = table->members.try_emplace(last.name);
  Node& node = at->second;
  if (list) {
    if (added) {
      node.sort = Sort::kList;
      node.origin = Origin::kHeader;
      node.key = last.at;
      node.at = header;
    }
    if (is_list_of_headers(node))
      return &node.items.emplace_back(new_table(Origin::kHeader, last.at, header));
  } else if (added) {
    node = new_table(Origin::kHeader, last.at, header);
    return &node;
  } else if (node.sort == Sort::kTable && node.origin == Origin::kImplied) {
    node.origin = Origin::kHeader;
    node.key = last.at;
    node.at = header;
    return &node;
  }
  const auto name = text_of(parts);
  clash = {header, fmt::format("{} is already {} and cannot be a section too", name, sort_of(node)), "",
           node.key};
  if (key.size() > 1 && key[key.size() - 2].name == last.name) {
    clash.hint = fmt::format("{0} has no {1} below it; for another entry write [[{0}]]",
                             text_of(parts.first(key.size() - 1)), last.name);
  }
  if (list && node.sort == Sort::kTable && node.origin == Origin::kHeader) {
    clash.message = fmt::format("[[{0}]] cannot follow [{0}]", name);
    clash.hint = fmt::format("keep one, or write [[{}]] in both places if several are allowed", name);
  } else if (!list && is_list_of_headers(node)) {
    clash.message = fmt::format("[{0}] cannot follow [[{0}]]", name);
    clash.hint = fmt::format("write [[{}]] for another entry", name);
  } else if (list && node.sort == Sort::kTable && node.origin == Origin::kImplied) {
    clash.message = fmt::format("[[{0}]] cannot follow a section below {0}", name);
    clash.hint = fmt::format("subsections follow their entry: put [[{}]] first", name);
  } else if (node.sort == Sort::kTable) {
    clash.message = fmt::format("section [{}] is defined twice", name);
    clash.hint = "write its keys in one place";
  } else if (node.sort == Sort::kList) {
    clash.message = fmt::format("{} was closed by its ]", name);
    clash.hint = "write everything inside the brackets, or everything in sections";
  }
  return nullptr;
}

std::optional<Clash> insert(Node& table, const Key& key, Node value) {
  Node* inner = &table;
  const std::span parts(key);
  for (std::size_t i = 0; i + 1 < key.size(); ++i) {
    const auto [at, added] = inner->members.try_emplace(key[i].name);
    Node& node = at->second;
    if (added) node = new_table(Origin::kDotted, key[i].at, key[i].at);
    if (node.sort != Sort::kTable || node.origin != Origin::kDotted) {
      const auto name = text_of(parts.first(i + 1));
      const auto message =
          node.sort == Sort::kTable
              ? fmt::format("{} is closed; nothing can be added to it here", name)
              : fmt::format("{} is already {}; nothing can be added to it", name, sort_of(node));
      const bool braces = node.sort == Sort::kTable && node.origin == Origin::kValue;
      return Clash{
          key[i].at, message,
          braces ? fmt::format("write {} between the braces of {}", text_of(parts.subspan(i + 1)), name) : "",
          node.key};
    }
    inner = &node;
  }
  value.key = key.back().at;
  const auto [at, added] = inner->members.try_emplace(key.back().name);
  if (!added) {
    return Clash{key.back().at, fmt::format("{} is set twice", text_of(parts)), "remove one of the two",
                 at->second.key};
  }
  at->second = std::move(value);
  return std::nullopt;
}

}  // namespace rdmacfg::config
