// SPDX-License-Identifier: Apache-2.0
// A host's name may come late or change: what [match] has put there is not taken away by that.
#include "contract/commit_host.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kNamelessMachine =
    R"({"devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
          {"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true}}]}]})";
constexpr const char* kMatchedDocument =
    "version = 1\n[match]\nhost = \"gpu[001-512]\"\n"
    "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nmode = \"connected\"\n";

class HostName : public testing::Test {
 protected:
  void SetUp() override {
    host.name = "gpu007";
    const auto report = host.commit(kMatchedDocument);
    ASSERT_TRUE(applied(report)) << text_of(report);
    applied_ = host.dump();
    ASSERT_NE(applied_.find("connected"), std::string::npos);
  }

  Host host{FakeKernel::parse(kNamelessMachine)};
  std::string applied_;
};

TEST_F(HostName, NotKnownAtBootTheActiveGenerationIsHeld) {
  host.name = "";
  const auto report = host.commit_by_itself(kMatchedDocument);
  EXPECT_EQ(report.exit, Exit::kError) << "what is wanted is not known";
  EXPECT_EQ(host.dump(), applied_) << text_of(report);
  host.kernel().link("ib0").connected = false;
  host.commit_by_itself(kMatchedDocument);
  EXPECT_EQ(host.dump(), applied_) << "held by the name that it had";
}

TEST_F(HostName, NotKnownAnApplyIsRefused) {
  host.name = "";
  const auto report = host.commit(kMatchedDocument);
  EXPECT_EQ(report.exit, Exit::kError);
  EXPECT_EQ(host.dump(), applied_);
}

TEST_F(HostName, AnotherOneChangesNothingUntilTheNextApply) {
  host.name = "login1";
  const auto held = host.hold();
  EXPECT_TRUE(applied(held)) << text_of(held);
  EXPECT_EQ(host.dump(), applied_);
  const auto report = host.commit(kMatchedDocument);
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(host.dump().find("connected"), std::string::npos) << "the file is for other hosts now";
  EXPECT_EQ(host.ledger().generations.size(), 2U);
  const auto again = host.hold();
  EXPECT_TRUE(applied(again)) << text_of(again);
  EXPECT_EQ(host.dump().find("connected"), std::string::npos) << "what was applied last is held";
}

TEST_F(HostName, WithoutMatchItDoesNotCount) {
  const std::string text =
      "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nmode = \"connected\"\n";
  host.commit(text);
  const auto generations = host.ledger().generations.size();
  host.name = "";
  const auto report = host.commit_by_itself(text);
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(host.ledger().generations.size(), generations);
}

}  // namespace
}  // namespace rdmacfg::contract
