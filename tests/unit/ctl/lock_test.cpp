// SPDX-License-Identifier: Apache-2.0
#include "store/lock.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "console.hpp"
#include "unit/wait_until.hpp"

namespace rdmacfg::ctl {
namespace {

using namespace std::chrono_literals;
using core::take_lock;

TEST(TakeLock, KeepsTheSecondOutAndSaysWhoHasIt) {
  Console console;
  const auto path = console.folder() / "lock";
  const auto silent = [](const std::string&) { ADD_FAILURE(); };
  auto first = take_lock(path, 0ms, silent);
  ASSERT_TRUE(first);
  std::string holder;
  EXPECT_TRUE(unit::with_growing_limit(150ms, [&](std::chrono::milliseconds limit) {
    const auto second = take_lock(path, limit, [&](const std::string& who) { holder = who; });
    EXPECT_TRUE(!second && second.error().code == base::Code::kTimeout);
    return !holder.empty();
  }));
  EXPECT_EQ(holder, "process " + std::to_string(::getpid()));
  first->reset();
  EXPECT_TRUE(take_lock(path, 0ms, silent));
}

TEST(TakeLock, WaitsForTheHolder) {
  Console console;
  const auto path = console.folder() / "lock";
  auto first = take_lock(path, 0ms, {});
  ASSERT_TRUE(first);
  EXPECT_TRUE(take_lock(path, 60s, [&](const std::string&) { first->reset(); }));
}

TEST(TakeLock, NamesTheHolderToWhoWaits) {
  EXPECT_EQ(core::waits_for("process 7"), "process 7 is applying; waiting until it has finished");
}

TEST(TakeLock, AnImageIsLockedItself) {
  Console console;
  EXPECT_EQ(core::lock_of("/"), "/run/rdma-configd.lock");
  ASSERT_EQ(core::lock_of(console.folder()), console.folder());
  auto first = take_lock(core::lock_of(console.folder()), 0ms, {});
  ASSERT_TRUE(first);
  EXPECT_TRUE(std::filesystem::is_empty(console.folder())) << "an image keeps nothing of it";
  std::string holder;
  EXPECT_TRUE(unit::with_growing_limit(150ms, [&](std::chrono::milliseconds limit) {
    EXPECT_FALSE(
        take_lock(core::lock_of(console.folder()), limit, [&](const std::string& who) { holder = who; }));
    return !holder.empty();
  }));
  EXPECT_EQ(holder, "process " + std::to_string(::getpid()));
}

TEST(TakeLock, AnApplyBelowAnotherRootTakesTheLock) {
  Console console;
  console.document("version = 1\n");
  const int before = console.locks;
  EXPECT_EQ(console.run({"apply", "--yes", "--root", console.folder().string()}), 0) << console.err.str();
  EXPECT_EQ(console.locks, before + 1);
}

TEST(TakeLock, WhoWaitsCanBeToldToGiveUp) {
  Console console;
  const auto path = console.folder() / "lock";
  auto first = take_lock(path, 0ms, {});
  ASSERT_TRUE(first);
  bool cancelled = false;
  const auto second = take_lock(  // no test lives to see the end of its time
      path, 24h, [&](const std::string&) { cancelled = true; }, [&] { return cancelled; });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::kRefused);
  EXPECT_EQ(second.error().message, "cancelled");
}

// As when a package is purged meanwhile: the file that is waited for is nobody's lock any more.
TEST(TakeLock, AFileThatWasRemovedIsNoLock) {
  Console console;
  const auto path = console.folder() / "lock";
  auto first = take_lock(path, 0ms, {});
  ASSERT_TRUE(first);
  base::Result<std::shared_ptr<void>> other = base::fail(base::Code::kTimeout, "");
  EXPECT_TRUE(unit::with_growing_limit(300ms, [&](std::chrono::milliseconds limit) {
    const auto second = take_lock(path, limit, [&](const std::string&) {
      std::filesystem::remove(path);
      other = take_lock(path, 0ms, {});
      first->reset();
    });
    EXPECT_FALSE(second) << "two hold the lock";
    return other.has_value();
  }));
  ASSERT_TRUE(other);
  other->reset();
  EXPECT_TRUE(take_lock(path, 0ms, {}));
}

TEST(TakeLock, AFileThatWasReplacedIsNoLock) {
  Console console;
  const auto path = console.folder() / "lock";
  const auto away = console.folder() / "away";
  for (const bool replaced : {false, true}) {
    SCOPED_TRACE(replaced);
    auto first = take_lock(path, 0ms, {});
    ASSERT_TRUE(first);
    base::Result<std::shared_ptr<void>> other = base::fail(base::Code::kTimeout, "");
    EXPECT_TRUE(unit::with_growing_limit(300ms, [&](std::chrono::milliseconds limit) {
      const auto second = take_lock(path, limit, [&](const std::string&) {
        std::filesystem::rename(path, away);
        if (replaced) {
          std::ofstream(console.folder() / "new").close();
          std::filesystem::rename(console.folder() / "new", path);
        }
        other = take_lock(path, 0ms, {});
        first->reset();
      });
      EXPECT_FALSE(second) << "two hold the lock";
      return other.has_value();
    }));
  }
}

// One that is always replaced before it is taken must not keep us for ever.
TEST(TakeLock, AFileThatIsReplacedAllTheTimeIsGivenUp) {
  Console console;
  const auto path = console.folder() / "lock";
  auto first = take_lock(path, 0ms, {});
  ASSERT_TRUE(first);
  int asked = 0;
  const auto second = take_lock(
      path, 60s, [](const std::string&) {},
      [&] {
        if (++asked > 1) return true;
        std::ofstream(console.folder() / "new").close();
        std::filesystem::rename(console.folder() / "new", path);
        first->reset();
        return false;
      });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::kRefused);
}

TEST(TakeLock, FollowsNoLink) {
  Console console;
  std::filesystem::create_symlink(console.folder() / "elsewhere", console.folder() / "lock");
  EXPECT_FALSE(take_lock(console.folder() / "lock", 0ms, {}));
  EXPECT_FALSE(std::filesystem::exists(console.folder() / "elsewhere"));
}

}  // namespace
}  // namespace rdmacfg::ctl
