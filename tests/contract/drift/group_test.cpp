// SPDX-License-Identifier: Apache-2.0
// The group of a limit that is there already: somebody removed it, it cannot be asked for, or not be made.
#include <gmock/gmock.h>

#include <cerrno>

#include "contract/stage.hpp"
#include "system/accounts.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kGroupHost = R"({ "groups": ["rdma"] })";
constexpr const char* kBefore = "version = 1\n[[memlock]]\ndomain = \"@rdma\"\nlimit = \"64 MiB\"\n";
constexpr const char* kAfter = "version = 1\n[[memlock]]\ndomain = \"@rdma\"\nlimit = \"65 MiB\"\n";

Stage group_stage() {
  return Stage(Scenario{.name = "group", .host = kGroupHost, .documents = {kBefore, kAfter}});
}

bool is_declared(Stage& staged) {
  return staged.kernel().files.content.contains(std::string(system::kSysusersFile));
}

TEST(Group, ThatCannotBeAskedForIsNotTakenForOneThatIsNotThere) {
  auto staged = group_stage();
  const auto before = staged.dump();
  staged.kernel().accounts.group_error = EACCES;
  const auto report = staged.apply();
  EXPECT_EQ(report.exit, Exit::kError) << text_of(report);
  ASSERT_TRUE(report.error);
  EXPECT_THAT(report.error->message, testing::HasSubstr("group rdma"));
  EXPECT_EQ(difference(staged.dump(), before), "");
  staged.kernel().accounts.group_error = 0;
  EXPECT_EQ(staged.apply().exit, Exit::kOk);
  EXPECT_FALSE(is_declared(staged));
}

TEST(Group, ThatCannotBeMadeLeavesNoDeclarationBehind) {
  auto undisturbed = group_stage();
  undisturbed.kernel().accounts.groups.erase("rdma");
  ASSERT_EQ(undisturbed.apply().exit, Exit::kOk);
  EXPECT_TRUE(is_declared(undisturbed));
  EXPECT_TRUE(undisturbed.kernel().accounts.groups.contains("rdma"));
  const auto calls = undisturbed.kernel().faults.log();
  for (std::size_t n = 1; n <= calls.size(); ++n) {
    SCOPED_TRACE(calls[n - 1]);
    auto staged = group_stage();
    staged.kernel().accounts.groups.erase("rdma");
    const auto before = staged.kernel().files.content;
    staged.kernel().faults.fail_at(n, EPERM);
    const auto report = staged.apply();
    if (applied(report)) continue;
    EXPECT_FALSE(is_declared(staged)) << text_of(report);
    for (const auto& [path, text] : staged.kernel().files.content) {
      if (path.starts_with("/var/lib/")) continue;
      EXPECT_EQ(text, before.contains(path) ? before.at(path) : "") << path;
    }
  }
}

TEST(Group, ThatWasDeclaredBeforeStaysDeclared) {
  Stage staged(Scenario{.name = "group", .host = "{}", .documents = {kBefore, kAfter}});
  ASSERT_TRUE(is_declared(staged));
  staged.kernel().accounts.groups.erase("rdma");
  const auto before = staged.kernel().files.content.at(std::string(system::kSysusersFile));
  auto undisturbed = Stage(Scenario{.name = "group", .host = "{}", .documents = {kBefore, kAfter}});
  undisturbed.kernel().accounts.groups.erase("rdma");
  ASSERT_EQ(undisturbed.apply().exit, Exit::kOk);
  const auto calls = undisturbed.kernel().faults.log();
  const auto making = std::find_if(calls.begin(), calls.end(),
                                   [](const auto& call) { return call.starts_with("systemd-sysusers"); });
  ASSERT_NE(making, calls.end());
  staged.kernel().faults.fail_at(static_cast<std::size_t>(making - calls.begin()) + 1, EPERM);
  EXPECT_EQ(staged.apply().exit, Exit::kUndone);
  ASSERT_TRUE(is_declared(staged));
  EXPECT_EQ(staged.kernel().files.content.at(std::string(system::kSysusersFile)), before);
}

}  // namespace
}  // namespace rdmacfg::contract
