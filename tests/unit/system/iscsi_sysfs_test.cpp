// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
      host->uses({"session2"}).value(),
      ElementsAre("md0 holds /dev/sdb", "/dev/sdb1 is mounted on /scratch", "/dev/sdb1 is swap space"));
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
  EXPECT_THAT(host->uses({"session2"}).value(),
              ElementsAre("/dev/sdb1 is mounted in another mount namespace"));
  tree.put("/proc/1/mountinfo", "40 25 8:33 / /scratch rw shared:1 - ext4 /dev/sdb1 rw\n");
  EXPECT_THAT(host->uses({"session2"}).value(), ElementsAre("/dev/sdb1 is mounted on /scratch"));
  tree.put("/sys/fs/btrfs/11111111-2222-3333-4444-555555555555/devices/sdb/x", "");
  tree.put("/sys/class/block/loop0/loop/backing_file", "/dev/sdb\n");
  EXPECT_THAT(host->uses({"session2"}).value(),
              ElementsAre("loop0 holds /dev/sdb", "/dev/sdb is part of a btrfs that is mounted",
                          "/dev/sdb1 is mounted on /scratch"));
}

TEST_F(IscsiSysfs, AMultipathDeviceWithAnotherPathHoldsNothing) {
  for (const int number : {2, 3}) {
    const std::string disk = number == 2 ? "sdb" : "sdc";
    add(number, "iscsi_iser");
    add_disk(number, disk);
    tree.put("/sys/class/block/" + disk + "/holders/dm-0/x", "");
    tree.put("/sys/class/block/dm-0/slaves/" + disk + "/x", "");
  }
  EXPECT_THAT(host->uses({"session2"}).value(), ElementsAre("dm-0 holds /dev/sdb")) << "no multipath device";
  tree.put("/sys/class/block/dm-0/dm/uuid", "mpath-36001405\n");
  EXPECT_THAT(host->uses({"session2"}).value(), IsEmpty());
  EXPECT_THAT(host->uses({"session2", "session3"}).value(),
              ElementsAre("dm-0 holds /dev/sdb", "dm-0 holds /dev/sdc"));
  tree.put("/sys/class/block/sdc/device/state", "transport-offline\n");
  EXPECT_THAT(host->uses({"session2"}).value(), ElementsAre("dm-0 holds /dev/sdb"));
}

}  // namespace
}  // namespace rdmacfg::system
