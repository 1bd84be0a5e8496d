// SPDX-License-Identifier: Apache-2.0
#include "kinds/ipoib/link_rename.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <vector>

namespace rdmacfg::kinds {

using base::Code;
using base::Result;
using system::Link;
using system::LinkRequest;
using system::SetLink;

namespace {

struct Move {
  const Link* link = nullptr;
  std::string wanted;
};

class Renamer {
 public:
  Renamer(system::Host& host, const World& world) : host_(host) {
    for (const auto& link : world.snapshot().links) {
      taken_.insert(link.name);
      taken_.insert(link.altnames.begin(), link.altnames.end());
    }
  }

  Result<void> run(std::vector<Move> moves) {
    while (!moves.empty()) {
      auto next =
          std::find_if(moves.begin(), moves.end(), [&](const Move& m) { return !taken_.contains(m.wanted); });
      if (next == moves.end()) {
        // Every wanted name is in use. One of them by another link of this set: make room by a temporary
        // name.
        next = std::find_if(moves.begin(), moves.end(), [&](const Move& m) {
          return std::any_of(moves.begin(), moves.end(),
                             [&](const Move& other) { return other.wanted == current(*m.link); });
        });
        if (next == moves.end()) {
          return base::fail(Code::kBusy, fmt::format("{}: rename to {}: another interface has this name",
                                                     current(*moves.front().link), moves.front().wanted));
        }
        if (auto done = rename(*next->link, system::temporary_name(next->link->index)); !done) return done;
        continue;
      }
      if (auto done = rename(*next->link, next->wanted); !done) return done;
      moves.erase(next);
    }
    return {};
  }

 private:
  const std::string& current(const Link& link) {
    const auto at = renamed_.find(link.index);
    return at == renamed_.end() ? link.name : at->second;
  }

  Result<void> rename(const Link& link, const std::string& name) {
    const std::vector<LinkRequest> request{SetLink{.index = link.index, .name = name}};
    auto done = host_.links.execute(request);
    if (!done && done.error().sys_errno == EBUSY && link.up && !downed_.contains(link.index)) {
      downed_.insert(link.index);
      const std::vector<LinkRequest> down{SetLink{.index = link.index, .up = false}};
      if (auto stopped = host_.links.execute(down); !stopped) return stopped;
      done = host_.links.execute(request);
    }
    if (!done) return done;
    taken_.erase(current(link));
    taken_.insert(name);
    renamed_[link.index] = name;
    return {};
  }

  system::Host& host_;
  std::set<std::string> taken_;
  std::set<int> downed_;
  std::map<int, std::string> renamed_;
};

}  // namespace

Result<void> rename_links(system::Host& host, const World& world, const std::map<int, std::string>& names) {
  std::vector<Move> moves;
  std::vector<LinkRequest> altnames;
  for (const auto& [index, name] : names) {
    const auto* link = world.link(index);
    if (link == nullptr || link->name == name) continue;
    moves.push_back({link, name});
    if (std::find(link->altnames.begin(), link->altnames.end(), name) != link->altnames.end()) {
      altnames.emplace_back(system::DeleteAltname{index, name});
    }
  }
  if (moves.empty()) return {};
  if (altnames.empty()) return Renamer(host, world).run(std::move(moves));
  if (auto done = host.links.execute(altnames); !done) return done;
  auto fresh = World::observe_links(host);
  if (!fresh) return base::fail(fresh.error());
  for (auto& move : moves) {
    if (const auto* link = fresh->link(move.link->index)) move.link = link;
  }
  return Renamer(host, *fresh).run(std::move(moves));
}

}  // namespace rdmacfg::kinds
