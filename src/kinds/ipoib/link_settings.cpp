// SPDX-License-Identifier: Apache-2.0
#include "kinds/ipoib/link_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "kinds/entry.hpp"
#include "kinds/ipoib/ipoib.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Desired;
using model::Diagnostic;
using model::Diagnostics;
using model::IpoibMode;
using model::Mtu;
using model::Severity;
using model::State;
using system::Link;

namespace {

Diagnostic at(const Desired& desired, Severity severity, std::string_view field, std::string message,
              std::string hint) {
  const auto origin = desired.origins.find(std::string(field));
  return {severity,
          origin == desired.origins.end() ? desired.where : origin->second,
          std::move(message),
          std::move(hint),
          {}};
}

/// The name of IPoIB that has no connected mode, and the ways out.
struct DatagramOnly {
  std::string_view called, hint;
};

/// Omni-Path has accelerated IPoIB of its own (HFI1_CAP_AIP in drivers/infiniband/hw/hfi1).
DatagramOnly datagram_only(const std::optional<PortRef>& port) {
  if (port && port->device->driver == "hfi1")
    return {"accelerated (AIP)",
            "set mode = \"datagram\" (mtu at most 10236), or on_unsupported = \"datagram\"; hfi1 supports "
            "connected mode if it is loaded with a cap_mask without the bit 0x80000"};
  return {"enhanced",
          "set mode = \"datagram\" (mtu at most 4092), or on_unsupported = \"datagram\"; vendor drivers also "
          "have a module option ipoib_enhanced=0"};
}

/// The mode that the interface will have: the one asked for, the one that it goes back to when the document
/// no longer asks for one, the one that it has. A new one is datagram, whatever its parent is.
IpoibMode mode_to_be(const Desired& desired, const model::Observed* observed, const World& world) {
  if (const auto wanted = model::from_attributes<Ipoib>(desired.settings).mode) return *wanted;
  if (observed == nullptr) return IpoibMode::kDatagram;
  const auto& known_identity = world.known_identity(desired.key);
  if (known_identity.instance == observed->instance) {
    if (const auto before = model::from_attributes<Ipoib>(known_identity.before).mode) return *before;
  }
  return model::from_attributes<Ipoib>(observed->settings).mode.value_or(IpoibMode::kDatagram);
}

}  // namespace

void check_mode_and_mtu(const Desired& desired, std::string_view section, Diagnostics& diagnostics) {
  const auto wanted = model::from_attributes<Ipoib>(desired.settings);
  if (!wanted.mtu || wanted.mode == IpoibMode::kConnected) return;
  constexpr auto kLeast = model::kMtuMin + model::kIpoibHeader;  // ipoib_change_mtu()
  if (wanted.mtu->bytes < kLeast) {
    diagnostics.push_back(at(desired, Severity::kError, "mtu",
                             fmt::format("{} mtu: {} is less than the {} that datagram mode needs", section,
                                         wanted.mtu->bytes, kLeast),
                             fmt::format("set an mtu of at least {}", kLeast)));
  }
  if (wanted.mtu->bytes <= model::kMtuDatagramMax) return;
  diagnostics.push_back(
      at(desired, Severity::kError, "mtu",
         fmt::format("{} mtu: {} is only possible in connected mode{}", section, wanted.mtu->bytes,
                     wanted.mode ? ", but mode is \"datagram\"" : ""),
         wanted.mode ? "set mode = \"connected\", or an mtu of at most 4092 (2044 on a 2048-byte fabric)"
                     : "add mode = \"connected\""));
}

