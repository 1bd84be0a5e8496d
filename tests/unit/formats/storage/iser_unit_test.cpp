// SPDX-License-Identifier: Apache-2.0
#include "formats/storage/iser_unit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rdmacfg::kinds {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kPortalText = "iqn.2026-01.org.example:a 192.0.2.1:3260,1";
constexpr const char* kOtherPortal = "iqn.2026-01.org.example:b [2001:db8::1]:860,0";

TEST(IserPortals, AreReadAsTheyAreWritten) {
  for (const auto* text : {kPortalText, kOtherPortal, "eui.0002c903003178f2 192.0.2.1:1,65535"}) {
    const auto portal = IserPortal::parse(text);
    ASSERT_TRUE(portal) << text;
    EXPECT_EQ(portal->text(), text);
  }
  for (const auto* text :
       {"", "iqn.2026-01.org.example:a", "iqn.2026-01.org.example:a 192.0.2.1",
        "iqn.2026-01.org.example:a 192.0.2.1:3260", "scratch 192.0.2.1:3260,1",
        "iqn.2026-01.org.example:a 192.0.2.1:3260,1 x", "IQN.2026-01.org.example:a 192.0.2.1:1,1",
        "iqn.2026-01.org.example:a 192.0.2.1:65536,1", "iqn.2026-01.org.example:a 192.0.2.1:1,-1",
        "iqn.2026-01.org.example:a [192.0.2.1]:3260,1", "iqn.2026-01.org.example:a 192.0.2.1:,1"})
    EXPECT_FALSE(IserPortal::parse(text)) << text;
}

TEST(IserUnit, LogsInByRecordsOfItsOwnInterface) {
  const IserLogins logins{.wanted = {*IserPortal::parse(kPortalText), *IserPortal::parse(kOtherPortal)}};
  const auto text = render_iser_unit(logins);
  EXPECT_TRUE(is_our_iser_unit(text));
  EXPECT_EQ(parse_iser_unit(text), logins);
  EXPECT_THAT(text, HasSubstr("-T iqn.2026-01.org.example:a -p 192.0.2.1:3260,1 -I rdma-configd\n"));
  EXPECT_THAT(text, HasSubstr("-T iqn.2026-01.org.example:b -p [2001:db8::1]:860,0 -I rdma-configd\n"));
  EXPECT_THAT(text, HasSubstr("\nExecStart=-iscsiadm -m node -I rdma-configd --login\n"));
  EXPECT_THAT(text, Not(HasSubstr("delete")));
}

TEST(IserUnit, LogsOutBeforeItLogsIn) {
  const IserLogins logins{.wanted = {*IserPortal::parse(kOtherPortal)},
                          .leaving = {*IserPortal::parse(kPortalText)}};
  const auto text = render_iser_unit(logins);
  EXPECT_EQ(parse_iser_unit(text), logins);
  const auto out = text.find(" --logout\n"), gone = text.find(" -o delete\n"), in = text.find(" --login\n");
  ASSERT_NE(in, std::string::npos);
  EXPECT_LT(out, gone);
  EXPECT_LT(gone, in);

  const auto last = render_iser_unit({.leaving = logins.leaving});
  EXPECT_THAT(last, Not(HasSubstr("--login\n")));
  EXPECT_THAT(last, HasSubstr("\nExecStart=-iscsiadm -m iface -I rdma-configd -o delete\n"));
}

TEST(IserUnit, ALoginThatIsUndoneLeavesTheRecordAndLogsNobodyIn) {
  const IserLogins logins{.wanted = {*IserPortal::parse(kOtherPortal)},
                          .resting = {*IserPortal::parse(kPortalText)}};
  const auto text = render_iser_unit(logins);
  EXPECT_EQ(parse_iser_unit(text), logins);
  EXPECT_THAT(text, HasSubstr(" -p 192.0.2.1:3260,1 -I rdma-configd --logout\n"));
  EXPECT_THAT(text, Not(HasSubstr(" -o delete\n")));
  EXPECT_THAT(text, Not(HasSubstr("--login\n")));
}

/// Killed in between, the next boot logs in as if nothing had been undone: the session is gone by itself
/// then.
TEST(IserUnit, ALoginThatIsUndoneIsForThisBootAlone) {
  IserLogins logins{.wanted = {*IserPortal::parse(kOtherPortal)},
                    .resting = {*IserPortal::parse(kPortalText)},
                    .boot = "5f0c0de0-0000-4000-8000-000000000001"};
  const auto text = render_iser_unit(logins);
  EXPECT_EQ(parse_iser_unit(text), logins);
  EXPECT_THAT(text,
              HasSubstr("'grep -qsxF 5f0c0de0-0000-4000-8000-000000000001 "
                        "/proc/sys/kernel/random/boot_id || iscsiadm -m node -I rdma-configd --login'\n"));
  logins.boot = "x; reboot";
  EXPECT_THAT(render_iser_unit(logins), Not(HasSubstr("reboot")));
  EXPECT_THAT(
      parse_iser_unit(text.substr(0, text.find('\n')) + "\n# in boot: 5f0c0de0-0000-4000-8000-000000000001\n")
          .boot,
      IsEmpty())
      << "nothing rests";
}

TEST(IserUnit, WithoutSessionsThereIsNone) {
  EXPECT_EQ(render_iser_unit({}), "");
  EXPECT_EQ(parse_iser_unit(""), IserLogins{});
  EXPECT_THAT(parse_iser_unit("[Service]\n# session: iqn.2026-01.org.example:a 192.0.2.1:3260,1\n").wanted,
              IsEmpty());
}

TEST(IserUnit, ARecordSaysWhetherOpenIscsiLogsInAtBoot) {
  EXPECT_TRUE(logs_in_at_boot("# BEGIN RECORD 2.1.8\nnode.name = x\nnode.startup = automatic\n"));
  EXPECT_TRUE(logs_in_at_boot("node.startup=onboot"));
  EXPECT_FALSE(logs_in_at_boot("node.startup = manual\nnode.conn[0].startup = automatic\n"));
  EXPECT_FALSE(logs_in_at_boot(""));
}

}  // namespace
}  // namespace rdmacfg::kinds
