// SPDX-License-Identifier: Apache-2.0
// The document's P_Key interfaces.
#include <fmt/format.h>

#include "kinds/address/backend.hpp"
#include "kinds/address/port_backends.hpp"
#include "kinds/ipoib/link_settings.hpp"
#include "kinds/ipoib/pkey.hpp"
#include "kinds/ipoib/pkey_names.hpp"
#include "kinds/ports/name_template.hpp"

namespace rdmacfg::kinds::detail {

using model::Desired;
using model::Diagnostic;
using model::Diagnostics;
using model::Section;
using model::Severity;
using model::State;
using model::text_at;

namespace {

constexpr std::string_view kSection = "[[ipoib.pkey]]";

Diagnostic error_at(const model::Location& where, std::string message, std::string hint) {
  return {Severity::kError, where, std::move(message), std::move(hint), {}};
}

/// Wants it as it is.
void observe_only(Desired& desired, const Bound& bound) {
  const auto name = text_at(desired.settings, "name");
  // Of an interface that is to be down NetworkManager leaves the profile inactive, and makes none.
  const bool up = text_at(desired.settings, "state") == model::text_of(State::kUp);
  desired.settings.clear();
  if (up) desired.policy[std::string(kMadeWhenActive)] = true;
  const auto id = pkey_id(desired.key);
  const auto* link = id && bound.world != nullptr ? child_of(*id, *bound.world, name) : nullptr;
  if (link == nullptr || desired.ignore || desired.absent) return;
  desired.settings["name"] = link->name;
  describe(*link, desired.settings);
}

std::optional<State> state_of(const BoundPort& port) {
  const auto* entry = port.section->find("state");
  if (entry == nullptr) return std::nullopt;
  return model::from_attributes<PkeyLink>({{"state", entry->value}}).state;
}

/// "ib0.8002", the name that an interface without one in the document gets.
/// @param checked  whether its length matters
void name_by_port(const BoundPort& port, const Section& section, model::Pkey pkey, bool checked,
                  Desired& desired, Diagnostics& diagnostics) {
  auto name = fmt::format("{}.{:04x}", port.name, pkey.full());
  const auto* key = section.find("pkey");
  const auto where = key == nullptr ? section.where : key->where;
  if (checked && name.size() > model::kInterfaceNameMax) {
    diagnostics.push_back(
        error_at(where,
                 fmt::format("{}: the name \"{}\" would have {} characters, the kernel takes at most {}",
                             kSection, name, name.size(), model::kInterfaceNameMax),
                 fmt::format("add name = \"…\" here, or give the port a name of at most {} characters",
                             model::kInterfaceNameMax - 5)));
  }
  desired.origins.emplace("name", where);
  desired.settings["name"] = std::move(name);
}

/// Of an interface that is to be up over a port that is to be down.
void report_down_port(const Section& section, const Section& port, Diagnostics& diagnostics) {
  const auto *state = section.find("state"), *state_of_port = port.find("state");
  if (state == nullptr || state_of_port == nullptr) return;
  auto& diagnostic = diagnostics.emplace_back(error_at(
      state->where,
      fmt::format(
          "{} state: over a port that is down it has no carrier, and the kernel sets it down with the port",
          kSection),
      "leave state out to follow the port, or set the port to \"up\""));
  diagnostic.related.push_back({state_of_port->where, "the port is to be down"});
}

Desired parse_one(const BoundPort& port, const Section& section, PkeyNames& names, Diagnostics& diagnostics) {
  Desired desired;
  const auto written = model::from_attributes<PkeyLink>(section.attributes());
  const auto pkey = written.pkey.value_or(model::Pkey{});
  desired.key = {"pkey", fmt::format("{}/{}", port.id, pkey.text())};
  desired.where = section.where;
  desired.pending = port.pending;
  if (const auto* key = section.find("pkey")) desired.origins.emplace("pkey", key->where);
  if (const auto* name = section.find("name")) {
    if (auto usable = expand(model::NameTemplate{model::text_of(name->value)}, std::nullopt); !usable) {
      diagnostics.push_back(
          error_at(name->where, fmt::format("{} name: {}", kSection, usable.error().message), ""));
    }
  }
  for (const auto& spec : model::specs<PkeyLink>()) {
    const auto* entry = section.find(spec.name);
    if (entry == nullptr || spec.role == model::Role::kFact || spec.role == model::Role::kIdentity) continue;
    (spec.role == model::Role::kPolicy ? desired.policy : desired.settings).emplace(spec.name, entry->value);
    desired.origins.emplace(spec.name, entry->where);
  }
  const auto of_port = state_of(port);
  desired.ignore = written.state == State::kIgnore || of_port == State::kIgnore;
  desired.absent = !desired.ignore && written.state == State::kAbsent;
  const bool has_name = !desired.ignore && !desired.absent;  // else it gets none from us
  if (!written.name && !port.name.empty()) name_by_port(port, section, pkey, has_name, desired, diagnostics);
  desired.netdev = text_at(desired.settings, "name");
  desired.label =
      desired.netdev.empty() ? fmt::format("P_Key {} of {}", pkey.text(), port.label) : desired.netdev;
  if (has_name && desired.settings.contains("name")) {
    names.claim(desired.label, desired.origins.at("name"), kSection);
    if (written.mode == model::IpoibMode::kConnected && !port.name.empty()) {
      for (const auto& first : first_names(port.name, pkey)) names.needs(first, desired.label, section.where);
    }
  }
  check_mode_and_mtu(desired, kSection, diagnostics);
  if (written.state == State::kUp && of_port == State::kDown)
    report_down_port(section, *port.section, diagnostics);
  if (!written.state)
    desired.settings["state"] =
        std::string(model::text_of(of_port == State::kDown ? State::kDown : State::kUp));
  if (desired.ignore || desired.absent || desired.pending) desired.settings.clear();
  desired.needs = {{"link_name", port.id}, {"ipoib", port.id}};
  return desired;
}

}  // namespace

void parse_children(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) {
  PkeyNames names(diagnostics);
  for (const auto& port : bound.ports) {
    if (port.names && state_of(port) != State::kIgnore)
      names.claim(port.name, port.section->find("name")->where, "[[ipoib]]");
  }
  const Backends backends(bound);
  for (const auto& port : bound.ports) {
    const bool theirs = backends.of(port) == model::Backend::kNetworkManager;
    for (const auto& section : port.section->children) {
      if (section.path != "ipoib.pkey") continue;
      out.push_back(parse_one(port, section, names, diagnostics));
      // NetworkManager makes it from its profile; this only looks.
      if (theirs) observe_only(out.back(), bound);
    }
  }
  names.check_first_names();
}

}  // namespace rdmacfg::kinds::detail
