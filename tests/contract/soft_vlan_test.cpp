// SPDX-License-Identifier: Apache-2.0
// Soft-RoCE over a VLAN: rxe_newlink() of the kernel refuses it with a bare EPERM.
#include <gmock/gmock.h>

#include "contract/apply_text.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kVlanHost = R"({ "links": [
  { "name": "eth0", "up": true }, { "name": "vlan5", "kind": "vlan", "parent": "eth0", "up": true } ] })";

Report make_soft(FakeKernel& kernel, const std::string& type) {
  return apply_text(kernel,
                    "[[soft_rdma]]\ninterface = \"vlan5\"\ntype = \"" + type + "\"\nname = \"soft0\"\n",
                    false);
}

TEST(SoftVlan, RxeIsRefusedBeforeAnyWrite) {
  const auto kernel = FakeKernel::parse(kVlanHost);
  const auto report = make_soft(*kernel, "rxe");
  EXPECT_EQ(report.exit, Exit::kError) << text_of(report);
  EXPECT_EQ(kernel->faults.calls(), 0U);
  ASSERT_FALSE(report.diagnostics.empty());
  EXPECT_THAT(report.diagnostics.front().message, testing::HasSubstr("vlan5 is a VLAN"));
  EXPECT_THAT(report.diagnostics.front().hint, testing::HasSubstr("interface = \"eth0\""));
}

TEST(SoftVlan, SiwIsMade) {
  const auto kernel = FakeKernel::parse(kVlanHost);
  const auto report = make_soft(*kernel, "siw");
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
}

}  // namespace
}  // namespace rdmacfg::contract