void check_capability(Desired& desired, const model::Observed* observed, const Link& link,
                      std::string_view section, model::Guid guid, World& world, Diagnostics& diagnostics) {
  auto wanted = model::from_attributes<Ipoib>(desired.settings);
  const auto policy =
      model::from_attributes<Ipoib>(desired.policy).on_unsupported.value_or(model::OnUnsupported::kFail);
  const auto port = world.port(guid);
  const auto datagram_max = [&]() -> std::optional<std::int64_t> {
    if (!port) return std::nullopt;
    const auto& mtu = world.mtu(*port);
    if (!mtu || mtu->max <= 0) return std::nullopt;
    return mtu->max - model::kIpoibHeader;
  };
  if (wanted.mode == IpoibMode::kConnected && !link.ipoib->connected_capable) {
    const std::string who =
        port ? fmt::format("{} ({})", port->device->name, port->device->driver) : link.name;
    const auto only = datagram_only(port);
    const auto message =
        fmt::format("{} mode: {} does not support connected mode: its IPoIB is {}, datagram only", section,
                    who, only.called);
    if (policy == model::OnUnsupported::kFail) {
      diagnostics.push_back(at(desired, Severity::kError, "mode", message, std::string(only.hint)));
      diagnostics.back().related.push_back(takes_default(desired.where));
      return;
    }
    wanted.mode = IpoibMode::kDatagram;
    desired.settings["mode"] = std::string(model::text_of(IpoibMode::kDatagram));
    if (const auto max = datagram_max();
        wanted.mtu && wanted.mtu->bytes > max.value_or(model::kMtuDatagramMax)) {
      // A caller that may not ask the port wants the present value: nobody is to set what another run, which
      // may, did not.
      wanted.mtu.reset();
      if (max || observed != nullptr) wanted.mtu = Mtu{max.value_or(link.mtu)};
      desired.settings.erase("mtu");
      if (wanted.mtu) desired.settings["mtu"] = wanted.mtu->bytes;
    }
    diagnostics.push_back(
        at(desired, Severity::kWarning, "mode", message,
           wanted.mtu ? fmt::format("on_unsupported = \"datagram\": datagram mode and mtu {} are used",
                                    wanted.mtu->bytes)
                      : "on_unsupported = \"datagram\": datagram mode is used"));
  }
  if (!wanted.mtu) return;
  if (mode_to_be(desired, observed, world) == IpoibMode::kConnected) return;
  const auto now =
      model::from_attributes<Ipoib>(observed == nullptr ? model::Attributes{} : observed->settings);
  if (now.mode == IpoibMode::kDatagram && now.mtu == wanted.mtu) return;  // the kernel has taken it
  const auto max = datagram_max();
  if (max && wanted.mtu->bytes > *max) {
    const bool goes_back = !wanted.mode && now.mode == IpoibMode::kConnected;
    diagnostics.push_back(
        at(desired, Severity::kError, "mtu",
           fmt::format("{} mtu: {} exceeds the {} of datagram mode on {}'s {}-byte IB link{}", section,
                       wanted.mtu->bytes, *max, link.name, *max + model::kIpoibHeader,
                       goes_back ? "; it returns to that mode, since the document no longer sets mode" : ""),
           fmt::format("set mtu = {}{}", *max,
                       link.ipoib->connected_capable ? ", or mode = \"connected\" for up to 65520" : "")));
    diagnostics.back().related.push_back(takes_default(desired.where));
  }
}

void warn_of_mtu_in_bond(const Desired& desired, const Link& link, std::string_view section,
                         const World& world, Diagnostics& diagnostics) {
  const auto wanted = model::from_attributes<Ipoib>(desired.settings).mtu;
  const auto* master = link.master == 0 ? nullptr : world.link(link.master);
  if (!wanted || !desired.origins.contains("mtu") || master == nullptr || master->kind != "bond" ||
      master->mtu == wanted->bytes)
    return;
  diagnostics.push_back(
      at(desired, Severity::kWarning, "mtu",
         fmt::format("{} mtu: {} is in {}, whose MTU of {} applies to all packets", section, link.name,
                     master->name, master->mtu),
         fmt::format(
             "set the MTU of {0} where it is configured (at once: ip link set {0} mtu {1}), or leave mtu out",
             master->name, wanted->bytes)));
}

void describe(const Link& link, model::Attributes& settings) {
  Ipoib now;
  now.mode = link.ipoib->mode;
  now.mtu = Mtu{link.mtu};
  now.umcast = link.ipoib->umcast;
  now.state = link.up ? State::kUp : State::kDown;
  settings.merge(model::to_attributes(now));
}

