// SPDX-License-Identifier: Apache-2.0
#include "base/host_name.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::base {
namespace {

TEST(HostName, IsTheFirstLineThatIsNoComment) {
  EXPECT_EQ(host_name_in("gpu007\n"), "gpu007");
  EXPECT_EQ(host_name_in("# set by hand\n\n  gpu007.example.org  \nother\n"), "gpu007.example.org");
  EXPECT_EQ(host_name_in("localhost7"), "localhost7");
}

TEST(HostName, NobodyHasGivenOne) {
  for (const auto* text : {"", "\n", "# gpu007\n", "(none)", "localhost", "localhost.localdomain\n"})
    EXPECT_EQ(host_name_in(text), "") << text;
}

}  // namespace
}  // namespace rdmacfg::base
