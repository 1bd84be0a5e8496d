// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/api_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rdmacfg::daemon {
namespace {

using testing::HasSubstr;
using Sent = ApiOptions::Sent;

const std::set<std::string> kAll{"confirm", "expect", "retry", "who"};

std::string wrong(const Sent& sent, const std::set<std::string>& known = kAll) {
  const auto asked = ApiOptions::read(sent, known);
  return asked.wrong ? asked.wrong->getName() + ": " + asked.wrong->getMessage() : "";
}

std::string refused(const Sent& sent) {
  try {
    (void)ApiOptions::read(sent, kAll);
  } catch (const sdbus::Error& error) {
    return error.getName();
  }
  return "";
}

TEST(ApiOptions, AreReadAsTheyAreMeant) {
  const auto asked = ApiOptions::read({{"interactive", sdbus::Variant(true)},
                                       {"retry", sdbus::Variant(true)},
                                       {"confirm", sdbus::Variant(std::uint64_t{60})},
                                       {"expect", sdbus::Variant(std::string("digest"))},
                                       {"who", sdbus::Variant(std::string("alice"))}},
                                      kAll);
  EXPECT_NO_THROW(asked.check());
  EXPECT_TRUE(asked.interactive);
  EXPECT_TRUE(asked.retry);
  EXPECT_EQ(asked.confirm, 60U);
  EXPECT_EQ(asked.expect, "digest");
  EXPECT_EQ(asked.who, "alice");
}

TEST(ApiOptions, WhatIsWrongIsKeptForThoseWhoMayCall) {
  EXPECT_THAT(wrong({{"retry", sdbus::Variant(true)}}, {}), HasSubstr("InvalidArgs: unknown option retry"));
  EXPECT_THAT(wrong({{"retry", sdbus::Variant(std::string("yes"))}}), HasSubstr("retry has the wrong type"));
  EXPECT_THAT(wrong({{"confirm", sdbus::Variant(std::uint64_t{86401})}}), HasSubstr("at most 86400"));
  EXPECT_EQ(wrong({{"confirm", sdbus::Variant(std::uint64_t{86400})}}), "");
  EXPECT_THROW(ApiOptions::read({{"no", sdbus::Variant(true)}}, kAll).check(), sdbus::Error);
}

TEST(ApiOptions, WhatIsTooLargeIsNotKeptAtAll) {
  const auto kName = std::string("org.rdmaconfigd1.Error.LimitsExceeded");
  EXPECT_EQ(refused({{"expect", sdbus::Variant(std::string(ApiOptions::kLongest, 'x'))}}), "");
  EXPECT_EQ(refused({{"expect", sdbus::Variant(std::string(ApiOptions::kLongest + 1, 'x'))}}), kName);
  EXPECT_EQ(refused({{"x", sdbus::Variant(std::vector<std::uint8_t>(8))}}), kName);
  EXPECT_EQ(refused({{std::string(ApiOptions::kLongest + 1, 'x'), sdbus::Variant(true)}}), kName);
  Sent many;
  for (std::size_t i = 0; i <= ApiOptions::kMost; ++i) many.emplace(std::to_string(i), sdbus::Variant(true));
  EXPECT_EQ(refused(many), kName);
  many.erase(many.begin());
  EXPECT_NE(refused(many), kName) << "unknown ones, and as many as are allowed";
  EXPECT_EQ(ApiOptions::read({{"who", sdbus::Variant(std::string(100, 'x'))}}, kAll).who.size(), 64U);
}

/// A job's record, and an answer of the bus, take whole characters only.
TEST(ApiOptions, ALongTextIsCutBetweenCharacters) {
  const std::string most(63, 'x'), umlaut = "\u00fc";
  EXPECT_EQ(ApiOptions::read({{"who", sdbus::Variant(most + umlaut)}}, kAll).who, most);
  EXPECT_EQ(ApiOptions::read({{"who", sdbus::Variant(most.substr(1) + umlaut)}}, kAll).who,
            most.substr(1) + umlaut);
  EXPECT_TRUE(wrong({{most + umlaut, sdbus::Variant(true)}}).ends_with("unknown option " + most));
}

}  // namespace
}  // namespace rdmacfg::daemon
