// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {

/// The packages that the host needs. They are named with the command that installs them; only `install` has
/// them installed. Never removed.
struct PackagesWanted {
  std::optional<std::vector<std::string>> names;
  std::optional<bool> install;

  static constexpr auto kFields = std::tuple{
      model::field("names", &PackagesWanted::names, model::Role::kPolicy,
                   "Packages to install besides those that the document needs, by their name in any "
                   "distribution: [\"infiniband-diags\", \"perftest\"].",
                   "[]"),
      model::field(
          "install", &PackagesWanted::install, model::Role::kPolicy,
          "Whether apply has PackageKit install what is missing; otherwise the entry is pending, with the "
          "command that installs it.",
          "false")};
};

/// A package of the table (kinds/host/package_table.hpp).
struct PackageThere {
  std::optional<bool> installed;

  static constexpr auto kFields = std::tuple{model::field(
      "installed", &PackageThere::installed, model::Role::kDerived, "Whether one of its programs is there.")};
};

model::SectionSpec packages_section();
const Kind& package();

}  // namespace rdmacfg::kinds
