// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "model/limits.hpp"
#include "system/linux/files/disk_uses.hpp"
#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// As Linux 6.1 has it: each session of iSER and of TCP has a SCSI host of its own.
class IscsiSysfs : public ::testing::Test {
 protected:
  void add(int number, const std::string& driver) {
    const auto above = host_path(number), session = "session" + std::to_string(number);
    tree.put(above + "/scsi_host/host" + std::to_string(number) + "/proc_name", driver + "\n");
    const auto at = above + "/" + session + "/iscsi_session/" + session;
    tree.put(at + "/targetname", "iqn.2026-01.org.example:a\n");
    tree.put(at + "/tpgt", "1\n");
    tree.put(at + "/ifacename", "rdma-configd\n");
    tree.put(at + "/state", "LOGGED_IN\n");
    tree.link(at + "/device", "../../../" + session);
    tree.link("/sys/class/iscsi_session/" + session, tree.at(at).native());
    const auto connection = "/sys/class/iscsi_connection/connection" + std::to_string(number) + ":0";
    tree.put(connection + "/persistent_address", "192.0.2.1\n");
    tree.put(connection + "/persistent_port", "3260\n");
  }
  static std::string host_path(int number) { return "/sys/devices/platform/host" + std::to_string(number); }
  void add_disk(int number, const std::string& name) {
    const auto unit = std::to_string(number) + ":0:0:0";
    tree.put(host_path(number) + "/session" + std::to_string(number) + "/target" + std::to_string(number) +
                 ":0:0/" + unit + "/block/" + name + "/size",
             "1\n");
    tree.put("/sys/class/block/" + name + "/dev", "8:" + std::to_string(16 * number) + "\n");
    tree.put("/sys/class/block/" + name + "/device/state", "running\n");
  }

  TempTree tree;
  std::unique_ptr<Iscsi> host = make_linux_iscsi(tree.at("/sys"), tree.at("/proc"));
};

TEST_F(IscsiSysfs, WithoutTheModuleThereIsNothing) {
  EXPECT_THAT(host->observe().value(), IsEmpty());
  EXPECT_THAT(host->uses({"session1"}).value(), IsEmpty());
}

TEST_F(IscsiSysfs, SessionsAreReadAsTheKernelShowsThem) {
  add(2, "iscsi_iser");
  add(3, "iscsi_tcp");
  const auto all = host->observe().value();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "session2");
  EXPECT_EQ(all[0].target, "iqn.2026-01.org.example:a");
  EXPECT_EQ(all[0].address, "192.0.2.1");
  EXPECT_EQ(all[0].port, 3260);
  EXPECT_EQ(all[0].group, 1);
  EXPECT_EQ(all[0].transport, "iser");
  EXPECT_EQ(all[0].interface, "rdma-configd");
  EXPECT_EQ(all[0].state, "LOGGED_IN");
  EXPECT_EQ(all[1].transport, "tcp");
}

TEST_F(IscsiSysfs, ASessionWithAHostNameHasTheAddressThatItLeadsTo) {
  add(2, "iscsi_tcp");
  const std::string connection = "/sys/class/iscsi_connection/connection2:0";
  tree.put(connection + "/address", "192.0.2.7\n");
  EXPECT_EQ(host->observe().value().at(0).address, "192.0.2.1") << "the target has sent it on";
  tree.put(connection + "/persistent_address", "storage1.example.org\n");
  EXPECT_EQ(host->observe().value().at(0).address, "192.0.2.7");
}

TEST_F(IscsiSysfs, DisksAreInUseByMountsSwapAndHolders) {
  add(2, "iscsi_iser");
  add_disk(2, "sdb");
  tree.put("/sys/class/block/sdb/sdb1/partition", "1\n");
  tree.put("/sys/class/block/sdb/sdb1/dev", "8:33\n");
  EXPECT_THAT(host->uses({"session2"}).value(), IsEmpty());
  tree.put("/proc/1/mountinfo", "40 25 8:33 / /scratch rw shared:1 - ext4 /dev/sdb1 rw\n");
  tree.put("/proc/swaps", "Filename\tType\n/dev/sdb1 partition 1 0 -2\n");
  tree.put("/sys/class/block/sdb/holders/md0/x", "");
  EXPECT_THAT(
      use_texts(host->uses({"session2"}).value()),
      ElementsAre("md0 holds /dev/sdb", "/dev/sdb1 is mounted on /scratch", "/dev/sdb1 is swap space"));
  EXPECT_EQ(host->uses({"session2"}).value().back().sort, DiskUse::Sort::kSwap);
}

