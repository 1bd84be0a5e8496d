// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/slurm_limits.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

/// Whether a list of resources, "CORE,MEMLOCK", has this one.
bool lists_memlock(std::string_view list) {
  const auto parts = base::split(list, ',');
  return std::any_of(parts.begin(), parts.end(), [](std::string_view part) {
    const auto word = base::lower(base::trim(part));
    return word == "memlock" || word == "all";
  });
}

/// Nothing if another file may decide.
std::optional<bool> propagates_memlock(std::string_view text) {
  bool propagates = true;  // the default is ALL
  for (const auto raw : base::split(text, '\n')) {
    const auto line = base::trim(raw.substr(0, raw.find('#')));
    if (base::lower(line).starts_with("include ")) return std::nullopt;
    for (const auto word : base::words_of(line)) {
      const auto equals = word.find('=');
      if (equals == std::string_view::npos) continue;
      const auto key = base::lower(word.substr(0, equals));
      if (key == "propagateresourcelimits") propagates = lists_memlock(word.substr(equals + 1));
      if (key == "propagateresourcelimitsexcept") propagates = !lists_memlock(word.substr(equals + 1));
    }
  }
  return propagates;
}

}  // namespace

std::string slurm_conf_that_propagates(system::Files& files) {
  // The last path is that of a slurmd that receives its configuration from slurmctld.
  for (const std::string path :
       {"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/run/slurm/conf/slurm.conf"}) {
    const auto text = files.read_linked(path);
    if (text && *text) return propagates_memlock(**text).value_or(false) ? path : std::string();
  }
  return {};
}

}  // namespace rdmacfg::kinds
