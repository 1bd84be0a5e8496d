// SPDX-License-Identifier: Apache-2.0
// Mode and MTU beneath a profile, for undoing. NetworkManager 1.42 leaves a mode as it has set it when the
// profile goes, and the MTU that the kernel has chosen along with it; a profile that is applied again without
// an MTU leaves the one that it had.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "kinds/ipoib/ipoib.hpp"
#include "kinds/ipoib/link_settings.hpp"
#include "kinds/managers/nm_profile.hpp"

namespace rdmacfg::kinds::detail {

using base::Result;
using model::Change;

namespace {

constexpr std::string_view kThen = "transport ";  // in Change::carried: "transport connected 65520"
constexpr int kAttempts = 2;                      // what the kernel gives less of the second time is a limit

Ipoib now_of(const system::Link& link) {
  Ipoib out;
  out.mode = link.ipoib->mode;
  out.mtu = model::Mtu{link.mtu};
  return out;
}

std::optional<Ipoib> then_of(const Change& change) {
  for (const auto& text : change.carried) {
    if (!text.starts_with(kThen)) continue;
    const auto words = base::split(std::string_view(text).substr(kThen.size()), ' ');
    if (words.size() != 2) continue;
    const auto mode = model::Codec<model::IpoibMode>::parse(model::Value(std::string(words[0])));
    const auto mtu = base::parse_number(words[1]);
    if (!mode || !mtu) continue;
    Ipoib out;
    out.mode = *mode;
    out.mtu = model::Mtu{static_cast<std::int64_t>(*mtu)};
    return out;
  }
  return std::nullopt;
}

/// Without what a profile of ours says, which NetworkManager sets.
Ipoib not_in_profile(const std::string& id, Ipoib then, system::Files& files) {
  const auto text = files.read(nm_file(id));
  if (text && !*text) return then;
  if (!text) return {};  // nobody knows; comparing the profiles says so
  const auto profile = parse_keyfile(**text);
  if (profile.autoconnect == false) return then;
  // An MTU belongs to the mode in which it was.
  if (profile.mtu || (profile.mode && profile.mode != then.mode)) then.mtu.reset();
  if (profile.mode) then.mode.reset();
  return then;
}

/// The way back of the interfaces of some changes.
class Return {
 public:
  Return(std::span<const Change> changes, system::Host& host) : changes_(changes), host_(host) {}

  std::vector<std::string> run() {
    for (int attempt = 0;; ++attempt) {
      const auto world = World::observe(host_);
      if (!world) return {"mode and MTU could not be observed after undoing: " + world.error().message};
      const auto left = differing(*world);
      if (left.empty() || attempt == kAttempts) return sentences(left, *world);
      for (const auto& [change, wanted] : left) write(*change, wanted, *interface_of(change->key.id, *world));
    }
  }

 private:
  using Differing = std::vector<std::pair<const Change*, Ipoib>>;

  /// Anything that is not as it was, by resource. Of an object that came since nothing is known; of changes
  /// in two runs the first one's is what was.
  [[nodiscard]] Differing differing(const World& world) const {
    Differing out;
    std::set<std::string_view> seen;
    for (const auto& change : changes_) {
      const auto& id = change.key.id;
      const auto then = then_of(change);
      const auto* link = interface_of(id, world);
      const auto* port = interface_of(id.substr(0, id.find('/')), world);
      if (!then || link == nullptr || parent_object_on(port, world) != change.parent_object) continue;
      if (!seen.insert(id).second) continue;
      auto wanted = not_in_profile(id, *then, host_.files);
      const auto now = now_of(*link);
      if (wanted.mode == now.mode) wanted.mode.reset();
      if (!wanted.mode && wanted.mtu == now.mtu) wanted.mtu.reset();
      if (wanted.mode || wanted.mtu) out.emplace_back(&change, wanted);
    }
    return out;
  }

  void write(const Change& change, const Ipoib& wanted, const system::Link& link) {
    errors_.erase(&change);
    const auto rest = reach(link, model::to_attributes(wanted), host_);
    auto done = rest ? Result<void>{} : Result<void>(base::fail(rest.error()));
    if (rest && *rest) done = host_.links.execute(std::vector<system::LinkRequest>{**rest});
    if (!done) errors_.emplace(&change, done.error().message);
  }

  std::vector<std::string> sentences(const Differing& left, const World& world) const {
    std::vector<std::string> out;
    for (const auto& [change, wanted] : left) {
      const auto now = now_of(*interface_of(change->key.id, world));
      const auto error = errors_.find(change);
      // The multicast group may allow less than it did.
      const bool capped =
          !wanted.mode && now.mode == model::IpoibMode::kDatagram && now.mtu->bytes < wanted.mtu->bytes;
      if (capped && error == errors_.end()) continue;
      const auto is = model::to_attributes(now);
      for (const auto& [field, was] : model::to_attributes(wanted)) {
        if (model::value_of(is, field) == was) continue;
        out.push_back(fmt::format("{} {}: {} of the interface is {}, was {}{}", change->key.kind,
                                  change->label, field, model::text_of(model::value_of(is, field)),
                                  model::text_of(was),
                                  error == errors_.end() ? "" : " (" + error->second + ")"));
      }
    }
    return out;
  }

  std::span<const Change> changes_;
  system::Host& host_;
  std::map<const Change*, std::string> errors_;
};

}  // namespace

void carry_transport(std::span<Change*> changes, const World& world) {
  for (auto* change : changes) {
    const auto* link = interface_of(change->key.id, world);
    if (link == nullptr) continue;
    change->carried.push_back(fmt::format("{}{} {}", kThen, text_of(link->ipoib->mode), link->mtu));
  }
}

std::vector<std::string> bring_transport_back(std::span<const Change> changes, system::Host& host) {
  if (host.offline) return {};
  return Return(changes, host).run();
}

}  // namespace rdmacfg::kinds::detail
