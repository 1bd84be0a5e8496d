// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/property_bounds.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace rdmacfg::daemon {
namespace {

using model::limits::kPropertyBytes;

TEST(PropertyBounds, AListAtTheLimitIsWhole) {
  std::vector<std::string> texts{std::string(kPropertyBytes - 1, 'a'), "b"};
  const auto all = texts;
  bound_property(texts);
  EXPECT_EQ(texts, all);
}

TEST(PropertyBounds, ALongerListEndsWithTheNumberLeftOut) {
  std::vector<std::string> texts{std::string(kPropertyBytes - 1, 'a'), "b", "c", "d"};
  bound_property(texts);
  ASSERT_EQ(texts.size(), 3U);
  EXPECT_EQ(texts[1], "b");
  EXPECT_EQ(texts[2], "… and 2 more");
  std::vector<std::string> large{std::string(kPropertyBytes + 1, 'a')};
  bound_property(large);
  EXPECT_EQ(large, std::vector<std::string>{"… and 1 more"});
}

TEST(PropertyBounds, AListForProgramsIsCutWithoutANote) {
  using Entry = std::tuple<std::string, std::string, std::string>;
  std::vector<Entry> list{{"ipoib", "ib0", std::string(kPropertyBytes - 8, 'a')}};
  bound_property(list);
  EXPECT_EQ(list.size(), 1U) << "at the limit";
  list.emplace_back("ipoib", "ib1", "mtu");
  bound_property(list);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(std::get<1>(list[0]), "ib0");
}

}  // namespace
}  // namespace rdmacfg::daemon
