// SPDX-License-Identifier: Apache-2.0
// Lists of hosts, and their shortest spelling.
#include "fleet/host_list.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace rdmacfg::fleet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

HostList list_of(const std::string& text, std::size_t most = 1000) {
  return parse_hosts({"hosts.txt", text}, most);
}

std::vector<std::string> complaints_of(const HostList& list) {
  std::vector<std::string> out;
  for (const auto& diagnostic : list.diagnostics)
    out.push_back(
        fmt::format("{}+{}: {}", diagnostic.where.text(), diagnostic.where.length, diagnostic.message));
  return out;
}

TEST(HostList, RangesAreCountedWithTheirDigits) {
  EXPECT_THAT(list_of("gpu[008-010]").names, ElementsAre("gpu008", "gpu009", "gpu010"));
  EXPECT_THAT(list_of("a[9-10,3]").names, ElementsAre("a9", "a10", "a3"));
  EXPECT_THAT(
      list_of("r[1-2]n[01,03].example.net").names,
      ElementsAre("r1n01.example.net", "r1n03.example.net", "r2n01.example.net", "r2n03.example.net"));
}

/// [1-010] is meant as 001-010 or as 1-10; [001-10] can only be 001-010.
TEST(HostList, ARangeHasNumbersOfOneWidth) {
  const auto mixed = list_of("gpu[1-010] sm[01-003,7] a[0010-012] b[01-3]");
  EXPECT_THAT(mixed.names, ElementsAre("b01", "b02", "b03"));
  EXPECT_THAT(complaints_of(mixed),
              ElementsAre("hosts.txt:1:5+5: the numbers of range 1-010 have different widths",
                          "hosts.txt:1:15+6: the numbers of range 01-003 have different widths",
                          "hosts.txt:1:27+8: the numbers of range 0010-012 have different widths"));
  ASSERT_EQ(mixed.diagnostics.size(), 3U);
  EXPECT_EQ(mixed.diagnostics[0].hint, "write 001-010");
  EXPECT_EQ(mixed.diagnostics[1].hint, "write 001-003");
  EXPECT_EQ(mixed.diagnostics[2].hint, "write 0010-0012");
  EXPECT_FALSE(mixed.complete);
  const auto reversed = list_of("gpu[010-1]");
  ASSERT_EQ(reversed.diagnostics.size(), 1U);
  EXPECT_EQ(reversed.diagnostics[0].hint, "write 001-010");
  EXPECT_THAT(complaints_of(list_of("a[0-9] b[00-10] c[9-10] d[0-0]")), IsEmpty());
}

TEST(HostList, ItemsAreSeparatedByCommasBlanksAndLines) {
  const auto list = list_of("# the site\nlogin1, gpu[1,2]\r\n  sm1 # the fabric\n\n");
  EXPECT_THAT(list.names, ElementsAre("login1", "gpu1", "gpu2", "sm1"));
  EXPECT_THAT(list.diagnostics, IsEmpty());
}

TEST(HostList, RangesInABracketMayHaveBlanksBetweenThem) {
  const auto list = list_of("gpu[1-2, 7]\tsm[ 01 ,\t03 ]-ib[0-1] login");
  EXPECT_THAT(complaints_of(list), IsEmpty());
  EXPECT_THAT(list.names,
              ElementsAre("gpu1", "gpu2", "gpu7", "sm01-ib0", "sm01-ib1", "sm03-ib0", "sm03-ib1", "login"));
  EXPECT_THAT(complaints_of(list_of("gpu[1, 3-2]")), ElementsAre("hosts.txt:1:8+3: range 3-2 is reversed"));
  EXPECT_THAT(complaints_of(list_of("gpu[1, ]")), ElementsAre("hosts.txt:1:7+1: empty range"));
  EXPECT_THAT(complaints_of(list_of("gpu[1- 2]")),
              ElementsAre("hosts.txt:1:5+4: \"1- 2\" is not a range of numbers"));
}

TEST(HostList, ARangeMayHaveAStep) {
  EXPECT_THAT(list_of("gpu[1-9/2]").names, ElementsAre("gpu1", "gpu3", "gpu5", "gpu7", "gpu9"));
  EXPECT_THAT(list_of("r[01-02]n[8-11/2, 20]").names,
              ElementsAre("r01n8", "r01n10", "r01n20", "r02n8", "r02n10", "r02n20"));
  EXPECT_THAT(list_of("a[5/2] b[1-3/9]").names, ElementsAre("a5", "b1"));
  EXPECT_EQ(list_of("a[1-999/1]").names.size(), 999U);
  EXPECT_EQ(list_of("a[1-100000/100]").names.size(), 1000U) << "the limit counts the hosts, not the range";
  EXPECT_THAT(complaints_of(list_of("a[1-9/0]")), ElementsAre("hosts.txt:1:3+5: range 1-9/0 has step 0"));
  for (const auto* word : {"1-9/", "1-9/x", "1-9/2/2", "1-9/-2", "1-9/0x2", "/2"})
    EXPECT_THAT(complaints_of(list_of(fmt::format("a[{}]", word))),
                ElementsAre(HasSubstr(fmt::format("\"{}\" is not a range of numbers", word))));
}