TEST_F(IscsiSysfs, DisksAreInUseWhereNoMountOfThisHostTellsSo) {
  add(2, "iscsi_iser");
  add_disk(2, "sdb");
  tree.put("/sys/class/block/sdb/sdb1/partition", "1\n");
  tree.put("/sys/class/block/sdb/sdb1/dev", "8:33\n");
  tree.put("/sys/fs/ext4/sdc1/x", "");
  tree.put("/sys/fs/btrfs/features/x", "");
  tree.put("/sys/class/block/loop1/loop/backing_file", "/srv/image\n");
  EXPECT_THAT(host->uses({"session2"}).value(), IsEmpty());
  tree.put("/sys/fs/ext4/sdb1/x", "");
  EXPECT_THAT(use_texts(host->uses({"session2"}).value()),
              ElementsAre("/dev/sdb1 is mounted in another mount namespace"));
  tree.put("/proc/1/mountinfo", "40 25 8:33 / /scratch rw shared:1 - ext4 /dev/sdb1 rw\n");
  EXPECT_THAT(use_texts(host->uses({"session2"}).value()), ElementsAre("/dev/sdb1 is mounted on /scratch"));
  EXPECT_EQ(host->uses({"session2"}).value().front().sort, DiskUse::Sort::kMount);
  EXPECT_EQ(host->uses({"session2"}).value().front().name, "/scratch");
  tree.put("/sys/fs/btrfs/11111111-2222-3333-4444-555555555555/devices/sdb/x", "");
  tree.put("/sys/class/block/loop0/loop/backing_file", "/dev/sdb\n");
  EXPECT_THAT(use_texts(host->uses({"session2"}).value()),
              ElementsAre("loop0 holds /dev/sdb", "/dev/sdb is part of a btrfs that is mounted",
                          "/dev/sdb1 is mounted on /scratch"));
  EXPECT_EQ(host->uses({"session2"}).value().at(0).sort, DiskUse::Sort::kOther);
  EXPECT_EQ(host->uses({"session2"}).value().at(1).sort, DiskUse::Sort::kBtrfs);
}

/// A mount names one device of a btrfs; the others are of the same file system, and of no other.
TEST_F(IscsiSysfs, DisksOfABtrfsOfSeveralDevicesAreWhereThatIsMounted) {
  add(2, "iscsi_iser");
  add_disk(2, "sdb");
  const auto uses = [&] {
    return detail::uses_of({"sdb"}, tree.at("/sys"), tree.at("/proc"), tree.at("/run/udev/data"));
  };
  tree.put("/sys/fs/btrfs/11111111-2222-3333-4444-555555555555/devices/sda2/x", "");
  tree.put("/sys/fs/btrfs/66666666-7777-8888-9999-000000000000/devices/dm-1/x", "");
  tree.put("/sys/fs/btrfs/66666666-7777-8888-9999-000000000000/devices/sdb/x", "");
  tree.put("/sys/class/block/dm-1/dev", "253:1\n");
  tree.put("/run/udev/data/b253:1", "S:mapper/vg-data\n");
  const std::string root = "22 1 0:31 /@ / rw - btrfs /dev/sda2 rw\n";
  tree.put("/proc/1/mountinfo", root +
                                    "40 22 0:32 /a /data rw - btrfs /dev/mapper/vg-data rw\n"
                                    "41 22 0:32 /b /home rw - btrfs /dev/mapper/vg-data rw\n");
  EXPECT_THAT(use_texts(uses()), ElementsAre("/dev/sdb is part of a btrfs that is mounted on /data",
                                             "/dev/sdb is part of a btrfs that is mounted on /home"))
      << "and not on /, which is another btrfs";
  EXPECT_EQ(uses().front().sort, DiskUse::Sort::kMount);
  EXPECT_EQ(uses().front().name, "/data");
  tree.put("/proc/1/mountinfo", root);
  EXPECT_THAT(use_texts(uses()), ElementsAre("/dev/sdb is part of a btrfs that is mounted"));
}

