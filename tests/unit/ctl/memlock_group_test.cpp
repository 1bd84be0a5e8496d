// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "console.hpp"

namespace rdmacfg::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MemlockGroup, OfAnImageWithADirectoryIsNotDeclared) {
  Console console;
  console.document("version = 1\n[[memlock]]\ndomain = \"@hpcusers\"\nlimit = \"unlimited\"\n");
  auto& files = console.kernel.files.content;
  files["/etc/nsswitch.conf"] = "group: files sss\n";
  files["/etc/group"] = "root:x:0:\n";
  const std::string root = console.folder().string();
  EXPECT_EQ(console.run({"apply", "--yes", "--root", root}), 0) << console.err.str();
  EXPECT_THAT(console.err.str(),
              HasSubstr("config.toml:3:10: warning: [[memlock]] domain: group hpcusers is in "
                        "no file here, and " +
                        root + "/etc/nsswitch.conf:1 also takes groups from sss"));
  EXPECT_TRUE(files.contains("/etc/security/limits.d/zz-rdma-configd.conf"));
  EXPECT_FALSE(files.contains("/etc/sysusers.d/rdma-configd.conf"));

  files["/etc/nsswitch.conf"] = "group: files\n";
  EXPECT_EQ(console.run({"diff", "--root", root}), 2) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("→ hpcusers\n")) << "the plan shows that it is made";
  EXPECT_EQ(console.run({"apply", "--yes", "--root", root}), 0) << console.err.str();
  EXPECT_THAT(files["/etc/sysusers.d/rdma-configd.conf"], HasSubstr("g hpcusers -\n"));
}

TEST(MemlockGroup, ThatIsMadeIsShown) {
  Console console;
  console.document("version = 1\n[[memlock]]\ndomain = \"@hpcusers\"\nlimit = \"unlimited\"\n");
  EXPECT_EQ(console.run({"diff"}), 2) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("group  hpcusers\n"));
  console.kernel.accounts.groups.insert("hpcusers");
  EXPECT_EQ(console.run({"diff"}), 2) << console.err.str();
  EXPECT_THAT(console.out.str(), Not(HasSubstr("group  ")));
}

TEST(MemlockLimit, HasItsUnitInAPlan) {
  Console console;
  console.document("version = 1\n[[memlock]]\ndomain = \"*\"\nlimit = \"64 GiB\"\n");
  EXPECT_EQ(console.run({"diff"}), 2) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("67108864 KiB"));
}

}  // namespace
}  // namespace rdmacfg::ctl
