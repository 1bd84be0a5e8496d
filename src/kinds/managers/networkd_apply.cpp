// SPDX-License-Identifier: Apache-2.0
// How .network files become true.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "kinds/address/address_exchange.hpp"
#include "kinds/address/direct_backend.hpp"
#include "kinds/address/profiles/networkd_older.hpp"
#include "kinds/former_text.hpp"
#include "kinds/managers/networkd.hpp"

namespace rdmacfg::kinds::detail {

using base::Result;
using model::Change;
using model::Operation;
using system::NetworkdLink;

namespace {

constexpr std::chrono::milliseconds kMoment(100);
constexpr int kMoments = 200;
// By then systemd-networkd has begun with what a reload brought; else udev's properties came after it.
constexpr int kBegun = 20;

/// One file on its way.
struct NetworkStep {
  const Change* change = nullptr;
  std::string file;  ///< that systemd-networkd is to use
  NetworkdFile before;
  NetworkdFile after;
  NetworkdFile stays;    ///< of `after` without what was missing, when a repair is undone
  bool written = false;  ///< the file is another one now
};

bool same_place(const system::InetRoute& a, const system::InetRoute& b) {
  return a.family == b.family && a.to == b.to && a.metric == b.metric && a.table == b.table &&
         a.via == b.via && a.selective == b.selective;
}

template <class List>
bool contains(const List& list, const typename List::value_type& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool is_four(const model::IpPrefix& prefix) { return prefix.address.family == model::Family::kIpv4; }

NetworkdFile without_missing(NetworkdFile file) {
  const auto missing = file.missing.value_or(std::vector<std::string>{});
  for (auto* list : {&file.addresses, &file.routes}) {
    if (*list) std::erase_if(**list, [&](const std::string& item) { return contains(missing, item); });
  }
  return file;
}

/// Whether all of the file is to be there: when it was and only a part of it is missing, that part is wanted,
/// and not `active`.
bool is_awaited(const Change& change) {
  const auto after = model::from_attributes<NetworkdFile>(change.after);
  const auto before = model::from_attributes<NetworkdFile>(change.before);
  const bool a_part = change.operation != Operation::kDelete && before.missing && !after.missing &&
                      after.unmanaged != true && !after.active;
  return after.active == true || a_part;
}

Result<NetworkStep> write(const Change& change, system::Host& host) {
  const auto& id = change.key.id;
  const auto path = networkd_file(id), older_path = older_networkd_file(id);
  NetworkStep step{&change, path, {}, {}, {}, false};
  const auto now = read_network_files(id, host.files);
  if (!now) return base::fail(now.error());
  if (now->used()) step.before = parse_network(id, *now->used());
  if (change.operation == Operation::kDelete) {
    step.written = now->used().has_value();
    // The other one would count if only one of them were gone.
    if (now->older) {
      if (auto done = host.files.remove(older_path); !done) return base::fail(done.error());
    }
    if (auto done = host.files.remove(path); !done) return base::fail(done.error());
    return step;
  }
  step.after = model::from_attributes<NetworkdFile>(change.after);
  step.stays = without_missing(step.after);
  constexpr std::array<std::string_view, 9> kInNetworkFile{"addresses",  "routes",    "dns",
                                                           "search",     "dhcp",      "router_advertisements",
                                                           "link_local", "unmanaged", "edited"};
  const auto back = former_older(change);
  if (back) {
    step.written = now->older != back->text;
    if (auto done = host.files.write(older_path, back->text); !done) return base::fail(done.error());
  }
  if (back && back->alone) {
    step.file = older_path;
    step.written = step.written || now->text.has_value();
    if (auto done = host.files.remove(path); !done) return base::fail(done.error());
    return step;
  }
  const auto former = former_text(change, kInNetworkFile, [&id](const std::string& found) {
    return model::to_attributes(parse_network(id, found));
  });
  const auto content = former ? *former : render_network(id, step.after);
  step.written = step.written || now->text != content;
  if (auto done = host.files.write(path, content); !done) return base::fail(done.error());
  if (!back && now->older) {
    step.written = true;
    if (auto done = host.files.remove(older_path); !done) return base::fail(done.error());
  }
  return step;
}

/// When IPv4 addresses go for which others come: once those are there, since with the last one of an
/// interface the kernel forgets the routes of others; or at once.
enum class Replaced { kLater, kNow };

/// Takes away what a file had and has no longer: systemd-networkd is told to keep what it finds, since others
/// may have set it.
Result<void> release(const std::vector<NetworkStep>& steps, const World& world, system::Host& host,
                     Replaced replaced) {
  const auto inet_states = observe_inet_states(host);
  if (!inet_states) return base::fail(inet_states.error());
  std::vector<system::InetRequest> requests;
  std::vector<system::InetRoute> gone;
  std::vector<system::InetAddress> all;  // of the interfaces that lose some
  std::set<std::pair<int, model::IpPrefix>> going;
  for (const auto& step : steps) {
    const auto* link = interface_of(step.change->key.id, world);
    if (link == nullptr) continue;
    const auto& now = inet_states->of(link->index);
    all.insert(all.end(), now.addresses.begin(), now.addresses.end());
    const auto kept = routes_in(step.stays);
    const auto stay = addresses_in(step.stays);
    for (const auto& route : routes_in(step.before)) {
      if (contains(kept, route)) continue;
      for (const auto& held : now.routes) {
        if (!same_place(held, route)) continue;
        requests.emplace_back(system::DeleteRoute{link->name, held});
        gone.push_back(held);
      }
    }
    const auto there = [&](const model::IpPrefix& prefix) {
      return std::any_of(now.addresses.begin(), now.addresses.end(),
                         [&](const auto& address) { return address.prefix == prefix; });
    };
    const bool coming = std::any_of(stay.begin(), stay.end(),
                                    [&](const auto& prefix) { return is_four(prefix) && !there(prefix); });
    for (const auto& prefix : addresses_in(step.before)) {
      if (contains(stay, prefix) || !there(prefix)) continue;
      if (replaced == Replaced::kNow || !coming || !is_four(prefix)) going.emplace(link->index, prefix);
    }
  }
  for (auto& request : address_deletions(going, all, world)) requests.push_back(std::move(request));
  if (requests.empty()) return {};
  // Read before the first deletion: with the last IPv4 address the kernel forgets what others have set.
  const auto routes = routes_left_alone(going, all, world, host);
  if (!routes) return base::fail(routes.error());
  for (const auto& request : *routes) {
    if (!contains(gone, std::get<system::AddRoute>(request).route)) requests.push_back(request);
  }
  return host.inet.execute(requests);
}

/// An interface whose file is to become true.
struct Wait {
  const NetworkStep* step = nullptr;
  bool again = false;  ///< it was configured again
};

/// The result of one look at all of them.
struct ConfigurationProgress {
  World world;
  InetStates inet_states;
  std::map<int, NetworkdLink> links;  ///< by index; those that systemd-networkd knows
};

/// Nothing when systemd-networkd was stopped meanwhile.
Result<std::optional<ConfigurationProgress>> observe_progress(const std::vector<Wait>& waits,
                                                              system::Host& host) {
  auto world = World::observe_links(host);
  if (!world) return base::fail(world.error());
  std::vector<int> indexes;
  for (const auto& wait : waits) {
    const auto* link = interface_of(wait.step->change->key.id, *world);
    if (link == nullptr)
      return base::fail(base::Code::kNotFound,
                        fmt::format("{}: the interface does not exist", wait.step->change->label));
    indexes.push_back(link->index);
  }
  auto inet_states = observe_inet_states(host);
  if (!inet_states) return base::fail(inet_states.error());
  const auto state = host.networkd.observe(indexes);
  if (!state) return base::fail(state.error());
  if (!*state) return std::optional<ConfigurationProgress>{};
  ConfigurationProgress progress{std::move(*world), std::move(*inet_states), {}};
  for (const auto& link : **state) progress.links.emplace(link.index, link);
  return std::optional(std::move(progress));
}

/// One interface at a moment. @return whether there is nothing to wait for any more.
Result<bool> arrive(Wait& wait, const ConfigurationProgress& progress, int moment, system::Host& host) {
  const auto& step = *wait.step;
  const auto* link = interface_of(step.change->key.id, progress.world);
  const auto at = progress.links.find(link->index);
  const auto now = at == progress.links.end() ? NetworkdLink{} : at->second;
  const bool uses_file = now.file == step.file;
  if (uses_file && missing_of(step.after, progress.inet_states.of(link->index)).empty()) return true;
  const bool at_work = is_in_transition(now.state) && moment < kBegun;
  if (!wait.again && !at_work && (!step.written || now.state == "failed" || moment >= kBegun)) {
    wait.again = true;
    if (auto done = host.networkd.reconfigure(link->index); !done) return base::fail(done.error());
    return false;
  }
  const bool waits = uses_file && !link->carrier;
  const bool other = !uses_file && !now.file.empty() && moment >= 2 * kBegun;
  const bool enough = other || moment >= (waits ? kBegun : kMoments);
  if (!enough) return false;
  // Without carrier some of it cannot be there, and comes with it.
  if (waits) return true;
  if (!uses_file && !now.file.empty())
    return base::fail(base::Code::kRefused, fmt::format("{}: systemd-networkd uses {} for it, which sorts "
                                                        "before ours; remove the interface from its [Match]",
                                                        link->name, now.file));
  return base::fail(base::Code::kTimeout,
                    fmt::format("{}: systemd-networkd has not applied {} in time (it is {}; journalctl "
                                "-u systemd-networkd says why)",
                                link->name, step.file, now.state.empty() ? "unknown to it" : now.state));
}

/// Waits until everything of the files is there, all interfaces at a time.
Result<void> bring_up(std::vector<Wait> waits, system::Host& host) {
  for (int moment = 0; !waits.empty();) {
    const auto progress = observe_progress(waits, host);
    if (!progress) return base::fail(progress.error());
    if (!*progress) return {};
    std::vector<Wait> left;
    for (auto& wait : waits) {
      const auto there = arrive(wait, **progress, moment, host);
      if (!there) return base::fail(there.error());
      if (!*there) left.push_back(wait);
    }
    waits = std::move(left);
    // Where there is nothing to wait for, what is not there now is not coming.
    moment = host.networkd.pause(kMoment) ? moment + 1 : kMoments;
  }
  return {};
}

}  // namespace

Result<InetStates> observe_inet_states(system::Host& host) {
  auto addresses = host.inet.observe_addresses();
  if (!addresses) return base::fail(addresses.error());
  auto routes = host.inet.observe_routes();
  if (!routes) return base::fail(routes.error());
  InetStates out;
  for (const auto& address : *addresses) out.by_index[address.index].addresses.push_back(address);
  for (const auto& route : *routes) out.by_index[route.index].routes.push_back(route);
  return out;
}

const InetState& InetStates::of(int index) const {
  static const InetState kNothing;
  const auto at = by_index.find(index);
  return at == by_index.end() ? kNothing : at->second;
}

std::vector<std::string> missing_of(const NetworkdFile& file, const InetState& now) {
  std::vector<std::string> out;
  for (const auto& text : file.addresses.value_or(std::vector<std::string>{})) {
    const auto prefix = model::IpPrefix::parse(text);
    const bool there = !prefix || std::any_of(now.addresses.begin(), now.addresses.end(),
                                              [&](const auto& address) { return address.prefix == *prefix; });
    if (!there) out.push_back(text);
  }
  for (const auto& text : file.routes.value_or(std::vector<std::string>{})) {
    NetworkdFile alone;
    alone.routes = {text};
    const auto route = routes_in(alone);
    const bool there =
        route.empty() || std::any_of(now.routes.begin(), now.routes.end(),
                                     [&](const auto& held) { return same_place(held, route.front()); });
    if (!there) out.push_back(text);
  }
  return out;
}

std::vector<std::string> routes_lost(const Change& change, const system::Link& link, const InetState& now) {
  const auto before = model::from_attributes<NetworkdFile>(change.before);
  const auto stay = addresses_in(model::from_attributes<NetworkdFile>(change.after));
  const auto had = addresses_in(before);
  std::size_t going = 0;
  for (const auto& address : now.addresses) {
    if (!is_four(address.prefix)) continue;
    if (!contains(had, address.prefix) || contains(stay, address.prefix)) return {};
    ++going;
  }
  if (going == 0 || std::any_of(stay.begin(), stay.end(), is_four)) return {};
  const auto ours = routes_in(before);
  std::vector<std::string> out;
  for (const auto& route : now.routes) {
    const bool own = std::any_of(ours.begin(), ours.end(),
                                 [&](const system::InetRoute& listed) { return same_place(listed, route); });
    if (route.family != model::Family::kIpv4 || route.made_by_kernel || !route.via || own) continue;
    out.push_back(fmt::format(
        "the route to {} over {}, which the document does not list, is lost with the last IPv4 address of {}",
        route.to.text(), route.via->text(), link.name));
  }
  return out;
}

bool is_in_transition(std::string_view state) {
  return state == "pending" || state == "initialized" || state == "configuring";
}

void carry_network_files(std::span<Change*> changes, const World& world) {
  for (auto* change : changes) {
    const auto& id = change->key.id;
    const auto now = read_network_files(id, world.host().files);
    if (!now) continue;  // one that cannot be read is not compared either
    carry_older(*change, *now);
    if (now->text && render_network(id, parse_network(id, *now->text)) != *now->text)
      carry_text(*change, *now->text);
  }
}

Result<void> apply_networks(std::span<const Change> changes, system::Host& host) {
  std::vector<NetworkStep> steps;
  for (const auto& change : changes) {
    auto step = write(change, host);
    if (!step) return base::fail(step.error());
    steps.push_back(std::move(*step));
  }
  if (host.offline) return {};
  const auto world = World::observe_links(host);
  if (!world) return base::fail(world.error());
  const auto state = host.networkd.observe({});
  if (!state) return base::fail(state.error());
  if (auto done = release(steps, *world, host, state->has_value() ? Replaced::kLater : Replaced::kNow);
      !done || !*state)
    return done;
  if (std::any_of(steps.begin(), steps.end(), [](const NetworkStep& step) { return step.written; })) {
    if (auto done = host.networkd.reload(); !done) return done;
  }
  std::vector<Wait> waits;
  for (const auto& step : steps) {
    if (is_awaited(*step.change)) waits.push_back({&step});
  }
  if (auto done = bring_up(std::move(waits), host); !done) return done;
  return release(steps, *world, host, Replaced::kNow);
}

Result<void> finish_networks(std::span<const Change> changes, system::Host& host) {
  std::vector<NetworkStep> steps;
  for (const auto& change : changes) {
    NetworkStep step{
        &change, networkd_file(change.key.id), model::from_attributes<NetworkdFile>(change.before), {}, {},
        true};
    const auto now = read_network_files(change.key.id, host.files);
    if (!now) return base::fail(now.error());
    if (now->used()) step.stays = step.after = parse_network(change.key.id, *now->used());
    steps.push_back(std::move(step));
  }
  const auto world = World::observe_links(host);
  if (!world) return base::fail(world.error());
  if (auto done = release(steps, *world, host, Replaced::kNow); !done) return done;
  const auto state = host.networkd.observe({});
  if (!state) return base::fail(state.error());
  return *state ? host.networkd.reload() : Result<void>{};
}

}  // namespace rdmacfg::kinds::detail
