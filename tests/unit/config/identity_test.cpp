// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "sample_document.hpp"

namespace rdmacfg::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Identity, EverySetWillDo) {
  EXPECT_THAT(messages("[[ipoib]]\nguid = '0002:c903:0031:78f2'"), IsEmpty());
  EXPECT_THAT(messages("[[ipoib]]\ndevice = 'mlx5_0'\nport = 1"), IsEmpty());
  EXPECT_THAT(messages("[[ipoib]]\n[ipoib.match]\ndriver = 'mlx5_core'"), IsEmpty());
}

TEST(Identity, None) {
  const auto document = parse_one("\n[[ipoib]]\nmtu = 2044\n[[ipoib.pkey]]\n");
  EXPECT_THAT(messages(document), ElementsAre("a:2:1: [[ipoib]]: no identifying key",
                                              "a:4:1: [[ipoib.pkey]]: no identifying key"));
  EXPECT_EQ(document.diagnostics[0].hint, "add guid, or device and port, or match");
  EXPECT_EQ(document.diagnostics[0].where.length, 9);
}

TEST(Identity, APart) {
  const auto document = parse_one("[[ipoib]]\nport = 1\nmtu = 2044\n");
  EXPECT_THAT(messages(document), ElementsAre("a:2:1: [[ipoib]] port: requires device"));
  EXPECT_EQ(document.diagnostics[0].hint, "write guid, or device and port, or match");
}

TEST(Identity, AMisspeltKeyIsOneMistake) {
  EXPECT_THAT(messages("[[ipoib]]\nguidd = '0002:c903:0031:78f2'"),
              ElementsAre("a:2:1: [[ipoib]] guidd: unknown key; did you mean \"guid\"?"));
  EXPECT_THAT(messages("[[ipoib]]\ndevice = 'mlx5_0'\nporrt = 1"),
              ElementsAre("a:3:1: [[ipoib]] porrt: unknown key; did you mean \"port\"?"));
  EXPECT_THAT(messages("[[ipoib]]\nmttu = 2044"),
              ElementsAre("a:1:1: [[ipoib]]: no identifying key",
                          "a:2:1: [[ipoib]] mttu: unknown key; did you mean \"mtu\"?"));
}

TEST(Identity, TooMany) {
  const auto document = parse_one(ipoib("device = 'mlx5_0'\n"));
  EXPECT_THAT(
      messages(document),
      ElementsAre("a:3:1: [[ipoib]] device: conflicts with guid, which already identifies the entry"));
  EXPECT_EQ(document.diagnostics[0].hint, "keep one: guid, or device and port, or match");
  EXPECT_THAT(document.diagnostics[0].related, testing::SizeIs(1));
  EXPECT_EQ(document.diagnostics[0].related[0].where, (model::Location{"a", 2, 1, 4}));
  EXPECT_THAT(messages("[[ipoib]]\nmatch = {}\n"),
              ElementsAre("a:2:1: [[ipoib]] match: is empty and identifies nothing"));
  EXPECT_THAT(messages(ipoib("match = {}\n")),
              ElementsAre("a:3:1: [[ipoib]] match: conflicts with guid, which already identifies the entry"));
}

TEST(Identity, AWrongValueIsNotMissing) {
  EXPECT_THAT(messages("[[ipoib]]\nguid = '1'"),
              ElementsAre("a:2:8: [[ipoib]] guid: \"1\" is not a valid GUID: 1 hexadecimal digit instead of "
                          "16; write it like "
                          "00:02:c9:03:00:31:78:f2"));
}

TEST(Identity, TwiceInOneFile) {
  const auto document = parse_one(ipoib("[[ipoib.pkey]]\npkey = 2\n") + "[[ipoib.pkey]]\npkey = '0x8002'\n" +
                                  "[[ipoib]]\nguid = '0x0002C903003178F2'\n[[ipoib.pkey]]\npkey = 2\n");
  EXPECT_THAT(messages(document),
              ElementsAre("a:6:8: [[ipoib.pkey]] pkey 0x8002: is defined twice in this file",
                          "a:8:8: [[ipoib]] guid 00:02:c9:03:00:31:78:f2: is defined twice in this file"));
  ASSERT_EQ(document.diagnostics[0].related.size(), 1U);
  EXPECT_EQ(document.diagnostics[0].related[0].note, "first defined here");
  EXPECT_EQ(document.diagnostics[0].related[0].where, (model::Location{"a", 4, 8, 1}));
}

TEST(Identity, MatchCountsWithItsContent) {
  const std::string first = "[[ipoib]]\nmatch = {driver = 'a', port = 1}\n";
  EXPECT_THAT(messages(first + "[[ipoib]]\nmatch = {driver = 'a', port = 2}\n"), IsEmpty());
  EXPECT_THAT(messages(first + "[[ipoib]]\nmatch = {port = 1, driver = 'a'}\n"),
              ElementsAre("a:4:9: [[ipoib]] match: is defined twice in this file"));
}

}  // namespace
}  // namespace rdmacfg::config
