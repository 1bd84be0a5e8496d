// SPDX-License-Identifier: Apache-2.0
// The contract of every kind, whatever it manages: documents and hosts that exercise each kind are applied
// and undone, with a failure at every single call that changes the host.
#include <cerrno>
#include <set>

#include "catalog/owned_files.hpp"
#include "contract/stage.hpp"
#include "kinds/ethernet/dcb_drivers.hpp"

namespace rdmacfg::contract {
namespace {

TEST_P(Contract, ApplyThenDiffIsEmpty) {
  Stage stage(GetParam());
  const auto report = stage.apply();
  ASSERT_TRUE(applied(report)) << text_of(report);
  const auto diff = stage.diff();
  EXPECT_TRUE(diff.plan.empty());
  EXPECT_TRUE(applied(diff)) << text_of(diff);
  EXPECT_EQ(report.exit, GetParam().exit) << text_of(report);
}

TEST_P(Contract, DiffAndASecondApplyTouchNothing) {
  Stage stage(GetParam());
  const auto before = stage.kernel().dump();
  stage.diff();
  EXPECT_EQ(stage.kernel().faults.calls(), 0U);
  EXPECT_EQ(stage.kernel().dump(), before);
  ASSERT_TRUE(applied(stage.apply()));
  const auto reloads = stage.kernel().udev_reloads;
  const auto after = stage.kernel().dump();
  stage.kernel().faults.clear();
  const auto second = stage.apply();
  EXPECT_EQ(second.exit, GetParam().exit) << text_of(second);
  EXPECT_TRUE(stage.kernel().faults.log().empty()) << stage.kernel().faults.log().front();
  EXPECT_EQ(stage.kernel().udev_reloads, reloads);
  EXPECT_EQ(stage.kernel().dump(), after);
}

TEST_P(Contract, AnUndoneRenameLeavesNoPolicyRuleBehind) {
  for_every_call([&](std::size_t n, const std::string& /*what*/) {
    Stage stage(GetParam());
    const auto before = stage.dump();
    stage.kernel().faults.fail_at(n, EPERM);
    const auto report = stage.apply();
    if (applied(report)) return;
    EXPECT_EQ(difference(stage.dump(), before), "") << text_of(report);
  });
}

TEST_P(Contract, FilesAreDeclared) {
  Stage stage(GetParam());
  const auto before = stage.kernel().files.content;
  EXPECT_TRUE(applied(stage.apply()));
  for (const auto& [path, content] : stage.kernel().files.content) {
    if (before.contains(path) || path.starts_with("/sys/") || path.starts_with("/proc/")) continue;
    const bool record = path == core::Paths{}.state || path == core::Paths{}.journal;
    EXPECT_TRUE(record || kinds::owned_file(path) != nullptr) << path << ": its kind does not declare it";
  }
}

TEST_P(Contract, AFailedCallLeavesTheStateBefore) {
  for (const bool go_on : {true, false}) {
    for_every_call([&](std::size_t n, const std::string& /*what*/) {
      Stage stage(GetParam());
      const auto before = stage.dump();
      stage.kernel().go_on_after_refusal = go_on;
      stage.kernel().faults.fail_at(n, EPERM);
      const auto report = stage.apply();
      if (applied(report)) {  // it was not needed, as tidying up is not
        EXPECT_EQ(difference(stage.dump(), goal_), "") << text_of(report);
        return;
      }
      EXPECT_TRUE(report.error);
      EXPECT_TRUE(report.exit == Exit::kUndone || report.exit == Exit::kError) << text_of(report);
      EXPECT_EQ(difference(stage.dump(), before), "") << text_of(report);
      stage.kernel().faults.clear();
      const auto again = stage.apply();
      EXPECT_TRUE(applied(again)) << "tried again: " << text_of(again);
      EXPECT_EQ(difference(stage.dump(), goal_), "") << "tried again";
    });
  }
}

TEST_P(Contract, WhatCannotBeUndoneIsNamed) {
  for_every_call([&](std::size_t n, const std::string& /*what*/) {
    Stage stage(GetParam());
    const auto before = stage.dump();
    stage.kernel().faults.fail_from(n, EPERM);
    const auto report = stage.apply();
    if (applied(report)) return;
    EXPECT_TRUE(report.error);
    const bool named = report.exit == Exit::kUndoIncomplete && !report.left_over.empty();
    EXPECT_TRUE(named || difference(stage.dump(), before).empty())
        << text_of(report) << difference(stage.dump(), before);
    stage.kernel().faults.clear();
    const auto again = stage.apply();
    EXPECT_TRUE(applied(again)) << "tried again: " << text_of(again);
    EXPECT_EQ(difference(stage.dump(), goal_), "") << "tried again";
  });
}

TEST_P(Contract, AHostThatCannotBeObservedIsLeftAlone) {
  Stage stage(GetParam());
  const auto before = stage.kernel().dump();
  stage.kernel().observe_error = EPERM;
  EXPECT_EQ(stage.diff().exit, Exit::kError);
  const auto report = stage.apply();
  EXPECT_EQ(report.exit, Exit::kError) << text_of(report);
  EXPECT_EQ(stage.kernel().faults.calls(), 0U);
  EXPECT_EQ(stage.kernel().dump(), before);
}

TEST_P(Contract, AfterARebootAnApplyConverges) {
  Stage stage(GetParam());
  ASSERT_TRUE(applied(stage.apply()));
  // The cause of the warning: for a profile of others NetworkManager would make a second interface at boot.
  stage.kernel().files.content.erase("/etc/NetworkManager/system-connections/part.nmconnection");
  stage.kernel().reboot();
  auto report = stage.apply();
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_TRUE(stage.diff().plan.empty());
}

TEST_P(Contract, CarrierMayTakeItsTime) {
  Stage stage(GetParam());
  stage.kernel().machine.slow_carrier = true;
  const auto report = stage.apply();
  EXPECT_TRUE(applied(report)) << text_of(report);
  stage.kernel().machine.settle();
  EXPECT_TRUE(stage.diff().plan.empty());
  undisturbed();
  EXPECT_EQ(difference(stage.dump(), goal_), "");
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Contract, testing::ValuesIn(scenarios()),
                         [](const auto& instance) { return instance.param.name; });

TEST(ContractOfAllKinds, TheScenariosExerciseEveryKindAndOperation) {
  std::set<std::pair<std::string, model::Operation>> seen;
  for (const auto& scenario : scenarios()) {
    for (const auto& change : Stage(scenario).diff().plan.changes)
      seen.insert({change.key.kind, change.operation});
  }
  for (const auto* kind : kinds::all_kinds()) {
    const auto does = [&](model::Operation operation) {
      return seen.contains({std::string(kind->name()), operation});
    };
    // A resource that is only there or not, such as an address, is never updated.
    // One that stays does not keep the rules of undoing; its golden cases have its failures.
    if (kind->traits().only_checked || kind->traits().stays) continue;
    const bool made_and_deleted = does(model::Operation::kCreate) && does(model::Operation::kDelete);
    EXPECT_TRUE(does(model::Operation::kUpdate) || made_and_deleted) << kind->name();
  }
  EXPECT_TRUE(seen.contains({"pkey", model::Operation::kCreate}));
  EXPECT_TRUE(seen.contains({"pkey", model::Operation::kDelete}));
  EXPECT_TRUE(seen.contains({"link_name", model::Operation::kCreate}));
}

// Kills, refusals, late failures and lies at each call, on each driver that takes settings at all.
TEST(ContractOfAllKinds, EveryDriverWithARowTakesPart) {
  for (const auto& driver : kinds::dcb_drivers()) {
    if (driver.name.empty() || !driver.never_takes.empty()) continue;
    const auto played = "\"driver\": \"" + std::string(driver.name) + "\"";
    EXPECT_TRUE(std::any_of(scenarios().begin(), scenarios().end(), [&](const auto& scenario) {
      return scenario.name.starts_with("dcb") && scenario.host.find(played) != std::string::npos;
    })) << driver.name;
  }
}

TEST(ContractOfAllKinds, CanonicalValuesParseToThemselves) {
  for (const auto& scenario : scenarios()) {
    Stage stage(scenario);
    auto host = stage.kernel().host();
    auto world = kinds::World::observe(host);
    ASSERT_TRUE(world);
    for (const auto* kind : kinds::all_kinds()) {
      const auto observed = kind->observe(*world);
      ASSERT_TRUE(observed);
      for (const auto& resource : *observed) {
        EXPECT_EQ(resource.key.kind, kind->name());
        EXPECT_FALSE(resource.label.empty());
        for (const auto* attributes : {&resource.settings, &resource.facts}) {
          for (const auto& [name, value] : *attributes) {
            const auto specs = kind->fields();
            const auto spec =
                std::find_if(specs.begin(), specs.end(),
                             [field = std::string_view(name)](const auto& s) { return s.name == field; });
            ASSERT_NE(spec, specs.end())
                << kind->name() << " observes " << name << ", which its table does not have";
            if (spec->parse == nullptr) continue;
            const auto parsed = spec->parse(value);
            ASSERT_TRUE(parsed) << name << ": " << parsed.error().message;
            EXPECT_EQ(*parsed, value) << name;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace rdmacfg::contract
