// SPDX-License-Identifier: Apache-2.0
// How P_Key children are made, changed and removed, minding what the kernel does with RTNL (see
// docs/ARCHITECTURE.md).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kinds/carried_state.hpp"
#include "kinds/ipoib/link_rename.hpp"
#include "kinds/ipoib/link_settings.hpp"
#include "kinds/ipoib/pkey.hpp"

namespace rdmacfg::kinds::detail {

using base::Code;
using base::Result;
using model::Change;
using model::IpoibMode;
using model::State;
using system::Link;
using system::LinkRequest;
using system::SetLink;

namespace {

/// From here on one message for the whole group costs less than a message for each (one wait for readers
/// instead of many).
constexpr std::size_t kGroupDeletion = 4;

struct Child {
  const Change* change = nullptr;
  PkeyId id;
  PkeyLink wanted;

  [[nodiscard]] std::string name(const Link& parent) const {
    return wanted.name ? wanted.name->text : fmt::format("{}.{:04x}", parent.name, id.pkey.full());
  }
};

std::vector<Child> children_of(std::span<const Change> changes) {
  std::vector<Child> out;
  for (const auto& change : changes) {
    if (auto id = pkey_id(change.key))
      out.push_back({&change, *id, model::from_attributes<PkeyLink>(change.after)});
  }
  return out;
}

Result<const Link*> parent_of(const Child& child, const World& world) {
  const auto* parent = world.parent(child.id.guid);
  if (parent == nullptr) {
    return base::fail(Code::kNotFound,
                      fmt::format("{}: its parent interface does not exist", child.change->label));
  }
  return parent;
}

const Link* present(const Child& child, const World& world) { return child_of(*child.change, world); }

Result<void> execute(system::Host& host, const std::vector<LinkRequest>& requests) {
  return requests.empty() ? Result<void>{} : host.links.execute(requests);
}

/// Names, then modes, then everything that goes in one message each, all of them together.
Result<void> settle(const std::vector<Child>& children, system::Host& host) {
  if (children.empty()) return {};
  auto world = World::observe_links(host);
  if (!world) return base::fail(world.error());
  std::map<int, std::string> names;
  for (const auto& child : children) {
    const auto* link = present(child, *world);
    if (link == nullptr)
      return base::fail(Code::kNotFound,
                        fmt::format("{}: the interface does not exist", child.change->label));
    if (child.wanted.name && child.wanted.name->text != link->name)
      names[link->index] = child.wanted.name->text;
  }
  if (!names.empty()) {
    if (auto done = rename_links(host, *world, names); !done) return done;
    if (world = World::observe_links(host); !world) return base::fail(world.error());
  }
  std::vector<LinkRequest> requests;
  for (const auto& child : children) {
    const auto* link = present(child, *world);
    if (link == nullptr)
      return base::fail(Code::kNotFound,
                        fmt::format("{}: the interface does not exist", child.change->label));
    auto rest = reach(*link, child.change->after, host);
    if (!rest) return base::fail(rest.error());
    if (*rest) requests.emplace_back(**rest);
  }
  return execute(host, requests);
}

/// The changes' carried state goes back to the interfaces as they are now (their index may be another one).
Result<void> unpack_all(const std::vector<Child>& children, system::Host& host) {
  if (std::none_of(children.begin(), children.end(),
                   [](const Child& c) { return !c.change->carried.empty(); }))
    return {};
  auto world = World::observe_links(host);
  if (!world) return base::fail(world.error());
  for (const auto& child : children) {
    const auto carried_states = unpack(child.change->carried);
    const auto* link = present(child, *world);
    if (carried_states.empty() || link == nullptr) continue;
    if (auto done = restore_labels(host, carried_states.front(), *link, world->snapshot().links); !done)
      return done;
    const bool up = child.wanted.state ? child.wanted.state == State::kUp : carried_states.front().up;
    if (up != link->up) {
      if (auto done = execute(host, {SetLink{.index = link->index, .up = up}}); !done) return done;
    }
    if (!up && carried_states.front().up) continue;
    if (auto done = host.links.restore_carried(carried_states.front().carried, link->index, link->name);
        !done && !stops_ipv6(*child.change))
      return done;
  }
  return {};
}

/// A child to be made by sysfs.
struct BySysfs {
  const Link* parent = nullptr;
  model::Pkey pkey;
  std::string wanted;

