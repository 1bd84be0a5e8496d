// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LioConfigfs : public ::testing::Test {
 protected:
  static constexpr const char* kGroup = "/sys/kernel/config/target/iscsi/iqn.2026-01.org.example:a/tpgt_1/";

  void link(const std::string& to, const std::string& at) {
    std::filesystem::create_directories(std::filesystem::path(tree.at(at)).parent_path());
    std::filesystem::create_symlink(to, tree.at(at));
  }

  TempTree tree;
  std::unique_ptr<Units> units = make_linux_units();
  std::unique_ptr<Modules> modules = make_linux_modules(tree.at("/sys"));
  std::unique_ptr<Lio> lio = make_linux_lio(*units, *modules, tree.at("/sys"));
};

TEST_F(LioConfigfs, WithoutTheModuleThereIsNothing) {
  EXPECT_FALSE(lio->observe().value().has_value());
  tree.put("/sys/kernel/config/target/version", "");
  EXPECT_THAT(lio->observe().value()->targets, IsEmpty());
}

TEST_F(LioConfigfs, IsReadAsTheKernelShowsIt) {
  const std::string core = "/sys/kernel/config/target/core/iblock_0/x/";
  tree.put(core + "udev_path", "/dev/sdb");
  tree.put(core + "enable", "1\n");
  tree.put(core + "wwn/vpd_unit_serial", "T10 VPD Unit Serial Number: 0b1c2d3e\n");
  tree.put("/sys/kernel/config/target/core/alua/lu_gps/x", "");
  tree.put("/sys/kernel/config/target/iscsi/discovery_auth/userid", "");
  const std::string group = kGroup;
  tree.put(group + "../fabric_statistics/x", "");
  tree.put(group + "enable", "1\n");
  tree.put(group + "attrib/generate_node_acls", "0\n");
  tree.put(group + "attrib/demo_mode_write_protect", "1\n");
  tree.put(group + "attrib/authentication", "1\n");
  tree.put(group + "dynamic_sessions", std::string("iqn.2026-01.org.example:i\n\0", 27));
  tree.put(group + "lun/lun_10/alua_tg_pt_gp", "");
  tree.put(group + "lun/lun_2/alua_tg_pt_gp", "");
  link("../../../../../../target/core/iblock_0/x", group + "lun/lun_2/0123456789");
  const std::string acl = group + "acls/iqn.2026-01.org.example:h/";
  tree.put(acl + "info", "InitiatorName: iqn.2026-01.org.example:h\n");
  tree.put(acl + "auth/userid", "h\n");
  tree.put(acl + "lun_0/write_protect", "1\n");
  link("../../../../../../../target/iscsi/iqn.2026-01.org.example:a/tpgt_1/lun/lun_2", acl + "lun_0/lun");
  tree.put(group + "np/192.0.2.1:3260/iser", "1\n");
  const auto state = lio->observe().value().value();
  ASSERT_EQ(state.backstores.size(), 1U);
  EXPECT_EQ(state.backstores[0].id, "iblock_0/x");
  EXPECT_EQ(state.backstores[0].path, "/dev/sdb");
  EXPECT_EQ(state.backstores[0].serial, "0b1c2d3e");
  EXPECT_TRUE(state.backstores[0].enabled);
  ASSERT_EQ(state.targets.size(), 1U);
  const auto& target = state.targets.front();
  EXPECT_EQ(target.id.wwn, "iqn.2026-01.org.example:a");
  EXPECT_EQ(target.groups, 1);
  EXPECT_TRUE(target.enabled && target.authentication && !target.any_initiator && target.write_protected);
  EXPECT_THAT(target.guests, ElementsAre("iqn.2026-01.org.example:i"));
  ASSERT_EQ(target.luns.size(), 2U);
  EXPECT_EQ(target.luns[0].backstore, "iblock_0/x");
  EXPECT_EQ(target.luns[1].backstore, "");
  ASSERT_EQ(target.acls.size(), 1U);
  EXPECT_TRUE(target.acls[0].logged_in && target.acls[0].has_secret);
  EXPECT_THAT(target.acls[0].luns, ElementsAre(LioMapping{0, 2, true}));
  ASSERT_EQ(target.portals.size(), 1U);
  EXPECT_EQ(target.portals[0].name, "192.0.2.1:3260");
  EXPECT_TRUE(target.portals[0].iser);
}

