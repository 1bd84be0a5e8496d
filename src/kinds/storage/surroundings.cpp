// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/surroundings.hpp"

#include "formats/mount_table.hpp"

namespace rdmacfg::kinds {

std::map<std::string, model::Key> given_addresses(const std::vector<model::Desired>& desired) {
  std::map<std::string, model::Key> out;
  for (const auto& one : desired) {
    if (one.key.kind != "address" || one.ignore) continue;
    const auto prefix = one.key.id.substr(one.key.id.rfind(' ') + 1);
    out.emplace(prefix.substr(0, prefix.find('/')), one.key);
  }
  return out;
}

std::set<std::string> mounted_devices(system::Files& files) {
  std::set<std::string> out{""};
  for (const auto* path : {"/proc/1/mountinfo", "/proc/self/mountinfo"}) {
    const auto text = files.read(path);
    if (!text || !*text) continue;
    for (const auto& [where, one] : parse_mountinfo(**text)) out.insert(one.source);
    break;
  }
  return out;
}

}  // namespace rdmacfg::kinds
