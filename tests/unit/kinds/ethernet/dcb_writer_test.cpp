// SPDX-License-Identifier: Apache-2.0
// Requests that a driver has no operation for: the kernel passes over them and says that they are done. The
// order of trust, which it is asked for only where it has shown one.
#include "kinds/ethernet/dcb_writer.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rdmacfg::kinds {
namespace {

/// An adapter whose driver takes some sorts of requests without effect.
class PartDcb final : public system::Dcb {
 public:
  explicit PartDcb(std::string driver) {
    state.driver = std::move(driver);
    state.pfc = 0;
    state.ets.emplace();
  }

  base::Result<std::optional<system::DcbState>> observe_dcb(const std::string& /*interface*/) override {
    return std::optional(state);
  }
  base::Result<void> set_pfc(const std::string& /*interface*/, std::uint8_t priorities) override {
    if (takes_pfc) state.pfc = priorities;
    return {};
  }
  base::Result<void> set_ets(const std::string& /*interface*/, const system::Ets& ets) override {
    if (takes_ets) state.ets = ets;
    return {};
  }
  base::Result<void> add_app(const std::string& /*interface*/, const system::DcbApp& app) override {
    state.apps.push_back(app);
    calls.emplace_back("add DSCP");
    return {};
  }
  base::Result<void> delete_app(const std::string& /*interface*/, const system::DcbApp& app) override {
    std::erase(state.apps, app);
    calls.emplace_back("delete DSCP");
    return {};
  }
  base::Result<void> set_dcbx(const std::string& /*interface*/, std::uint8_t /*mode*/) override { return {}; }
  base::Result<void> set_trust(const std::string& /*interface*/,
                               const std::vector<std::uint8_t>& selectors) override {
    calls.emplace_back("set the order of trust");
    if (trust_error != 0) return base::fail_errno(trust_error, "eth0: set the order of trust");
    state.trust = selectors;
    return {};
  }

  system::DcbState state;
  std::vector<std::string> calls;
  int trust_error = 0;
  bool takes_pfc = false, takes_ets = false;
};

InterfaceDcb part_wanted() {
  InterfaceDcb out;
  out.priorities = model::Priorities{1U << 3U};
  out.traffic_classes.emplace().of[3] = 1;
  return out;
}

TEST(DcbWithoutEffect, IsToldWithItsDriver) {
  PartDcb dcb("cxgb4");
  const auto classes = DcbWriter("eth0", dcb, nullptr).reach(part_wanted());
  ASSERT_FALSE(classes);
  EXPECT_THAT(classes.error().message, testing::HasSubstr("(cxgb4) accepts traffic classes without effect"));
  dcb.takes_ets = true;
  const auto pfc = DcbWriter("eth0", dcb, nullptr).reach(part_wanted());
  ASSERT_FALSE(pfc);
  EXPECT_THAT(pfc.error().message, testing::HasSubstr("accepts flow control without effect"));
  dcb.takes_pfc = true;
  EXPECT_TRUE(DcbWriter("eth0", dcb, nullptr).reach(part_wanted()));
}

/// bnxt has no priority for a DSCP once any of its entries is deleted (bnxt_dcbnl_ieee_delapp()), ice refuses
/// a second one (ice_dcbnl_setapp()); elsewhere a DSCP keeps its priority until the new one is there.
TEST(DcbDscp, GetsAnotherPriorityInTheOrderOfItsDriver) {
  using testing::ElementsAre;
  const system::DcbApp third{system::kDcbSelectorDscp, 26, 3}, fourth{system::kDcbSelectorDscp, 26, 4};
  InterfaceDcb wanted;
  wanted.dscp = model::DscpMap{{{26, 4}}};
  for (const auto* driver : {"bnxt_en", "ice"}) {
    PartDcb dcb(driver);
    dcb.state.apps = {third};
    EXPECT_TRUE(DcbWriter("eth0", dcb, nullptr).reach(wanted)) << driver;
    EXPECT_THAT(dcb.calls, ElementsAre("delete DSCP", "add DSCP")) << driver;
    EXPECT_THAT(dcb.state.apps, ElementsAre(fourth)) << driver;
  }
  PartDcb both("bnxt_en");
  both.state.apps = {third, fourth};
  EXPECT_TRUE(DcbWriter("eth0", both, nullptr).reach(wanted));
  EXPECT_THAT(both.calls, ElementsAre("delete DSCP", "delete DSCP", "add DSCP"));
  EXPECT_THAT(both.state.apps, ElementsAre(fourth));
  PartDcb back("bnxt_en");  // a rollback to a DSCP that somebody had given two priorities
  back.state.apps = {fourth};
  InterfaceDcb two;
  two.dscp = model::DscpMap{{{26, 3}, {26, 4}}};
  EXPECT_TRUE(DcbWriter("eth0", back, nullptr).reach(two));
  EXPECT_THAT(back.calls, ElementsAre("delete DSCP", "add DSCP", "add DSCP"));
  EXPECT_THAT(back.state.apps, ElementsAre(third, fourth));
  PartDcb unknown("");
  unknown.state.apps = {third};
  EXPECT_TRUE(DcbWriter("eth0", unknown, nullptr).reach(wanted));
  EXPECT_THAT(unknown.calls, ElementsAre("add DSCP", "delete DSCP"));
  EXPECT_THAT(unknown.state.apps, ElementsAre(fourth));
}

InterfaceDcb trust_wanted() {
  InterfaceDcb out;
  out.dscp = model::DscpMap{{{26, 3}}};
  out.trust.emplace().list = {model::TrustSelector::kDscp, model::TrustSelector::kPcp};
  return out;
}

TEST(DcbOrderOfTrust, IsSetOnceItsDscpsLeadToTheirPriorities) {
  PartDcb dcb("");
  dcb.state.trust = std::vector<std::uint8_t>{255};
  EXPECT_TRUE(DcbWriter("eth0", dcb, nullptr).reach(trust_wanted()));
  EXPECT_THAT(dcb.calls, testing::ElementsAre("add DSCP", "set the order of trust"));
  EXPECT_EQ(dcb.state.trust, (std::vector<std::uint8_t>{5, 255}));
  EXPECT_TRUE(DcbWriter("eth0", dcb, nullptr).reach(trust_wanted()));
  EXPECT_EQ(dcb.calls.size(), 2U) << "what is right already is not written";
}

TEST(DcbOrderOfTrust, IsNotAskedForWhereNoneIsShown) {
  PartDcb dcb("");
  auto wanted = trust_wanted();
  wanted.dscp.reset();
  const auto done = DcbWriter("eth0", dcb, nullptr).reach(wanted);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, base::Code::kUnsupported);
  EXPECT_THAT(dcb.calls, testing::IsEmpty());
}

TEST(DcbOrderOfTrust, ThatTheDriverDoesNotTakeIsNamed) {
  PartDcb dcb("");
  dcb.state.trust.emplace();
  dcb.trust_error = EOPNOTSUPP;
  auto wanted = trust_wanted();
  wanted.dscp.reset();
  const auto refused = DcbWriter("eth0", dcb, nullptr).reach(wanted);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kUnsupported);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("does not take trust = [dscp, pcp]"));
  dcb.trust_error = EIO;
  const auto failed = DcbWriter("eth0", dcb, nullptr).reach(wanted);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().sys_errno, EIO);
}

TEST(DcbWithoutEffect, ADriverThatIsKnownIsReadBackByTheApply) {
  PartDcb dcb("qede");
  EXPECT_TRUE(DcbWriter("eth0", dcb, nullptr).reach(part_wanted()));
}

}  // namespace
}  // namespace rdmacfg::kinds
