// SPDX-License-Identifier: Apache-2.0
// The documents of a site, checked for every host and then across hosts. Nothing is looked at but the texts.
#pragma once

#include <string>
#include <vector>

#include "config/document.hpp"
#include "fleet/finding.hpp"

namespace rdmacfg::fleet {

struct SiteReport {
  std::vector<std::string> hosts;
  /// Those of single documents (rule "document") by place, then those across hosts by rule, each with errors
  /// first. A fault of many hosts is said once.
  std::vector<Finding> findings;
  /// Whether the rules across hosts were checked; false when a file could not be read as TOML.
  bool compared = true;
};

/// Checks texts, among them the whole tables of values (Source::every_host), for these hosts. The texts are
/// parsed once; time and memory grow with hosts times entries.
SiteReport check_site(std::vector<config::Text> texts, std::vector<std::string> hosts,
                      const config::Limits& limits = {});

}  // namespace rdmacfg::fleet