/// The kernel's targets hold a disk as no holder and no mount shows.
TEST_F(IscsiSysfs, DisksThatTheHostOffersAreInUse) {
  add(2, "iscsi_iser");
  add_disk(2, "sdb");
  const std::string store = "/sys/kernel/config/target/core/iblock_0/scratch/";
  tree.put("/sys/kernel/config/target/core/iblock_0/hba_info", "HBA Index: 1\n");
  tree.put(store + "udev_path", "/dev/disk/by-id/wwn-1\n");
  tree.put(
      store + "info",
      "Status: ACTIVATED  Max Queue Depth: 0  SectorSize: 512  HwMaxSectors: 1024\n        iBlock device: "
      "sdb  UDEV PATH: /dev/disk/by-id/wwn-1  readonly: 0\n        Major: 8 Minor: 32  CLAIMED: IBLOCK\n");
  tree.put(store + "enable", "0\n");
  EXPECT_THAT(host->uses({"session2"}).value(), IsEmpty()) << "nothing is opened yet";
  tree.put(store + "enable", "1\n");
  EXPECT_THAT(use_texts(host->uses({"session2"}).value()),
              ElementsAre("LIO (iblock_0/scratch) offers /dev/sdb to other hosts"));
  tree.put(store + "info", "Status: ACTIVATED\n        iBlock device: sdc\n        Major: 8 Minor: 3  x\n");
  EXPECT_THAT(host->uses({"session2"}).value(), IsEmpty()) << "another disk";
  tree.put(store + "udev_path", "/dev/sdb\n");
  EXPECT_THAT(use_texts(host->uses({"session2"}).value()),
              ElementsAre("LIO (iblock_0/scratch) offers /dev/sdb to other hosts"));
  tree.put(store + "enable", "0\n");
  const std::string exported = "/sys/kernel/config/nvmet/subsystems/nqn.x:b/namespaces/1/";
  tree.put(exported + "device_path", "/dev/sdb\n");
  tree.put(exported + "enable", "0\n");
  EXPECT_THAT(host->uses({"session2"}).value(), IsEmpty());
  tree.put(exported + "enable", "1\n");
  EXPECT_THAT(use_texts(host->uses({"session2"}).value()),
              ElementsAre("nvmet (nqn.x:b, namespace 1) offers /dev/sdb to other hosts"));
}

TEST_F(IscsiSysfs, DisksAreKnownByTheLinksOfUdevAndTheLabelsOfPools) {
  add_disk(2, "sdb");
  tree.put("/sys/class/block/sdb/sdb1/partition", "1\n");
  tree.put("/sys/class/block/sdb/sdb1/dev", "8:33\n");
  const auto uses = [&] {
    return detail::uses_of({"sdb"}, tree.at("/sys"), tree.at("/proc"), tree.at("/run/udev/data"));
  };
  const std::string exported = "/sys/kernel/config/nvmet/subsystems/nqn.x:b/namespaces/1/";
  tree.put(exported + "device_path", "/dev/disk/by-id/wwn-1\n");
  tree.put(exported + "enable", "1\n");
  EXPECT_THAT(uses(), IsEmpty());
  tree.put("/run/udev/data/b8:32", "S:disk/by-id/wwn-1\nE:ID_FS_LABEL=arcstats\n");
  EXPECT_THAT(use_texts(uses()), ElementsAre("nvmet (nqn.x:b, namespace 1) offers /dev/sdb to other hosts"));
  tree.put(exported + "enable", "0\n");
  tree.put("/proc/spl/kstat/zfs/arcstats", "");
  tree.put("/proc/spl/kstat/zfs/tank/state", "ONLINE\n");
  tree.put("/run/udev/data/b8:33", "E:ID_FS_LABEL=tank\nE:ID_FS_TYPE=ext4\n");
  EXPECT_THAT(uses(), IsEmpty()) << "a file system of that label";
  tree.put("/run/udev/data/b8:33", "E:ID_FS_LABEL=tank\nE:ID_FS_TYPE=zfs_member\n");
  EXPECT_THAT(use_texts(uses()), ElementsAre("/dev/sdb1 is part of tank, a ZFS pool"));
  EXPECT_EQ(uses().front().sort, DiskUse::Sort::kPool);
  EXPECT_EQ(uses().front().name, "tank");
  tree.put("/run/udev/data/b8:33", "E:ID_FS_LABEL=gone\nE:ID_FS_TYPE=zfs_member\n");
  EXPECT_THAT(uses(), IsEmpty()) << "it is not imported";
  tree.put("/run/udev/data/b8:33", "E:ID_FS_LABEL=arcstats\nE:ID_FS_TYPE=zfs_member\n");
  EXPECT_THAT(uses(), IsEmpty()) << "no pool";
}

