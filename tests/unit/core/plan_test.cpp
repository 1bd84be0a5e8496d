// SPDX-License-Identifier: Apache-2.0
#include "core/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/components.hpp"

namespace rdmacfg::core {
namespace {

using model::Change;
using model::Key;
using model::Operation;

Change change(Key key, Operation operation, std::vector<Key> needs = {}) {
  Change c;
  c.key = std::move(key);
  c.label = c.key.id;
  c.operation = operation;
  c.needs = std::move(needs);
  return c;
}

std::vector<std::string> ids(const model::Plan& plan) {
  std::vector<std::string> out;
  for (const auto& c : plan.changes) out.push_back(c.key.text());
  return out;
}

TEST(Plan, SortsByNeedsWhateverTheOrderOfTheList) {
  std::vector<Change> changes{change({"pkey", "b"}, Operation::kCreate, {{"ipoib", "a"}}),
                              change({"ipoib", "a"}, Operation::kUpdate, {{"link_name", "a"}}),
                              change({"link_name", "a"}, Operation::kUpdate)};
  const std::vector<std::string> wanted{"link_name a", "ipoib a", "pkey b"};
  do {
    EXPECT_EQ(ids(order(changes)), wanted);
  } while (std::next_permutation(changes.begin(), changes.end(),
                                 [](const Change& x, const Change& y) { return x.key < y.key; }));
}

TEST(Plan, RemovesFirst) {
  const auto plan = order({change({"link_name", "a"}, Operation::kUpdate),
                           change({"pkey", "x"}, Operation::kDelete, {{"link_name", "a"}})});
  EXPECT_EQ(ids(plan), (std::vector<std::string>{"pkey x", "link_name a"}));
}

TEST(Plan, NeedsThatAreNotInThePlanAreMet) {
  EXPECT_EQ(order({change({"pkey", "x"}, Operation::kCreate, {{"ipoib", "absent"}})}).changes.size(), 1U);
}

TEST(Plan, ACircleEndsAllTheSame) {
  const auto plan = order({change({"ipoib", "a"}, Operation::kUpdate, {{"pkey", "b"}}),
                           change({"pkey", "b"}, Operation::kUpdate, {{"ipoib", "a"}})});
  EXPECT_EQ(plan.changes.size(), 2U);
}

TEST(Plan, BatchesAreOfOneKindAndOperationAndNeedNoneOfThemselves) {
  const auto plan =
      order({change({"pkey", "1"}, Operation::kCreate), change({"pkey", "2"}, Operation::kCreate),
             change({"pkey", "3"}, Operation::kDelete), change({"ipoib", "a"}, Operation::kUpdate),
             change({"pkey", "4"}, Operation::kCreate, {{"pkey", "1"}})});
  std::vector<std::size_t> sizes;
  for (const auto& batch : batches(plan)) sizes.push_back(batch.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 1, 2, 1}));
}

TEST(Plan, WhatIsGoneIsADeviceOnlyWhereTheChangeDependsOnOne) {
  auto update = change({"pkey", "x"}, Operation::kUpdate);
  update.parent_object = "boot/7";
  EXPECT_EQ(why_gone(update), "its device was removed during the apply");
  EXPECT_EQ(why_gone(change({"nfs_mount", "/scratch"}, Operation::kUpdate)),
            "its parent object was removed during the apply");
}

/// The kernel has one set of names for interfaces, and one for RDMA devices.
TEST(Plan, WhoeverTakesTheNameOfAnInterfaceIsOnePartWithWhoeverGivesItUp) {
  const auto renamed = [](Key key, Operation operation, const std::string& from, const std::string& to) {
    auto out = change(std::move(key), operation);
    if (!from.empty()) out.before["name"] = from;
    if (!to.empty()) out.after["name"] = to;
    return out;
  };
  const auto parts = components(order({renamed({"pkey", "a/0x8002"}, Operation::kDelete, "fab0", ""),
                                       renamed({"link_name", "b"}, Operation::kUpdate, "ib0", "fab0"),
                                       renamed({"pkey", "c/0x8002"}, Operation::kCreate, "", "ib0"),
                                       renamed({"link_name", "d"}, Operation::kUpdate, "ib1", "fab1"),
                                       renamed({"rdma_device", "e"}, Operation::kUpdate, "fab1", "mlx4_0")}));
  std::vector<std::vector<std::string>> got;
  for (const auto& part : parts) got.push_back(ids(part));
  EXPECT_THAT(got, testing::UnorderedElementsAre(
                       testing::ElementsAre("pkey a/0x8002", "link_name b", "pkey c/0x8002"),
                       testing::ElementsAre("link_name d"), testing::ElementsAre("rdma_device e")));
}

TEST(Plan, AnEmptyOneHasNoBatches) { EXPECT_TRUE(batches(order({})).empty()); }

}  // namespace
}  // namespace rdmacfg::core
