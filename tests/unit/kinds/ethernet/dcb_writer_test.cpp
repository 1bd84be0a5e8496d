// SPDX-License-Identifier: Apache-2.0
// Requests that a driver has no operation for: the kernel passes over them and says that they are done.
#include "kinds/ethernet/dcb_writer.hpp"

#include <gmock/gmock.h>

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
  base::Result<void> add_app(const std::string& /*interface*/, const system::DcbApp& /*app*/) override {
    return {};
  }
  base::Result<void> delete_app(const std::string& /*interface*/, const system::DcbApp& /*app*/) override {
    return {};
  }
  base::Result<void> set_dcbx(const std::string& /*interface*/, std::uint8_t /*mode*/) override { return {}; }

  system::DcbState state;
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

TEST(DcbWithoutEffect, ADriverThatIsKnownIsReadBackByTheApply) {
  PartDcb dcb("qede");
  EXPECT_TRUE(DcbWriter("eth0", dcb, nullptr).reach(part_wanted()));
}

}  // namespace
}  // namespace rdmacfg::kinds
