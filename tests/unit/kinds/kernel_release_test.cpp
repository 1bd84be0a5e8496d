// SPDX-License-Identifier: Apache-2.0
// Releases of distributions' kernels, and the first of them that renames interfaces that are up (Linux 6.2).
#include "kinds/kernel_release.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

struct ReleaseCase {
  std::string text;  ///< of /proc/sys/kernel/osrelease
  std::optional<std::uint64_t> number;
  bool renames;
};

TEST(KernelRelease, RunningLinksAreRenamedFromLinux62On) {
  const std::vector<ReleaseCase> cases{{"6.1.0-18-amd64\n", 601, false},
                                       {"5.14.0-427.13.1.el9_4.x86_64\n", 514, false},
                                       {"6.2.0\n", 602, true},
                                       {"6.2-rc1\n", 602, true},
                                       {"6.12.9-amd64\n", 612, true},
                                       {"7.0.1+deb14-arm64\n", 700, true},
                                       {"10.0\n", 1000, true},
                                       {"6\n", std::nullopt, false},
                                       {"next-6.12\n", std::nullopt, false},
                                       {"", std::nullopt, false}};
  for (const auto& example : cases) {
    SCOPED_TRACE(example.text);
    fakes::FakeKernel kernel;
    kernel.files.content["/proc/sys/kernel/osrelease"] = example.text;
    auto host = kernel.host();
    const auto world = World::observe(host);
    ASSERT_TRUE(world);
    EXPECT_EQ(release_number(kernel_release(*world)), example.number);
    EXPECT_EQ(renames_running_links(*world), example.renames);
  }
}

TEST(KernelRelease, NothingIsKnownWithoutTheFileOrBelowAnotherRoot) {
  fakes::FakeKernel kernel;
  auto host = kernel.host();
  const auto unknown = World::observe(host);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(kernel_release(*unknown), "");
  EXPECT_FALSE(renames_running_links(*unknown));
  // An image that is made where /proc is mounted: its kernel will be another one.
  kernel.files.content["/proc/sys/kernel/osrelease"] = "6.12.9-amd64\n";
  host.offline = true;
  const auto elsewhere = World::observe(host);
  ASSERT_TRUE(elsewhere);
  EXPECT_FALSE(renames_running_links(*elsewhere));
}

}  // namespace
}  // namespace rdmacfg::kinds
