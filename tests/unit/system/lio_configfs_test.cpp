// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>

#include "starting_units.hpp"
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

/// Changes of a target and its disks. Unlike configfs, the folder has no attributes but those that a test
/// puts there, and a folder that has some stays.
class LioChanges : public LioConfigfs {
 protected:
  static constexpr const char* kCore = "/sys/kernel/config/target/core/";
  static constexpr const char* kInitiator = "iqn.2026-01.org.example:h";

  [[nodiscard]] std::filesystem::path in_group(const std::string& below) const {
    return tree.at(kGroup + below);
  }
  [[nodiscard]] bool there(const std::string& below) const {
    return std::filesystem::exists(in_group(below));
  }

  const LioTargetId id{"iscsi", "iqn.2026-01.org.example:a"};
};

TEST_F(LioChanges, LunsAreLinksToBackstores) {
  const auto disk = tree.at(std::string(kCore) + "iblock_1/x");
  std::filesystem::create_directories(disk);
  std::filesystem::create_directories(in_group("lun"));
  EXPECT_TRUE(lio->make_lun(id, {1, "iblock_1/x"}));
  EXPECT_EQ(std::filesystem::read_symlink(in_group("lun/lun_1/disk")), disk);
  EXPECT_TRUE(lio->make_lun(id, {1, "iblock_1/x"})) << "it is there";
  EXPECT_TRUE(lio->make_lun(id, {2, ""}));
  EXPECT_TRUE(std::filesystem::is_empty(in_group("lun/lun_2")));
  EXPECT_TRUE(lio->remove_lun(id, 1));
  EXPECT_FALSE(there("lun/lun_1"));
  EXPECT_TRUE(lio->remove_lun(id, 1)) << "it is gone";
  EXPECT_TRUE(std::filesystem::exists(disk));
  const auto nowhere = lio->make_lun({"iscsi", "iqn.2026-01.org.example:b"}, {1, "iblock_1/x"});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().sys_errno, ENOENT);
  EXPECT_THAT(nowhere.error().message, HasSubstr("iqn.2026-01.org.example:b: offer iblock_1/x as LUN 1"));
}

TEST_F(LioChanges, AnInitiatorIsShownTheLunsOfTheTarget) {
  const std::string acl = std::string("acls/") + kInitiator;
  std::filesystem::create_directories(in_group("acls"));
  std::filesystem::create_directories(in_group("lun/lun_1"));
  tree.put(std::string(kGroup) + "../fabric_statistics/x", "");
  ASSERT_TRUE(lio->make_acl(id, kInitiator));
  EXPECT_TRUE(there(acl));
  const auto early = lio->map(id, kInitiator, {0, 1, true});
  ASSERT_FALSE(early) << "the kernel has made no attribute";
  EXPECT_THAT(early.error().message, HasSubstr("show LUN 1 to iqn.2026-01.org.example:h"));
  tree.put(kGroup + acl + "/lun_0/write_protect", "0\n");
  ASSERT_TRUE(lio->map(id, kInitiator, {0, 1, true}));
  EXPECT_EQ(tree.get(kGroup + acl + "/lun_0/write_protect"), "1\n");
  EXPECT_THAT(lio->observe().value()->targets.front().acls.front().luns, ElementsAre(LioMapping{0, 1, true}));
  ASSERT_TRUE(lio->map(id, kInitiator, {0, 1, false}));
  EXPECT_EQ(tree.get(kGroup + acl + "/lun_0/write_protect"), "0\n");
  std::filesystem::remove(in_group(acl + "/lun_0/write_protect"));
  EXPECT_TRUE(lio->unmap(id, kInitiator, 0));
  EXPECT_FALSE(there(acl + "/lun_0"));
  EXPECT_TRUE(lio->unmap(id, kInitiator, 0)) << "it is gone";
  EXPECT_TRUE(there("lun/lun_1"));
}

TEST_F(LioChanges, APortalThatCannotListenGoesAgain) {
  std::filesystem::create_directories(in_group("np"));
  const auto refused = lio->make_portal(id, {"192.0.2.1:3260", true});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("listen on 192.0.2.1:3260 for iSER"));
  EXPECT_FALSE(there("np/192.0.2.1:3260"));
  tree.put(std::string(kGroup) + "np/192.0.2.1:3260/iser", "0\n");
  EXPECT_TRUE(lio->make_portal(id, {"192.0.2.1:3260", true}));
  EXPECT_EQ(tree.get(std::string(kGroup) + "np/192.0.2.1:3260/iser"), "1\n");
  EXPECT_TRUE(lio->make_portal(id, {"192.0.2.1:3260", false}));
  EXPECT_EQ(tree.get(std::string(kGroup) + "np/192.0.2.1:3260/iser"), "0\n");
  std::filesystem::remove(in_group("np/192.0.2.1:3260/iser"));
  EXPECT_TRUE(lio->remove_portal(id, "192.0.2.1:3260"));
  EXPECT_FALSE(there("np/192.0.2.1:3260"));
}

