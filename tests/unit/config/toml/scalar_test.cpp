// SPDX-License-Identifier: Apache-2.0
#include "config/toml/scalar.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::config {
namespace {

std::string describe(std::string_view token) {
  const auto scalar = parse_scalar(token);
  if (const auto* value = std::get_if<model::Value>(&scalar)) return model::text_of(*value);
  if (const auto* foreign = std::get_if<Foreign>(&scalar)) return std::string(foreign->sort);
  const auto& error = std::get<ScalarError>(scalar);
  return "! " + error.message + (error.hint.empty() ? "" : "; " + error.hint);
}

TEST(Scalar, Numbers) {
  EXPECT_EQ(describe("65520"), "65520");
  EXPECT_EQ(describe("+1_000"), "1000");
  EXPECT_EQ(describe("0x8002"), "32770");
  EXPECT_EQ(describe("0xdead_BEEF"), "3735928559");
  EXPECT_EQ(describe("0o17"), "15");
  EXPECT_EQ(describe("0b101"), "5");
  EXPECT_EQ(describe("-0"), "0");
  EXPECT_EQ(describe("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(describe("-9223372036854775808"), "-9223372036854775808");
}

TEST(Scalar, NumbersThatDoNotFit) {
  for (const auto* token :
       {"9223372036854775808", "-9223372036854775809", "0x10000000000000000", "0o7777777777777777777777"}) {
    EXPECT_EQ(describe(token), std::string("! ") + token + " is too large");
  }
  EXPECT_EQ(describe("0xf452140300317802"),
            "! 0xf452140300317802 is too large; put an identifier in quotes: \"0xf452140300317802\"");
}

TEST(Scalar, TextsInEveryQuotes) {
  EXPECT_EQ(describe(R"("a\tb\u00e9\U0001D11E\"\\")"), "a\tbé𝄞\"\\");
  EXPECT_EQ(describe(R"('C:\x')"), R"(C:\x)");
  EXPECT_EQ(describe("\"\"\"\na\\\n   b\"\"\""), "ab");
  EXPECT_EQ(describe("'''\na'b'''"), "a'b");
  EXPECT_EQ(describe("\"\"\"a\"\"\"\"\""), "a\"\"");
  EXPECT_EQ(describe("\"\""), "");
  EXPECT_EQ(describe("\"ib0 # $x\""), "ib0 # $x");
  EXPECT_EQ(describe("\"it's\""), "it's");
  EXPECT_EQ(describe("'say \"ib0\"'"), "say \"ib0\"");
}

TEST(Scalar, ControlCharactersAreRefusedHoweverTheyAreWritten) {
  for (const auto* token : {R"("1\u000dnet.ipv4.conf.lo.arp_ignore=3")",
                            R"("a\rb")",
                            R"("a\nb")",
                            R"("\u0000")",
                            R"("\u001b[2J")",
                            R"("\b")",
                            R"("\f")",
                            R"("\u007f")",
                            R"("\u0085")",
                            R"("\u009b")",
                            R"("\u2028")",
                            R"("\u2029")",
                            R"("\u202e")",
                            R"("\U00002066")",
                            R"("\u200f")",
                            R"("\u061c")",
                            "'\xc2\x9b'",
                            "'\xe2\x80\xae'",
                            "\"\"\"a\nb\"\"\"",
                            "'''a\r\nb'''"}) {
    EXPECT_TRUE(describe(token).starts_with("! the text ")) << token << ": " << describe(token);
  }
  EXPECT_EQ(describe(R"("a\u001b")"),
            "! the text contains the control character U+001B; remove it: tabs are the only control "
            "characters allowed in a string");
  EXPECT_EQ(describe(R"("a\u202E")").substr(0, 52), "! the text contains the bidirectional control U+202E");
  EXPECT_EQ(describe(R"("a\tb")"), "a\tb");
}

TEST(Scalar, EscapesThatMeanNothing) {
  EXPECT_EQ(
      describe(R"("a\d")"),
      R"(! \d is not an escape sequence of a double-quoted string; write \\ for a backslash, or use single quotes)");
  EXPECT_EQ(
      describe(R"("\é")"),
      R"(! \é is not an escape sequence of a double-quoted string; write \\ for a backslash, or use single quotes)");
  EXPECT_EQ(
      describe(R"("\u12")"),
      R"(! the string contains an invalid escape sequence; \u takes 4 and \U takes 8 hexadecimal digits)");
  EXPECT_EQ(
      describe(R"("\ud800")"),
      R"(! the string contains an invalid escape sequence; \u takes 4 and \U takes 8 hexadecimal digits)");
}

TEST(Scalar, SortsThatTheModelDoesNotHave) {
  EXPECT_EQ(describe("1.5"), "a floating-point number");
  EXPECT_EQ(describe("inf"), "a floating-point number");
  EXPECT_EQ(describe("2024-01-01"), "a date");
  EXPECT_EQ(describe("2024-01-01 10:00:00Z"), "a date");
  EXPECT_EQ(describe("10:00:00"), "a time");
}

TEST(Scalar, WordsThatPeopleWriteInstead) {
  EXPECT_EQ(describe("true"), "yes");
  EXPECT_EQ(describe("yes"),
            "! yes is not a valid value; write true, or \"yes\" where the key takes a string");
  EXPECT_EQ(describe("off"),
            "! off is not a valid value; write false, or \"off\" where the key takes a string");
  EXPECT_EQ(describe("connected"), "! connected is not a valid value; put text in quotes: \"connected\"");
  EXPECT_EQ(describe("192.0.2.1/24"),
            "! 192.0.2.1/24 is not a valid value; put text in quotes: \"192.0.2.1/24\"");
  EXPECT_EQ(describe("00:02:c9"), "! 00:02:c9 is not a valid value; put text in quotes: \"00:02:c9\"");
  EXPECT_EQ(describe("099"), "! a number cannot begin with 0; hexadecimal numbers begin with 0x");
  EXPECT_EQ(describe("4K"),
            "! 4K is not a valid value; write the number without a unit, or \"4K\" where the key takes one");
  EXPECT_EQ(describe("8aff"),
            "! 8aff is not a valid value; write 0x8aff for a hexadecimal number, \"8aff\" for text");
  EXPECT_EQ(describe("0X8002"), "! 0X8002 is not a valid value; write 0x8002");
  EXPECT_EQ(describe("ffff"),
            "! ffff is not a valid value; write 0xffff for a hexadecimal number, \"ffff\" for text");
  EXPECT_EQ(describe("x8001"), "! x8001 is not a valid value; write 0x8001");
  EXPECT_EQ(describe("fab"), "! fab is not a valid value; put text in quotes: \"fab\"");
  for (const auto* token : {"0x80g1", "0X80g1"}) {
    EXPECT_EQ(describe(token),
              std::string("! ") + token +
                  " is not a valid value; a hexadecimal number has the digits 0 to 9 and a to f");
  }
  EXPECT_EQ(describe("0002c903003178f2"),
            "! 0002c903003178f2 is not a valid value; put text in quotes: \"0002c903003178f2\"");
  EXPECT_EQ(describe("2044;"), "! 2044; is not a valid value; remove the ';'");
  EXPECT_EQ(describe("true;"), "! true; is not a valid value; remove the ';'");
  EXPECT_EQ(describe("a;"), "! a; is not a valid value; put text in quotes: \"a;\"");
  EXPECT_EQ(describe(std::string(70, '1') + ";").substr(0, 3), "! 1");
  EXPECT_EQ(describe("truex"), "! truex is not a valid value; put text in quotes: \"truex\"");
  EXPECT_EQ(describe("1__0"),
            "! 1__0 is not a valid value; an underscore in a number stands between two digits");
}

TEST(Scalar, LongWordsAreCutBetweenCharacters) {
  std::string word(63, 'x');
  for (int i = 0; i < 40; ++i) word += "é";
  EXPECT_EQ(describe(word).substr(0, 68), "! " + std::string(63, 'x') + "é" + " ");
}

}  // namespace
}  // namespace rdmacfg::config
