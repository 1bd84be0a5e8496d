// SPDX-License-Identifier: Apache-2.0
// The daemon's main process with a worker of the test's, and no bus.
#include "daemon/controller.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>

#include "base/unique_fd.hpp"
#include "unit/daemon/controller_fixture.hpp"

namespace rdmacfg::daemon {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using namespace std::chrono_literals;

const std::string kApply = verb(Job::Verb::kApply), kHold = verb(Job::Verb::kHold),
                  kExpire = verb(Job::Verb::kExpire);

class ControllerTest : public ControllerFixture {};

TEST_F(ControllerTest, AnExpiryThatFailsIsTriedSeldom) {
  play(R"(status='{"active":1,"unconfirmed":{"generation":1,"deadline":"then","deadline_ms":0}}')");
  controller.start();
  const auto enough = loop.after(1800ms, [this] { loop.stop(0); });
  EXPECT_EQ(run(), 0);
  const auto done = verbs();
  EXPECT_EQ(std::count(done.begin(), done.end(), kExpire), 2) << "at once, and a second later";
}

TEST_F(ControllerTest, AnApplyWhoseWorkerDiedIsDoneAgain) {
  play(R"([ $(wc -l <"$here/verbs") -gt 2 ] || kill -9 $$)");
  controller.start();
  when_started(3, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(verbs(), ElementsAre(kApply, kApply, kApply));
}

TEST_F(ControllerTest, AnApplyThatAlwaysKillsItsWorkerGivesWayToWhatIsActive) {
  play("[ \"$verb\" != " + kApply + " ] || kill -9 $$");
  controller.start();
  when_started(6, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  const auto done = verbs();
  ASSERT_THAT(done, SizeIs(6));
  EXPECT_THAT(std::vector(done.begin(), done.begin() + 5), Each(kApply));
  EXPECT_EQ(done.back(), kHold);
}

/// The apply ends before it knows of any resource, though no worker died.
class ControllerInVainTest : public ControllerTest {
 protected:
  ControllerInVainTest() {
    model::Report report;
    report.error = base::Error{base::Code::kIo, "reading state.json: Input/output error", 0};
    tree.put("/failed", core::report_json(report).dump());
  }
  /// What `verb` does the first times; `active` is what the ledger says until it succeeds.
  static std::string fails(const std::string& what, int times, int active) {
    return fmt::format(
        "if [ $verb = {} ] && [ $(grep -c '^{}$' \"$here/verbs\") -le {} ]; then\n"
        "printf '{{\"exit\":1,\"report\":%s,\"status\":{{\"active\":{}}}}}\\n' \"$(cat \"$here/failed\")\"\n"
        "exit; fi\n",
        what, what, times, active);
  }
};

TEST_F(ControllerInVainTest, WhereNothingIsActiveTheApplyIsTriedUntilItSucceeds) {
  play(fails(kApply, 7, 0));
  controller.start();
  when_started(8, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(verbs(), AllOf(SizeIs(8), Each(kApply)));
}

TEST_F(ControllerInVainTest, WhereSomethingIsActiveThatIsHeldAfterAFewTries) {
  play(fails(kApply, 100, 3));
  controller.start();
  when_started(6, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(verbs(), ElementsAre(kApply, kApply, kApply, kApply, kApply, kHold));
}

TEST_F(ControllerInVainTest, WhetherAnythingIsActiveAHoldTells) {
  play("if [ $verb = " + kHold + " ]; then status='{\"active\":0}'; elif [ $(grep -c '^" + kApply +
       "$' \"$here/verbs\") -le 6 ]; then kill -9 $$; fi");
  controller.start();
  when_started(8, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(verbs(), ElementsAre(kApply, kApply, kApply, kApply, kApply, kHold, kApply, kApply));
}

TEST_F(ControllerInVainTest, AWorkerThatCannotBeStartedKeepsNoHostFromBeingConfigured) {
  play("[ $verb != " + kHold + " ] || status='{\"active\":0}'");
  std::filesystem::rename(tree.at("/worker"), tree.at("/away"));
  controller.start();
  const auto there =
      loop.after(500ms, [this] { std::filesystem::rename(tree.at("/away"), tree.at("/worker")); });
  when([this] { return std::filesystem::exists(tree.at("/verbs")) && verbs().back() == kApply; },
       [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(verbs(), ElementsAre(kHold, kApply));
}

TEST_F(ControllerTest, AtItsEndItIsNotReadyAgain) {
  const base::UniqueFd manager(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = tree.at("/notify").native();
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  // The reload waits behind an expiry, and is cancelled.
  play(R"(status='{"active":1,"unconfirmed":{"generation":1,"deadline":"then","deadline_ms":0}}'
[ $verb != )" +
       kExpire + R"( ] || until [ -e "$here/go" ]; do sleep 0.02; done)");
  controller.start();
  when_started(2, [this] {
    controller.reload();
    controller.stop();
    tree.put("/go", "");
  });
  EXPECT_EQ(run(), 0);
  ::unsetenv("NOTIFY_SOCKET");
  EXPECT_THAT(verbs(), ElementsAre(kApply, kExpire));
  std::vector<std::string> told;
  std::array<char, 4096> text{};
  for (ssize_t size = 0; (size = ::recv(manager.get(), text.data(), text.size(), 0)) > 0;)
    told.emplace_back(text.data(), static_cast<std::size_t>(size));
  const auto stopping = std::find(told.begin(), told.end(), "STOPPING=1");
  ASSERT_NE(stopping, told.end());
  EXPECT_EQ(std::count(told.begin(), stopping, "READY=1"), 1);
  EXPECT_EQ(std::count(stopping, told.end(), "READY=1"), 0);
}

TEST_F(ControllerTest, AtItsEndItWaitsForTheChangeThatRuns) {
  play(R"(until [ -e "$here/go" ]; do sleep 0.02; done; touch "$here/finished")");
  controller.start();
  when_started(1, [this] {
    controller.stop();
    tree.put("/go", "");
  });
  EXPECT_EQ(run(), 0);
  EXPECT_TRUE(std::filesystem::exists(tree.at("/finished")));
}

TEST_F(ControllerTest, WithNothingToDoItEndsAtOnce) {
  play("");
  controller.start();
  when_started(1, [this] { poll = loop.after(500ms, [this] { controller.stop(); }); });
  EXPECT_EQ(run(), 0);
}

}  // namespace
}  // namespace rdmacfg::daemon
