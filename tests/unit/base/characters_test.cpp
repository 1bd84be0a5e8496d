// SPDX-License-Identifier: Apache-2.0
#include "base/characters.hpp"

#include <gtest/gtest.h>

#include <ios>

namespace rdmacfg::base {
namespace {

using namespace std::string_literals;

TEST(Characters, ControlsAreKnown) {
  for (const std::uint32_t code :
       {0x00U, 0x09U, 0x0aU,  0x0bU,   0x0cU,   0x0dU,   0x1bU,   0x1fU,   0x7fU,   0x80U,   0x85U,
        0x9bU, 0x9fU, 0x61cU, 0x200eU, 0x200fU, 0x2028U, 0x2029U, 0x202aU, 0x202eU, 0x2066U, 0x2069U})
    EXPECT_TRUE(is_control(code)) << std::hex << code;
  for (const std::uint32_t code :
       {0x20U, 0x7eU, 0xa0U, 0xadU, 0xe9U, 0x2026U, 0x2027U, 0x202fU, 0x2065U, 0x206aU, 0xfffdU, 0x1f600U})
    EXPECT_FALSE(is_control(code)) << std::hex << code;
}

TEST(Characters, ATextMayHaveTabsOnly) {
  EXPECT_FALSE(first_control("a\tb é 𝄞"));
  EXPECT_EQ(first_control("a\rb"), 0x0dU);
  EXPECT_EQ(first_control("a\0b"s), 0U);
  EXPECT_EQ(first_control("é\xc2\x9b"), 0x9bU);
  EXPECT_EQ(first_control("\xe2\x80\xae"), 0x202eU);
}

TEST(Characters, WhatIsShownIsHarmless) {
  EXPECT_EQ(harmless("a\tb\n\x1b[2J"), "a\ufffdb\ufffd\ufffd[2J");
  EXPECT_EQ(harmless("\xff\xc2"), "\ufffd\ufffd");
  EXPECT_EQ(harmless_lines("a\tb\n\r\x1b"), "a\tb\n\ufffd\ufffd");
}

TEST(Characters, JsonStaysTheSameValue) {
  EXPECT_EQ(harmless_json("{\n \"a\": \"\x7f\xc2\x9b\xe2\x80\xae é\"\n}"),
            "{\n \"a\": \"\\u007f\\u009b\\u202e é\"\n}");
}

}  // namespace
}  // namespace rdmacfg::base
