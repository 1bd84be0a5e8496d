// SPDX-License-Identifier: Apache-2.0
#include "system/linux/carried/carried.hpp"

#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <unordered_map>

#include "system/linux/netlink/links.hpp"

namespace rdmacfg::system::detail {

using base::fail;
using base::Result;

namespace {

constexpr std::array<std::uint8_t, 2> kFamilies{AF_INET, AF_INET6};

/// Remembers the first failure of many steps, all of which are tried.
struct FirstFailure {
  std::optional<base::Error> error{};

  void note(const Message& message, const Ack& ack) {
    if (!error) error = refusal(message, ack);
  }
};

/// Adds all that can be added; routes wait for those that lead to their gateways, whatever their order.
Result<void> put_back_routes(NetlinkSocket& netlink, std::vector<RouteReplay> routes, FirstFailure& failure) {
  std::stable_partition(routes.begin(), routes.end(),
                        [](const RouteReplay& route) { return !route.gateway; });
  std::vector<Message> messages;
  std::vector<bool> shared;
  for (auto& route : routes) {
    messages.push_back(std::move(route.add));
    shared.push_back(route.shared);
  }
  for (;;) {
    auto acks = netlink.exchange(messages);
    if (!acks) return fail(acks.error());
    std::vector<Message> refused;
    std::vector<bool> refused_shared;
    std::vector<Ack> refused_acks;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const int error = (*acks)[i].error;
      if (error == 0 || error == EEXIST) continue;
      refused.push_back(std::move(messages[i]));
      refused_shared.push_back(shared[i]);
      refused_acks.push_back(std::move((*acks)[i]));
    }
    if (refused.size() == messages.size()) {
      for (std::size_t i = 0; i < refused.size(); ++i) {
        const int error = refused_acks[i].error;
        // Another interface of the route is not back yet: the route comes when that one is restored.
        if (refused_shared[i] && (error == ENODEV || error == ENETDOWN || error == ENETUNREACH)) continue;
        failure.note(refused[i], refused_acks[i]);
      }
      return {};
    }
    messages = std::move(refused);
    shared = std::move(refused_shared);
    if (messages.empty()) return {};
  }
}

Result<void> put_back_addresses(NetlinkSocket& netlink, std::vector<AddressReplay> addresses,
                                std::vector<Message>& settle, FirstFailure& failure) {
  std::vector<Message> messages;
  messages.reserve(addresses.size());
  for (auto& address : addresses) messages.push_back(std::move(address.add));
  const auto acks = netlink.exchange(messages);
  if (!acks) return fail(acks.error());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Ack& ack = (*acks)[i];
    if (ack.error == 0 && addresses[i].settle) settle.push_back(std::move(*addresses[i].settle));
    if (ack.error != 0 && ack.error != EEXIST) failure.note(messages[i], ack);
  }
  return {};
}

/// Whether a rename has left an IPv4 address with another label than it had.
Result<bool> labels_differ(NetlinkSocket& netlink, const std::vector<AddressReplay>& addresses, int index) {
  std::vector<Label> there;
  const auto read = netlink.dump(
      address_dump_request(AF_INET), [&] { there.clear(); },
      [&](const nlmsghdr& header) {
        if (auto label = label_of(header, index)) there.push_back(std::move(*label));
      });
  if (!read) return fail(read.error());
  return std::any_of(addresses.begin(), addresses.end(), [&](const AddressReplay& replay) {
    const auto wanted = label_of(*replay.add.header(), index);
    return wanted && std::any_of(there.begin(), there.end(), [&](const Label& label) {
             return label.address == wanted->address && label.length == wanted->length &&
                    label.label != wanted->label;
           });
  });
}

