// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "formats/opensm/opensm_options.hpp"

namespace rdmacfg::kinds {

namespace {

/// Names of the modules of osm_opensm.c, and no_fallback beside them. "none" is left out, as OpenSM
/// from 3.3.23 on calls the missing setup function of that module.
const std::vector<std::string>& all_routing_engines() {
  static const std::vector<std::string> kNames{"minhop",     "updn", "dnup",   "file",
                                               "ftree",      "lash", "dor",    "nue",
                                               "torus-2QoS", "sssp", "dfsssp", "no_fallback"};
  return kNames;
}

}  // namespace

std::vector<UnknownEngine> unknown_routing_engines(std::string_view value) {
  std::vector<UnknownEngine> out;
  const auto& known = all_routing_engines();
  auto rest = opensm_value(value);
  if (rest == "(null)") return out;  // OpenSM's word for no value
  constexpr std::string_view kBetween = ", \t";
  for (auto at = rest.find_first_not_of(kBetween); at != std::string_view::npos;
       at = rest.find_first_not_of(kBetween)) {
    rest.remove_prefix(at);
    const std::string name(rest.substr(0, rest.find_first_of(kBetween)));
    rest.remove_prefix(name.size());
    if (std::find(known.begin(), known.end(), name) == known.end())
      out.push_back({name, base::nearest(name, known)});
  }
  return out;
}

std::string routing_engine_names() { return base::join(all_routing_engines(), ", "); }

}  // namespace rdmacfg::kinds
