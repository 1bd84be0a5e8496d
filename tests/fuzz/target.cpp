// SPDX-License-Identifier: Apache-2.0
#include "target.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace rdmacfg::fuzz {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

std::vector<std::string> parts_of(std::string_view bytes) {
  std::vector<std::string> parts;
  for (;;) {
    const auto end = bytes.find(kSeparator);
    parts.emplace_back(bytes.substr(0, end));
    if (end == std::string_view::npos) return parts;
    bytes.remove_prefix(end + kSeparator.size());
  }
}

const std::vector<Target>& targets() {
  static const auto kAll = [] {
    std::vector<Target> all;
    for (auto part : {document_targets(), import_targets(), state_targets(), kernel_targets(), word_targets(),
                      report_targets(), fleet_targets(), fabric_targets()}) {
      std::move(part.begin(), part.end(), std::back_inserter(all));
    }
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) require(all[i].name != all[k].name, "names of targets are unique");
    return all;
  }();
  return kAll;
}

const Target* find_target(std::string_view name) {
  const auto at = std::find_if(targets().begin(), targets().end(),
                               [&](const Target& target) { return target.name == name; });
  return at == targets().end() ? nullptr : &*at;
}

}  // namespace rdmacfg::fuzz