TEST_F(IscsiSysfs, DisksAreInUseByMountsInOtherNamespaces) {
  add(2, "iscsi_iser");
  add_disk(2, "sdb");
  for (const auto* process : {"1", "self", "17"}) {
    tree.link("/proc/" + std::string(process) + "/ns/mnt", "mnt:[1]");
    tree.put("/proc/" + std::string(process) + "/mountinfo", "40 25 8:16 / / rw - ext4 /dev/sda1 rw\n");
  }
  tree.link("/proc/200/ns/mnt", "mnt:[2]");
  tree.put("/proc/200/mountinfo", "40 25 8:16 / / rw - ext4 /dev/sda1 rw\n");
  EXPECT_THAT(host->uses({"session2"}).value(), IsEmpty());
  tree.put("/proc/200/mountinfo", "41 25 8:32 / /scratch rw - vfat /dev/sdb rw\n");
  EXPECT_THAT(use_texts(host->uses({"session2"}).value()),
              ElementsAre("/dev/sdb is mounted on /scratch by process 200 in its mount namespace"));
}

/// Of these file systems users choose the text that stands for the source.
TEST_F(IscsiSysfs, NoUserKeepsADiskInUseByTheNameOfAMount) {
  add(2, "iscsi_iser");
  add_disk(2, "sdb");
  tree.link("/proc/1/ns/mnt", "mnt:[1]");
  tree.link("/proc/200/ns/mnt", "mnt:[2]");
  tree.put("/proc/1/mountinfo",
           "40 25 0:70 / /home/alice/x rw - fuse.sshfs /dev/sdb rw,user_id=1000,group_id=1000\n"
           "41 25 0:71 / /home/alice/y rw - fuse /dev/sdb rw,user_id=10,group_id=0\n");
  tree.put("/proc/200/mountinfo",
           "50 25 0:80 / /tmp rw - tmpfs /dev/sdb rw\n"
           "51 25 0:81 / /over rw - overlay /dev/sdb rw\n"
           "52 25 0:82 / /fuse rw - fuse.x /dev/sdb rw,user_id=0,group_id=0\n");
  EXPECT_THAT(host->uses({"session2"}).value(), IsEmpty());
  tree.put("/proc/1/mountinfo", "40 25 0:70 / /mnt rw - fuse.apfs /dev/sdb rw,user_id=0,group_id=0\n");
  EXPECT_THAT(use_texts(host->uses({"session2"}).value()), ElementsAre("/dev/sdb is mounted on /mnt"))
      << "it is root's";
}

TEST_F(IscsiSysfs, OfMountsInOtherNamespacesOneTellsOfADisk) {
  add(2, "iscsi_iser");
  add_disk(2, "sdb");
  tree.link("/proc/1/ns/mnt", "mnt:[1]");
  std::string mounts;
  for (int i = 0; i < 1000; ++i)
    mounts += "5" + std::to_string(i) + " 25 8:32 / /bind" + std::to_string(i) + " rw - ext4 /dev/sdb rw\n";
  for (const std::string process : {"200", "201"}) {
    tree.link("/proc/" + process + "/ns/mnt", "mnt:[" + process + "]");
    tree.put("/proc/" + process + "/mountinfo", mounts);
  }
  const auto uses = host->uses({"session2"}).value();
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_THAT(uses.front().text, ::testing::StartsWith("/dev/sdb is mounted on /bind0 by process 20"));
}