  [[nodiscard]] std::vector<std::string> names_at_first() const { return first_names(parent->name, pkey); }
};

/// Of children that would get in each other's way with their first names, one.
std::vector<BySysfs> take_round(std::vector<BySysfs>& todo) {
  std::vector<BySysfs> round, later;
  std::set<std::string> taken;
  for (auto& child : todo) {
    const auto names = child.names_at_first();
    const bool meets =
        std::any_of(names.begin(), names.end(), [&](const auto& name) { return taken.contains(name); });
    if (!meets) taken.insert(names.begin(), names.end());
    (meets ? later : round).push_back(std::move(child));
  }
  todo = std::move(later);
  return round;
}

/// The child that the kernel has just made, by its first name; nullptr without one.
const Link* made_by_sysfs(const BySysfs& child, const World& world) {
  for (const auto& name : child.names_at_first()) {
    const auto* link = called(world.children(child.parent->index, child.pkey), name);
    if (link != nullptr) return link;
  }
  return nullptr;
}

base::Error no_child(const BySysfs& child) {
  return {Code::kNotFound,
          fmt::format("{}: the interface of P_Key {} does not exist", child.parent->name, child.pkey.text()),
          0};
}

/// Makes children that do not get in each other's way.
Result<void> make_together(const std::vector<BySysfs>& round, system::Host& host) {
  bool renames = false;
  for (const auto& child : round) {
    if (auto done = host.ipoib.create_child(child.parent->name, child.pkey); !done) return done;
    renames = renames || child.names_at_first() != std::vector{child.wanted};
  }
  if (!renames) return {};
  auto world = World::observe_links(host);
  if (!world) return base::fail(world.error());
  std::vector<LinkRequest> requests;
  for (const auto& child : round) {
    const auto* link = made_by_sysfs(child, *world);
    if (link == nullptr) return base::fail(no_child(child));
    if (link->name == child.wanted) continue;
    const bool free = world->named(child.wanted) == nullptr;
    requests.emplace_back(
        SetLink{.index = link->index, .name = free ? child.wanted : system::temporary_name(link->index)});
  }
  return execute(host, requests);
}

/// Makes one child, and calls it otherwise at once. A thousand of them list the host's interfaces no oftener
/// than one does.
Result<void> make_alone(const BySysfs& child, system::Host& host) {
  std::vector<std::string> names;  // that are free, so that who has one afterwards is the new one
  for (auto& name : child.names_at_first()) {
    const auto holder = host.links.index_of(name);
    if (!holder) return base::fail(holder.error());
    if (!*holder) names.push_back(std::move(name));
  }
  if (auto done = host.ipoib.create_child(child.parent->name, child.pkey); !done) return done;
  for (const auto& name : names) {
    const auto made = host.links.index_of(name);
    if (!made) return base::fail(made.error());
    if (!*made) continue;
    if (name == child.wanted) return {};
    const auto holder = host.links.index_of(child.wanted);
    if (!holder) return base::fail(holder.error());
    return execute(
        host, {SetLink{.index = **made, .name = *holder ? system::temporary_name(**made) : child.wanted}});
  }
  return base::fail(no_child(child));
}

/// Makes children by sysfs. The kernel gives them a name of its own first, cut to what fits, so that those of
/// ports with long names would get in each other's way: of those one is made at a time. Where the wanted name
/// is still taken it is a temporary one; settle() does the rest.
Result<void> make_by_sysfs(std::vector<BySysfs> todo, system::Host& host) {
  if (auto done = make_together(take_round(todo), host); !done) return done;
  for (const auto& child : todo) {
    if (auto done = make_alone(child, host); !done) return done;
  }
  return {};
}

/// Creates what is not there. Datagram children over netlink, without asking for a mode; connected ones
/// through sysfs, since only those get the mode file that can be written safely.
Result<void> create_missing(const std::vector<Child>& children, system::Host& host, const World& world,
                            std::vector<Child>& to_settle) {
  std::vector<LinkRequest> creations, settings;
  std::vector<BySysfs> by_sysfs;
  for (const auto& child : children) {
    auto parent = parent_of(child, world);
    if (!parent) return base::fail(parent.error());
    if (present(child, world) != nullptr) {
      to_settle.push_back(child);
    } else if (child.wanted.mode == IpoibMode::kConnected) {
      by_sysfs.push_back({*parent, child.id.pkey, child.name(**parent)});
      to_settle.push_back(child);
    } else {
      const auto name = child.name(**parent);
      creations.emplace_back(system::CreateChild{(*parent)->index, name, child.id.pkey});
      system::SetCreated set{.name = name};
      if (child.wanted.mtu) set.mtu = child.wanted.mtu->bytes;
      if (child.wanted.umcast && *child.wanted.umcast) set.umcast = true;
      if (child.wanted.state == State::kUp) set.up = true;
      if (set.mtu || set.umcast || set.up) settings.emplace_back(std::move(set));
    }
  }
  // All creations first: between them udev's workers would compete for RTNL with the rest.
  if (auto done = execute(host, creations); !done) return done;
  if (auto done = execute(host, settings); !done) return done;
  return make_by_sysfs(std::move(by_sysfs), host);
}

std::uint32_t unused_group(const World& world) {
  std::set<std::uint32_t> used;
  for (const auto& link : world.snapshot().links) used.insert(link.group);
  std::uint32_t group = 0x72646d61;  // "rdma"
  while (used.contains(group)) ++group;
  return group;
}

/// Deletes many links by one message. The group is one that nobody uses, and is checked to hold exactly
/// these.
Result<void> delete_by_group(const std::vector<const Link*>& links, system::Host& host, const World& world) {
  const auto group = unused_group(world);
  std::vector<LinkRequest> join, leave;
  std::set<int> wanted;
  for (const auto* link : links) {
    join.emplace_back(SetLink{.index = link->index, .group = group});
    leave.emplace_back(SetLink{.index = link->index, .group = link->group});
    wanted.insert(link->index);
  }
  const auto give_up = [&](base::Error error) -> Result<void> {
    for (const auto& request : leave)
      (void)host.links.execute({&request, 1});  // a link may be gone meanwhile
    return base::fail(std::move(error));
  };
  if (auto done = host.links.execute(join); !done) return give_up(done.error());
  auto now = host.links.observe_links();
  if (!now) return give_up(now.error());
  std::set<int> members;
  for (const auto& link : *now) {
    if (link.group == group) members.insert(link.index);
  }
  if (members != wanted) {
    return give_up({Code::kBusy,
                    fmt::format("interface group {} was used by another program at the same time", group),
                    0});
  }
  if (auto done = execute(host, {system::DeleteGroup{group}}); !done) return give_up(done.error());
  return {};
}

Result<void> delete_links(const std::vector<const Link*>& links, system::Host& host, const World& world) {
  if (links.size() >= kGroupDeletion) return delete_by_group(links, host, world);
  std::vector<LinkRequest> requests;
  requests.reserve(links.size());
  for (const auto* link : links) requests.emplace_back(system::DeleteLink{link->index});
  return execute(host, requests);
}

}  // namespace

Result<void> create_children(std::span<const Change> changes, system::Host& host) {
  auto world = World::observe_links(host);
  if (!world) return base::fail(world.error());
  const auto children = children_of(changes);
  std::vector<Child> to_settle;
  if (auto done = create_missing(children, host, *world, to_settle); !done) return done;
  if (auto done = settle(to_settle, host); !done) return done;
  return unpack_all(children, host);
}

namespace {

/// The carried state of a re-created child: everything, but no MTU of another mode. Without one
/// in the document it gets that of a new one in its mode.
void keep_what_it_had(Change& change, model::Attributes had) {
  const auto& mode = model::value_of(change.after, "mode");
  if (mode != model::Value{} && mode != model::value_of(had, "mode")) had.erase("mtu");
  change.after.merge(std::move(had));
}

}  // namespace

Result<void> update_children(std::span<const Change> changes, system::Host& host) {
  auto world = World::observe_links(host);
  if (!world) return base::fail(world.error());
  const auto children = children_of(changes);
  // A child without a mode file cannot change its mode safely: it is re-created, with everything it had. One
  // that is missing altogether was deleted by an attempt that got stuck there.
  std::vector<const Link*> old;
  std::vector<Child> staying;
  std::vector<Change> recreated;
  recreated.reserve(children.size());
  for (const auto& child : children) {
    const auto* link = present(child, *world);
    auto full = *child.change;
    if (link != nullptr) {
      if (!child.wanted.mode || *child.wanted.mode == link->ipoib->mode ||
          host.ipoib.has_mode_file(link->name)) {
        staying.push_back(child);
        continue;
      }
      model::Attributes now;
      now["name"] = link->name;
      describe(*link, now);
      old.push_back(link);
      keep_what_it_had(full, std::move(now));
    } else {
      keep_what_it_had(full, child.change->before);
    }
    recreated.push_back(std::move(full));
  }
  if (auto done = delete_links(old, host, *world); !done) return done;
  if (!recreated.empty()) {
    // One that stays may still have the name that one of the new ones gets.
    if (auto done = settle(staying, host); !done) return done;
    if (world = World::observe_links(host); !world) return base::fail(world.error());
    std::vector<Child> made;
    const auto missing = children_of(recreated);
    if (auto done = create_missing(missing, host, *world, made); !done) return done;
    if (auto done = settle(made, host); !done) return done;
  }
  if (auto done = settle(children, host); !done) return done;
  return unpack_all(children, host);
}

Result<void> delete_children(std::span<const Change> changes, system::Host& host) {
  for (std::size_t before = changes.size() + 1;;) {
    auto world = World::observe_links(host);
    if (!world) return base::fail(world.error());
    std::vector<const Link*> links;
    for (const auto& child : children_of(changes)) {
      if (const auto* link = present(child, *world)) links.push_back(link);
    }
    auto done = delete_links(links, host, *world);
    if (done || links.size() >= before) return done;
    before = links.size();  // some may have gone by themselves, with their device: go on with the others
  }
}

}  // namespace rdmacfg::kinds::detail
