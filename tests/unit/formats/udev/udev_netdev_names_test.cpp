// SPDX-License-Identifier: Apache-2.0
#include "formats/udev/udev_netdev_names.hpp"

#include <gtest/gtest.h>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

const model::Guid kNamedPort{0x0002c903003178f2};

TEST(RuleFile, MatchesTheLastEightBytesOfAPortsOwnInterface) {
  EXPECT_NE(render_rules({{kNamedPort, "mlx4_ib0"}})
                .find("ACTION==\"add\", SUBSYSTEM==\"net\", DRIVERS==\"?*\", ATTR{type}==\"32\", "
                      "ATTR{address}==\"?*00:02:c9:03:00:31:78:f2\", NAME=\"mlx4_ib0\"\n"),
            std::string::npos);
}

TEST(RuleFile, ReadsWhatItWrites) {
  const Rules rules{{kNamedPort, "mlx4_ib0"}, {model::Guid{0x0002c903003178f3}, "mlx4_ib1"}};
  EXPECT_EQ(parse_rules(render_rules(rules)), rules);
}

TEST(RuleFile, PassesOverWhatIsNotItsOwn) {
  EXPECT_TRUE(
      parse_rules("# NAME=\"x\"\nNAME=\"x\"\nATTR{address}==\"?*00:02\", NAME=\"x\"\n\xff\n").empty());
}

TEST(RuleFile, GoesWithItsLastRule) {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  ASSERT_TRUE(write_rules(files, {{kNamedPort, "mlx4_ib0"}}));
  EXPECT_TRUE(files.read(std::string(kRuleFile))->has_value());
  ASSERT_TRUE(write_rules(files, {}));
  EXPECT_FALSE(files.read(std::string(kRuleFile))->has_value());
}

TEST(ForeignNames, FindsOtherRulesOfTheSamePortAndWhichOfThemWin) {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  ASSERT_TRUE(
      files.write("/etc/udev/rules.d/70-persistent-ipoib.rules",
                  "# NAME=\"no\" ?*00:02:c9:03:00:31:78:f2\n"
                  "ATTR{type}==\"32\", ATTR{address}==\"?*00:02:C9:03:00:31:78:F2\", NAME=\"old_ib\"\n"));
  ASSERT_TRUE(files.write("/etc/udev/rules.d/99-late.rules",
                          "ATTR{address}==\"?*00:02:c9:03:00:31:78:f2\", NAME=\"late\"\n"));
  ASSERT_TRUE(files.write("/usr/lib/udev/rules.d/80-x.rules",
                          "NAME==\"\", ENV{ID_NET_NAME}!=\"\", NAME=\"$env{ID_NET_NAME}\"\n"));
  ASSERT_TRUE(files.write("/etc/systemd/network/10-ib.link",
                          "[Match]\nMACAddress=00:02:c9:03:00:31:78:f2\n[Link]\nName=link_ib\n"));
  const auto found = ForeignNames::read(files)->of(kNamedPort, "mlx4_ib0");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name, "old_ib");
  EXPECT_EQ(found[0].line, 2);
  EXPECT_FALSE(found[0].wins);
  EXPECT_EQ(found[1].name, "late");
  EXPECT_TRUE(found[1].wins);
  EXPECT_EQ(found[2].name, "link_ib");
  EXPECT_EQ(found[2].line, 4);
  EXPECT_FALSE(found[2].wins);
}

// As people write them: in several lines, with blanks, and final.
TEST(ForeignNames, AreReadAsUdevReadsThem) {
  struct Row {
    const char* file;
    const char* text;
    int line;
    bool wins;
  };
  const char* const address = "ATTR{address}==\"?*00:02:c9:03:00:31:78:f2\"";
  for (const auto& row :
       {Row{"10-early", ", NAME=\"x\"\n", 1, false}, Row{"10-early", ", NAME:=\"x\"\n", 1, true},
        Row{"10-early", ", NAME==\"\", NAME:=\"x\"\n", 1, true}, Row{"99-late", ", NAME:=\"x\"\n", 1, true},
        Row{"99-late", " NAME = \"x\"\n", 1, true}, Row{"99-late", ", NAME==\"\", NAME:=\"x\"\n", 1, false},
        Row{"99-late", ", \\\n  # a comment\n  NAME=\"x\"\n", 1, true}}) {
    SCOPED_TRACE(std::string(row.file) + row.text);
    fakes::Faults faults;
    fakes::MemoryFiles files{faults};
    ASSERT_TRUE(files.write("/etc/udev/rules.d/" + std::string(row.file) + ".rules",
                            std::string(address) + row.text));
    const auto found = ForeignNames::read(files)->of(kNamedPort, "mlx4_ib0");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].name, "x");
    EXPECT_EQ(found[0].line, row.line);
    EXPECT_EQ(found[0].wins, row.wins);
    EXPECT_EQ(found[0].is_final, row.wins && std::string(row.file) == "10-early");
  }
}

TEST(ForeignNames, OfAMaskedFileTheFirstCounts) {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  ASSERT_TRUE(files.write("/etc/udev/rules.d/75-x.rules", "# nothing\n"));
  ASSERT_TRUE(files.write("/usr/lib/udev/rules.d/75-x.rules",
                          "ATTR{address}==\"?*00:02:c9:03:00:31:78:f2\", NAME=\"late\"\n"));
  EXPECT_TRUE(ForeignNames::read(files)->of(kNamedPort, "mlx4_ib0").empty());
}

}  // namespace
}  // namespace rdmacfg::kinds
