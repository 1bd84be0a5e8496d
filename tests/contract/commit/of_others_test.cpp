// SPDX-License-Identifier: Apache-2.0
// A document that somebody other than root has sent is parsed away from power each time it is read again.
#include <gmock/gmock.h>

#include "contract/commit_host.hpp"
#include "store/confined.hpp"

namespace rdmacfg::contract {
namespace {

using ::testing::HasSubstr;

std::string with_mtu(int mtu) {
  return "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nmtu = " + std::to_string(mtu) + "\n";
}

class OfOthers : public ::testing::Test {
 protected:
  OfOthers() {
    core::confine_others_by([this](const std::function<std::string()>& compute) -> base::Result<std::string> {
      ++confined_;
      if (broken_) return base::fail(base::Code::kRefused, "no sandbox today");
      return compute();
    });
  }
  ~OfOthers() override { core::confine_others_by({}); }

  Report apply(int mtu, bool of_others, std::optional<std::chrono::seconds> confirm = std::nullopt) {
    return host_.with([&](core::Context& context) {
      return core::commit(document_of(with_mtu(mtu)),
                          {.who = "alice (uid 1000)",
                           .what = "apply",
                           .host_name = "node1",
                           .confirm = confirm,
                           .of_others = of_others},
                          context);
    });
  }
  Report look() {
    return host_.with([&](core::Context& context) {
      return core::look({.who = "root", .what = "show", .host_name = "node1"}, context);
    });
  }
  std::int64_t mtu() { return host_.kernel().machine.find("ib0")->mtu; }
  int confined() { return std::exchange(confined_, 0); }

  Host host_{two_ports()};
  int confined_ = 0;
  bool broken_ = false;
};

TEST_F(OfOthers, IsParsedAwayFromPowerWheneverItIsReadAgain) {
  ASSERT_TRUE(applied(apply(2000, true)));
  EXPECT_EQ(confined(), 0) << "the apply itself had it parsed by its caller";
  host_.kernel().machine.find("ib0")->mtu = 1800;
  EXPECT_TRUE(applied(host_.hold()));
  EXPECT_EQ(mtu(), 2000);
  EXPECT_GT(confined(), 0) << "hold, as at boot";
  EXPECT_EQ(look().exit, Exit::kOk);
  EXPECT_GT(confined(), 0) << "show";
  ASSERT_TRUE(applied(apply(1900, false)));
  EXPECT_EQ(confined(), 0);
  EXPECT_TRUE(applied(host_.roll_back(1)));
  EXPECT_EQ(mtu(), 2000);
  EXPECT_GT(confined(), 0) << "rollback";
}

TEST_F(OfOthers, IsParsedSoFromEachOfItsCopies) {
  ASSERT_TRUE(applied(apply(2000, true)));
  ASSERT_TRUE(applied(apply(1900, false, kWithin)));
  host_.kernel().files.content.erase("/var/lib/rdma-configd/generations/1.json");
  host_.kernel().reboot();
  host_.kernel().name_by_rules();
  confined();
  const auto back = host_.expire();  // from the take-back record
  EXPECT_EQ(host_.ledger().active, 1U) << text_of(back);
  EXPECT_GT(confined(), 0);
  EXPECT_TRUE(applied(host_.hold())) << "from the copy, or from what was mended with it";
  EXPECT_GT(confined(), 0);
  host_.kernel().machine.find("ib0")->mtu = 1800;
  EXPECT_TRUE(applied(host_.hold()));
  EXPECT_GT(confined(), 0) << "the record that was mended says it, too";
}

TEST_F(OfOthers, IsNotParsedWhereThatCannotBe) {
  ASSERT_TRUE(applied(apply(2000, true)));
  host_.kernel().machine.find("ib0")->mtu = 1800;
  broken_ = true;
  const auto before = host_.dump();
  const auto report = host_.hold();
  EXPECT_EQ(report.exit, Exit::kError);
  EXPECT_THAT(text_of(report), HasSubstr("no sandbox today"));
  EXPECT_EQ(host_.dump(), before);
  core::confine_others_by({});
  EXPECT_EQ(host_.hold().exit, Exit::kError) << "a program without a sandbox";
  EXPECT_EQ(host_.dump(), before);
}

TEST_F(OfOthers, WhatRootSentIsNot) {
  broken_ = true;
  ASSERT_TRUE(applied(apply(2000, false)));
  host_.kernel().machine.find("ib0")->mtu = 1800;
  EXPECT_TRUE(applied(host_.hold()));
  EXPECT_EQ(confined(), 0);
}

}  // namespace
}  // namespace rdmacfg::contract