TEST(HostList, OtherNotationsAreErrorsWithTheirRemedy) {
  for (const auto& [text, hint] : std::vector<std::pair<std::string, std::string>>{
           {"gpu{001..002}", "write ranges as gpu[001-512,600]"},
           {"gpu[001:002]", "write ranges as gpu[001-512,600]"},
           {"gpu001;gpu002", "separate hosts by commas, blanks or lines"},
           {"gpu001|gpu002", "separate hosts by commas, blanks or lines"},
           {"-gpu1", "must not begin or end with -"},
           {"gpu[1-2]-", "must not begin or end with -"},
           {"gpu1.-site", "must not begin or end with -"},
           {"-", "remove the - of a YAML list"},
           {"@gpu", "use letters, digits, - and _, at most 63 between two dots"}}) {
    const auto list = list_of(text);
    ASSERT_EQ(list.diagnostics.size(), 1U) << text;
    EXPECT_THAT(list.diagnostics[0].hint, HasSubstr(hint)) << text;
    EXPECT_THAT(list.names, IsEmpty()) << text;
  }
}

TEST(HostList, SaysWhetherItemsAreLeftOut) {
  for (const auto* whole : {"gpu[1-3]", "gpu1,gpu1", "gpu[1-3,2]"})
    EXPECT_TRUE(list_of(whole).complete) << whole;
  for (const auto* part : {"", "gpu[3-1]", "gpu1,-x", "gpu[1", "gpu[1-9] sm[1-9999]", "gpu1\xff"})
    EXPECT_FALSE(list_of(part).complete) << part;
  EXPECT_FALSE(list_of(std::string(300, 'a')).complete);
}

TEST(HostList, AByteOrderMarkCountsAsNothing) {
  const auto list = list_of("\xef\xbb\xbfgpu1\r\ngpu[2-1]\r\n");
  EXPECT_THAT(list.names, ElementsAre("gpu1"));
  EXPECT_THAT(complaints_of(list), ElementsAre("hosts.txt:2:5+3: range 2-1 is reversed"));
  EXPECT_THAT(complaints_of(list_of("\xef\xbb\xbf-x")),
              ElementsAre("hosts.txt:1:1+2: \"-x\" is not a valid host name"));
}

