// SPDX-License-Identifier: Apache-2.0
// How profiles become true: keyfiles first, then NetworkManager reads and activates them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "kinds/former_text.hpp"
#include "kinds/managers/nm_profile.hpp"

namespace rdmacfg::kinds::detail {

using base::Result;
using model::Change;
using model::Operation;
using system::NmState;

namespace {

constexpr std::chrono::seconds kActivation(45);  // DHCP of NetworkManager gives up after that
/// From the last step that was begun: more than a profile can need to go down and come up again.
constexpr std::chrono::seconds kCheckpoint(120);

/// One profile on its way.
struct ProfileStep {
  const Change* change = nullptr;
  std::optional<NmProfile> before;  ///< as on disk
  NmProfile after;
  bool written = false;               ///< the file is another one now
  std::optional<std::string> former;  ///< the text that the file has in the end, whoever wrote it
  bool loads = true;                  ///< NetworkManager is to read the file
};

/// A keyfile as observed, with the lines that others removed and added.
model::Attributes keyfile_settings(const std::string& id, const std::string& text) {
  auto profile = parse_keyfile(text);
  if (auto edited = nm_lines_edited(id, text); !edited.empty()) profile.edited = std::move(edited);
  return model::to_attributes(profile);
}

/// The profile that a change asks for: other keys stay as they are in the file.
NmProfile merged(const ProfileStep& step, const World& world) {
  auto all = step.before ? model::to_attributes(*step.before) : model::Attributes{};
  for (const auto& field : step.change->fields) all.erase(field);
  for (const auto& [field, value] : step.change->after) all.insert_or_assign(field, value);
  auto out = model::from_attributes<NmProfile>(all);
  // A mode is mandatory: where nobody says one it stays as it is.
  if (const auto* link = interface_of(step.change->key.id, world); !out.mode && link != nullptr)
    out.mode = link->ipoib->mode;
  return out;
}

/// While a port still has another name than the profiles of its P_Key interfaces say, as when a rename is
/// taken back, NetworkManager can make none of them: then nothing is written either, and they stay to be
/// done.
Result<void> check_parents(std::span<const Change> changes, const World& world) {
  for (const auto& change : changes) {
    const auto slash = change.key.id.find('/');
    const auto parent = model::from_attributes<NmProfile>(change.after).parent;
    if (slash == std::string::npos || change.operation == Operation::kDelete || !parent) continue;
    const auto* port = interface_of(change.key.id.substr(0, slash), world);
    if (port == nullptr || port->name == *parent) continue;
    return base::fail(base::Code::kBusy,
                      fmt::format("{}: interface {} is still called {}", change.label, *parent, port->name));
  }
  return {};
}

Result<ProfileStep> step_of(const Change& change, const World& world, system::Host& host) {
  ProfileStep step;
  step.change = &change;
  const auto text = host.files.read(nm_file(change.key.id));
  if (!text) return base::fail(text.error());
  if (*text) step.before = parse_keyfile(**text);
  if (change.operation == Operation::kDelete) return step;
  step.after = merged(step, world);
  constexpr std::array<std::string_view, 9> kInKeyfile{"name",        "parent", "pkey", "mode",  "mtu",
                                                       "autoconnect", "ipv4",   "ipv6", "edited"};
  const auto& id = change.key.id;
  step.former = former_text(change, kInKeyfile,
                            [&id](const std::string& found) { return keyfile_settings(id, found); });
  // One from which lines were removed is for the next start of NetworkManager, which would refuse it now.
  step.loads = !step.former || nm_lines_missing(id, *step.former).empty();
  if (!step.loads && *text == step.former) return step;
  const auto content = step.former && step.loads ? *step.former : render_keyfile(id, step.after);
  step.written = !*text || **text != content;
  if (auto done = host.files.write_private(nm_file(change.key.id), content); !done)
    return base::fail(done.error());
  return step;
}

bool is_active(const NmState& state, const std::string& uuid) {
  return std::any_of(state.active.begin(), state.active.end(),
                     [&](const auto& connection) { return connection.uuid == uuid && connection.activated; });
}

/// A port's profile fits its P_Key interfaces as well, and NetworkManager may have taken one of them.
bool is_elsewhere(const NmState& state, const std::string& uuid, const std::string& interface) {
  return std::any_of(state.devices.begin(), state.devices.end(), [&](const auto& device) {
    return device.active == uuid && device.interface != interface;
  });
}

/// The links and their addresses as they are, dumped again only after something that may have changed them.
class Links {
 public:
  explicit Links(system::Host& host) : host_(host) {}

