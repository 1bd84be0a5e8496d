// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/lossless.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "kinds/ethernet/dcb.hpp"
#include "kinds/ethernet/dcb_classes.hpp"
#include "kinds/ethernet/dcb_refusals.hpp"
#include "kinds/ethernet/roce_ports.hpp"
#include "model/types/port_types.hpp"

namespace rdmacfg::kinds {

using model::Diagnostic;
using model::Diagnostics;
using model::Section;
using model::Severity;

namespace {

constexpr std::uint8_t kPriority = 3;
constexpr std::uint8_t kDscp = 26;  // AF31, what most vendors' guides take for RoCE
constexpr unsigned kToSDscpShift = 2;

std::string text_in(const Section& section, std::string_view key) {
  const auto* entry = section.find(key);
  return entry == nullptr ? std::string() : model::text_of(entry->value);
}

std::optional<unsigned> number_in(const Section& section, std::string_view key) {
  const auto number = base::parse_number(text_in(section, key));
  return number ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
}

/// The DSCP of a RoCE port's connections and where it is said.
struct Marking {
  unsigned dscp = 0;
  const model::Entry* entry = nullptr;
};

std::optional<Marking> marking_of(const Section& roce) {
  const auto found = roce_marking(roce);
  const auto number = number_in(roce, found.is_dscp ? "dscp" : "tos");
  if (!number) return std::nullopt;
  return Marking{found.is_dscp ? *number : *number >> kToSDscpShift, found.entry};
}

std::vector<PortRef> roce_ports(const std::string& interface, const World& world) {
  const auto* link = world.named(interface);
  if (link == nullptr) return {};
  auto ports = ports_over(*link, world);
  std::erase_if(ports, [](const PortRef& port) { return port.port->link_layer != "Ethernet"; });
  return ports;
}

/// Where flow control is set for an interface: a bond has none, its ports do, and at boot it may have no port
/// yet.
std::vector<std::string> flow_controlled(const std::string& interface, const World& world) {
  const auto* link = world.named(interface);
  if (link == nullptr || link->kind != "bond") return {interface};
  std::vector<std::string> ports;
  for (const auto& other : world.snapshot().links) {
    if (other.master == link->index) ports.push_back(other.name);
  }
  return ports;
}

/// The result of a preset on a driver and its adapter.
struct Chain {
  std::optional<model::TrafficClasses> classes;
  std::optional<model::Bandwidth> bandwidth;
  bool by_dscp = true;
};

/// DCB of an interface now; nothing without a host, or where it has none (yet).
std::optional<system::DcbState> dcb_of(const std::string& interface, const World& world) {
  if (world.offline()) return std::nullopt;
  auto state = world.host().dcb.observe_dcb(interface);
  return state ? std::move(*state) : std::nullopt;
}

bool takes_dscp(const std::optional<system::DcbState>& state) {
  const auto trust = dcb_driver(state ? state->driver : std::string()).dscp;
  return trust == DscpTrust::kHardware || trust == DscpTrust::kUnknown;
}

Chain chain_on(const std::optional<system::DcbState>& state, unsigned priority) {
  constexpr std::uint8_t kHalf = 50;
  const auto& driver = dcb_driver(state ? state->driver : std::string());
  Chain out{.classes = {}, .bandwidth = {}, .by_dscp = takes_dscp(state)};
  const unsigned count = state ? classes_of(*state) : model::kPriorities;
  const bool only_pfc = state && !state->ets && state->pfc;
  if (only_pfc || count < 2) return out;
  out.bandwidth.emplace();
  if (driver.identity_by_dscp && out.by_dscp) {
    // Each DSCP that is not listed leads to some class: none of them starves.
    if (priority >= count) return {.classes = {}, .bandwidth = {}, .by_dscp = true};
    const auto each = static_cast<std::uint8_t>(kHalf / (count - 1));
    for (unsigned i = 0; i < count; ++i) out.bandwidth->percent[i] = i == priority ? kHalf : each;
    out.bandwidth->percent[priority == 0 ? 1 : 0] += static_cast<std::uint8_t>(kHalf % (count - 1));
    return out;
  }
  out.classes.emplace().of[priority] = 1;
  out.bandwidth->percent[0] = out.bandwidth->percent[1] = kHalf;
  return out;
}

template <class T>
void fill(Section& section, const std::string& key, const T& value, const model::Location& where) {
  section.entries.try_emplace(key, model::Entry{model::Codec<T>::value(value), where, false});
}

Section& add_entry(std::vector<Section>& sections, const std::string& path, const Section& preset) {
  Section made;
  made.path = path;
  made.where = preset.where;
  sections.push_back(std::move(made));
  return sections.back();
}

/// Places of the [[pfc]] entries, by their interface; the first of one counts.
std::map<std::string, std::size_t> pfc_places(std::span<const Section> sections) {
  std::map<std::string, std::size_t> out;
  for (std::size_t at = 0; at < sections.size(); ++at) {
    if (sections[at].path == "pfc") out.emplace(text_in(sections[at], "interface"), at);
  }
  return out;
}

RoceEntries roce_entries(std::span<const Section> sections, const DeviceNames& names, const World& world) {
  RoceEntries out(names, world);
  for (std::size_t at = 0; at < sections.size(); ++at) {
    if (sections[at].path == "roce") out.add(at, sections[at]);
  }
  return out;
}

class Linter {
 public:
  Linter(std::span<const Section> sections, const World& world, Diagnostics& diagnostics)
      : sections_(sections),
        names_(DeviceNames::of(sections, world)),
        roce_(roce_entries(sections, names_, world)),
        pfc_(pfc_places(sections)),
        world_(world),
        diagnostics_(diagnostics) {}