Membership membership(const PortRef& port, model::Pkey pkey, World& world) {
  const auto& table = world.pkeys(port);
  if (!table) return Membership::kUnknown;
  auto found = Membership::kNone;
  for (const auto entry : *table) {
    if ((entry & 0x7fffU) != pkey.partition()) continue;
    if ((entry & 0x8000U) != 0) return Membership::kFull;
    found = Membership::kLimited;
  }
  return found;
}

std::string_view text_of(Membership membership) {
  switch (membership) {
    case Membership::kFull:
      return "full";
    case Membership::kLimited:
      return "limited";
    case Membership::kNone:
      return "none";
    case Membership::kUnknown:
      break;
  }
  return "unknown";
}

std::string why_no_carrier(const Link& link, const std::optional<PortRef>& port, World& world) {
  if (!link.up || link.carrier || !port) return {};
  const auto& p = *port->port;
  const auto where = fmt::format("{} port {}", port->device->name, p.number);
  if (p.state == "INIT" || p.state == "ARMED") {
    return fmt::format("no carrier: no subnet manager has configured {} (state {})", where, p.state);
  }
  if (p.state != "ACTIVE" && !p.state.empty()) {
    return fmt::format("no carrier: {} has no link (state {}, {})", where, p.state, p.physical_state);
  }
  if (membership(*port, link.ipoib->pkey, world) == Membership::kNone) {
    return fmt::format(
        "no carrier: P_Key {} is not in the table of {}; the subnet manager must make the port a member of "
        "that partition",
        link.ipoib->pkey.text(), where);
  }
  if (!world.settled) return {};  // the join to the multicast group may still be under way
  if (link.parent != 0) {
    if (const auto* parent = world.link(link.parent); parent != nullptr && !parent->up) return {};
  }
  if (world.cut_short)
    return "no carrier: the interface did not join its multicast group within the wait time";
  return "no carrier: the subnet manager has not let the interface join its multicast group";
}

std::string words_for_no_carrier(const Link& link, World& world) {
  auto why = why_no_carrier(link, world.port(link.ipoib->guid), world);
  return why.empty() ? "no carrier" : why;
}

std::string why_mtu_limited(const Desired& desired, const Link& link) {
  const auto wanted = model::from_attributes<Ipoib>(desired.settings);
  if (link.ipoib->mode != IpoibMode::kDatagram || !wanted.mtu || link.mtu >= wanted.mtu->bytes) return {};
  if (wanted.mode == IpoibMode::kConnected) return {};
  return fmt::format(
      "the fabric's multicast group of P_Key {} has an MTU of {}, so the kernel keeps {}; raise it at the "
      "subnet manager (OpenSM: mtu=5 for 4096)",
      link.ipoib->pkey.text(), link.mtu + model::kIpoibHeader, link.mtu);
}

Result<std::set<model::Key>> mtu_limits_standing(
    std::span<const model::Change> limited, system::Host& host,
    const std::function<const Link*(const model::Key&, const World&)>& link_of) {
  auto world = World::observe_links(host);
  if (!world) return base::fail(world.error());
  std::vector<system::LinkRequest> again;
  for (const auto& change : limited) {
    const auto* link = link_of(change.key, *world);
    const auto wanted = model::from_attributes<Ipoib>(change.after);
    // Enhanced IPoIB closes and opens all channels for each write of an MTU, also of the same one
    // (mlx5i_change_mtu()): the loss is worse than taking another one's write for a limit.
    if (link != nullptr && wanted.mtu && link->ipoib && link->ipoib->connected_capable)
      again.emplace_back(system::SetLink{.index = link->index, .mtu = wanted.mtu->bytes});
  }
  if (!again.empty()) {
    if (auto done = host.links.execute(again); !done) return base::fail(done.error());
    if (world = World::observe_links(host); !world) return base::fail(world.error());
  }
  std::set<model::Key> standing;
  for (const auto& change : limited) {
    const auto* link = link_of(change.key, *world);
    const auto wanted = model::from_attributes<Ipoib>(change.after);
    const bool asked = link != nullptr && link->ipoib && link->ipoib->connected_capable;
    if (!asked || !wanted.mtu || link->mtu < wanted.mtu->bytes) standing.insert(change.key);
  }
  return standing;
}

