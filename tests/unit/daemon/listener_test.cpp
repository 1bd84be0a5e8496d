// SPDX-License-Identifier: Apache-2.0
#include "daemon/listener.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/leftovers.hpp"
#include "kinds/all.hpp"
#include "kinds/initramfs.hpp"

namespace rdmacfg::daemon {
namespace {

TEST(Listener, WhatIsListedByNameIsAKind) {
  for (const auto name : kAnyInterface) EXPECT_NE(kinds::find(name), nullptr) << name;
  for (const auto name : kinds::kInitramfsKinds) EXPECT_NE(kinds::find(name), nullptr) << name;
}

TEST(Listener, AnInterfaceWithDcbThatIsAbsentIsListenedFor) {
  EXPECT_NE(std::find(kAnyInterface.begin(), kAnyInterface.end(), "dcb"), kAnyInterface.end());
}

TEST(Listener, AnApplyThatGoesPastTheDaemonIsHeardOf) {
  EXPECT_TRUE(says_applied("/var/lib/rdma-configd/generations.json"));
  EXPECT_TRUE(says_applied("/run/rdma-configd/applied"));
  EXPECT_FALSE(says_applied("/run/rdma-configd/running"));
  EXPECT_TRUE(core::is_managed_folder("/run/rdma-configd"));
}

}  // namespace
}  // namespace rdmacfg::daemon
