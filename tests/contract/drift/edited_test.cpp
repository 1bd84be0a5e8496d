// SPDX-License-Identifier: Apache-2.0
// Our files with another mode or owner: written again, and no failure of undoing.
#include <gmock/gmock.h>

#include <cerrno>

#include "contract/commit_host.hpp"

namespace rdmacfg::contract {
namespace {

using ::testing::IsEmpty;

constexpr const char* kRules = "/etc/udev/rules.d/70-rdma-configd-ipoib.rules";

TEST(Access, IsMendedByAnApplyAndASecondOneChangesNothing) {
  Host host(two_ports());
  const auto named = std::string(kFirst) + "name = \"fab0\"\n";
  ASSERT_TRUE(applied(host.commit(named)));
  host.kernel().files.access[kRules] = "mode 0666";
  const auto report = host.commit(named);
  ASSERT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(report.plan.changes.size(), 1U);
  EXPECT_THAT(host.kernel().files.access, IsEmpty());
  host.kernel().faults.clear();
  ASSERT_TRUE(applied(host.commit(named)));
  EXPECT_EQ(host.kernel().faults.calls(), 0U);
}

TEST(Access, IsNotGivenBackByUndoing) {
  const auto named = std::string(kFirst) + "name = \"fab0\"\n";
  const auto renamed = std::string(kFirst) + "name = \"fab1\"\n";
  bool undone = false;
  for (std::size_t n = 1; n < 40; ++n) {
    SCOPED_TRACE(n);
    Host host(two_ports());
    ASSERT_TRUE(applied(host.commit(named)));
    host.kernel().files.access[kRules] = "mode 0666";
    const auto before = host.dump();
    host.kernel().faults.clear();
    host.kernel().faults.fail_at(n, EPERM);
    const auto report = host.commit(renamed);
    if (applied(report)) continue;
    EXPECT_NE(report.exit, Exit::kUndoIncomplete) << text_of(report);
    EXPECT_EQ(difference(host.dump(), before), "");
    undone = undone || report.exit == Exit::kUndone;
  }
  EXPECT_TRUE(undone);
}

}  // namespace
}  // namespace rdmacfg::contract
