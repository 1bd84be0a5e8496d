// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>

#include "kinds/kind.hpp"

namespace rdmacfg::kinds {

/// The persistent name of a port's IPoIB interface: a udev rule for the next add event, and a live rename
/// now.
struct LinkName {
  std::optional<model::NameTemplate> name;
  std::optional<std::string> rule;

  static constexpr auto kFields =
      std::tuple{model::field("name", &LinkName::name, model::Role::kSetting,
                              "Name of the interface, at most 15 characters; with match a template: "
                              "{device}, {port}, {pci_domain}, "
                              "{pci_bus}, {pci_slot}, {pci_function}, {guid_tail}."),
                 model::field("rule", &LinkName::rule, model::Role::kDerived,
                              "Name that our udev rule gives at the next add event.")};
};

const Kind& link_name();

}  // namespace rdmacfg::kinds