  void lint(const Section& pfc) {
    const auto interface = text_in(pfc, "interface");
    const auto dcb = model::from_attributes<InterfaceDcb>(pfc.attributes());
    if (dcb.priorities) {
      check_reached(pfc, dcb);
      check_classes(pfc, dcb);
    }
    check_trust(pfc, dcb);
    for (const auto place : roce_.about(interface)) check_roce(pfc, dcb, sections_[place]);
  }

  void lint_preset(const Section& preset) {
    const auto name = text_in(preset, "interface");
    const auto wanted = model::from_attributes<Lossless>(preset.attributes());
    const unsigned priority = wanted.priority.value_or(model::Priority{kPriority}).number;
    const unsigned dscp = wanted.dscp.value_or(model::Dscp{kDscp}).number;
    for (const auto& controlled : flow_controlled(name, world_)) {
      const auto place_of_pfc = pfc_.find(controlled);
      if (place_of_pfc == pfc_.end()) continue;
      const auto& section = sections_[place_of_pfc->second];
      const auto dcb = model::from_attributes<InterfaceDcb>(section.attributes());
      if (dcb.priorities && !dcb.priorities->has(priority)) {
        say(Severity::kError, place(preset, "priority"), {.section = "lossless", .key = "priority"},
            fmt::format("{} is lossless here, but not in [[pfc]] priorities", priority),
            "make them agree, or remove one of the two", {{place(section, "priorities"), "priorities"}});
      }
      if (dcb.dscp && dcb.dscp->priority_of(dscp) != priority) {
        say(Severity::kError, place(preset, "dscp"), {.section = "lossless", .key = "dscp"},
            fmt::format("{} has priority {} here, and not in [[pfc]] dscp", dscp, priority),
            "make them agree, or remove one of the two", {{place(section, "dscp"), "dscp"}});
      }
    }
    for (const auto at : roce_.about(name)) {
      const auto marking = marking_of(sections_[at]);
      if (!marking || marking->dscp == dscp) continue;
      say(Severity::kError, place(preset, "dscp"), {.section = "lossless", .key = "dscp"},
          fmt::format("{} here, and {} in [[roce]]", dscp, marking->dscp),
          "make them agree, or remove one of the two", {{marking->entry->where, "the RoCE entry"}});
    }
  }

 private:
  using Related = std::vector<Diagnostic::Related>;

  static model::Location place(const Section& section, std::string_view key) {
    const auto* entry = section.find(key);
    return entry == nullptr ? section.where : entry->where;
  }

  void say(Severity severity, const model::Location& where, model::Subject subject, std::string_view what,
           std::string hint, Related related) {
    diagnostics_.push_back(
        model::diagnose(severity, where, std::move(subject), what, std::move(hint), std::move(related)));
  }

  /// Does any DSCP lead to each lossless priority?
  void check_reached(const Section& pfc, const InterfaceDcb& dcb) {
    if (!dcb.dscp) return;
    for (unsigned priority = 0; priority < model::kPriorities; ++priority) {
      const auto leads = [&](const auto& pair) { return pair.second == priority; };
      if (!dcb.priorities->has(priority) || std::any_of(dcb.dscp->list.begin(), dcb.dscp->list.end(), leads))
        continue;
      say(Severity::kWarning, place(pfc, "priorities"), {.section = "pfc", .key = "priorities"},
          fmt::format("{} is lossless, but no DSCP maps to it", priority),
          fmt::format("write \"26:{}\" in dscp, or leave the priority out", priority),
          {{place(pfc, "dscp"), "dscp"}});
    }
  }

