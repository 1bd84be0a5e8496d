// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "system/linux/linux_host.hpp"
#include "unit/system/temp_tree.hpp"

namespace rdmacfg::system {
namespace {

class MountTypes : public ::testing::Test {
 protected:
  /// Without a folder: of "/".
  void mount(const std::string& device, const std::string& type, const std::string& folder = "") {
    const auto point = folder.empty() ? std::string("/") : tree.at(folder).native();
    table += "1 0 " + device + " / " + point + " rw,relatime shared:1 - " + type + " source rw\n";
    tree.put("/mountinfo", table);
  }
  [[nodiscard]] std::string type_of(const std::string& folder) const {
    return type_unless_local(tree.at(folder), tree.at("/mountinfo"));
  }

  TempTree tree;
  std::string table;
};

TEST_F(MountTypes, AFolderIsOnTheNearestMount) {
  mount("8:1", "xfs");
  mount("0:52", "nfs4", "/far");
  mount("8:17", "ext4", "/far/disk");
  mount("0:53", "fuse.sshfs", "/near/home");
  mount("0:54", "tmpfs", "/shm");
  EXPECT_EQ(type_of("/near"), "");
  EXPECT_EQ(type_of("/far"), "nfs4");
  EXPECT_EQ(type_of("/far/a/b"), "nfs4");
  EXPECT_EQ(type_of("/farther"), "");
  EXPECT_EQ(type_of("/far/disk"), "nfs4") << "the way there leads over it";
  EXPECT_EQ(type_of("/near/home/alice"), "fuse.sshfs");
  EXPECT_EQ(type_of("/shm/metrics"), "");
  mount("0:55", "tmpfs", "/far");
  EXPECT_EQ(type_of("/far/a"), "") << "the last mount there";
}

TEST_F(MountTypes, LinksAreFollowedWithoutTouchingRemoteFileSystems) {
  mount("8:1", "xfs");
  mount("0:52", "nfs4", "/far");
  tree.link("/absolute", tree.at("/far/a").native());
  tree.link("/near/relative", "../far");
  tree.link("/near/local", "..");
  tree.link("/loop", "loop");
  EXPECT_EQ(type_of("/absolute"), "nfs4");
  EXPECT_EQ(type_of("/near/relative/b"), "nfs4");
  EXPECT_EQ(type_of("/near/local/near"), "");
  EXPECT_EQ(type_of("/near/local/far"), "nfs4");
  EXPECT_EQ(type_of("/loop"), "") << "who opens it gets an error";
}

/// A diskless host: systemd bind-mounts a service's writable folders onto themselves, with the same device.
TEST_F(MountTypes, TheFileSystemOfTheRootDoesNotCount) {
  mount("0:40", "nfs4");
  mount("0:40", "nfs4", "/var");
  mount("0:41", "nfs4", "/scratch");
  EXPECT_EQ(type_of("/var/lib"), "");
  EXPECT_EQ(type_of("/etc"), "");
  EXPECT_EQ(type_of("/scratch"), "nfs4");
}

TEST_F(MountTypes, WithoutATableNothingIsKnown) { EXPECT_EQ(type_of("/near"), "unknown"); }

}  // namespace
}  // namespace rdmacfg::system