TEST(HostList, ANameHasLabelsThatAHostCanHave) {
  const std::string label(63, 'a');
  for (const auto& name : {std::string("a_1"), std::string("a-1.x"), label + "." + label})
    EXPECT_TRUE(is_host_name(name)) << name;
  for (const auto& name :
       {std::string("a."), std::string(".a"), std::string("a..b"), std::string("a-"), std::string("a-.b"),
        std::string("a.-b"), label + "a", std::string("a.") + label + "a", std::string(), std::string("a b")})
    EXPECT_FALSE(is_host_name(name)) << name;
  // Each name of the item, not only the first and the last.
  const auto list = list_of(std::string(60, 'a') + "[1-1000,1] b", 10'000);
  EXPECT_THAT(list.names, ElementsAre("b"));
  ASSERT_EQ(list.diagnostics.size(), 1U);
  EXPECT_THAT(list.diagnostics[0].message, HasSubstr("is not a valid host name"));
}

TEST(HostList, WhatIsWrongHasItsPlaceAndTheRestIsRead) {
  const auto list = list_of("gpu[1-2],gpu[3\nsm[9-8]\nok1 a[] b[1-] -x\nlö\ngpu2");
  EXPECT_THAT(list.names, ElementsAre("gpu1", "gpu2", "ok1"));
  EXPECT_THAT(
      complaints_of(list),
      ElementsAre("hosts.txt:1:13+1: unmatched bracket", "hosts.txt:2:4+3: range 9-8 is reversed",
                  "hosts.txt:3:7+1: empty range", "hosts.txt:3:11+2: \"1-\" is not a range of numbers",
                  "hosts.txt:3:15+2: \"-x\" is not a valid host name",
                  "hosts.txt:4:1+3: \"lö\" is not a valid host name",
                  "hosts.txt:5:1+4: host gpu2 is listed twice"));
  EXPECT_EQ(list.diagnostics[1].hint, "write 8-9");
}

TEST(HostList, HostsThatAreListedTwiceAreOneComplaint) {
  const auto list = list_of("gpu[1-9] GPU[8-20]");
  EXPECT_EQ(list.names.size(), 20U);
  EXPECT_THAT(complaints_of(list), ElementsAre("hosts.txt:1:10+9: 2 hosts are listed twice: GPU[8,9]"));
}

TEST(HostList, AnEmptyListIsAnError) {
  for (const auto* text : {"", "\n# none\n", " , "})
    EXPECT_THAT(complaints_of(list_of(text)), ElementsAre("hosts.txt:1:1+1: no host is listed")) << text;
}

TEST(HostList, ItIsBounded) {  // kFleetHosts
  EXPECT_EQ(list_of("a[1-1000]").names.size(), 1000U);
  const auto list = list_of("b[1-10] a[1-999999999999999]x[1-999999999999999] c1");
  EXPECT_EQ(list.names.size(), 10U);
  ASSERT_EQ(list.diagnostics.size(), 1U);
  EXPECT_THAT(list.diagnostics[0].message, HasSubstr("exceeds the limit of 1000 hosts"));
  EXPECT_EQ(parse_hosts({"x", "a[1-100000]"}).names.size(), model::limits::kFleetHosts);
  EXPECT_EQ(parse_hosts({"x", "a[1-100001]"}).names.size(), 0U);
}

/// Names are not made before it is known that they can be some.
TEST(HostList, ALongNameIsNotMultiplied) {
  const std::string large(1'000'000, 'a');
  const auto list = parse_hosts({"x", large + "[1-100000] b1"});
  EXPECT_THAT(list.names, ElementsAre("b1"));
  ASSERT_EQ(list.diagnostics.size(), 1U);
  EXPECT_EQ(list.diagnostics[0].message, "a host name has more than 253 characters");
  std::string brackets;
  for (int i = 0; i < 300'000; ++i) brackets += "[1]";
  EXPECT_EQ(parse_hosts({"x", brackets}).diagnostics[0].message, "a host name has more than 253 characters");
  EXPECT_THAT(list_of("a[1][02][3-4]").names, ElementsAre("a1023", "a1024"));
  EXPECT_LT(list_of("a[" + large + "]").diagnostics[0].message.size(), 100U);
  std::string numbers = "1";
  for (int i = 2; i < 200; ++i) numbers += fmt::format(",{}", i);
  EXPECT_EQ(list_of("-a[" + numbers + "]").diagnostics[0].message,
            "a name of this item is not a valid host name");
}

TEST(HostList, ItsComplaintsAreBounded) {  // kErrors
  std::string text;
  for (std::size_t i = 0; i < model::limits::kErrors; ++i) text += "a[\n";
  EXPECT_EQ(list_of(text).diagnostics.size(), model::limits::kErrors);
  const auto list = list_of(text + "a[\na[\nb1");
  EXPECT_EQ(list.names.size(), 1U);
  ASSERT_EQ(list.diagnostics.size(), model::limits::kErrors + 1);
  EXPECT_EQ(list.diagnostics.back().message, "2 more mistakes are not shown");
}

TEST(HostList, NamesFold) {
  const auto fold = [](const std::string& text) { return fold_hosts(list_of(text).names); };
  EXPECT_EQ(fold("gpu009 gpu[003-007]"), "gpu[003-007,009]");
  EXPECT_EQ(fold("gpu[003-007] gpu9"), "gpu[003-007,9]");
  EXPECT_EQ(fold("a1 a2 a3 a9 a10 a11"), "a[1-3,9-11]");
  EXPECT_EQ(fold("a1 a01"), "a[1,01]");
  EXPECT_EQ(fold("r[01-12]n[01-40]"), "r[01-12]n[01-40]");
  EXPECT_EQ(fold("r1n1 r1n2 r2n1"), "r1n[1,2],r2n1");
  EXPECT_EQ(fold("gpu[1-3].example.net login"), "gpu[1-3].example.net,login");
  EXPECT_EQ(fold("a1234567890123456"), "a1234567890123456");
  EXPECT_EQ(fold_hosts(std::vector<std::string>{}), "");
}

TEST(HostList, NamesInventoriesOfOtherTools) {
  const auto said = [](const std::string& text) {
    const auto list = list_of(text);
    EXPECT_FALSE(list.complete) << text;
    EXPECT_TRUE(list.names.empty()) << text;
    return list.diagnostics.size() == 1
               ? list.diagnostics[0].where.text() + ": " + list.diagnostics[0].message
               : "";
  };
  const std::string ansible = "this is an Ansible inventory, not a list of hosts";
  EXPECT_EQ(said("# site\n[gpu]\ngpu[001:004] ansible_user=root\n"), "hosts.txt:2:1: " + ansible);
  EXPECT_EQ(said("gpu1 ansible_host=192.0.2.1\n"), "hosts.txt:1:1: " + ansible);
  EXPECT_EQ(said("---\nall:\n  hosts:\n    gpu1:\n"), "hosts.txt:2:1: " + ansible);
  EXPECT_EQ(said("{\"gpu\": {\"hosts\": [\"gpu1\"]}}"), "hosts.txt:1:1: " + ansible);
  EXPECT_EQ(said("NodeName=gpu[001-004] CPUs=4\n"),
            "hosts.txt:1:1: this is a Slurm configuration, not a list of hosts");
  // A node is in several partitions, and would be listed twice.
  EXPECT_EQ(list_of("NodeName=gpu1\n").diagnostics.at(0).hint,
            "`sinfo -Nh -o %N | sort -u` prints its hosts; give these as --hosts -");
  EXPECT_EQ(said("gpu: gpu[001-004]\nall: @gpu\n"),
            "hosts.txt:1:1: these are ClusterShell groups, not a list of hosts");
  EXPECT_EQ(list_of("[1-3]x\n").names.size(), 3U);
}

}  // namespace
}  // namespace rdmacfg::fleet
