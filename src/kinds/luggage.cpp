// SPDX-License-Identifier: Apache-2.0
#include "kinds/luggage.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using base::Result;
using system::Link;
using system::LinkRequest;
using system::SetLink;

Result<std::vector<Luggage>> observe_luggage(system::Host& host, std::span<const Link> links) {
  auto carried = host.links.observe_carried(links);
  if (!carried) return base::fail(carried.error());
  std::unordered_map<int, bool> up;
  for (const auto& link : links) up.emplace(link.index, link.up);
  std::vector<Luggage> out;
  for (auto& one : *carried) {
    const bool is_up = up[one.index];
    out.push_back({std::move(one), is_up});
  }
  return out;
}

std::vector<std::string> pack(std::span<const Luggage> luggage) {
  std::vector<std::string> texts;
  for (const auto& one : luggage) {
    texts.push_back(fmt::format("@{} {} {}", one.carried.index, one.up ? "up" : "down", one.carried.name));
    texts.insert(texts.end(), one.carried.items.begin(), one.carried.items.end());
  }
  return texts;
}

std::vector<Luggage> unpack(std::span<const std::string> texts) {
  std::vector<Luggage> out;
  for (const auto& text : texts) {
    if (!text.starts_with('@')) {
      if (!out.empty()) out.back().carried.items.push_back(text);
      continue;
    }
    const auto words = base::split(std::string_view(text).substr(1), ' ');
    const auto index = words.size() == 3 ? base::parse_number(words[0]) : std::nullopt;
    if (!index) continue;
    Luggage one;
    one.carried.index = static_cast<int>(*index);
    one.up = words[1] == "up";
    one.carried.name = words[2];
    out.push_back(std::move(one));
  }
  return out;
}

Result<void> restore(system::Host& host, std::span<const Luggage> luggage) {
  if (luggage.empty()) return {};
  const auto links = host.links.observe_links();
  if (!links) return base::fail(links.error());
  std::unordered_map<int, const Link*> now;
  for (const auto& link : *links) now.emplace(link.index, &link);

  std::vector<LinkRequest> parents, children;
  for (const auto& one : luggage) {
    const auto at = now.find(one.carried.index);
    if (at == now.end()) continue;
    const bool child = at->second->ipoib && at->second->ipoib->child;
    // A parent that comes up takes its children with it, so a child's state is always said again after its
    // parent's.
    if (child) {
      children.emplace_back(SetLink{.index = one.carried.index, .up = one.up});
    } else if (at->second->up != one.up) {
      parents.emplace_back(SetLink{.index = one.carried.index, .up = one.up});
    }
  }
  parents.insert(parents.end(), children.begin(), children.end());
  if (!parents.empty()) {
    if (auto done = host.links.execute(parents); !done) return done;
  }
  for (const auto& one : luggage) {
    const auto at = now.find(one.carried.index);
    if (at == now.end() || one.carried.items.empty()) continue;
    if (auto done = host.links.restore_carried(one.carried, one.carried.index, at->second->name); !done)
      return done;
  }
  return {};
}

}  // namespace rdmacfg::kinds