/// Takes addresses away, last first so that none is promoted, and adds them again in the same system call: a
/// crash of ours cannot come between.
Result<void> replace_addresses(NetlinkSocket& netlink, std::vector<AddressReplay>& addresses,
                               FirstFailure& failure) {
  std::vector<Message> messages;
  for (auto replay = addresses.rbegin(); replay != addresses.rend(); ++replay) {
    if (replay->remove) messages.push_back(std::move(*replay->remove));
  }
  const std::size_t removals = messages.size();
  for (auto& replay : addresses) messages.push_back(std::move(replay.add));
  const auto acks = netlink.exchange(messages);
  if (!acks) return fail(acks.error());
  for (std::size_t i = removals; i < messages.size(); ++i) {
    if ((*acks)[i].error != 0 && (*acks)[i].error != EEXIST) failure.note(messages[i], (*acks)[i]);
  }
  return {};
}

Result<void> put_back_neighbours(NetlinkSocket& netlink, std::span<const Message> neighbours,
                                 FirstFailure& failure) {
  const auto acks = netlink.exchange(neighbours);
  if (!acks) return fail(acks.error());
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    if ((*acks)[i].error != 0) failure.note(neighbours[i], (*acks)[i]);
  }
  return {};
}

/// The identity of a rule, whatever the request does with it.
std::string content_of(const Message& message) {
  const auto bytes = message.bytes().subspan(kNlHeader);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<void> put_back_rules(NetlinkSocket& netlink, std::span<RuleReplay> rules, int index,
                            std::map<std::string, int>& put_back, FirstFailure& failure) {
  std::vector<Message> add, remove;
  for (auto& rule : rules) {
    // Only what has moved to another name counts: a rule that stayed may have to move later, with its own
    // interface.
    if (!rule.remove.empty()) put_back[content_of(rule.add)] = index;
    add.push_back(std::move(rule.add));
    for (auto& former : rule.remove) remove.push_back(std::move(former));
  }
  // Two interfaces may swap names: one gives up the name that the other has just been given.
  std::erase_if(remove, [&](const Message& message) {
    const auto at = put_back.find(content_of(message));
    return at != put_back.end() && at->second != index;
  });
  const auto added = netlink.exchange(add);
  if (!added) return fail(added.error());
  for (std::size_t i = 0; i < add.size(); ++i) {
    if ((*added)[i].error != 0 && (*added)[i].error != EEXIST) failure.note(add[i], (*added)[i]);
  }
  if (failure.error) return {};
  const auto removed = netlink.exchange(remove);
  if (!removed) return fail(removed.error());
  for (std::size_t i = 0; i < remove.size(); ++i) {
    if ((*removed)[i].error != 0 && (*removed)[i].error != ENOENT) failure.note(remove[i], (*removed)[i]);
  }
  return {};
}

/// The requests that restore a carried state; those of one sort are in the order that the kernel demands.
struct Replays {
  std::vector<AddressReplay> addresses4{}, addresses6{};
  std::vector<RouteReplay> routes{};
  std::vector<RuleReplay> rules{};
  std::vector<Message> neighbours{};
};

Result<Replays> replays_of(const Carried& carried, const Target& target) {
  Replays out;
  for (const auto& text : carried.items) {
    const auto item = parse_item(text);
    if (!item)
      return fail(base::Code::kInvalid,
                  fmt::format("{}: cannot parse its carried state: {}", target.name, text));
    switch (item->sort) {
      case ItemSort::kAddress:
        if (auto replay = replay_address(*item, target)) {
          (replay->family == AF_INET6 ? out.addresses6 : out.addresses4).push_back(std::move(*replay));
        }
        break;
      case ItemSort::kRoute:
        for (auto& replay : replay_route(*item, target)) out.routes.push_back(std::move(replay));
        break;
      case ItemSort::kRule:
        if (auto replay = replay_rule(*item, target)) out.rules.push_back(std::move(*replay));
        break;
      case ItemSort::kNeighbour:
        if (auto replay = replay_neighbour(*item, target)) out.neighbours.push_back(std::move(*replay));
        break;
    }
  }
  // The kernel puts a new IPv6 address before the others of its scope, an IPv4 one after them.
  std::reverse(out.addresses6.begin(), out.addresses6.end());
  return out;
}

}  // namespace