/// A user may have thousands of namespaces, each with a long table.
TEST_F(IscsiSysfs, UsersMountsAreReadUpToTheLimit) {
  if (::getuid() != 0) GTEST_SKIP() << "takes root: processes of several users";
  add(2, "iscsi_iser");
  add_disk(2, "sdb");
  tree.link("/proc/1/ns/mnt", "mnt:[1]");
  const std::string mount = "41 25 8:32 / /scratch rw - vfat /dev/sdb rw\n";
  const auto put = [&](const std::string& process, const std::string& table, unsigned owner) {
    const auto folder = "/proc/" + process;
    if (!std::filesystem::exists(tree.at(folder))) tree.link(folder + "/ns/mnt", "mnt:[" + process + "]");
    tree.put(folder + "/mountinfo", table);
    ASSERT_EQ(::chown(tree.at(folder).c_str(), owner, owner), 0);
  };
  constexpr unsigned kUser = 1;
  const std::string filler(model::limits::kUserMountBytes - mount.size() - 1, 'x');
  put("200", filler + "\n" + mount, kUser);
  EXPECT_THAT(use_texts(host->uses({"session2"}).value()),
              ElementsAre("/dev/sdb is mounted on /scratch by process 200 in its mount namespace"))
      << "at the limit";
  put("200", filler + "x\n" + mount, kUser);
  EXPECT_THAT(host->uses({"session2"}).value(), IsEmpty());
  put("202", mount, 0);
  EXPECT_THAT(use_texts(host->uses({"session2"}).value()),
              ElementsAre("/dev/sdb is mounted on /scratch by process 202 in its mount namespace"))
      << "root's are read before";
}

TEST_F(IscsiSysfs, WhatIsOnVolumesAndArraysOfADiskUsesIt) {
  add(2, "iscsi_iser");
  add_disk(2, "sdb");
  tree.put("/sys/class/block/sdb/sdb1/partition", "1\n");
  tree.put("/sys/class/block/sdb/sdb1/dev", "8:17\n");
  tree.put("/sys/class/block/sdb/sdb1/holders/md0/x", "");
  tree.put("/sys/class/block/md0/dev", "9:0\n");
  tree.put("/sys/class/block/md0/holders/dm-0/x", "");
  tree.put("/sys/class/block/md0/holders/dm-1/x", "");
  tree.put("/sys/class/block/dm-0/dev", "253:0\n");
  tree.put("/sys/class/block/dm-1/dev", "253:1\n");
  tree.put("/sys/class/block/dm-2/dev", "253:2\n");
  tree.put(
      "/proc/1/mountinfo",
      "40 25 253:0 / / rw - ext4 /dev/mapper/vg-root rw\n41 25 253:2 / /local rw - ext4 /dev/mapper/l rw\n");
  EXPECT_THAT(use_texts(host->uses({"session2"}).value()),
              ElementsAre("md0 holds /dev/sdb1", "dm-0 holds /dev/md0", "/dev/dm-0 is mounted on /",
                          "dm-1 holds /dev/md0"));
}

TEST_F(IscsiSysfs, AMultipathDeviceWithAnotherPathHoldsNothing) {
  for (const int number : {2, 3}) {
    const std::string disk = number == 2 ? "sdb" : "sdc";
    add(number, "iscsi_iser");
    add_disk(number, disk);
    tree.put("/sys/class/block/" + disk + "/holders/dm-0/x", "");
    tree.put("/sys/class/block/dm-0/slaves/" + disk + "/x", "");
  }
  EXPECT_THAT(use_texts(host->uses({"session2"}).value()), ElementsAre("dm-0 holds /dev/sdb"))
      << "no multipath device";
  tree.put("/sys/class/block/dm-0/dm/uuid", "mpath-36001405\n");
  EXPECT_THAT(host->uses({"session2"}).value(), IsEmpty());
  EXPECT_THAT(use_texts(host->uses({"session2", "session3"}).value()),
              ElementsAre("dm-0 holds /dev/sdb", "dm-0 holds /dev/sdc"));
  tree.put("/sys/class/block/sdc/device/state", "transport-offline\n");
  EXPECT_THAT(use_texts(host->uses({"session2"}).value()), ElementsAre("dm-0 holds /dev/sdb"));
}

}  // namespace
}  // namespace rdmacfg::system