  /// Are the DSCPs that are listed trusted?
  void check_trust(const Section& pfc, const InterfaceDcb& dcb) {
    if (!dcb.trust || dcb.trust->trusts(model::TrustSelector::kDscp) || !dcb.dscp || dcb.dscp->list.empty())
      return;
    say(Severity::kWarning, place(pfc, "trust"), {.section = "pfc", .key = "trust"},
        "\"dscp\" is not in the list, so the DSCPs of the interface map to no priority",
        "add \"dscp\" to trust, or leave dscp out", {{place(pfc, "dscp"), "dscp"}});
  }

  /// Is the traffic class of each lossless priority its own, and does it get bandwidth?
  void check_classes(const Section& pfc, const InterfaceDcb& dcb) {
    if (!dcb.traffic_classes) return;
    const auto& of = dcb.traffic_classes->of;
    const auto strict = dcb.strict.value_or(model::ClassSet{});
    for (unsigned priority = 0; priority < model::kPriorities; ++priority) {
      if (!dcb.priorities->has(priority)) continue;
      const unsigned traffic_class = of[priority];
      const bool starved =
          dcb.bandwidth && dcb.bandwidth->percent[traffic_class] == 0 && !strict.has(traffic_class);
      if (starved) {
        say(Severity::kError, place(pfc, "bandwidth"), {.section = "pfc", .key = "bandwidth"},
            fmt::format("traffic class {} of the lossless priority {} has no share", traffic_class, priority),
            "give it a share, or make it strict", {{place(pfc, "traffic_classes"), "traffic_classes"}});
      }
      for (unsigned other = 0; other < model::kPriorities; ++other) {
        if (other == priority || of[other] != traffic_class || dcb.priorities->has(other)) continue;
        say(Severity::kWarning, place(pfc, "traffic_classes"), {.section = "pfc", .key = "traffic_classes"},
            fmt::format("priority {} shares traffic class {} with the lossless "
                        "priority {}: a pause frame of one stops the other",
                        other, traffic_class, priority),
            "give lossless priorities a separate traffic class", {{place(pfc, "priorities"), "priorities"}});
        break;
      }
    }
  }

  void check_roce(const Section& pfc, const InterfaceDcb& dcb, const Section& roce) {
    const bool lossless = dcb.priorities && dcb.priorities->mask != 0;
    const auto marking = marking_of(roce);
    if (lossless && dcb.dscp && text_in(roce, "mode") == "v1") {
      say(Severity::kWarning, place(roce, "mode"), {.section = "roce", .key = "mode"},
          "RoCE v1 has no IP header, so no DSCP maps its packets to the lossless priority",
          "write mode = \"v2\"", {{place(pfc, "dscp"), "dscp"}});
      return;
    }
    if (!marking) {
      if (lossless && dcb.dscp && !dcb.dscp->list.empty())
        say(Severity::kWarning, roce.where, {.section = "roce"},
            "neither dscp nor tos is written, so RDMA CM connections have DSCP 0",
            fmt::format("write dscp = {}", dcb.dscp->list.front().first), {{place(pfc, "dscp"), "dscp"}});
      return;
    }
    if (!dcb.dscp) {
      if (lossless && takes_dscp(dcb_of(text_in(pfc, "interface"), world_)))
        say(Severity::kWarning, marking->entry->where, {.section = "roce"},
            fmt::format("DSCP {} is not mapped to a priority of the interface", marking->dscp),
            fmt::format("write dscp = [\"{}:…\"] in [[pfc]]", marking->dscp), {{pfc.where, "its PFC"}});
      return;
    }
    const auto priority = dcb.dscp->priority_of(marking->dscp);
    if (!priority) {
      say(Severity::kWarning, marking->entry->where, {.section = "roce"},
          fmt::format("DSCP {} is not in the table of the interface", marking->dscp),
          "add it there with the priority for RoCE", {{place(pfc, "dscp"), "dscp"}});
    } else if (dcb.priorities && !dcb.priorities->has(*priority)) {
      say(lossless ? Severity::kError : Severity::kWarning, marking->entry->where, {.section = "roce"},
          fmt::format("DSCP {} has priority {}, which has no flow control", marking->dscp, *priority),
          "make that priority lossless, or map the DSCP to one that is",
          {{place(pfc, "dscp"), "dscp"}, {place(pfc, "priorities"), "priorities"}});
    }
  }