TEST_F(LioConfigfs, NamesThatLeadElsewhereAreRefused) {
  tree.put("/sys/kernel/config/target/iscsi/lio_version", "");
  for (const auto* name : {"", ".", "..", "../x", "a/b"}) {
    EXPECT_FALSE(lio->make_target({"iscsi", name})) << name;
    EXPECT_FALSE(lio->make_acl({"iscsi", "a"}, name)) << name;
    EXPECT_FALSE(lio->make_portal({"iscsi", "a"}, {name, true})) << name;
  }
}

// The kernel has a new group ask for CHAP, and a run may end before it has told it not to.
TEST_F(LioConfigfs, AGroupThatIsFreshAsksForNoChap) {
  const LioTargetId id{"iscsi", "iqn.2026-01.org.example:a"};
  const std::string group = kGroup;
  for (const auto* folder : {"acls", "lun", "np"})
    std::filesystem::create_directories(tree.at(group + folder));
  tree.put(group + "../fabric_statistics/x", "");
  tree.put(group + "enable", "0\n");
  tree.put(group + "attrib/authentication", "1\n");
  tree.put(group + "auth/userid", "NULL\n");
  EXPECT_FALSE(lio->observe().value()->targets.front().authentication);
  EXPECT_TRUE(lio->make_target(id));
  EXPECT_EQ(tree.get(group + "attrib/authentication"), "0\n");
  tree.put(group + "attrib/authentication", "1\n");
  tree.put(group + "auth/userid", "theirs\n");
  EXPECT_TRUE(lio->observe().value()->targets.front().authentication);
  EXPECT_TRUE(lio->make_target(id));
  EXPECT_EQ(tree.get(group + "attrib/authentication"), "1\n") << "somebody has set a secret";
}

TEST_F(LioConfigfs, AnInitiatorGoesAlthoughARunEndedBeforeItsLunLedAnywhere) {
  const LioTargetId id{"iscsi", "iqn.2026-01.org.example:a"};
  const std::string acl = std::string(kGroup) + "acls/iqn.2026-01.org.example:h";
  std::filesystem::create_directories(tree.at(acl + "/lun_0"));
  std::filesystem::create_directories(tree.at(std::string(kGroup) + "lun/lun_1"));
  link("../../../lun/lun_1", acl + "/lun_1/lun");
  tree.put(std::string(kGroup) + "../fabric_statistics/x", "");
  EXPECT_THAT(lio->observe().value()->targets.front().acls.front().luns,
              ElementsAre(LioMapping{1, 1, false}));
  EXPECT_TRUE(lio->remove_acl(id, "iqn.2026-01.org.example:h"));
  EXPECT_FALSE(std::filesystem::exists(tree.at(acl)));
  EXPECT_TRUE(std::filesystem::exists(tree.at(std::string(kGroup) + "lun/lun_1")));
}

TEST_F(LioConfigfs, PathsThatTheKernelWouldCutAreRefused) {
  tree.put("/sys/kernel/config/target/core/x", "");
  for (const auto& path : {std::string("/dev/a,b"), "/dev/" + std::string(600, 'a')})
    EXPECT_FALSE(lio->make_backstore({.id = "iblock_1/x", .path = path, .serial = "", .enabled = true}));
  const auto empty = tree.at("/srv/empty");
  tree.put("/srv/empty", "");
  const auto done = lio->make_backstore({.id = "fileio_1/x", .path = empty, .serial = "", .enabled = true});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("the file is empty"));
  EXPECT_FALSE(std::filesystem::exists(tree.at("/sys/kernel/config/target/core/fileio_1")));
}

TEST_F(LioConfigfs, AFileThatIsMissingIsNotMade) {
  tree.put("/sys/kernel/config/target/core/x", "");
  const auto path = tree.at("/srv/none");
  EXPECT_FALSE(lio->make_backstore({.id = "fileio_1/x", .path = path, .serial = "", .enabled = true}));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(tree.at("/sys/kernel/config/target/core/fileio_1")));
}

}  // namespace
}  // namespace rdmacfg::system