  Result<const World*> now() {
    if (!world_) {
      auto observed = World::observe_links(host_);
      if (!observed) return base::fail(observed.error());
      world_ = std::move(*observed);
    }
    return &*world_;
  }
  Result<const std::vector<system::InetAddress>*> addresses() {
    if (!addresses_) {
      auto observed = host_.inet.observe_addresses();
      if (!observed) return base::fail(observed.error());
      addresses_ = std::move(*observed);
    }
    return &*addresses_;
  }
  void changed() {
    world_.reset();
    addresses_.reset();
  }

 private:
  system::Host& host_;
  std::optional<World> world_;
  std::optional<std::vector<system::InetAddress>> addresses_;
};

/// A P_Key interface that is under another name than its profile has: NetworkManager renames none, and
/// refuses to activate a profile on an interface of another name. It may have made it for somebody else's
/// profile, and names an interface by the P_Key as that is written, without the membership bit too.
bool misnamed(const ProfileStep& step, const system::Link& link) {
  const auto name = nm_interface_name(step.after);
  return name && *name != link.name;
}

/// Takes down what NetworkManager has on an interface, whoever's it is. By request: then it does not come up
/// again by itself, as it does when the interface is merely deleted (nm-policy.c, device_state_changed()).
Result<void> release(const std::string& interface, system::Host& host) {
  const auto profile = host.network_manager.active_on(interface);
  if (!profile) return base::fail(profile.error());
  return profile->empty() ? Result<void>{} : host.network_manager.deactivate(*profile);
}

/// NetworkManager that was restarted does not know any more that it has made P_Key interfaces.
Result<void> delete_children(const std::vector<std::string>& ids, system::Host& host) {
  for (const bool again : {true, false}) {
    if (ids.empty()) return {};
    const auto world = World::observe_links(host);
    if (!world) return base::fail(world.error());
    std::vector<system::LinkRequest> requests;
    for (const auto& id : ids) {
      const auto* link = interface_of(id, *world);
      if (link != nullptr) requests.emplace_back(system::DeleteLink{link->index});
    }
    if (requests.empty()) return {};
    // It may be that NetworkManager is just about to do so.
    if (auto done = host.links.execute(requests); done || !again) return done;
  }
  return {};
}

/// `checkpoint`: of NetworkManager, nothing while it does not run.
Result<void> take_away(const std::vector<ProfileStep>& steps, system::Host& host,
                       const std::optional<std::string>& checkpoint) {
  std::vector<std::string> children;
  for (const auto& step : steps) {
    const auto& id = step.change->key.id;
    if (!checkpoint || step.change->operation != Operation::kDelete) continue;
    if (auto done = host.network_manager.extend_checkpoint(*checkpoint, kCheckpoint); !done) return done;
    if (auto done = host.network_manager.remove(nm_uuid(id)); !done) return done;
    // One that it was not to bring up was not made by it.
    const bool made = step.before && step.before->autoconnect != false;
    if (made && id.find('/') != std::string::npos) children.push_back(id);
  }
  if (auto done = delete_children(children, host); !done) return done;
  for (const auto& step : steps) {
    if (step.change->operation != Operation::kDelete) continue;
    if (auto done = host.files.remove(nm_file(step.change->key.id)); !done) return done;
  }
  return {};
}

Result<void> bring_up(const ProfileStep& step, const NmState& state, system::Host& host, Links& links) {
  const auto& id = step.change->key.id;
  const auto uuid = nm_uuid(id);
  const auto then = model::from_attributes<NmProfile>(step.change->after);
  // One of which only a part is not in effect is up all the same.
  const auto wanted = then.live_mode ? std::optional(true) : then.active;
  if (!wanted) return {};
  if (!*wanted) {
    if (!is_active(state, uuid)) return {};
    links.changed();
    return host.network_manager.deactivate(uuid);
  }
  auto world = links.now();
  if (!world) return base::fail(world.error());
  const auto* link = interface_of(id, **world);
  if (link != nullptr && misnamed(step, *link)) {
    if (auto done = host.network_manager.deactivate(uuid); !done) return done;
    if (auto done = release(link->name, host); !done) return done;
    if (auto done = delete_children({id}, host); !done) return done;
    links.changed();
    if (world = links.now(); !world) return base::fail(world.error());
    link = interface_of(id, **world);
  }
  const bool elsewhere = link != nullptr && is_elsewhere(state, uuid, link->name);
  if (elsewhere) {
    if (auto done = host.network_manager.deactivate(uuid); !done) return done;
    links.changed();
    if (world = links.now(); !world) return base::fail(world.error());
    link = interface_of(id, **world);
  }
  // One that somebody has taken down comes up with an activation only.
  const bool same_link = step.before && step.before->pkey == step.after.pkey &&
                         step.before->parent == step.after.parent && link != nullptr && link->up &&
                         link->ipoib->mode == step.after.mode;
  if (is_active(state, uuid) && same_link && !elsewhere) {
    const auto addresses = links.addresses();
    if (!addresses) return base::fail(addresses.error());
    if (!step.written && in_effect(step.after, effect_of(step.after, *link, **addresses))) return {};
    auto done = host.network_manager.reapply(link->name);
    if (done || done.error().code != base::Code::kUnsupported) return done;
  }
  auto done = host.network_manager.activate(uuid, link == nullptr ? "" : link->name, kActivation);
  // A port that comes up again may take its P_Key interfaces along; a P_Key interface is a matter of its own.
  if (!done || id.find('/') == std::string::npos) links.changed();
  if (done) return done;
  // Without carrier it cannot come up now, and NetworkManager tries by itself when there is one.
  if (world = links.now(); !world) return base::fail(world.error());
  link = interface_of(id, **world);
  if (link != nullptr && !link->carrier) return {};
  return base::fail(done.error().in(step.change->label));
}

Result<void> with_manager(const std::vector<ProfileStep>& steps, const NmState& state,
                          const std::string& checkpoint, system::Host& host) {
  std::vector<std::string> files;
  for (const auto& step : steps) {
    if (step.change->operation == Operation::kDelete) continue;
    if (step.loads || step.written) files.push_back(nm_file(step.change->key.id));
  }
  if (!files.empty()) {
    if (auto done = host.network_manager.load(files); !done) return done;
  }
  if (auto done = take_away(steps, host, checkpoint); !done) return done;
  Links links(host);
  for (const auto& step : steps) {
    if (step.change->operation == Operation::kDelete) continue;
    // One after the other they may take longer than any time that was set at the beginning.
    if (auto done = host.network_manager.extend_checkpoint(checkpoint, kCheckpoint); !done) return done;
    if (auto done = bring_up(step, state, host, links); !done) return done;
    const auto then = model::from_attributes<NmProfile>(step.change->after);
    if (!was_disturbed(then)) continue;
    if (auto done = disturb_again(then, step.change->key.id, host); !done) return done;
    links.changed();
  }
  return {};
}

/// Texts that somebody has left without lines that NetworkManager needs: undoing leaves them so.
Result<void> put_texts_back(const std::vector<ProfileStep>& steps, system::Host& host) {
  for (const auto& step : steps) {
    if (!step.former || step.loads) continue;
    if (auto done = host.files.write_private(nm_file(step.change->key.id), *step.former); !done) return done;
  }
  return {};
}

}  // namespace

void carry_keyfiles(std::span<Change*> changes, const World& world) {
  for (auto* change : changes) {
    const auto& id = change->key.id;
    const auto text = world.host().files.read(nm_file(id));
    // One that cannot be read is not compared either.
    if (text && *text && render_keyfile(id, parse_keyfile(**text)) != **text) carry_text(*change, **text);
  }
}

Result<void> apply_profiles(std::span<const Change> changes, system::Host& host) {
  World world;
  if (!host.offline) {
    auto observed = World::observe_links(host);
    if (!observed) return base::fail(observed.error());
    world = std::move(*observed);
  }
  if (auto done = check_parents(changes, world); !done) return done;
  std::vector<ProfileStep> steps;
  for (const auto& change : changes) {
    auto step = step_of(change, world, host);
    if (!step) return base::fail(step.error());
    steps.push_back(std::move(*step));
  }
  // P_Key interfaces go before what they are over.
  if (!changes.empty() && changes.front().operation == Operation::kDelete) {
    std::stable_partition(steps.begin(), steps.end(), [](const ProfileStep& step) {
      return step.change->key.id.find('/') != std::string::npos;
    });
  }
  std::optional<NmState> state;
  if (!host.offline) {
    auto observed = host.network_manager.observe();
    if (!observed) return base::fail(observed.error());
    state = std::move(*observed);
  }
  if (!state) {
    auto done = take_away(steps, host, std::nullopt);
    return done ? put_texts_back(steps, host) : done;
  }
  std::vector<std::string> interfaces;
  for (const auto& change : changes) {
    if (const auto* link = interface_of(change.key.id, world)) interfaces.push_back(link->name);
  }
  auto checkpoint = interfaces.empty() ? Result<std::string>(std::string())
                                       : host.network_manager.create_checkpoint(interfaces, kCheckpoint);
  if (!checkpoint) return base::fail(checkpoint.error());
  auto done = with_manager(steps, *state, *checkpoint, host);
  auto end = done ? host.network_manager.destroy_checkpoint(*checkpoint)
                  : host.network_manager.rollback(*checkpoint);
  const auto back = put_texts_back(steps, host);
  if (end) end = back;
  // The first failure counts; undoing compares the profiles with their former state in any case.
  return done ? end : done;
}

}  // namespace rdmacfg::kinds::detail
