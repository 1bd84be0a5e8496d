// SPDX-License-Identifier: Apache-2.0
// Lossless Ethernet as a whole: DSCP → priority → traffic class → flow control, and the ToS of RoCE, which
// are written in [[pfc]] and [[roce]] and have to agree.
#pragma once

#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/section.hpp"
#include "model/types/dcb_types.hpp"

namespace rdmacfg::kinds {

/// A preset that stands for the whole chain.
struct Lossless {
  std::optional<model::InterfaceName> interface;
  std::optional<model::Priority> priority;
  std::optional<model::Dscp> dscp;

  static constexpr auto kFields = std::tuple{
      model::field("interface", &Lossless::interface, model::Role::kIdentity,
                   "Ethernet interface, by its name after all renames; of a bond, every port of it.", "-"),
      model::field(
          "priority", &Lossless::priority, model::Role::kPolicy,
          "The priority that is lossless, in a separate traffic class with half of the bandwidth, as far "
          "as the adapter has classes (docs/HARDWARE.md).",
          "3"),
      model::field("dscp", &Lossless::dscp, model::Role::kPolicy,
                   "DSCP of the lossless traffic, where the adapter classifies by DSCP (docs/HARDWARE.md); "
                   "where an RDMA "
                   "device belongs to the interface, also that of its RoCE connections.",
                   "26")};
};

model::SectionSpec lossless_section();

/// The sections with each [[lossless]] entry expanded: settings that its interface's [[pfc]] and [[roce]]
/// entries leave open is filled in, with the preset's place as origin; entries that are not there are added.
std::vector<model::Section> expand_lossless(std::vector<model::Section> sections, const World& world);

/// The [[lossless]] entries of bonds that have no port now, so that there is nothing to set flow control on.
std::vector<const model::Section*> presets_without_ports(std::span<const model::Section> sections,
                                                         const World& world);

/// Contradictions between [[pfc]] and [[roce]] entries of one interface are errors, gaps are warnings.
void lint_lossless(std::span<const model::Section> sections, const World& world,
                   model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
