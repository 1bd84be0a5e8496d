// SPDX-License-Identifier: Apache-2.0
// A site of any size: documents with a table for its hosts, and what they say of themselves. With or without
// mistakes, of which it is known who has them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/document.hpp"

namespace rdmacfg::fakes {

struct FleetSite {
  std::string hosts;                ///< "gpu[00001-00300],sm[1-2]"
  std::vector<config::Text> texts;  ///< /site/config.toml and others, with /site/nodes.csv
  /// Of every finding its rule and the hosts, folded, in no order; those of the list itself have rule "list".
  std::vector<std::pair<std::string, std::string>> mistakes;
};

enum class Mistakes { kNone, kForty };

/// At least 200 hosts with 8 interfaces each, and two that run subnet managers.
FleetSite fleet_site(int hosts, Mistakes mistakes);

/// `show --json` and `diff --json` of a host of that site. With a `drift` from 0 to 4: as wanted but for an
/// MTU, a P_Key interface that is missing, a service that does not run, old firmware, or a slow port.
std::string show_of_host(int number, int drift = -1);
std::string diff_of_host(int number, int drift = -1);

}  // namespace rdmacfg::fakes
