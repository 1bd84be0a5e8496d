// SPDX-License-Identifier: Apache-2.0
// Earlier readings of error counters: a line for each counter, "PORT INSTANCE COUNTER SECONDS:VALUE …",
// oldest first. In /run, as counters begin at 0 when the host starts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace rdmacfg::kinds {

/// The file of the daemon's readings; nobody else writes it.
inline constexpr std::string_view kCounterRecord = "/run/rdma-configd/counters";

struct CounterReading {
  std::int64_t seconds = 0;  ///< since the host started (CLOCK_BOOTTIME)
  std::int64_t value = 0;
  auto operator<=>(const CounterReading&) const = default;
};

/// Port (its GUID, or "rxe0/1"), registration of its device, counter.
using CounterKey = std::tuple<std::string, std::string, std::string>;
using CounterRecord = std::map<CounterKey, std::vector<CounterReading>>;

/// At most limits::kCounterSeries lines with limits::kCounterReadings each; a line that is not one of ours is
/// passed over.
CounterRecord parse_counter_record(std::string_view text);
std::string render_counter_record(const CounterRecord& record);

/// Adds a reading at most once in kReadingGap. Where there are as many as are kept, one goes that leaves the
/// smallest gap for its age, so that short and long windows both find one. A value below the last one, as
/// after a reset, begins the series again.
void add_reading(std::vector<CounterReading>& series, const CounterReading& now);
inline constexpr std::int64_t kReadingGap = 60;  ///< seconds

/// By how much a counter has grown, and in which time.
struct Growth {
  std::int64_t amount = 0;
  std::int64_t seconds = 0;  ///< at least the window, unless no reading is as old
};

/// Since the newest reading that is at least `window` seconds old; without one since the oldest. Nothing
/// without any, or when the counter was reset since.
std::optional<Growth> growth_of(const std::vector<CounterReading>& series, const CounterReading& now,
                                std::int64_t window);

}  // namespace rdmacfg::kinds
