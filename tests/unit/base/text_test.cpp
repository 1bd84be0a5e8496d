// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <limits>

namespace rdmacfg::base {
namespace {

using ::testing::ElementsAre;

TEST(Text, Trim) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, SplitAndJoin) {
  EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split("a,", ','), ElementsAre("a", ""));
  EXPECT_EQ(join(std::vector<std::string>{"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join(std::vector<std::string>{"", "a"}, ", "), ", a");
  EXPECT_EQ(join({}, ", "), "");
  const std::vector<std::string> letters{"a", "b", "c", "d"};
  EXPECT_EQ(join_first(5, letters, ", "), "a, b, c, d");
  EXPECT_EQ(join_first(4, letters, ", "), "a, b, c, d");
  EXPECT_EQ(join_first(3, letters, ", "), "a, b, c and 1 more");
  EXPECT_EQ(join_first(1, letters, "; "), "a and 3 more");
  EXPECT_EQ(join_first(3, {}, ", "), "");
}

TEST(Text, Words) {
  EXPECT_THAT(words_of("\tldap  hard\tmemlock \r"), ElementsAre("ldap", "hard", "memlock"));
  EXPECT_THAT(words_of(" \t"), ElementsAre());
  EXPECT_THAT(words_of("a\r b", " "), ElementsAre("a\r", "b"));
}

TEST(Text, Lower) { EXPECT_EQ(lower("AbC-1é"), "abc-1é"); }

TEST(Text, ParseNumber) {
  EXPECT_EQ(parse_number("0"), 0U);
  EXPECT_EQ(parse_number("0x8002"), 0x8002U);
  EXPECT_EQ(parse_number("0XfF"), 255U);
  EXPECT_EQ(parse_number("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  for (const auto* bad : {"", "0x", "-1", "+1", " 1", "1 ", "1x", "18446744073709551616", "0x1g"}) {
    EXPECT_FALSE(parse_number(bad)) << bad;
  }
}

TEST(Text, NumbersThatATypeHolds) {
  EXPECT_EQ(parse_as<std::uint32_t>("4294967295"), 4294967295U);
  EXPECT_FALSE(parse_as<std::uint32_t>("4294967296"));
  EXPECT_EQ(parse_as<std::int64_t>("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(parse_as<std::int64_t>("9223372036854775808"));
  EXPECT_EQ(parse_as<int>("0"), 0);
  EXPECT_EQ(parse_as<int>("0x7fffffff"), 2147483647);
  for (const auto* bad : {"", "x", "-1", "2147483648", "4294967296", "4294967297", "18446744073709551615"})
    EXPECT_FALSE(parse_as<int>(bad)) << bad;
}

TEST(Text, NumbersOfC) {
  EXPECT_EQ(c_number("0"), 0U);
  EXPECT_EQ(c_number(" 012 "), 10U);
  EXPECT_EQ(c_number("12"), 12U);
  EXPECT_EQ(c_number("0x012"), 0x12U);
  for (const auto* bad : {"", "08", "0x", "-1", "1 2"}) EXPECT_FALSE(c_number(bad)) << bad;
}

TEST(Text, Nearest) {
  const std::vector<std::string> known{"mode", "mtu", "name", "on_unsupported"};
  EXPECT_EQ(nearest("mdoe", known), "mode");
  EXPECT_EQ(nearest("MTU", known), "mtu");
  EXPECT_EQ(nearest("mut", known), "mtu");
  EXPECT_EQ(nearest("on_unsuported", known), "on_unsupported");
  EXPECT_EQ(nearest("qkey", std::vector<std::string>{"pkey", "q_key"}), "q_key");
  EXPECT_EQ(nearest("repare", std::vector<std::string>{"repair", "report"}), "repair");
  EXPECT_EQ(nearest("repare", std::vector<std::string>{"report", "repair"}), "repair");
  EXPECT_EQ(nearest("v3", std::vector<std::string>{"v1", "v2"}), "v1") << "the first of equals";
  EXPECT_FALSE(nearest("colour", known));
  EXPECT_FALSE(nearest("", known));
  EXPECT_FALSE(nearest(std::string(65, 'm'), known));
}

TEST(Text, Globs) {
  EXPECT_TRUE(matches_glob("0000:1?:00.[01]", "0000:1a:00.1"));
  EXPECT_FALSE(matches_glob("0000:1?:00.[01]", "0000:1a:00.2"));
  EXPECT_TRUE(matches_glob("*", "a/.b"));
  EXPECT_FALSE(matches_glob("a", "ab"));
}

TEST(Text, HostRanges) {
  EXPECT_TRUE(matches_host("gpu[001-512]", "gpu001"));
  EXPECT_TRUE(matches_host("gpu[001-512]", "gpu512"));
  EXPECT_FALSE(matches_host("gpu[001-512]", "gpu513"));
  EXPECT_FALSE(matches_host("gpu[001-512]", "gpu7")) << "as many digits as written";
  EXPECT_FALSE(matches_host("gpu[001-512]", "gpu0007"));
  EXPECT_FALSE(matches_host("gpu[001-512]", "gpu000"));
  EXPECT_TRUE(matches_host("n[8-12]", "n8"));
  EXPECT_TRUE(matches_host("n[8-12]", "n12"));
  EXPECT_FALSE(matches_host("n[8-12]", "n08"));
  EXPECT_TRUE(matches_host("r[1-4]n[01-36].*", "r3n36.example.org"));
  for (const auto* host : {"gpu003", "gpu007", "gpu9", "gpu12"})
    EXPECT_TRUE(matches_host("gpu[003-007,9,12]", host)) << host;
  for (const auto* host : {"gpu3", "gpu009", "gpu0", "gpu008", "gpu1", "gpu,", "gpu012"})
    EXPECT_FALSE(matches_host("gpu[003-007,9,12]", host)) << host;
  for (const auto* host : {"gpu001", "gpu003", "gpu009", "gpu7"})
    EXPECT_TRUE(matches_host("gpu[001-009/2,7]", host)) << host;
  for (const auto* host : {"gpu002", "gpu008", "gpu010", "gpu1", "gpu/"})
    EXPECT_FALSE(matches_host("gpu[001-009/2,7]", host)) << host;
  EXPECT_TRUE(matches_host("gpu[12]", "gpu2")) << "a class of characters";
  EXPECT_TRUE(matches_host("gpu[a,b]", "gpub"));
  EXPECT_TRUE(matches_host("*[1-9][10-20]", "a1b315"));
  EXPECT_FALSE(matches_host("*[1-9][10-20]", "a1b305"));
  std::string many;
  for (int i = 0; i < 20; ++i) many += "[1-99]";
  EXPECT_TRUE(matches_host(many, std::string(30, '1')));
  EXPECT_FALSE(matches_host(many, std::string(40, '1') + "x"))
      << "one of 2^20 ways to read it, each tried once";
  EXPECT_FALSE(matches_host("r[1-4]n[01-36].*", "r5n36.example.org"));
  EXPECT_TRUE(matches_host("login[ab][0-9]", "loginb7"));
  EXPECT_TRUE(matches_host("login*", "login"));
  EXPECT_FALSE(matches_host("login", "login1"));
  EXPECT_TRUE(matches_host("*", ""));
  EXPECT_FALSE(matches_host("a[1-", "a1"));
}

}  // namespace
}  // namespace rdmacfg::base
