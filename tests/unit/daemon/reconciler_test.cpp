// SPDX-License-Identifier: Apache-2.0
#include "daemon/reconciler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmacfg::daemon {
namespace {

using model::Status;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using Time = Reconciler::Time;

const model::Key kIb0{"ipoib", "ib0"};
const model::Key kIb1{"ipoib", "ib1"};

struct One {
  model::Key key;
  Status status = Status::kDone;
  std::vector<std::string> fields{};
  std::string instance{};
};

/// A report of a run that found these; with fields, they were changed.
model::Report report_of(const std::vector<One>& all) {
  model::Report report;
  for (const auto& resource : all) {
    report.resources.push_back({.key = resource.key,
                                .label = resource.key.id,
                                .status = resource.status,
                                .reason = "why",
                                .instance = resource.instance});
    if (resource.fields.empty()) continue;
    model::Change change;
    change.key = resource.key;
    change.label = resource.key.id;
    change.operation = model::Operation::kUpdate;
    change.fields = resource.fields;
    for (const auto& field : resource.fields) {
      change.before[field] = std::int64_t{1500};
      change.after[field] = std::int64_t{2044};
    }
    report.plan.changes.push_back(change);
  }
  return report;
}

TEST(Reconciler, WithoutAReasonItSleeps) {
  Reconciler reconciler;
  EXPECT_FALSE(reconciler.due());
  reconciler.began();
  reconciler.ended(report_of({{kIb0, Status::kInSync}}), Time(1000));
  EXPECT_FALSE(reconciler.due());
}

TEST(Reconciler, WaitsUntilItIsQuiet) {
  Reconciler reconciler;
  reconciler.woken(Wake::kDrift, Time(1000));
  EXPECT_EQ(reconciler.due(), Time(1000) + Reconciler::kDebounce);
  reconciler.woken(Wake::kDrift, Time(1100));
  EXPECT_EQ(reconciler.due(), Time(1100) + Reconciler::kDebounce);
}

TEST(Reconciler, AStormDoesNotPutItOffForEver) {
  Reconciler reconciler;
  for (int at = 1000; at < 60000; at += 10) reconciler.woken(Wake::kDrift, Time(at));
  EXPECT_EQ(reconciler.due(), Time(1000) + Reconciler::kMaxDelay);
}

TEST(Reconciler, EventsDuringARunCallForAnother) {
  Reconciler reconciler;
  reconciler.woken(Wake::kDrift, Time(1000));
  reconciler.began();
  EXPECT_FALSE(reconciler.due());
  reconciler.woken(Wake::kDrift, Time(1300));
  reconciler.ended(report_of({{kIb0, Status::kInSync}}), Time(1400));
  EXPECT_EQ(reconciler.due(), Time(1300) + Reconciler::kDebounce);
}

TEST(Reconciler, WhatFailsIsTriedLessAndLessOften) {
  Reconciler reconciler;
  Time now(1000);
  Time before(0);
  for (int i = 0; i < 30; ++i) {
    reconciler.began();
    EXPECT_THAT(reconciler.left_alone(now), IsEmpty()) << "it is its turn";
    reconciler.ended(report_of({{kIb0, Status::kFailed}, {kIb1, Status::kInSync}}), now);
    ASSERT_TRUE(reconciler.due());
    const Time delay = *reconciler.due() - now;
    EXPECT_GE(delay, before);
    EXPECT_LE(delay, Reconciler::kBackOffMax);
    EXPECT_THAT(reconciler.left_alone(now), ElementsAre(Key(kIb0)));
    before = delay;
    now = *reconciler.due();
  }
  EXPECT_EQ(before, Reconciler::kBackOffMax);
}

TEST(Reconciler, AnEventOnAnotherResourceDoesNotTryItSooner) {
  Reconciler reconciler;
  for (int i = 0; i < 20; ++i) {
    reconciler.began();
    reconciler.ended(report_of({{kIb0, Status::kFailed}}), reconciler.due().value_or(Time(1000)));
  }
  const auto retry = *reconciler.due();
  reconciler.woken(Wake::kDrift, retry - Time(10000));
  reconciler.began();
  EXPECT_THAT(reconciler.left_alone(retry - Time(9000)), ElementsAre(Key(kIb0)));
  reconciler.ended(report_of({{kIb0, Status::kFailed}, {kIb1}}), retry - Time(9000));
  EXPECT_EQ(reconciler.due(), retry);
}

TEST(Reconciler, ADeviceThatComesEndsTheWaiting) {
  Reconciler reconciler;
  for (int i = 0; i < 20; ++i) {
    reconciler.began();
    reconciler.ended(report_of({{kIb0, Status::kFailed}}), reconciler.due().value_or(Time(1000)));
  }
  reconciler.woken(Wake::kDevice, Time(2000));
  EXPECT_THAT(reconciler.left_alone(Time(2000)), IsEmpty());
}

TEST(Reconciler, WhyItFailsNeedNotBeSaid) {
  Reconciler reconciler;
  reconciler.began();
  auto report = report_of({{kIb0, Status::kFailed}});
  report.resources.front().reason = "its key is 4711";
  reconciler.ended(report, Time(1000));
  EXPECT_THAT(reconciler.failing(), HasSubstr("4711"));
  EXPECT_EQ(reconciler.failing(DocumentValues::kLeftOut), kIb0.text() + ": the journal says why");
  model::Report whole;
  whole.error = base::Error{base::Code::kIo, "ib0: its key is 4711", 0};
  reconciler.began();
  reconciler.ended(whole, Time(2000));
  EXPECT_THAT(reconciler.failing(), HasSubstr("4711"));
  EXPECT_EQ(reconciler.failing(DocumentValues::kLeftOut), "the run failed: the journal says why");
}

TEST(Reconciler, JitterKeepsAClusterOutOfStep) {
  double factor = 0.8;
  Reconciler reconciler([&] { return factor; });
  const auto fail = [&](Time now) {
    reconciler.began();
    reconciler.ended(report_of({{kIb0, Status::kFailed}}), now);
    return *reconciler.due() - now;
  };
  EXPECT_EQ(fail(Time(1000)), Time(4));
  factor = 1.2;
  EXPECT_EQ(fail(Time(2000)), Time(12));
}

TEST(Reconciler, AFightEndsAfterThreeReverts) {
  Reconciler reconciler;
  Time now(1000);
  for (std::size_t i = 0; i < Reconciler::kReverts; ++i) {
    EXPECT_THAT(reconciler.contended(), IsEmpty());
    reconciler.woken(Wake::kDrift, now);
    reconciler.began();
    reconciler.ended(report_of({{kIb0, Status::kDone, {"mtu"}}, {kIb1, Status::kInSync}}), now);
    now += Time(5000);
  }
  ASSERT_THAT(reconciler.contended(), ElementsAre(Key(kIb0)));
  EXPECT_THAT(reconciler.contended().at(kIb0),
              HasSubstr("changed mtu of ib0 back 3 times (last from 2044 to 1500)"));
  EXPECT_THAT(reconciler.contended(DocumentValues::kLeftOut).at(kIb0),
              HasSubstr("changed mtu of ib0 back 3 times; it is left"))
      << "everybody on the bus reads this";
  EXPECT_THAT(reconciler.left_alone(now), IsEmpty()) << "its other settings are held";
  ASSERT_THAT(reconciler.fields_left_alone(), ElementsAre(Key(kIb0)));
  EXPECT_THAT(reconciler.fields_left_alone().at(kIb0).fields, ElementsAre("mtu"));
  reconciler.woken(Wake::kApply, now);
  EXPECT_THAT(reconciler.contended(), IsEmpty()) << "an apply starts again";
}

TEST(Reconciler, AFighterThatIsFasterThanAnApplyIsOneToo) {
  Reconciler reconciler;
  auto report = report_of({{kIb0, Status::kFailed, {"mtu"}}});
  for (int i = 0; i < 3; ++i) {
    reconciler.ended(report, Time(i * 60'000));
    EXPECT_THAT(reconciler.contended(), IsEmpty()) << "a refusal of the kernel does not count as contention";
  }
  report.plan.changes.front().overruled = {"mtu"};
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(reconciler.contended(), IsEmpty());
    reconciler.ended(report, Time(200'000 + i * 60'000));
  }
  EXPECT_THAT(reconciler.contended(), ElementsAre(Key(kIb0)));
}

TEST(Reconciler, AFightThatWasLostIsNotTriedAgainAtOnce) {
  Reconciler reconciler;
  Time now(1000);
  auto report = report_of({{kIb0, Status::kFailed, {"mtu"}}});
  report.error = base::Error{base::Code::kRefused, "no", 0};
  report.plan.changes.front().overruled = {"mtu"};
  for (std::size_t i = 0; i < Reconciler::kReverts; ++i) {
    reconciler.began();
    reconciler.ended(report, now);
    ASSERT_TRUE(reconciler.due());
    now = *reconciler.due();
  }
  ASSERT_THAT(reconciler.contended(), ElementsAre(Key(kIb0)));
  reconciler.began();
  reconciler.ended(report_of({{kIb0, Status::kFailed}}), now);  // as it is left alone
  EXPECT_FALSE(reconciler.due()) << "there is nothing to try";
  EXPECT_EQ(reconciler.failing(), "");
}

TEST(Reconciler, WhatElseFailsOfAContendedResourceIsTriedLessAndLessOften) {
  Reconciler reconciler;
  Time now(1000), before(0);
  for (std::size_t i = 0; i < Reconciler::kReverts; ++i)
    reconciler.ended(report_of({{kIb0, Status::kDone, {"mtu"}}}), now);
  ASSERT_THAT(reconciler.contended(), ElementsAre(Key(kIb0)));
  auto report = report_of({{kIb0, Status::kFailed, {"mode"}}});
  report.error = base::Error{base::Code::kRefused, "no", 0};
  for (int i = 0; i < 30; ++i) {
    reconciler.began();
    reconciler.ended(report, now);
    ASSERT_TRUE(reconciler.due());
    ASSERT_GT(*reconciler.due(), now);
    EXPECT_GE(*reconciler.due() - now, before);
    before = *reconciler.due() - now;
    now = *reconciler.due();
  }
  EXPECT_EQ(before, Reconciler::kBackOffMax);
}

TEST(Reconciler, ThreeDifferentThingsAreNoFight) {
  Reconciler reconciler;
  Time now(1000);
  for (const auto* field : {"mtu", "mode", "umcast", "mtu", "mode"}) {
    reconciler.began();
    reconciler.ended(report_of({{kIb0, Status::kDone, {field}}}), now += Time(1000));
  }
  EXPECT_THAT(reconciler.contended(), IsEmpty());
}

TEST(Reconciler, RevertsOverALongTimeAreNoFight) {
  Reconciler reconciler;
  Time now(1000);
  for (int i = 0; i < 10; ++i) {
    reconciler.began();
    reconciler.ended(report_of({{kIb0, Status::kDone, {"mtu"}}}),
                     now += Reconciler::kRevertWindow / 2 + Time(1));
  }
  EXPECT_THAT(reconciler.contended(), IsEmpty());
}

TEST(Reconciler, AnErrorOfAllConcernsWhatWasPlanned) {
  Reconciler reconciler;
  auto report = report_of({{kIb0, Status::kDiffers, {"mtu"}}});
  report.error = base::Error{base::Code::kRefused, "no", 0};
  reconciler.began();
  reconciler.ended(report, Time(1000));
  EXPECT_TRUE(reconciler.due());
  EXPECT_THAT(reconciler.left_alone(Time(1000)), ElementsAre(Key(kIb0)));
}

/// The result of a failed run: the worker died, or the host could not be observed.
model::Report nothing_known() {
  model::Report report;
  report.error = base::Error{base::Code::kIo, "the worker was killed by signal 9", 0};
  return report;
}

TEST(Reconciler, ARunThatCameToNothingIsTriedAgain) {
  Reconciler reconciler;
  Time now(1000), before(0);
  reconciler.woken(Wake::kDrift, now);
  for (int i = 0; i < 30; ++i) {
    reconciler.began();
    reconciler.ended(nothing_known(), now);
    ASSERT_TRUE(reconciler.due());
    const Time delay = *reconciler.due() - now;
    EXPECT_GT(delay, Time(0));
    EXPECT_GE(delay, before);
    EXPECT_LE(delay, Reconciler::kBackOffMax);
    before = delay;
    now = *reconciler.due();
  }
  EXPECT_EQ(before, Reconciler::kBackOffMax);
  reconciler.woken(Wake::kDrift, now - Time(1000));
  EXPECT_EQ(reconciler.due(), now) << "its own events do not hurry it";
  reconciler.began();
  reconciler.ended(report_of({{kIb0, Status::kInSync}}), now);
  EXPECT_FALSE(reconciler.due());
}

TEST(Reconciler, ARunThatCameToNothingLosesNoRetry) {
  Reconciler reconciler;
  reconciler.began();
  reconciler.ended(report_of({{kIb0, Status::kFailed}}), Time(1000));
  const auto retry = *reconciler.due();
  reconciler.began();
  reconciler.ended(nothing_known(), retry);
  reconciler.began();
  reconciler.ended(report_of({{kIb0, Status::kFailed}}), *reconciler.due());
  EXPECT_THAT(reconciler.left_alone(retry), ElementsAre(Key(kIb0)));
  EXPECT_TRUE(reconciler.due());
}

TEST(Reconciler, WhatFailsIsNamed) {
  Reconciler reconciler;
  EXPECT_EQ(reconciler.failing(), "");
  reconciler.woken(Wake::kApply, Time(500));
  EXPECT_EQ(reconciler.failing(), "") << "what is only due does not fail";
  reconciler.began();
  reconciler.ended(report_of({{kIb0, Status::kFailed}, {kIb1, Status::kFailed}}), Time(1000));
  EXPECT_EQ(reconciler.failing(), kIb0.text() + ": why (and 1 more)");
  reconciler.began();
  reconciler.ended(nothing_known(), Time(2000));
  EXPECT_EQ(reconciler.failing(), "the worker was killed by signal 9");
  reconciler.began();
  reconciler.ended(report_of({{kIb0}, {kIb1}}), Time(100'000));
  EXPECT_EQ(reconciler.failing(), "");
}

TEST(Reconciler, AnAdministratorEndsEveryWaiting) {
  Reconciler reconciler;
  for (int i = 0; i < 20; ++i) {
    reconciler.began();
    reconciler.ended(nothing_known(), reconciler.due().value_or(Time(1000)));
  }
  reconciler.woken(Wake::kApply, Time(5000));
  EXPECT_EQ(reconciler.due(), Time(5000) + Reconciler::kDebounce);
}

/// A report of a run that made or removed one thing.
model::Report existence(model::Operation operation, const std::string& parent_object,
                        Status status = Status::kDone) {
  auto report = report_of({{kIb0, status, {"mtu"}}});
  auto& change = report.plan.changes.front();
  change.operation = operation;
  change.fields.clear();
  change.parent_object = parent_object;
  return report;
}

TEST(Reconciler, AFightOverWhetherItIsThereEndsToo) {
  for (const auto operation : {model::Operation::kCreate, model::Operation::kDelete}) {
    Reconciler reconciler;
    for (std::size_t i = 0; i < Reconciler::kReverts; ++i) {
      EXPECT_THAT(reconciler.contended(), IsEmpty());
      reconciler.woken(Wake::kDrift, Time(1000));
      reconciler.began();
      reconciler.ended(existence(operation, "boot/5"), Time(2000));
    }
    ASSERT_THAT(reconciler.contended(), ElementsAre(Key(kIb0)));
    EXPECT_THAT(reconciler.contended().at(kIb0),
                HasSubstr(operation == model::Operation::kCreate ? "has removed ib0 3 times"
                                                                 : "has re-created ib0 3 times"));
  }
}

TEST(Reconciler, ADeletedResourceNeedsNoLineInTheReport) {
  Reconciler reconciler;
  auto report = existence(model::Operation::kDelete, "");
  report.resources.clear();
  for (std::size_t i = 0; i < Reconciler::kReverts; ++i) reconciler.ended(report, Time(1000));
  EXPECT_THAT(reconciler.contended(), ElementsAre(Key(kIb0)));
}

TEST(Reconciler, WhatGoesWithItsDeviceIsNotFoughtFor) {
  Reconciler reconciler;
  for (int i = 0; i < 10; ++i) {
    reconciler.began();
    reconciler.ended(existence(model::Operation::kCreate, "boot/" + std::to_string(i)), Time(1000));
    EXPECT_THAT(reconciler.contended(), IsEmpty());
  }
}

TEST(Reconciler, EachReturnOfAnObjectIsTheFirstTime) {
  Reconciler reconciler;
  auto report = report_of({{kIb0, Status::kDone, {"running"}}});
  auto& returned = report.plan.changes.front().returned;
  for (int i = 0; i < 10; ++i) {
    returned = "boot/" + std::to_string(i);
    reconciler.ended(report, Time(1000));
    EXPECT_THAT(reconciler.contended(), IsEmpty());
  }
  for (std::size_t i = 1; i < Reconciler::kReverts; ++i) reconciler.ended(report, Time(1000));
  EXPECT_THAT(reconciler.contended(), ElementsAre(Key(kIb0))) << "the same one again and again";
}

TEST(Reconciler, WhatFailedToBeMadeIsNotFoughtFor) {
  Reconciler reconciler;
  for (int i = 0; i < 10; ++i)
    reconciler.ended(existence(model::Operation::kCreate, "boot/5", Status::kFailed), Time(1000));
  EXPECT_THAT(reconciler.contended(), IsEmpty());
}

TEST(Reconciler, AnApplyIsNoRevert) {
  Reconciler reconciler;
  for (int i = 0; i < 10; ++i) {
    reconciler.ended(existence(model::Operation::kCreate, ""), Time(1000), Reconciler::Run::kOther);
    reconciler.ended(report_of({{kIb1, Status::kDone, {"mtu"}}}), Time(1000), Reconciler::Run::kOther);
  }
  EXPECT_THAT(reconciler.contended(), IsEmpty());
}

TEST(Reconciler, ItsOwnUeventsDoNotStartAFightAnew) {
  Reconciler reconciler;
  Time now(1000);
  for (std::size_t i = 0; i < Reconciler::kReverts; ++i) {
    reconciler.woken(Wake::kDrift, now);
    reconciler.began();
    reconciler.woken(Wake::kDevice, now);  // the rename of an RDMA device, as udev tells it
    reconciler.ended(report_of({{kIb0, Status::kDone, {"name"}}}), now);
    reconciler.woken(Wake::kDevice, now + Reconciler::kOwnEvents - Time(1));
    now += Time(30'000);
  }
  EXPECT_THAT(reconciler.contended(), ElementsAre(Key(kIb0)));
  reconciler.woken(Wake::kDevice, now);
  EXPECT_THAT(reconciler.contended(), IsEmpty()) << "a device of somebody else's";
}

TEST(Reconciler, WhoDeletesADeviceAgainAndAgainFightsToo) {
  Reconciler reconciler;
  Time now(1000);
  for (std::size_t i = 0; i < Reconciler::kReverts; ++i) {
    EXPECT_THAT(reconciler.contended(), IsEmpty());
    reconciler.woken(Wake::kDrift, now);  // "rdma link del"
    reconciler.began();
    reconciler.woken(Wake::kDevice, now);
    reconciler.ended(existence(model::Operation::kCreate, "boot/5"), now);
    reconciler.woken(Wake::kDevice, now + Reconciler::kOwnEvents + Time(500));  // a module of somebody else's
    now += Time(2000);
  }
  EXPECT_THAT(reconciler.contended(), ElementsAre(Key(kIb0)));
  reconciler.woken(Wake::kDevice, now += Time(2000));
  EXPECT_THAT(reconciler.contended(), ElementsAre(Key(kIb0))) << "it is on the same interface still";

  const auto left = [](const std::string& instance) {
    return report_of({{kIb0, Status::kFailed, {}, instance}});
  };
  for (const std::string same : {"boot/5", ""}) {
    reconciler.began();
    reconciler.ended(left(same), now);
    EXPECT_THAT(reconciler.contended(), ElementsAre(Key(kIb0))) << "\"" << same << "\"";
    EXPECT_FALSE(reconciler.due());
  }
  reconciler.began();
  reconciler.ended(left("boot/6"), now);
  EXPECT_THAT(reconciler.contended(), IsEmpty()) << "the interface went and came back";
  EXPECT_EQ(reconciler.due(), now + Reconciler::kDebounce) << "by a run of its own, as nobody failed";
  reconciler.began();
  EXPECT_THAT(reconciler.left_alone(now), IsEmpty());
  reconciler.ended(existence(model::Operation::kCreate, "boot/6"), now);
  EXPECT_THAT(reconciler.contended(), IsEmpty()) << "what was counted before is forgotten";
}

TEST(Reconciler, AWorkerThatDiesIsNoReasonToStartTheNext) {
  Reconciler reconciler;
  Time now(1000), before(0);
  for (int i = 0; i < 20; ++i) {
    reconciler.began();
    reconciler.ended(nothing_known(), now);
    const auto due = reconciler.due();
    reconciler.woken(Wake::kDevice, now + Time(100));  // what it did before it died, as udev tells it
    ASSERT_EQ(reconciler.due(), due);
    EXPECT_GE(*due - now, before);
    before = *due - now;
    now = *due;
  }
  EXPECT_EQ(before, Reconciler::kBackOffMax);
  reconciler.woken(Wake::kDevice, now - Time(1000));
  EXPECT_LT(*reconciler.due(), now) << "a device that came does hurry it";
}

TEST(Reconciler, WhatIsUndoneDoesNotEndItsOwnWaiting) {
  Reconciler reconciler;
  Time now(1000), before(0);
  auto report = report_of({{kIb0, Status::kFailed, {"module"}}});
  report.error = base::Error{base::Code::kRefused, "no", 0};
  for (int i = 0; i < 15; ++i) {
    reconciler.began();
    reconciler.woken(Wake::kDevice, now);  // loaded
    reconciler.woken(Wake::kDevice, now);  // and unloaded again
    reconciler.ended(report, now);
    reconciler.woken(Wake::kDevice, now + Time(100));
    EXPECT_THAT(reconciler.left_alone(now + Time(1)), ElementsAre(Key(kIb0)));
    reconciler.began();  // the run that these events wake
    reconciler.ended(report_of({{kIb0, Status::kFailed}}), now + Time(1));
    const auto delay = *reconciler.due() - now;
    EXPECT_GE(delay, before);
    before = delay;
    now = *reconciler.due();
  }
  EXPECT_GT(before, Time(10'000));
}

/// A run that found these to have drifted, and left them alone.
model::Report drifted_in(const std::vector<One>& all, const std::vector<model::Key>& drifted) {
  auto report = report_of(all);
  for (const auto& key : drifted) {
    model::Change change;
    change.key = key;
    report.drifted.push_back(change);
  }
  return report;
}

using Settled = Reconciler::Settled;

TEST(Reconciler, DriftIsToldOnceAndRemembered) {
  Reconciler reconciler;
  reconciler.began();
  EXPECT_THAT(reconciler.ended(
                  report_of({{kIb0, Status::kDone, {"mtu"}, "boot/5"}, {kIb1, Status::kPending}}), Time(1)),
              IsEmpty());
  EXPECT_EQ(reconciler.settled(), (Settled{{kIb0, "boot/5"}}));
  const auto drifted = drifted_in({{kIb0, Status::kFailed, {}, "boot/5"}, {kIb1, Status::kInSync}}, {kIb0});
  EXPECT_THAT(reconciler.ended(drifted, Time(2)), ElementsAre(kIb0));
  EXPECT_EQ(reconciler.settled(), (Settled{{kIb0, "boot/5"}, {kIb1, ""}}));
  EXPECT_THAT(reconciler.ended(drifted, Time(3)), IsEmpty());
  EXPECT_EQ(reconciler.failing(), "") << "it has not failed";
  EXPECT_THAT(reconciler.left_alone(Time(3)), IsEmpty())
      << "the run says what has drifted, by the policy then";
  EXPECT_THAT(reconciler.ended(report_of({{kIb0, Status::kInSync}, {kIb1, Status::kInSync}}), Time(4)),
              IsEmpty());
  EXPECT_THAT(reconciler.ended(drifted, Time(5)), ElementsAre(kIb0)) << "it was as it should be in between";
}

TEST(Reconciler, WhatWentIsNotRemembered) {
  Reconciler reconciler;
  reconciler.began();
  reconciler.ended(report_of({{kIb0, Status::kInSync, {}, "boot/5"}, {kIb1, Status::kInSync}}), Time(1));
  reconciler.ended(drifted_in({{kIb0, Status::kFailed}, {kIb1, Status::kInSync}}, {kIb0}), Time(2));
  reconciler.ended(report_of({{kIb0, Status::kPending}, {kIb1, Status::kInSync}}), Time(3));
  EXPECT_EQ(reconciler.settled(), (Settled{{kIb1, ""}}));
}

TEST(Reconciler, WhatARunThatFailedWasToSeeIsRemembered) {
  Reconciler reconciler;
  reconciler.began();
  reconciler.ended(report_of({{kIb0, Status::kInSync, {}, "boot/5"}}), Time(1));
  const auto drifted = drifted_in({{kIb0, Status::kFailed, {}, "boot/5"}}, {kIb0});
  EXPECT_THAT(reconciler.ended(drifted, Time(2)), ElementsAre(kIb0));
  EXPECT_THAT(reconciler.ended(nothing_known(), Time(3)), IsEmpty());
  EXPECT_EQ(reconciler.settled(), (Settled{{kIb0, "boot/5"}}));
  EXPECT_THAT(reconciler.ended(drifted, Time(4)), IsEmpty()) << "it was told";
}

TEST(Reconciler, WhatSomebodyHasAppliedDriftsFromThenOn) {
  Reconciler reconciler;
  reconciler.began();
  const auto drifted = drifted_in({{kIb0, Status::kFailed, {}, "boot/5"}}, {kIb0});
  reconciler.ended(report_of({{kIb0, Status::kInSync, {}, "boot/5"}}), Time(1));
  EXPECT_THAT(reconciler.ended(drifted, Time(2)), ElementsAre(kIb0));
  reconciler.applied(report_of({{kIb0, Status::kDone, {"mtu"}, "boot/5"},
                                {kIb1, Status::kDone, {"mtu"}, "boot/6"},
                                {{"pkey", "x"}, Status::kPending}}));
  EXPECT_EQ(reconciler.settled(), (Settled{{kIb0, "boot/5"}, {kIb1, "boot/6"}}));
  EXPECT_THAT(reconciler.ended(drifted, Time(3)), ElementsAre(kIb0)) << "once more";
  reconciler.applied({});  // confirmed, say
  EXPECT_EQ(reconciler.settled(), (Settled{{kIb0, "boot/5"}}));
}

}  // namespace
}  // namespace rdmacfg::daemon
