// SPDX-License-Identifier: Apache-2.0
// How .network files become true.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kinds/direct.hpp"
#include "kinds/networkd.hpp"

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
struct Step {
  const Change* change = nullptr;
  NetworkdFile before;
  NetworkdFile after;
  bool written = false;  ///< the file is another one now
};

bool same_place(const system::InetRoute& a, const system::InetRoute& b) {
  return a.family == b.family && a.to == b.to && a.metric == b.metric && a.table == b.table && a.via == b.via;
}

template <class List>
bool contains(const List& list, const typename List::value_type& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

Result<Step> write(const Change& change, system::Host& host) {
  Step step{&change, {}, {}, false};
  const auto path = networkd_file(change.key.id);
  const auto text = host.files.read(path);
  if (!text) return base::fail(text.error());
  if (*text) step.before = parse_network(change.key.id, **text);
  if (change.operation == Operation::kDelete) {
    step.written = text->has_value();
    if (auto done = host.files.remove(path); !done) return base::fail(done.error());
    return step;
  }
  step.after = model::from_attributes<NetworkdFile>(change.after);
  const auto content = render_network(change.key.id, step.after);
  step.written = *text != content;
  if (auto done = host.files.write(path, content); !done) return base::fail(done.error());
  return step;
}

/// Takes away what a file had and has no longer: systemd-networkd is told to keep what it finds, since others
/// may have set it.
Result<void> release(const std::vector<Step>& steps, const World& world, system::Host& host) {
  const auto addresses = host.inet.observe_addresses();
  if (!addresses) return base::fail(addresses.error());
  const auto routes = host.inet.observe_routes();
  if (!routes) return base::fail(routes.error());
  std::vector<system::InetRequest> requests;
  std::set<std::pair<int, model::IpPrefix>> going;
  for (const auto& step : steps) {
    const auto* link = interface_of(step.change->key.id, world);
    if (link == nullptr) continue;
    const auto kept = routes_in(step.after);
    const auto stay = addresses_in(step.after);
    for (const auto& route : routes_in(step.before)) {
      if (contains(kept, route)) continue;
      for (const auto& one : *routes) {
        if (one.index == link->index && same_place(one, route))
          requests.emplace_back(system::DeleteRoute{link->name, one});
      }
    }
    for (const auto& prefix : addresses_in(step.before)) {
      const bool there = std::any_of(addresses->begin(), addresses->end(), [&](const auto& one) {
        return one.index == link->index && one.prefix == prefix;
      });
      if (there && !contains(stay, prefix)) going.emplace(link->index, prefix);
    }
  }
  for (auto& request : address_deletions(going, *addresses, world)) requests.push_back(std::move(request));
  return requests.empty() ? Result<void>{} : host.inet.execute(requests);
}

/// Waits until everything of a file is there. Without carrier some of it cannot be, and comes with it.
Result<void> bring_up(const Step& step, system::Host& host) {
  bool again = false;
  for (int moment = 0;; ++moment) {
    const auto world = World::observe_links(host);
    if (!world) return base::fail(world.error());
    const auto* link = interface_of(step.change->key.id, *world);
    if (link == nullptr)
      return base::fail(base::Code::kNotFound,
                        fmt::format("{}: the interface is not there", step.change->label));
    const auto addresses = host.inet.observe_addresses();
    if (!addresses) return base::fail(addresses.error());
    const auto routes = host.inet.observe_routes();
    if (!routes) return base::fail(routes.error());
    const std::vector<int> index{link->index};
    const auto state = host.networkd.observe(index);
    if (!state) return base::fail(state.error());
    if (!*state) return {};  // it was stopped meanwhile
    const auto now = (*state)->empty() ? NetworkdLink{} : (*state)->front();
    const bool its = now.file == networkd_file(step.change->key.id);
    if (its && in_effect(step.after, link->index, *addresses, *routes)) return {};
    if (!again && (!step.written || now.state == "failed" || moment >= kBegun)) {
      again = true;
      if (auto done = host.networkd.reconfigure(link->index); !done) return done;
      continue;
    }
    const bool waits = its && !link->carrier;
    const bool other = !its && !now.file.empty() && moment >= 2 * kBegun;
    const bool enough = other || moment >= (waits ? kBegun : kMoments);
    if (!enough && host.networkd.pause(kMoment)) continue;
    if (its && !link->carrier) return {};
    if (!its && !now.file.empty())
      return base::fail(base::Code::kRefused,
                        fmt::format("{}: systemd-networkd uses {} for it, which sorts before ours; take the "
                                    "interface out of its [Match]",
                                    link->name, now.file));
    return base::fail(
        base::Code::kTimeout,
        fmt::format("{}: systemd-networkd has not set what {} says in time (it is {}; journalctl "
                    "-u systemd-networkd says why)",
                    link->name, networkd_file(step.change->key.id),
                    now.state.empty() ? "unknown to it" : now.state));
  }
}

}  // namespace

bool in_effect(const NetworkdFile& file, int index, const std::vector<system::InetAddress>& addresses,
               const std::vector<system::InetRoute>& routes) {
  for (const auto& prefix : addresses_in(file)) {
    const bool there = std::any_of(addresses.begin(), addresses.end(), [&](const auto& one) {
      return one.index == index && one.prefix == prefix;
    });
    if (!there) return false;
  }
  for (const auto& route : routes_in(file)) {
    const bool there = std::any_of(routes.begin(), routes.end(), [&](const auto& one) {
      return one.index == index && same_place(one, route);
    });
    if (!there) return false;
  }
  return true;
}

Result<void> apply_networks(std::span<const Change> changes, system::Host& host) {
  std::vector<Step> steps;
  for (const auto& change : changes) {
    auto step = write(change, host);
    if (!step) return base::fail(step.error());
    steps.push_back(std::move(*step));
  }
  if (host.offline) return {};
  const auto world = World::observe_links(host);
  if (!world) return base::fail(world.error());
  if (auto done = release(steps, *world, host); !done) return done;
  const auto state = host.networkd.observe({});
  if (!state) return base::fail(state.error());
  if (!*state) return {};
  if (std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.written; })) {
    if (auto done = host.networkd.reload(); !done) return done;
  }
  for (const auto& step : steps) {
    const auto wanted = model::from_attributes<NetworkdFile>(step.change->after).active;
    if (!wanted || !*wanted) continue;
    if (auto done = bring_up(step, host); !done) return done;
  }
  return {};
}

Result<void> finish_networks(std::span<const Change> changes, system::Host& host) {
  std::vector<Step> steps;
  for (const auto& change : changes) {
    Step step{&change, model::from_attributes<NetworkdFile>(change.before), {}, true};
    const auto text = host.files.read(networkd_file(change.key.id));
    if (!text) return base::fail(text.error());
    if (*text) step.after = parse_network(change.key.id, **text);
    steps.push_back(std::move(step));
  }
  const auto world = World::observe_links(host);
  if (!world) return base::fail(world.error());
  if (auto done = release(steps, *world, host); !done) return done;
  const auto state = host.networkd.observe({});
  if (!state) return base::fail(state.error());
  return *state ? host.networkd.reload() : Result<void>{};
}

}  // namespace rdmacfg::kinds::detail
