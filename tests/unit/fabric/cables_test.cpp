// SPDX-License-Identifier: Apache-2.0
// Mistakes in [[cable]] entries that are found before a fabric is looked at.
#include "fabric/cables.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"
#include "fabric/limits.hpp"

namespace rdmacfg::fabric {
namespace {

using ::testing::HasSubstr;

config::Document checked_cables(const std::string& text) {
  static const std::vector<model::SectionSpec> kGrammar{cable_section()};
  auto document = config::parse_texts({{.name = "x", .text = "version = 1\n" + text}}, "", kGrammar);
  if (!model::has_errors(document.diagnostics)) check_cable_entries(document.sections, document.diagnostics);
  return document;
}

std::string cable(const std::string& from, const std::string& to, const std::string& more = "") {
  return fmt::format("[[cable]]\nfrom = \"{}\"\nto = \"{}\"\n{}", from, to, more);
}

TEST(CableEntries, AreHeldAgainstOneAnother) {
  struct Row {
    std::string text;
    std::string wrong;    ///< place and message of the only error; empty: none
    std::string related;  ///< place of the entry that it contradicts
  };
  const std::string plain = cable("leaf1/1", "node001/1");
  const std::vector<Row> rows{
      {plain, "", ""},
      {plain + cable("leaf1/2", "node002/1"), "", ""},
      // From both ends, as tools print links.
      {plain + cable("node001/1", "leaf1/1"), "", ""},
      {cable("leaf1/1", "a/1", "width = \"4X\"\n") + cable("a/1", "leaf1/1", "width = \"4X\"\n"), "", ""},
      {cable("leaf1/1", "a/1", "width = \"4X\"\n") + cable("a/1", "leaf1/1", "speed = \"HDR\"\n"), "", ""},
      {cable("leaf1/1", "a/1", "speed = \"EDR\"\n") + cable("a/1", "leaf1/1", "speed = \"HDR\"\n"),
       "x:9:9 [[cable]] speed: is HDR, but EDR in another entry of this cable", "x:5:9"},
      {cable("leaf1/1", "leaf1/2"), "", ""},
      {cable("leaf1/1", "leaf1/01"), "x:4:6 [[cable]] to: leaf1/01 is the same port as from", ""},
      {cable("0002:c903:0031:78f0/1", "00:02:c9:03:00:31:78:f0/1"),
       "x:4:6 [[cable]] to: 00:02:c9:03:00:31:78:f0/1 is the same port as from", ""},
      {"[[cable]]\nfrom = \"leaf1/1\"\n", "x:2:1 [[cable]] leaf1/1: to is missing", ""},
      {plain + cable("leaf1/2", "node001/1"), "x:7:6 [[cable]] to: node001/1 already has a cable, to leaf1/1",
       "x:4:6"},
      {plain + cable("node001/1", "leaf1/2"),
       "x:6:8 [[cable]] from: node001/1 already has a cable, to leaf1/1", "x:4:6"},
      {cable("leaf1 (0002c903003178f0)/1", "a/1") + cable("0x0002c903003178f0/1", "b/1"),
       "x:6:8 [[cable]] from: 0x0002c903003178f0/1 already has a cable, to a/1", "x:3:8"},
      // Only the fabric knows whether a description and a GUID are of one node.
      {cable("leaf1/1", "a/1") + cable("00:02:c9:03:00:31:78:f0/1", "b/1"), "", ""},
      // Descriptions with blanks, colons, brackets and slashes.
      {cable("node001 mlx5_0/1", "MF0;leaf1:SX6036/U1/7"), "", ""},
      {cable("leaf1 (rack 3)/1", "leaf1 (rack 4)/1"), "", ""},
      {cable("ada/1", "a:b/1"), "", ""},
  };
  for (const auto& row : rows) {
    const auto document = checked_cables(row.text);
    if (row.wrong.empty()) {
      EXPECT_TRUE(document.diagnostics.empty())
          << row.text << config::render_diagnostics(document, document.diagnostics);
      continue;
    }
    ASSERT_EQ(document.diagnostics.size(), 1U) << row.text;
    const auto& wrong = document.diagnostics.front();
    EXPECT_EQ(wrong.where.text() + " " + wrong.message, row.wrong) << row.text;
    EXPECT_EQ(wrong.severity, model::Severity::kError);
    EXPECT_NE(wrong.hint, "");
    ASSERT_EQ(wrong.related.size(), row.related.empty() ? 0U : 1U) << row.text;
    if (!row.related.empty()) {
      EXPECT_EQ(wrong.related.front().where.text(), row.related) << row.text;
    }
  }
}

TEST(CableEntries, OfALaterFileReplaceTheOtherEnd) {
  static const std::vector<model::SectionSpec> kGrammar{cable_section()};
  auto document = config::parse_texts({{.name = "a", .text = "version = 1\n" + cable("leaf1/1", "node001/1")},
                                       {.name = "b", .text = cable("leaf1/1", "node002/1")}},
                                      "", kGrammar);
  check_cable_entries(document.sections, document.diagnostics);
  EXPECT_TRUE(document.diagnostics.empty()) << config::render_diagnostics(document, document.diagnostics);
  const auto cables = cables_of(document.sections);
  ASSERT_EQ(cables.size(), 1U);
  EXPECT_EQ(cables.front().to, "node002/1");
}

TEST(CableEntries, TakeEveryWidthAndSpeedAndTheirSchemaNamesThem) {
  const auto section = cable_section();
  const auto field = [&](std::string_view name) {
    return *std::find_if(section.fields.begin(), section.fields.end(),
                         [&](const auto& spec) { return spec.name == name; });
  };
  const auto expect_all = [&](const std::string& key, const auto& names) {
    for (const auto name : names) {
      EXPECT_TRUE(field(key).parse(std::string(name))) << name;
      EXPECT_THAT(std::string(field(key).schema), HasSubstr(fmt::format("\"{}\"", name)));
      EXPECT_THAT(std::string(field(key).type), HasSubstr(fmt::format("\"{}\"", name)));
    }
  };
  expect_all("width", kWidthNames);
  expect_all("speed", kSpeedNames);
}

TEST(CableEntries, AreBounded) {
  const auto cables = [](std::size_t number) {
    std::string out;
    for (std::size_t i = 0; i < number; ++i) out += cable(fmt::format("l{}/1", i), fmt::format("n{}/1", i));
    return out;
  };
  EXPECT_TRUE(checked_cables(cables(limits::kCables)).diagnostics.empty());
  const auto document = checked_cables(cables(limits::kCables + 1));
  ASSERT_FALSE(document.diagnostics.empty());
  EXPECT_THAT(document.diagnostics.front().message,
              HasSubstr(fmt::format("more than the {} [[cable]] entries allowed", limits::kCables)));
}

}  // namespace
}  // namespace rdmacfg::fabric
