// SPDX-License-Identifier: Apache-2.0
#include "kinds/carried_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using base::Result;
using system::Link;
using system::LinkRequest;
using system::SetLink;

namespace {
constexpr std::string_view kAltname = "+altname ";
constexpr std::string_view kGroup = "+group ";
}  // namespace

Result<std::vector<CarriedState>> observe_carried_states(system::Host& host, std::span<const Link> links) {
  auto carried = host.links.observe_carried(links);
  if (!carried) return base::fail(carried.error());
  std::unordered_map<int, const Link*> by_index;
  for (const auto& link : links) by_index.emplace(link.index, &link);
  std::vector<CarriedState> out;
  for (auto& state : *carried) {
    const auto& link = *by_index.at(state.index);
    out.push_back({std::move(state), link.up, link.altnames, link.group});
  }
  return out;
}

std::vector<std::string> pack(std::span<const CarriedState> carried_states) {
  std::vector<std::string> texts;
  for (const auto& state : carried_states) {
    texts.push_back(fmt::format("@{} {} {}{}{}", state.carried.index, state.up ? "up" : "down",
                                state.carried.name, state.carried.becomes.empty() ? "" : " ",
                                state.carried.becomes));
    if (state.group != 0) texts.push_back(fmt::format("{}{}", kGroup, state.group));
    for (const auto& altname : state.altnames) texts.push_back(fmt::format("{}{}", kAltname, altname));
    texts.insert(texts.end(), state.carried.items.begin(), state.carried.items.end());
  }
  return texts;
}

std::vector<CarriedState> unpack(std::span<const std::string> texts) {
  std::vector<CarriedState> out;
  for (const auto& text : texts) {
    if (!text.starts_with('@')) {
      if (out.empty()) continue;
      if (text.starts_with(kAltname)) {
        out.back().altnames.push_back(text.substr(kAltname.size()));
      } else if (text.starts_with(kGroup)) {
        const auto group = base::parse_number(std::string_view(text).substr(kGroup.size()));
        out.back().group = static_cast<std::uint32_t>(group.value_or(0));
      } else {
        out.back().carried.items.push_back(text);
      }
      continue;
    }
    const auto words = base::split(std::string_view(text).substr(1), ' ');
    const auto index = words.size() == 3 || words.size() == 4 ? base::parse_number(words[0]) : std::nullopt;
    if (!index) continue;
    CarriedState state;
    state.carried.index = static_cast<int>(*index);
    state.up = words[1] == "up";
    state.carried.name = words[2];
    if (words.size() == 4) state.carried.becomes = words[3];
    out.push_back(std::move(state));
  }
  return out;
}

Result<void> restore(system::Host& host, std::span<const CarriedState> carried_states) {
  if (carried_states.empty()) return {};
  const auto links = host.links.observe_links();
  if (!links) return base::fail(links.error());
  std::unordered_map<int, const Link*> now;
  for (const auto& link : *links) now.emplace(link.index, &link);

  std::vector<LinkRequest> parents, children;
  for (const auto& state : carried_states) {
    const auto at = now.find(state.carried.index);
    if (at == now.end()) continue;
    const bool child = at->second->ipoib && at->second->ipoib->child;
    // A parent that comes up takes its children with it, so a child's state is always said again after its
    // parent's.
    if (child) {
      children.emplace_back(SetLink{.index = state.carried.index, .up = state.up});
    } else if (at->second->up != state.up) {
      parents.emplace_back(SetLink{.index = state.carried.index, .up = state.up});
    }
  }
  parents.insert(parents.end(), children.begin(), children.end());
  if (!parents.empty()) {
    if (auto done = host.links.execute(parents); !done) return done;
  }
  for (const auto& state : carried_states) {
    const auto at = now.find(state.carried.index);
    if (at == now.end()) continue;
    if (auto done = restore_labels(host, state, *at->second, *links); !done) return done;
    if (state.carried.items.empty()) continue;
    if (auto done = host.links.restore_carried(state.carried, state.carried.index, at->second->name); !done)
      return done;
  }
  return {};
}

Result<void> restore_labels(system::Host& host, const CarriedState& state, const Link& link,
                            std::span<const Link> links) {
  const auto in_use = [&](const std::string& name) {
    return std::any_of(links.begin(), links.end(), [&](const Link& other) {
      return other.name == name ||
             std::find(other.altnames.begin(), other.altnames.end(), name) != other.altnames.end();
    });
  };
  std::vector<LinkRequest> requests;
  if (link.group != state.group) requests.emplace_back(SetLink{.index = link.index, .group = state.group});
  for (const auto& altname : state.altnames) {
    if (!in_use(altname)) requests.emplace_back(system::AddAltname{link.index, altname});
  }
  return requests.empty() ? Result<void>{} : host.links.execute(requests);
}

}  // namespace rdmacfg::kinds
