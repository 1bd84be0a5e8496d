// SPDX-License-Identifier: Apache-2.0
#include "config/guard.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::config {
namespace {

using namespace std::string_literals;

std::string wrong(std::string text, const Limits& limits = {}) {
  const auto found = check_text({"a", std::move(text)}, limits);
  return found ? found->where.text() + ": " + found->message : "";
}

TEST(Guard, PassesUtf8) {
  EXPECT_EQ(wrong(""), "");
  EXPECT_EQ(wrong("a\tb\r\nc\n"), "");
  EXPECT_EQ(wrong("\xef\xbb\xbfname = 'é … 𝄞 \xf4\x8f\xbf\xbf'"), "");
  EXPECT_EQ(wrong("\xed\x9f\xbf\xee\x80\x80"), "");
}

TEST(Guard, RefusesWhatIsNoUtf8) {
  for (const auto* bytes :
       {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3", "\xc3(", "\xe2\x82",
        "\xe2\x82(", "\xf0\x9d\x84", "\xf0\x9d\x84("}) {
    EXPECT_NE(wrong(bytes), "") << bytes;
  }
  EXPECT_EQ(wrong("x = 1\né = '\xff'"), "a:2:6: byte 0xff is not part of a valid UTF-8 character");
}

TEST(Guard, RefusesControlCharacters) {
  EXPECT_EQ(wrong("a\n\0"s), "a:2:1: control character 0x00 is not allowed");
  EXPECT_EQ(wrong("# \x1b[2J"), "a:1:3: control character 0x1b is not allowed");
  EXPECT_EQ(wrong("\x7f"), "a:1:1: control character 0x7f is not allowed");
  EXPECT_EQ(wrong("a\rb"), "a:1:2: a carriage return must be followed by a line feed");
  EXPECT_EQ(wrong("a\r"), "a:1:2: a carriage return must be followed by a line feed");
}

TEST(Guard, RecognizesUtf16WithoutAMark) {
  for (const auto& text : {"v\0e\0r\0"s, "\0v\0e\0r"s}) {
    const auto found = check_text({"a", text}, {});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->hint, "save the file as UTF-8; it looks like UTF-16");
  }
  EXPECT_EQ(check_text({"a", "ver\0"s}, {})->hint, "remove it");
}

TEST(Guard, NamesFilesThatAreNotText) {
  const auto found = [](std::string bytes) {
    const auto diagnostic = check_text({"a", std::move(bytes)}, {});
    return diagnostic ? diagnostic->where.text() + ": " + diagnostic->message + "; " + diagnostic->hint : "";
  };
  EXPECT_EQ(found("\x1f\x8b\x08\0"s), "a: the file is compressed with gzip; decompress it first");
  EXPECT_EQ(found("\x28\xb5\x2f\xfd\x04"s), "a: the file is compressed with zstd; decompress it first");
  EXPECT_EQ(found("BZh91AY&SY\xf1"s), "a: the file is compressed with bzip2; decompress it first");
  EXPECT_EQ(found("PK\x03\x04"s), "a: the file is a ZIP archive; extract it first");
  EXPECT_EQ(found("\x7f\x45LF\x02"s), "a: the file is a program; give the file of the document");
  EXPECT_EQ(found("\xff\xfev\0e\0"s), "a: the file is UTF-16; save it as UTF-8");
  // A text may begin so.
  EXPECT_EQ(found("BZh = 1\n"), "");
}

TEST(Guard, RefusesTooMuch) {
  Limits limits;
  limits.file_bytes = 4;
  EXPECT_EQ(wrong("a=1\n", limits), "");
  EXPECT_EQ(wrong("a=12\n", limits), "a: has 5 bytes, more than the 4 allowed");
  EXPECT_EQ(check_text({"a", "a=12\n"}, limits)->hint, "split it into drop-ins");
}

}  // namespace
}  // namespace rdmacfg::config
