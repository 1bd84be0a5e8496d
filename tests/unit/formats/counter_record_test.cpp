// SPDX-License-Identifier: Apache-2.0
#include "formats/counter_record.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/limits.hpp"

namespace rdmacfg::kinds {
namespace {

namespace limits = model::limits;

TEST(CounterRecord, IsReadAsItWasWritten) {
  const CounterRecord record{{{"00:02:c9:03:00:31:78:f2", "71", "symbol_error"}, {{100, 0}, {160, 3}}},
                             {{"rxe0/1", "80", "rcvd_seq_err"}, {{120, 9}}}};
  EXPECT_EQ(render_counter_record(record),
            "00:02:c9:03:00:31:78:f2 71 symbol_error 100:0 160:3\nrxe0/1 80 rcvd_seq_err 120:9\n");
  EXPECT_EQ(parse_counter_record(render_counter_record(record)), record);
}

TEST(CounterRecord, PassesOverWhatIsNotOfOurs) {
  for (const auto* line : {"", "a b c", "a b c d", "a b c 1", "a b c 1:", "a b c :1", "a b c -1:2",
                           "a b c 5:1 4:2", "a b c 5:9 6:2", "a b c 1:2 x", "a b c 99999999999999999999:1"})
    EXPECT_TRUE(parse_counter_record(line).empty()) << line;
  EXPECT_EQ(parse_counter_record("nonsense\na b c 1:2\n\xff\xfe\n").size(), 1U);
}

TEST(CounterRecord, HasAsManySeriesAsAreKept) {
  CounterRecord record;
  for (std::size_t i = 0; i < limits::kCounterSeries; ++i)
    record[{fmt::format("p{}", i), "1", "symbol_error"}] = {{1, 2}};
  EXPECT_EQ(parse_counter_record(render_counter_record(record)), record);
  record[{"p", "1", "symbol_error"}] = {{1, 2}};
  EXPECT_EQ(parse_counter_record(render_counter_record(record)).size(), limits::kCounterSeries);
  std::string text;
  for (std::size_t i = 0; i < limits::kCounterSeries + 1; ++i) text += fmt::format("p{} 1 c 1:2\n", i);
  EXPECT_EQ(parse_counter_record(text).size(), limits::kCounterSeries);
}

TEST(CounterRecord, KeepsFewReadingsOfAllAges) {
  std::vector<CounterReading> series;
  constexpr std::int64_t kDay = 24 * 3600;
  for (std::int64_t now = 0; now <= 10 * kDay; now += 30) add_reading(series, {now, now / 60});
  EXPECT_EQ(series.size(), limits::kCounterReadings);
  EXPECT_EQ(series.front().seconds, 0);
  EXPECT_GE(series.back().seconds, 10 * kDay - kReadingGap);
  std::string text = "p 1 c";
  for (std::size_t i = 0; i < limits::kCounterReadings; ++i) text += fmt::format(" {}:0", i);
  EXPECT_EQ(parse_counter_record(text).size(), 1U);
  EXPECT_TRUE(parse_counter_record(text + fmt::format(" {}:0", limits::kCounterReadings)).empty())
      << "one more than are kept";
  // For each window there is one that is not many times as old.
  const CounterReading now{10 * kDay + 30, 10 * kDay / 60 + 1};
  for (const std::int64_t window : {60L, 600L, 3600L, kDay, 7 * kDay}) {
    const auto growth = growth_of(series, now, window);
    ASSERT_TRUE(growth);
    EXPECT_GE(growth->seconds, window);
    EXPECT_LE(growth->seconds, 4 * window + 120) << window;
  }
}

TEST(CounterRecord, BeginsAgainAfterAReset) {
  std::vector<CounterReading> series{{100, 50}, {200, 60}};
  EXPECT_FALSE(growth_of(series, {300, 5}, 60)) << "it was reset since";
  add_reading(series, {300, 5});
  EXPECT_EQ(series, (std::vector<CounterReading>{{300, 5}}));
}

TEST(CounterRecord, GrowthIsSinceTheNewestReadingThatIsOldEnough) {
  const std::vector<CounterReading> series{{1000, 0}, {5000, 10}, {9000, 30}};
  EXPECT_FALSE(growth_of({}, {9000, 30}, 60));
  auto growth = growth_of(series, {9100, 31}, 3600);
  ASSERT_TRUE(growth);
  EXPECT_EQ(growth->amount, 21);
  EXPECT_EQ(growth->seconds, 4100);
  growth = growth_of(series, {9100, 31}, 100'000);
  EXPECT_EQ(growth->amount, 31) << "without one the oldest, which says less";
  EXPECT_EQ(growth->seconds, 8100);
}

}  // namespace
}  // namespace rdmacfg::kinds
