// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/lossless.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "catalog/all.hpp"
#include "config/document.hpp"

namespace rdmacfg::kinds {
namespace {

using model::Diagnostics;
using model::Severity;

/// The entry's part in [[roce]], whether or not its kind is there.
struct RoceKeys {
  std::optional<model::InterfaceName> interface;
  std::optional<std::string> mode;
  std::optional<std::int64_t> dscp;
  std::optional<std::int64_t> tos;
  static constexpr auto kFields =
      std::tuple{model::field("interface", &RoceKeys::interface, model::Role::kIdentity, "-"),
                 model::field("mode", &RoceKeys::mode, model::Role::kSetting, "-"),
                 model::field("dscp", &RoceKeys::dscp, model::Role::kSetting, "-"),
                 model::field("tos", &RoceKeys::tos, model::Role::kSetting, "-")};
};

std::vector<model::Section> sections_of(const std::string& text) {
  auto grammar = kinds::grammar();
  std::erase_if(grammar, [](const auto& spec) { return spec.name == "roce"; });
  model::SectionSpec roce{.name = "roce", .identities = {{"interface"}}};
  for (const auto& spec : model::specs<RoceKeys>()) roce.fields.push_back(spec);
  grammar.push_back(std::move(roce));
  auto document = config::parse_texts({{"c.toml", "version = 1\n" + text}}, "node1", grammar);
  EXPECT_TRUE(document.diagnostics.empty()) << config::render_diagnostics(document, document.diagnostics);
  return expand_lossless(document.sections, World{});
}

Diagnostics lint(const std::string& text) {
  Diagnostics out;
  lint_lossless(sections_of(text), World{}, out);
  return out;
}

constexpr const char* kPfc = "[[pfc]]\ninterface = \"eth0\"\n";
constexpr const char* kRoce = "[[roce]]\ninterface = \"eth0\"\n";

TEST(Lossless, AChainThatAgreesIsSilent) {
  EXPECT_TRUE(lint(std::string(kPfc) +
                   "priorities = [3]\ntraffic_classes = [0,0,0,1,0,0,0,0]\nbandwidth = [50, 50]\n"
                   "dscp = [\"26:3\"]\n" +
                   kRoce + "tos = 106\n")
                  .empty());
  EXPECT_TRUE(lint("[[lossless]]\ninterface = \"eth0\"\n").empty());
}

TEST(Lossless, DscpsThatAreNotTrustedAreAWarning) {
  const auto with = [](const std::string& trust) {
    return std::string(kPfc) + "dscp = [\"26:3\"]\n" + trust;
  };
  for (const auto* trust : {"trust = [\"pcp\"]\n", "trust = []\n"}) {
    const auto found = lint(with(trust));
    ASSERT_EQ(found.size(), 1U) << trust;
    EXPECT_EQ(found.front().severity, Severity::kWarning);
    EXPECT_NE(found.front().message.find("map to no priority"), std::string::npos) << found.front().message;
    EXPECT_EQ(found.front().where.line, 5);
  }
  EXPECT_TRUE(lint(with("")).empty());
  EXPECT_TRUE(lint(with("trust = [\"pcp\", \"dscp\"]\n")).empty());
  EXPECT_TRUE(lint(std::string(kPfc) + "dscp = []\ntrust = [\"pcp\"]\n").empty());
}

TEST(Lossless, APresetMarksTheRoceEntryOfAPortThatIsNotThereYet) {
  const auto text =
      "[[lossless]]\ninterface = \"eth0\"\ndscp = 24\n" + std::string(kRoce) + "mode = \"v2\"\n";
  EXPECT_TRUE(lint(text).empty());
  for (const auto& section : sections_of(text)) {
    if (section.path != "roce") continue;
    ASSERT_NE(section.find("dscp"), nullptr);
    EXPECT_EQ(section.find("dscp")->value, model::Value{std::int64_t{24}});
  }
  EXPECT_TRUE(lint("[[lossless]]\ninterface = \"eth0\"\n" + std::string(kRoce) + "tos = 106\n").empty());
}

TEST(Lossless, ADscpWithoutFlowControlIsAnErrorWithBothPlaces) {
  const auto found =
      lint(std::string(kPfc) + "priorities = [3]\ndscp = [\"24:3\", \"26:4\"]\n" + kRoce + "tos = 106\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::kError);
  EXPECT_EQ(found[0].where.line, 8);
  EXPECT_NE(found[0].message.find("DSCP 26 has priority 4"), std::string::npos);
  ASSERT_EQ(found[0].related.size(), 2U);
  EXPECT_EQ(found[0].related[0].where.line, 5);
  EXPECT_EQ(found[0].related[1].where.line, 4);
}

TEST(Lossless, GapsAreWarnings) {
  for (const auto* roce : {"dscp = 26\n", "mode = \"v2\"\n"}) {
    const auto found = lint(std::string(kPfc) + "priorities = [3]\ndscp = [\"24:3\"]\n" + kRoce + roce);
    ASSERT_EQ(found.size(), 1U) << roce;
    EXPECT_EQ(found[0].severity, Severity::kWarning);
  }
  const auto unmapped = lint(std::string(kPfc) + "priorities = [3]\n" + kRoce + "dscp = 26\n");
  ASSERT_EQ(unmapped.size(), 1U);
  EXPECT_EQ(unmapped[0].severity, Severity::kWarning);
  const auto unreached = lint(std::string(kPfc) + "priorities = [3, 5]\ndscp = [\"24:3\"]\n");
  ASSERT_EQ(unreached.size(), 1U);
  EXPECT_NE(unreached[0].message.find("5 is lossless, but no DSCP"), std::string::npos);
}

TEST(Lossless, ALosslessClassNeedsBandwidthAndItself) {
  const auto starved =
      lint(std::string(kPfc) + "priorities = [3]\ntraffic_classes = [0,0,0,1,0,0,0,0]\nbandwidth = [100]\n");
  ASSERT_EQ(starved.size(), 1U);
  EXPECT_EQ(starved[0].severity, Severity::kError);
  const auto shared =
      lint(std::string(kPfc) + "priorities = [3]\ntraffic_classes = [0,0,0,0,0,0,0,0]\nbandwidth = [100]\n");
  ASSERT_EQ(shared.size(), 1U);
  EXPECT_EQ(shared[0].severity, Severity::kWarning);
}

TEST(Lossless, APresetThatAnEntryContradictsIsAnError) {
  const auto found = lint(std::string("[[lossless]]\ninterface = \"eth0\"\npriority = 3\ndscp = 26\n") +
                          kPfc + "priorities = [4]\ndscp = [\"26:4\"]\n" + kRoce + "dscp = 24\n");
  const auto errors = std::count_if(found.begin(), found.end(), [](const auto& diagnostic) {
    return diagnostic.severity == Severity::kError && diagnostic.message.starts_with("[[lossless]]");
  });
  EXPECT_EQ(errors, 3);
}

TEST(Lossless, APresetFillsInWhatIsNotWritten) {
  const auto sections = sections_of(std::string("[[lossless]]\ninterface = \"eth0\"\npriority = 5\n") + kPfc +
                                    "dcbx = \"host\"\n");
  const auto pfc =
      std::find_if(sections.begin(), sections.end(), [](const auto& s) { return s.path == "pfc"; });
  ASSERT_NE(pfc, sections.end());
  ASSERT_NE(pfc->find("priorities"), nullptr);
  EXPECT_EQ(model::text_of(pfc->find("priorities")->value), "5");
  EXPECT_EQ(pfc->find("priorities")->where.line, 4) << "the preset's key is where it comes from";
  EXPECT_EQ(model::text_of(pfc->find("dscp")->value), "26:5");
  EXPECT_EQ(model::text_of(pfc->find("dcbx")->value), "host");
  EXPECT_EQ(model::text_of(pfc->find("traffic_classes")->value), "0, 0, 0, 0, 0, 1, 0, 0");
}

}  // namespace
}  // namespace rdmacfg::kinds
