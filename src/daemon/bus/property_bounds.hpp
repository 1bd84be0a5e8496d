// SPDX-License-Identifier: Apache-2.0
// Each list among the properties has at most limits::kPropertyBytes: everybody on the bus may request all of
// them in a loop, each reply waits in the daemon's memory, and the bus disconnects a sender of a message of
// more than 32 MiB.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "model/limits.hpp"

namespace rdmacfg::daemon {

/// The number of leading entries that have at most limits::kPropertyBytes in total.
template <class Entry, class BytesOf>
std::size_t count_within_bounds(const std::vector<Entry>& list, BytesOf bytes_of) {
  std::size_t bytes = 0, count = 0;
  for (const auto& entry : list) {
    bytes += bytes_of(entry);
    if (bytes > model::limits::kPropertyBytes) break;
    ++count;
  }
  return count;
}

/// Cuts the list; its last entry then gives the number of omitted entries.
inline void bound_property(std::vector<std::string>& texts) {
  const auto kept = count_within_bounds(texts, [](const std::string& text) { return text.size(); });
  if (kept == texts.size()) return;
  const auto left_out = texts.size() - kept;
  texts.resize(kept);
  texts.push_back(fmt::format("… and {} more", left_out));
}

/// Cuts a list that programs read; adds no entry.
inline void bound_property(std::vector<std::tuple<std::string, std::string, std::string>>& list) {
  list.resize(count_within_bounds(list, [](const auto& entry) {
    return std::get<0>(entry).size() + std::get<1>(entry).size() + std::get<2>(entry).size();
  }));
}

}  // namespace rdmacfg::daemon
