// SPDX-License-Identifier: Apache-2.0
// The daemon's main process with a worker of the test's, and no bus.
#include "daemon/controller.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "unit/daemon/controller_fixture.hpp"

namespace rdmacfg::daemon {
namespace {

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
