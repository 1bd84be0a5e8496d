// SPDX-License-Identifier: Apache-2.0
// The kind "link_name": persistent names of IPoIB interfaces.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/spelled.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kLinkNameKind = "link_name";

/// The persistent name of a port's IPoIB interface: a udev rule for the next add event, and a live rename
/// now.
struct LinkName {
  std::optional<model::NameTemplate> name;
  std::optional<std::string> rule;

  static constexpr auto kFields =
      std::tuple{model::spelled(model::field("name", &LinkName::name, model::Role::kSetting,
                                             "Name of the interface, at most 15 characters; with match a "
                                             "template: {device}, {port}, {pci_domain}, {pci_bus}, "
                                             "{pci_slot}, {pci_function}, {guid_tail}."),
                                R"({"type":"string","pattern":"^[A-Za-z0-9_.{}-]+$"})"),
                 model::field("rule", &LinkName::rule, model::Role::kDerived,
                              "Name that our udev rule gives at the next add event.")};
};

const Kind& link_name();

namespace detail {

/// Policy of a wish: its entry may mean another port tomorrow.
inline constexpr std::string_view kFloating = "floating";

/// The port of a link_name; nothing for a key of another kind.
std::optional<model::Guid> link_name_guid(const model::Key& key);

/// The rules that need the host: names that are taken, files of others that give names, our rules for ports
/// that are away.
void check_link_names(std::vector<model::Desired>& desired, const std::vector<model::Observed>& observed,
                      World& world, model::Diagnostics& diagnostics);

/// The hint where an alternative name is in the way.
std::string remove_altname(const system::Link& holder, const std::string& altname);

}  // namespace detail

}  // namespace rdmacfg::kinds
