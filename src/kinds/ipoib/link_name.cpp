// SPDX-License-Identifier: Apache-2.0
#include "kinds/ipoib/link_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "formats/firewall/firewalld_zones.hpp"
#include "formats/udev/udev_netdev_names.hpp"
#include "kinds/carried_state.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/initramfs_stamp.hpp"
#include "kinds/ipoib/link_rename.hpp"
#include "kinds/kernel_release.hpp"
#include "kinds/ports/held_by_port.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::text_at;
using system::Link;

namespace {

constexpr auto kLinkNameCompetitors = std::to_array<std::string_view>({"openibd"});

std::vector<Link> with_children(const World& world, const Link& parent) {
  std::vector<Link> links{parent};
  for (const auto* child : world.children(parent.index)) links.push_back(*child);
  return links;
}

/// Names that are there stay where the document does not give others.
std::optional<std::string> rules_after(std::span<const Desired> desired, std::span<const Observed> observed) {
  std::map<model::Key, const Observed*> now;
  for (const auto& resource : observed) {
    if (resource.key.kind == kLinkNameKind) now.emplace(resource.key, &resource);
  }
  Rules rules;
  for (const auto& resource : desired) {
    if (resource.key.kind != kLinkNameKind) continue;
    auto rule = model::from_attributes<LinkName>(resource.settings).rule;
    const auto at = now.find(resource.key);
    if (!rule && at != now.end()) rule = model::from_attributes<LinkName>(at->second->settings).rule;
    const auto guid = model::Guid::parse(resource.key.id);
    if (rule && guid) rules[*guid] = *rule;
  }
  return rules.empty() ? std::nullopt : std::optional(render_rules(rules));
}

constexpr std::array kLinkNameFiles{OwnedFile{.path = kRuleFile,
                                              .what = "Names of the interfaces of ports.",
                                              .rendered =
                                                  [](std::string_view text) {
                                                    const auto rules = parse_rules(text);
                                                    return rules.empty() ? std::string()
                                                                         : render_rules(rules);
                                                  },
                                              .text_after = rules_after,
                                              .after_write = OwnedFile::AfterWrite::kReloadUdev}};

class LinkNameKind final : public Kind, public HeldByPort {
 public:
  // Foreign ones are not listed: their interfaces are.
  LinkNameKind()
      : Kind({.name = kLinkNameKind,
              .fields = model::specs<LinkName>(),
              .traits = {.works_offline = true, .listed_when_foreign = false, .names_interface = true},
              .files = kLinkNameFiles,
              .competitors = kLinkNameCompetitors}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& /*diagnostics*/) const override {
    for (const auto& port : bound.ports) {
      const auto* written = port.section->find("name");
      if (written == nullptr) continue;
      Desired desired;
      desired.key = {std::string(kLinkNameKind), port.id};
      desired.label = port.label;
      desired.where = port.section->where;
      desired.origins["name"] = desired.origins["rule"] = written->where;
      const auto* state = port.section->find("state");
      desired.ignore = state != nullptr && model::text_of(state->value) == "ignore";
      desired.pending = port.pending;
      if (port.section->find("guid") == nullptr) desired.policy[std::string(detail::kFloating)] = true;
      // The rule can be written before the port is there, but not before its GUID is known.
      if (port.names && port.guid) {
        desired.settings["rule"] = port.name;
        if (port.link != nullptr) desired.settings["name"] = port.name;
      } else if (!port.pending) {
        desired.pending = port.wrong.value_or("the name depends on a port that is absent");
      }
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto rules = read_rules(world.host().files);
    if (!rules) return base::fail(rules.error());
    std::vector<Observed> out;
    for (const auto* link : world.parents()) {
      Observed observed;
      observed.key = {std::string(kLinkNameKind), link->ipoib->guid.text()};
      observed.label = link->name;
      observed.settings["name"] = link->name;
      observed.instance = world.instance(*link);
      if (const auto rule = rules->extract(link->ipoib->guid)) {
        observed.settings["rule"] = rule.mapped();
        observed.ours_by_nature = true;
      }
      out.push_back(std::move(observed));
    }
    for (const auto& [guid, name] : *rules) {
      out.push_back(observed_in_own_file({std::string(kLinkNameKind), guid.text()}, name, {{"rule", name}}));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    detail::check_link_names(desired, observed, world, diagnostics);
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    std::vector<Link> links;
    for (auto* change : changes) {
      const auto* link = moved(*change, world);
      if (link == nullptr) continue;
      for (auto& each : with_children(world, *link)) links.push_back(std::move(each));
      if (link->up && !renames_running_links(world)) {
        change->interrupts.emplace_back(
            world.children(link->index).empty()
                ? "link down for a moment (kernels before 6.2); addresses, routes and rules are restored"
                : "link and its P_Key interfaces down for a moment (kernels before 6.2); addresses, routes "
                  "and rules are restored");
      }
    }
    if (links.empty()) return {};
    for (auto* change : changes) warn_of_zone(*change, world);
    auto carried_states = observe_carried_states(world.host(), links);
    if (!carried_states) return base::fail(carried_states.error());
    for (auto* change : changes) {
      const auto* link = moved(*change, world);
      if (link == nullptr) continue;
      std::vector<CarriedState> mine;
      for (const auto& each : with_children(world, *link)) {
        const auto at =
            std::find_if(carried_states->begin(), carried_states->end(),
                         [&](const CarriedState& state) { return state.carried.index == each.index; });
        if (at == carried_states->end()) continue;
        mine.push_back(*at);
        if (each.index == link->index) mine.back().carried.becomes = text_at(change->after, "name");
      }
      change->carried = pack(mine);
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto rules = read_rules(host.files);
    if (!rules) return base::fail(rules.error());
    const auto before = *rules;
    for (const auto& change : changes) {
      const auto guid = detail::link_name_guid(change.key);
      if (!guid) continue;
      const auto rule = text_at(change.after, "rule");
      if (rule.empty()) {
        rules->erase(*guid);
      } else {
        (*rules)[*guid] = rule;
      }
    }
    const bool rewritten = *rules != before;
    if (rewritten) {
      const auto write = [&] { return write_rules(host.files, *rules); };
      if (auto done = write_for_image(host, write); !done) return done;
    }
    if (host.offline) return {};
    auto done = rename_present(changes, host);
    // udevd gives names on "add" alone, so it need not know before. It looks for changed rules by itself at
    // its next event; telling it only makes that sooner, and at boot there may be no bus yet to tell it by.
    if (rewritten) (void)host.udev.reload_rules();
    return done;
  }

  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    for (const auto& change : changes) {
      if (auto done = restore(host, unpack(change.carried)); !done) return done;
    }
    return {};
  }

  [[nodiscard]] bool returns(std::string_view field, const model::Attributes& /*before*/,
                             const model::Attributes& /*then*/) const override {
    return field == "rule";
  }

  /// The rule can always be written, also for a port that is not there.
  [[nodiscard]] bool reachable(const model::Key& key, const World& /*world*/) const override {
    return detail::link_name_guid(key).has_value();
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    const auto guid = detail::link_name_guid(change.key);
    return guid ? parent_object_on(world.parent(*guid), world) : std::string();
  }

 private:
  /// The link that a change renames; nullptr when it renames none.
  static const Link* moved(const Change& change, const World& world) {
    const auto guid = detail::link_name_guid(change.key);
    const auto* link = guid ? world.parent(*guid) : nullptr;
    const auto name = text_at(change.after, "name");
    return link != nullptr && !name.empty() && name != link->name ? link : nullptr;
  }

  /// firewalld knows interfaces by their names.
  static void warn_of_zone(Change& change, World& world) {
    const auto* link = moved(change, world);
    if (link == nullptr) return;
    const auto name = text_at(change.after, "name");
    const auto zone = firewalld_zone(world.host().files, link->name);
    if (!zone || firewalld_zone(world.host().files, name) == zone) return;
    change.interrupts.push_back(
        fmt::format("firewalld has {0} in zone {1}, and gives {2} its default zone; to keep the zone, run "
                    "firewall-cmd --permanent --zone={1} --change-interface={2} and firewall-cmd --reload",
                    link->name, *zone, name));
  }

  /// How many of the interfaces of changes are there.
  static std::ptrdiff_t present(std::span<const Change> changes, system::Host& host) {
    const auto world = World::observe_links(host);
    if (!world) return 0;
    return std::count_if(changes.begin(), changes.end(), [&](const Change& change) {
      const auto guid = detail::link_name_guid(change.key);
      return guid && world->parent(*guid) != nullptr;
    });
  }

  static Result<void> rename_present(std::span<const Change> changes, system::Host& host) {
    for (auto links = present(changes, host);;) {
      auto done = rename(changes, host);
      if (done) return done;
      // A device may have gone meanwhile; its rule stays, and the other interfaces get their names.
      const auto left = present(changes, host);
      if (left >= links) return done;
      links = left;
    }
  }

  static Result<void> rename(std::span<const Change> changes, system::Host& host) {
    if (std::none_of(changes.begin(), changes.end(),
                     [](const Change& c) { return !text_at(c.after, "name").empty(); })) {
      return {};
    }
    auto world = World::observe_links(host);
    if (!world) return base::fail(world.error());
    std::map<int, std::string> names;
    for (const auto& change : changes) {
      if (const auto* link = moved(change, *world)) names[link->index] = text_at(change.after, "name");
    }
    const auto since = carried_states_since(changes, *world, host);
    if (!since) return base::fail(since.error());
    if (auto done = rename_links(host, *world, names); !done) return done;
    // Also without a rename: this may be the undoing of one that got stuck with the link down.
    for (const auto& change : changes) {
      if (change.carried.empty()) continue;
      if (auto done = restore(host, unpack(change.carried)); !done) return done;
    }
    return restore(host, *since);
  }

  /// On the way back: state that interfaces carry by now and did not when the plan was made. It may be
  /// somebody else's. Policy rules know names only: in a swap they are the other interface's.
  static Result<std::vector<CarriedState>> carried_states_since(std::span<const Change> changes,
                                                                const World& world, system::Host& host) {
    std::vector<CarriedState> out, then;
    std::vector<Link> links;
    std::set<std::string> names;
    for (const auto& change : changes) {
      const auto packed = unpack(change.carried);
      if (!packed.empty()) names.insert(packed.front().carried.name);
    }
    for (const auto& change : changes) {
      const auto* link = moved(change, world);
      auto packed = unpack(change.carried);
      const bool back = link != nullptr && !packed.empty() && packed.front().carried.becomes == link->name;
      if (!back || names.contains(link->name)) continue;
      for (auto& each : with_children(world, *link)) links.push_back(std::move(each));
      then.insert(then.end(), std::make_move_iterator(packed.begin()), std::make_move_iterator(packed.end()));
    }
    if (links.empty()) return out;
    auto now = observe_carried_states(host, links);
    if (!now) return base::fail(now.error());
    for (auto& state : *now) {
      const auto at = std::find_if(then.begin(), then.end(), [&](const CarriedState& other) {
        return other.carried.index == state.carried.index;
      });
      if (at == then.end()) continue;
      std::erase_if(state.carried.items, [&](const auto& item) {
        return std::find(at->carried.items.begin(), at->carried.items.end(), item) != at->carried.items.end();
      });
      state.up = at->up;
      if (state.carried.name == at->carried.becomes) state.carried.becomes = at->carried.name;
      if (!state.carried.items.empty()) out.push_back(std::move(state));
    }
    return out;
  }
};

}  // namespace

const Kind& link_name() {
  static const LinkNameKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
