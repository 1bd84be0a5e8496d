// SPDX-License-Identifier: Apache-2.0
#include "system/link.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rdmacfg::system {

bool is_ipoib(bool infiniband, std::string_view kind) {
  return infiniband && (kind.empty() || kind == "ipoib");
}

std::string temporary_name(int index) { return fmt::format("rdmacfg{}", index); }

std::vector<std::string> former_names(const Carried& carried, const std::string& name) {
  if (name == carried.name && carried.becomes.empty()) return {};
  std::vector<std::string> out;
  for (const auto& each : {carried.name, carried.becomes, temporary_name(carried.index)}) {
    if (!each.empty() && each != name && std::find(out.begin(), out.end(), each) == out.end())
      out.push_back(each);
  }
  return out;
}

}  // namespace rdmacfg::system