  std::span<const Section> sections_;
  DeviceNames names_;
  RoceEntries roce_;
  std::map<std::string, std::size_t> pfc_;
  const World& world_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::vector<Section> expand_lossless(std::vector<Section> sections, const World& world) {
  const auto names = DeviceNames::of(sections, world);
  std::vector<Section> presets;
  for (const auto& section : sections) {
    if (section.path == "lossless" && section.find("interface") != nullptr) presets.push_back(section);
  }
  auto pfc_at = pfc_places(sections);
  auto roce = roce_entries(sections, names, world);
  const auto added = [&] { roce.add(sections.size() - 1, sections.back()); };
  for (const auto& preset : presets) {
    const auto interface = text_in(preset, "interface");
    const auto wanted = model::from_attributes<Lossless>(preset.attributes());
    const auto priority = wanted.priority.value_or(model::Priority{kPriority}).number;
    const auto dscp = wanted.dscp.value_or(model::Dscp{kDscp});
    const auto where_of = [&](std::string_view key) {
      const auto* entry = preset.find(key);
      return entry == nullptr ? preset.where : entry->where;
    };
    for (const auto& name : flow_controlled(interface, world)) {
      const auto [place, fresh] = pfc_at.try_emplace(name, sections.size());
      auto& pfc = fresh ? add_entry(sections, "pfc", preset) : sections[place->second];
      fill(pfc, "interface", name, where_of("interface"));
      const auto at = where_of("priority");
      const auto chain = chain_on(dcb_of(name, world), priority);
      if (!pfc.find("traffic_classes")) {
        // Shares of its own only where the entry says nothing of them: the keys hang together.
        const bool shared = pfc.find("bandwidth") || pfc.find("strict");
        if (chain.classes) fill(pfc, "traffic_classes", *chain.classes, at);
        if (chain.bandwidth && !shared) fill(pfc, "bandwidth", *chain.bandwidth, at);
      }
      fill(pfc, "priorities", model::Priorities{1U << priority}, at);
      if (chain.by_dscp) fill(pfc, "dscp", model::DscpMap{{{dscp.number, priority}}}, where_of("dscp"));
    }
    const auto ports = roce_ports(interface, world);
    const auto is_written = [&](const PortRef& port) { return roce.mean(port); };
    if (!ports.empty() && std::none_of(ports.begin(), ports.end(), is_written)) {
      fill(add_entry(sections, "roce", preset), "interface", interface, where_of("interface"));
      added();
    }
    for (const auto& port : ports) {
      // Another entry means one port of the bond alone.
      if (is_written(port)) continue;
      auto& rest = add_entry(sections, "roce", preset);
      fill(rest, "device", names.name_of(*port.device), where_of("interface"));
      fill(rest, "port", model::PortNumber{port.port->number}, where_of("interface"));
      added();
    }
    for (const auto at : roce.about(interface)) {
      if (!sections[at].find("tos")) fill(sections[at], "dscp", dscp, where_of("dscp"));
    }
  }
  return sections;
}

std::vector<const Section*> presets_without_ports(std::span<const Section> sections, const World& world) {
  std::vector<const Section*> out;
  for (const auto& section : sections) {
    if (section.path == "lossless" && section.find("interface") != nullptr &&
        flow_controlled(text_in(section, "interface"), world).empty())
      out.push_back(&section);
  }
  return out;
}

void lint_lossless(std::span<const Section> sections, const World& world, Diagnostics& diagnostics) {
  Linter linter(sections, world, diagnostics);
  for (const auto& section : sections) {
    if (section.path == "pfc" && section.find("interface") != nullptr) linter.lint(section);
    if (section.path == "lossless" && section.find("interface") != nullptr) linter.lint_preset(section);
  }
}

model::SectionSpec lossless_section() {
  model::SectionSpec section{.name = "lossless",
                             .doc =
                                 "Lossless Ethernet for RoCE on an interface, in one entry: sets the [[pfc]] "
                                 "and [[roce]] keys that you leave out.",
                             .identities = {{"interface"}}};
  for (const auto& spec : model::specs<Lossless>()) section.fields.push_back(spec);
  return section;
}

}  // namespace rdmacfg::kinds
