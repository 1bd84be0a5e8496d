// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::HasSubstr;

TEST(IpoibSysfs, WritesWithANewline) {
  TempTree tree;
  tree.put("/class/net/ib0/mode", "");
  tree.put("/class/net/ib0/create_child", "");
  const auto ipoib = make_linux_ipoib(tree.path());
  EXPECT_TRUE(ipoib->has_mode_file("ib0"));
  EXPECT_TRUE(ipoib->write_mode("ib0", model::IpoibMode::kConnected));
  EXPECT_EQ(tree.get("/class/net/ib0/mode"), "connected\n");
  EXPECT_TRUE(ipoib->create_child("ib0", model::Pkey::make(2).value()));
  EXPECT_EQ(tree.get("/class/net/ib0/create_child"), "0x8002\n");
}

TEST(IpoibSysfs, SaysWhatIsMissing) {
  TempTree tree;
  tree.put("/class/net/ib0.8002/mtu", "2044\n");
  tree.put("/class/secret/mode", "");
  const auto ipoib = make_linux_ipoib(tree.path());
  EXPECT_FALSE(ipoib->has_mode_file("ib0.8002"));
  const auto error = ipoib->write_mode("ib0.8002", model::IpoibMode::kConnected).error();
  EXPECT_EQ(error.code, base::Code::kUnsupported);
  EXPECT_THAT(error.message, HasSubstr("ib0.8002: set mode connected: no sysfs file \"mode\""));
  EXPECT_EQ(ipoib->write_mode("ib1", model::IpoibMode::kConnected).error().code, base::Code::kNotFound);
  for (const auto* name : {"", ".", "..", "../secret"}) {
    EXPECT_EQ(ipoib->write_mode(name, model::IpoibMode::kConnected).error().code, base::Code::kInvalid)
        << name;
    EXPECT_FALSE(ipoib->has_mode_file(name)) << name;
  }
  EXPECT_EQ(tree.get("/class/secret/mode"), "");
}

}  // namespace
}  // namespace rdmacfg::system