Result<std::optional<system::SetLink>> reach(const Link& link, const model::Attributes& after,
                                             system::Host& host) {
  const auto wanted = model::from_attributes<Ipoib>(after);
  const bool new_mode = wanted.mode && *wanted.mode != link.ipoib->mode;
  if (new_mode) {
    auto done = host.ipoib.write_mode(link.name, *wanted.mode);
    // EBUSY only says that RTNL was lost after the mode was set; the verification decides.
    if (!done && done.error().sys_errno != EBUSY) return base::fail(done.error());
  }
  system::SetLink set{.index = link.index};
  if (wanted.mtu && (new_mode || wanted.mtu->bytes != link.mtu)) set.mtu = wanted.mtu->bytes;
  if (wanted.umcast && *wanted.umcast != link.ipoib->umcast) set.umcast = wanted.umcast;
  if (wanted.state && (*wanted.state == State::kUp) != link.up) set.up = *wanted.state == State::kUp;
  if (!set.mtu && !set.umcast && !set.up) return std::nullopt;
  return set;
}

bool mtu_fits_mode(std::string_view field, const model::Attributes& before, const model::Attributes& then) {
  return field != "mtu" || model::value_of(before, "mode") == model::value_of(then, "mode");
}

bool stops_ipv6(const model::Change& change) {
  const auto before = model::from_attributes<Ipoib>(change.before);
  const auto after = model::from_attributes<Ipoib>(change.after);
  return after.mtu && after.mtu->bytes < model::kMtuIpv6Min &&
         (!before.mtu || before.mtu->bytes >= model::kMtuIpv6Min);
}

void watch_transport(const model::ResourceReport& resource, IpoibLink link, system::Settings& out) {
  if (!resource.there) return;  // no interface (yet), so that the label is the port's
  const auto folder = "/sys/class/net/" + resource.label;
  if (link == IpoibLink::kPort) out.files.insert(folder + "/mode");
  for (const auto& attribute : resource.attributes) {
    if (attribute.name == "mode" && model::text_of(attribute.now) == model::text_of(IpoibMode::kConnected))
      out.files.insert(folder + "/mode");
    if (attribute.name == "umcast" && attribute.wanted != model::Value{})
      out.files.insert(folder + "/umcast");
  }
}

Result<Waited> await_join(std::span<const model::Change> changes, World& now,
                          std::chrono::milliseconds deadline,
                          const std::function<const Link*(const model::Key&, const World&)>& link_of) {
  constexpr std::int64_t kSafe = 2044;  // every multicast group has at least 2048
  const auto depends = [](const model::Change& change) {
    const auto wanted = model::from_attributes<Ipoib>(change.after);
    return wanted.mtu && wanted.mtu->bytes > kSafe && wanted.mtu->bytes <= model::kMtuDatagramMax;
  };
  std::set<model::Guid> answered;  // ports where a changed interface has carrier, or is waited for already
  std::vector<const Link*> joining;
  std::vector<int> awaited;
  for (const auto& change : changes) {
    const auto* link = change.operation == model::Operation::kDelete ? nullptr : link_of(change.key, now);
    if (link == nullptr || !link->up) continue;
    if (link->carrier) {
      answered.insert(link->ipoib->guid);
      continue;
    }
    const auto port = now.port(link->ipoib->guid);
    if (!port || port->port->state != "ACTIVE") continue;
    if (membership(*port, link->ipoib->pkey, now) == Membership::kNone) continue;
    if (depends(change) && link->ipoib->mode == IpoibMode::kDatagram) {
      awaited.push_back(link->index);
    } else {
      joining.push_back(link);
    }
  }
  for (const auto* link : joining) {
    if (answered.insert(link->ipoib->guid).second) awaited.push_back(link->index);
  }
  if (awaited.empty()) return Waited::kNot;
  auto without = now.host().links.wait_for_carrier(awaited, deadline);
  if (!without) return base::fail(without.error());
  return without->empty() ? Waited::kEnough : Waited::kInVain;
}

}  // namespace rdmacfg::kinds
