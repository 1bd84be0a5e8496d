// SPDX-License-Identifier: Apache-2.0
#include "formats/udev/udev_backend.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

using model::Backend;

const model::Guid kOne{0x0002c903003178f2}, kTwo{0x0002c903003178f3};

TEST(BackendRules, WhatIsWrittenIsRead) {
  const BackendRules rules{{kOne, Backend::kNetworkManager}, {kTwo, Backend::kDirect}};
  EXPECT_EQ(parse_backend_rules(render_backend_rules(rules)), rules);
  const BackendRules networkd{{kOne, Backend::kNetworkd}, {kTwo, Backend::kNetworkd}};
  EXPECT_EQ(parse_backend_rules(render_backend_rules(networkd)), networkd);
}

TEST(BackendRules, TheOthersAreToldByGuid) {
  const auto line = [](Backend backend) { return render_backend_rules({{kOne, backend}}); };
  EXPECT_NE(line(Backend::kDirect).find("ENV{NM_UNMANAGED}=\"1\""), std::string::npos);
  EXPECT_NE(line(Backend::kDirect).find("?*00:02:c9:03:00:31:78:f2"), std::string::npos);
  EXPECT_EQ(line(Backend::kNetworkManager).find("NM_UNMANAGED"), std::string::npos);
  EXPECT_NE(line(Backend::kNetworkManager).find("RDMA_CONFIGD_UNMANAGED"), std::string::npos);
  EXPECT_NE(line(Backend::kNetworkd).find("ENV{NM_UNMANAGED}=\"1\""), std::string::npos);
  EXPECT_EQ(line(Backend::kNetworkd).find("RDMA_CONFIGD_UNMANAGED"), std::string::npos);
}

TEST(BackendRules, DamagedLinesAreNotRead) {
  EXPECT_TRUE(parse_backend_rules("").empty());
  EXPECT_TRUE(parse_backend_rules("ACTION!=\"remove\", ATTR{address}==\"?*00:02:c9").empty());
  auto text = render_backend_rules({{kOne, Backend::kDirect}});
  text.replace(text.find("=\"direct\"") + 2, 6, "magic!");
  EXPECT_TRUE(parse_backend_rules(text).empty());
}

TEST(BackendRules, HalfOfWhatNetworkdNeedsIsAsNothing) {
  auto text = render_backend_rules({{kOne, Backend::kNetworkd}});
  text.erase(text.rfind("ACTION"));
  EXPECT_TRUE(parse_backend_rules(text).empty());
}

TEST(BackendRules, TheLastOneTakesTheFilesAlong) {
  fakes::FakeKernel kernel;
  ASSERT_TRUE(write_backend_rules(kernel.files, {{kOne, Backend::kDirect}}));
  EXPECT_EQ(kernel.files.content.size(), 2U);
  ASSERT_TRUE(write_backend_rules(kernel.files, {{kOne, Backend::kNetworkd}}));
  EXPECT_EQ(kernel.files.content.size(), 1U);
  ASSERT_TRUE(write_backend_rules(kernel.files, {}));
  EXPECT_TRUE(kernel.files.content.empty());
}

}  // namespace
}  // namespace rdmacfg::kinds
