// SPDX-License-Identifier: Apache-2.0
#include "formats/counter_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/text.hpp"
#include "model/limits.hpp"

namespace rdmacfg::kinds {

namespace limits = model::limits;

namespace {

std::optional<std::int64_t> number_of(std::string_view text) {
  const auto number = base::parse_number(text);
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return number && *number <= kMost ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

std::optional<CounterReading> reading_of(std::string_view word) {
  const auto colon = word.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto seconds = number_of(word.substr(0, colon)), value = number_of(word.substr(colon + 1));
  if (!seconds || !value) return std::nullopt;
  return CounterReading{*seconds, *value};
}

/// Later readings are neither older nor smaller.
bool follows(const CounterReading& later, const CounterReading& before) {
  return later.seconds >= before.seconds && later.value >= before.value;
}

}  // namespace

CounterRecord parse_counter_record(std::string_view text) {
  constexpr std::size_t kNames = 3;
  CounterRecord out;
  for (const auto line : base::split(text, '\n')) {
    const auto words = base::split(line, ' ');
    if (words.size() <= kNames || words.size() > kNames + limits::kCounterReadings) continue;
    std::vector<CounterReading> series;
    for (std::size_t i = kNames; i < words.size(); ++i) {
      const auto reading = reading_of(words[i]);
      if (!reading || (!series.empty() && !follows(*reading, series.back()))) break;
      series.push_back(*reading);
    }
    if (series.size() + kNames != words.size()) continue;
    if (out.size() == limits::kCounterSeries) break;
    out.emplace(CounterKey{words[0], words[1], words[2]}, std::move(series));
  }
  return out;
}

std::string render_counter_record(const CounterRecord& record) {
  std::string out;
  std::size_t lines = 0;
  for (const auto& [key, series] : record) {
    if (++lines > limits::kCounterSeries) break;
    const auto& [port, instance, counter] = key;
    out += fmt::format("{} {} {}", port, instance, counter);
    for (const auto& reading : series) out += fmt::format(" {}:{}", reading.seconds, reading.value);
    out += '\n';
  }
  return out;
}

void add_reading(std::vector<CounterReading>& series, const CounterReading& now) {
  if (!series.empty() && !follows(now, series.back())) series.clear();
  if (!series.empty() && now.seconds - series.back().seconds < kReadingGap) return;
  series.push_back(now);
  if (series.size() <= limits::kCounterReadings) return;
  // Neither the oldest nor the newest two.
  std::size_t least = 1;
  double smallest = std::numeric_limits<double>::max();
  for (std::size_t i = 1; i + 2 < series.size(); ++i) {
    const auto gap = static_cast<double>(series[i + 1].seconds - series[i - 1].seconds);
    const auto age = static_cast<double>(now.seconds - series[i - 1].seconds);
    if (gap / age < smallest) {
      smallest = gap / age;
      least = i;
    }
  }
  series.erase(series.begin() + static_cast<std::ptrdiff_t>(least));
}

std::optional<Growth> growth_of(const std::vector<CounterReading>& series, const CounterReading& now,
                                std::int64_t window) {
  if (series.empty() || !follows(now, series.back())) return std::nullopt;
  auto since = series.front();
  for (const auto& reading : series) {
    if (now.seconds - reading.seconds >= window) since = reading;
  }
  return Growth{now.value - since.value, now.seconds - since.seconds};
}

}  // namespace rdmacfg::kinds
