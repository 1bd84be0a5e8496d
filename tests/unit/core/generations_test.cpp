// SPDX-License-Identifier: Apache-2.0
#include "store/generations.hpp"

#include <gmock/gmock.h>

#include "core/plan.hpp"
#include "fakes/fake_kernel.hpp"
#include "model/limits.hpp"

namespace rdmacfg::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Ledger with(std::uint64_t generations) {
  Ledger out;
  for (std::uint64_t i = 1; i <= generations; ++i)
    out.generations.push_back({i, std::to_string(i), {}, {}, {}, {}});
  out.active = generations;
  return out;
}

TEST(Generations, AreKeptUpToTheLimit) {
  auto ledger = with(model::limits::kGenerations);
  EXPECT_THAT(prune(ledger), IsEmpty());
  ledger = with(model::limits::kGenerations + 1);
  ledger.refused = {"1", "2"};
  EXPECT_THAT(prune(ledger), ElementsAre(1U));
  EXPECT_EQ(ledger.generations.size(), model::limits::kGenerations);
  EXPECT_THAT(ledger.refused, ElementsAre("2"));
}

TEST(Generations, WhatIsHeldAndGoneBackToStays) {
  auto ledger = with(model::limits::kGenerations + 3);
  ledger.active = 2;
  ledger.unconfirmed.emplace();
  ledger.unconfirmed->previous = 3;
  EXPECT_THAT(prune(ledger), ElementsAre(4U, 5U, 6U));
}

TEST(Generations, TheReasonOfARollbackIsKept) {
  constexpr const char* kPath = "/var/lib/rdma-configd/generations.json";
  fakes::FakeKernel kernel;
  auto ledger = with(2);
  ledger.active = 1;
  ledger.generations[1].fate = "rolled back: in other words";
  ledger.generations[1].why = "it was not confirmed in time";
  ASSERT_TRUE(save_ledger(kernel.files, kPath, ledger));
  EXPECT_EQ(load_ledger(kernel.files, kPath), ledger);

  // As earlier versions wrote it.
  kernel.files.content[kPath] =
      R"({"schema": 1, "active": 1, "refused": [], "unconfirmed": null, "generations": [
    {"number": 1, "digest": "1", "when": "", "who": "", "what": "", "fate": ""},
    {"number": 2, "digest": "2", "when": "", "who": "", "what": "",
     "fate": "rolled back: the host was rebooted before it was confirmed"},
    {"number": 3, "digest": "3", "when": "", "who": "", "what": "", "fate": "rolled back to 1"}]})";
  const auto old = load_ledger(kernel.files, kPath);
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->generations[1].why, "the host was rebooted before it was confirmed");
  EXPECT_EQ(old->generations[2].why, "");
}

TEST(Plans, HaveALimitOfChanges) {
  model::Plan plan;
  plan.changes.resize(model::limits::kPlanChanges);
  EXPECT_EQ(too_long(plan), "");
  plan.changes.emplace_back();
  EXPECT_THAT(too_long(plan), HasSubstr(std::to_string(model::limits::kPlanChanges)));
}

}  // namespace
}  // namespace rdmacfg::core
