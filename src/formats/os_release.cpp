// SPDX-License-Identifier: Apache-2.0
#include "formats/os_release.hpp"

#include "formats/shell_value.hpp"

namespace rdmacfg::kinds {

std::string observe_distribution_ids(system::Files& files) {
  for (const auto* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    const auto text = files.read_linked(path);
    if (!text) return {};
    if (!*text) continue;
    return shell_value(**text, "ID").value_or("") + " " + shell_value(**text, "ID_LIKE").value_or("");
  }
  return {};
}

}  // namespace rdmacfg::kinds
