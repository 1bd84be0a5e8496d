// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/naming.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

namespace rdmacfg::daemon {
namespace {

std::string name_now() {
  std::array<char, 65> text{};
  (void)::gethostname(text.data(), text.size() - 1);
  return std::string_view(text.data()) == "localhost" ? std::string() : std::string(text.data());
}

bool set(std::string_view name) { return ::sethostname(name.data(), name.size()) == 0; }

TEST(Naming, ANameThatComesLaterIsHeardOf) {
  if (::unshare(CLONE_NEWUTS) != 0) GTEST_SKIP() << "no right to a name space";
  ASSERT_TRUE(set("localhost"));
  Loop loop;
  int named = 0;
  const auto watch = when_named(
      loop, [&] { ++named, loop.stop(0); }, name_now);
  const auto late = loop.after(std::chrono::milliseconds(50), [] { EXPECT_TRUE(set("gpu007")); });
  const auto end = loop.after(std::chrono::seconds(60), [&] { loop.stop(1); });
  EXPECT_EQ(loop.run(), 0) << "nothing was heard";
  EXPECT_EQ(named, 1);
}

TEST(Naming, WhoHasANameWaitsForNone) {
  Loop loop;
  EXPECT_EQ(when_named(
                loop, [] {}, [] { return std::string("gpu007"); }),
            nullptr);
}

}  // namespace
}  // namespace rdmacfg::daemon