Result<std::vector<Carried>> LinuxLinks::observe_carried(std::span<const Link> links) {
  const auto netlink = socket();
  if (!netlink) return fail(netlink.error());
  rules_put_back_.clear();
  std::vector<Carried> carried;
  std::unordered_map<int, std::size_t> by_index;
  std::unordered_map<std::string, std::size_t> by_name;
  for (const auto& link : links) {
    by_index.emplace(link.index, carried.size());
    by_name.emplace(link.name, carried.size());
    carried.push_back({link.index, link.name, {}});
  }
  using Found = std::vector<std::pair<std::size_t, std::string>>;  // whose it is, and the item
  const auto sweep = [&](const Message& request, const auto& collect) -> Result<void> {
    Found found;
    auto read = (*netlink)->dump(
        request, [&] { found.clear(); }, [&](const nlmsghdr& h) { collect(h, found); });
    for (auto& [owner, text] : found) carried[owner].items.push_back(std::move(text));
    return read;
  };
  BarePrefixes bare;
  for (const auto family : kFamilies) {
    const auto read = sweep(address_dump_request(family), [&](const nlmsghdr& header, Found& found) {
      const auto owner = by_index.find(address_owner(header, family, bare));
      if (owner != by_index.end()) found.emplace_back(owner->second, item_text(ItemSort::kAddress, header));
    });
    if (!read) return fail(read.error());
  }
  for (const auto family : kFamilies) {
    const auto read = sweep(route_dump_request(family), [&](const nlmsghdr& header, Found& found) {
      for (const int index : route_owners(header, family, bare)) {
        const auto owner = by_index.find(index);
        if (owner != by_index.end()) found.emplace_back(owner->second, item_text(ItemSort::kRoute, header));
      }
    });
    if (!read) return fail(read.error());
  }
  for (const auto family : kFamilies) {
    const auto read = sweep(rule_dump_request(family), [&](const nlmsghdr& header, Found& found) {
      for (const auto& name : rule_owners(header, family)) {
        const auto owner = by_name.find(name);
        if (owner != by_name.end()) found.emplace_back(owner->second, item_text(ItemSort::kRule, header));
      }
    });
    if (!read) return fail(read.error());
  }
  for (const auto family : kFamilies) {
    for (const auto table : {NeighbourTable::kNeighbours, NeighbourTable::kProxies}) {
      const auto read =
          sweep(neighbour_dump_request(family, table), [&](const nlmsghdr& header, Found& found) {
            const auto owner = by_index.find(neighbour_owner(header, family));
            if (owner != by_index.end())
              found.emplace_back(owner->second, item_text(ItemSort::kNeighbour, header));
          });
      if (!read) return fail(read.error());
    }
  }
  return carried;
}

Result<void> LinuxLinks::restore_carried(const Carried& carried, int index, const std::string& name) {
  const auto netlink = socket();
  if (!netlink) return fail(netlink.error());
  if (carried.index != index) moved_[carried.index] = index;
  const Target target{carried.index, carried.name, index, name, moved_, former_names(carried, name)};
  auto replays = replays_of(carried, target);
  if (!replays) return fail(replays.error());
  FirstFailure failure;
  std::vector<Message> settle;
  if (name != carried.name) {
    const auto differ = labels_differ(**netlink, replays->addresses4, index);
    if (!differ) return fail(differ.error());
    if (*differ) {
      if (auto done = replace_addresses(**netlink, replays->addresses4, failure); !done) return done;
      replays->addresses4.clear();
    }
  }
  for (auto* addresses : {&replays->addresses4, &replays->addresses6}) {
    if (auto done = put_back_addresses(**netlink, std::move(*addresses), settle, failure); !done) return done;
  }
  if (auto done = put_back_routes(**netlink, std::move(replays->routes), failure); !done) return done;
  if (auto done = put_back_neighbours(**netlink, replays->neighbours, failure); !done) return done;
  const auto settled = (*netlink)->exchange(settle);
  if (!settled) return fail(settled.error());
  for (std::size_t i = 0; i < settle.size(); ++i) {
    if ((*settled)[i].error != 0) failure.note(settle[i], (*settled)[i]);
  }
  if (auto done = put_back_rules(**netlink, replays->rules, index, rules_put_back_, failure); !done)
    return done;
  if (failure.error) return fail(*failure.error);
  return {};
}

}  // namespace rdmacfg::system::detail
