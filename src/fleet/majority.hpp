// SPDX-License-Identifier: Apache-2.0
// The value that most hosts have, and hosts with another one.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "fleet/finding.hpp"

namespace rdmacfg::fleet {

/// Hosts by their value of one thing.
template <class Value>
struct Shares {
  std::map<Value, std::vector<HostId>> hosts;

  void add(const Value& value, HostId host) {
    auto& list = hosts[value];
    if (list.empty() || list.back() != host) list.push_back(host);
  }
  [[nodiscard]] bool agree() const { return hosts.size() < 2; }

  /// The value that most hosts have; of two with as many the smaller one.
  [[nodiscard]] const Value& most() const {
    return std::max_element(hosts.begin(), hosts.end(),
                            [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); })
        ->first;
  }
  /// Whether at least two thirds of the hosts, and more than one, have it.
  [[nodiscard]] bool clear() const {
    std::size_t all = 0;
    for (const auto& [value, list] : hosts) all += list.size();
    const auto first = hosts.at(most()).size();
    return first > 1 && 3 * first >= 2 * all;
  }
};

}  // namespace rdmacfg::fleet