TEST_F(LioChanges, ATargetIsOpenedAndClosed) {
  for (const auto* attribute :
       {"enable", "attrib/demo_mode_write_protect", "attrib/cache_dynamic_acls", "attrib/generate_node_acls"})
    tree.put(std::string(kGroup) + attribute, "x\n");
  ASSERT_TRUE(lio->enable(id, true));
  EXPECT_EQ(tree.get(std::string(kGroup) + "enable"), "1\n");
  ASSERT_TRUE(lio->enable(id, false));
  EXPECT_EQ(tree.get(std::string(kGroup) + "enable"), "0\n");
  ASSERT_TRUE(lio->allow_any(id));
  EXPECT_EQ(tree.get(std::string(kGroup) + "attrib/demo_mode_write_protect"), "0\n");
  EXPECT_EQ(tree.get(std::string(kGroup) + "attrib/cache_dynamic_acls"), "1\n");
  EXPECT_EQ(tree.get(std::string(kGroup) + "attrib/generate_node_acls"), "1\n");
  std::filesystem::remove(in_group("attrib/generate_node_acls"));
  const auto refused = lio->allow_any(id);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("let any initiator log in"));
}

TEST_F(LioChanges, ATargetThatCannotBeFinishedGoesAgain) {
  std::filesystem::create_directories(tree.at("/sys/kernel/config/target/iscsi"));
  const auto target = tree.at("/sys/kernel/config/target/iscsi/iqn.2026-01.org.example:a");
  const auto refused = lio->make_target(id);
  ASSERT_FALSE(refused) << "the kernel has made no attribute for CHAP";
  EXPECT_THAT(refused.error().message, HasSubstr("iqn.2026-01.org.example:a: make the target"));
  EXPECT_FALSE(std::filesystem::exists(target));
  EXPECT_FALSE(lio->make_target({"srpt", "0xfe80000000000000"})) << "LIO offers no SRP";
  std::filesystem::create_directories(in_group("lun/lun_0"));
  EXPECT_FALSE(lio->remove_group(id)) << "it has a LUN";
  EXPECT_FALSE(lio->remove_target(id));
  std::filesystem::remove_all(in_group("lun"));
  EXPECT_TRUE(lio->remove_group(id));
  EXPECT_TRUE(std::filesystem::exists(target));
  EXPECT_TRUE(lio->remove_target(id));
  EXPECT_FALSE(std::filesystem::exists(target));
}

TEST_F(LioChanges, AFileIsOfferedWithItsSize) {
  const std::string core = std::string(kCore) + "fileio_1/x/";
  for (const auto* attribute : {"control", "udev_path", "wwn/vpd_unit_serial", "enable"})
    tree.put(core + attribute, "");
  tree.put("/srv/disk", std::string(4096, 'x'));
  const auto path = tree.at("/srv/disk").string();
  ASSERT_TRUE(lio->make_backstore({.id = "fileio_1/x", .path = path, .serial = "0b1c", .enabled = true}));
  EXPECT_EQ(tree.get(core + "control"), "fd_dev_name=" + path + ",fd_dev_size=4096");
  EXPECT_EQ(tree.get(core + "udev_path"), path);
  EXPECT_EQ(tree.get(core + "wwn/vpd_unit_serial"), "0b1c\n");
  EXPECT_EQ(tree.get(core + "enable"), "1\n");
  const auto folder = lio->make_backstore(
      {.id = "fileio_1/y", .path = tree.at("/srv").string(), .serial = "", .enabled = true});
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message,
              HasSubstr("offer " + tree.at("/srv").string() + ": not a regular file"));
}

TEST_F(LioChanges, ADeviceThatTheWriterDoesNotSeeIsEnabledByAUnit) {
  StartingUnits manager;
  const auto other = make_linux_lio(manager, *modules, tree.at("/sys"));
  const std::string core = std::string(kCore) + "iblock_1/x/";
  for (const auto* attribute : {"control", "udev_path"}) tree.put(core + attribute, "");
  const LioBackstore wanted{.id = "iblock_1/x", .path = "/dev/sdz", .serial = "", .enabled = true};
  const auto refused = other->make_backstore(wanted);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("offer /dev/sdz: the device does not exist, or this host uses it; see `journalctl -u "
                        "'rdma-configd-lio-backstore@iblock_1-x.service'`"));
  manager.effect = [&] { tree.put(core + "enable", "1\n"); };
  EXPECT_TRUE(other->make_backstore(wanted));
  EXPECT_THAT(manager.started, ElementsAre("rdma-configd-lio-backstore@iblock_1-x.service",
                                           "rdma-configd-lio-backstore@iblock_1-x.service"));
}

TEST_F(LioChanges, ABackstoreGoesWithItsFolderUnlessOthersAreInIt) {
  for (const auto* name : {"iblock_1/x", "iblock_1/y"})
    std::filesystem::create_directories(tree.at(kCore + std::string(name)));
  EXPECT_TRUE(lio->remove_backstore("iblock_1/x"));
  EXPECT_TRUE(std::filesystem::exists(tree.at(std::string(kCore) + "iblock_1/y")));
  EXPECT_TRUE(lio->remove_backstore("iblock_1/y"));
  EXPECT_FALSE(std::filesystem::exists(tree.at(std::string(kCore) + "iblock_1")));
  EXPECT_TRUE(lio->remove_backstore("iblock_1/y")) << "it is gone";
  tree.put(std::string(kCore) + "iblock_2/z/lun", "");
  const auto used = lio->remove_backstore("iblock_2/z");
  ASSERT_FALSE(used);
  EXPECT_THAT(used.error().message, HasSubstr("remove the backstore iblock_2/z"));
}

}  // namespace
}  // namespace rdmacfg::system
