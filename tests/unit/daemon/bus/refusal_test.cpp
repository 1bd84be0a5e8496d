// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/refusal.hpp"

#include <gtest/gtest.h>

#include "system/linux/linux_host.hpp"
#include "unit/system/temp_tree.hpp"

namespace rdmacfg::daemon {
namespace {

using Json = nlohmann::ordered_json;

Outcome refused_outcome(std::uint64_t held) {
  Outcome outcome;
  outcome.report.notes = {"the document has errors \xc3\xa9"};
  outcome.status = Json{{"active", held}, {"document_held", false}};
  return outcome;
}

class RefusalTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string why_in(const std::string& boot) const {
    Refusal next(*files, path, boot);
    next.load();
    return next.why();
  }
  [[nodiscard]] bool left() const { return std::filesystem::exists(path); }

  system::TempTree tree;
  std::unique_ptr<system::Files> files = system::make_linux_files();
  std::string path = tree.at("/run/refused.json").native();
  Refusal refusal{*files, path, "this boot"};
};

TEST_F(RefusalTest, IsKnownInItsBootAndInNoOther) {
  ASSERT_TRUE(refusal.keep());
  EXPECT_FALSE(left()) << "nothing is refused";
  refusal.judge(refused_outcome(7));
  ASSERT_TRUE(refusal.keep());
  EXPECT_EQ(why_in("this boot"), "the document has errors \xc3\xa9");
  EXPECT_EQ(why_in("another boot"), "");
  tree.put("/run/refused.json", "{\"boot_id\": \"this boot\"}");
  EXPECT_EQ(why_in("this boot"), "") << "damaged";
  refusal.clear();
  ASSERT_TRUE(refusal.keep());
  EXPECT_FALSE(left());
}

TEST_F(RefusalTest, OfAPrivateDocumentTheValuesAreNotToldToEverybody) {
  auto outcome = refused_outcome(7);
  outcome.report.diagnostics.push_back(
      {model::Severity::kError, {"config.toml", 3, 1, 1}, "value: \"4711\" is too short", "", {}});
  refusal.judge(outcome);
  EXPECT_EQ(refusal.why(), "config.toml:3:1: value: \"4711\" is too short");
  outcome.status["private"] = true;
  refusal.judge(outcome);
  EXPECT_EQ(refusal.why(), "config.toml:3:1: only root may read the document, so the journal says why");
  outcome.report.diagnostics.clear();
  outcome.report.error = base::Error{base::Code::kRefused, "value is 4711", 0};
  refusal.judge(outcome);
  EXPECT_EQ(refusal.why(), "only root may read the document, so the journal says why");
}

TEST_F(RefusalTest, EndsWhenAnotherGenerationIsActive) {
  refusal.judge(refused_outcome(7));
  refusal.active(7);
  EXPECT_NE(refusal.why(), "");
  refusal.active(8);
  EXPECT_EQ(refusal.why(), "");
}

TEST_F(RefusalTest, OneThatDidNotLookSaysNothingOfIt) {
  refusal.judge(refused_outcome(7));
  Outcome other;
  other.status = Json{{"active", 7}, {"document_judged", false}};
  refusal.judge(other);
  other = {};
  other.cancelled = true;
  refusal.judge(other);
  EXPECT_NE(refusal.why(), "");
  other = {};
  other.status = Json{{"active", 8}};
  refusal.judge(other);
  EXPECT_EQ(refusal.why(), "") << "it is held";
}

}  // namespace
}  // namespace rdmacfg::daemon
