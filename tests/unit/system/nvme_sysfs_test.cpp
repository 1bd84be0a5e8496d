// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NvmeSysfs : public ::testing::Test {
 protected:
  void add(const std::string& name, const std::string& address, const std::string& transport = "rdma") {
    const auto at = "/sys/class/nvme/" + name + "/";
    tree.put(at + "transport", transport + "\n");
    tree.put(at + "address", address + "\n");
    tree.put(at + "subsysnqn", "nqn.x:a\n");
    tree.put(at + "state", "live\n");
    tree.put(at + "delete_controller", "");
  }

  TempTree tree;
  std::unique_ptr<NvmeHost> host = make_linux_nvme_host(tree.at("/sys"), tree.at("/proc"));
};

TEST_F(NvmeSysfs, WithoutTheModuleThereIsNothing) {
  EXPECT_THAT(host->observe().value(), IsEmpty());
  EXPECT_THAT(host->uses({"nvme0"}).value(), IsEmpty());
  EXPECT_TRUE(host->disconnect("nvme0"));
}

TEST_F(NvmeSysfs, ControllersOfFabricsAreReadAsTheKernelShowsThem) {
  add("nvme0", "0000:01:00.0", "pcie");
  add("nvme1", "traddr=192.0.2.1,trsvcid=4420,src_addr=192.0.2.9");
  const auto all = host->observe().value();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].name, "nvme1");
  EXPECT_EQ(all[0].subsystem, "nqn.x:a");
  EXPECT_EQ(all[0].transport, "rdma");
  EXPECT_EQ(all[0].address, "192.0.2.1");
  EXPECT_EQ(all[0].service, "4420");
  EXPECT_EQ(all[0].state, "live");
}

TEST_F(NvmeSysfs, DisksAreInUseByMountsSwapAndHolders) {
  add("nvme1", "traddr=192.0.2.1,trsvcid=4420");
  tree.put("/sys/class/nvme/nvme1/nvme1n1/size", "1\n");
  const std::string disk = "/sys/class/block/nvme1n1/";
  tree.put(disk + "dev", "259:0\n");
  tree.put(disk + "nvme1n1p1/partition", "1\n");
  tree.put(disk + "nvme1n1p1/dev", "259:1\n");
  EXPECT_THAT(host->uses({"nvme1"}).value(), IsEmpty());
  tree.put("/proc/1/mountinfo",
           "40 25 259:1 / /scratch rw shared:1 - ext4 /dev/nvme1n1p1 rw\n"
           "41 25 0:50 / /data rw - btrfs /dev/nvme1n1 rw\n42 25 259:12 / /x rw - ext4 /dev/nvme2n1 rw\nx\n");
  tree.put("/proc/swaps", "Filename\tType\n/dev/nvme1n1p1 partition 1 0 -2\n");
  tree.put(disk + "holders/dm-0/x", "");
  EXPECT_THAT(use_texts(host->uses({"nvme1"}).value()),
              ElementsAre("dm-0 holds /dev/nvme1n1", "/dev/nvme1n1 is mounted on /data",
                          "/dev/nvme1n1p1 is mounted on /scratch", "/dev/nvme1n1p1 is swap space"));
}

// seq_escape() of the kernel.
TEST_F(NvmeSysfs, BlanksInTheNamesOfPlacesAreEscaped) {
  add("nvme1", "traddr=192.0.2.1,trsvcid=4420");
  tree.put("/sys/class/nvme/nvme1/nvme1n1/size", "1\n");
  tree.put("/sys/class/block/nvme1n1/dev", "259:0\n");
  tree.put("/proc/1/mountinfo", "40 25 259:0 / /my\\040data rw shared:1 - ext4 /dev/nvme1n1 rw\n");
  const auto uses = host->uses({"nvme1"}).value();
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses.front().text, "/dev/nvme1n1 is mounted on /my data");
  EXPECT_EQ(uses.front().name, "/my data");
}

TEST_F(NvmeSysfs, DisksThatAnotherControllerLeadsToStay) {
  for (const auto* name : {"nvme1", "nvme2"}) {
    add(name, "traddr=192.0.2.1,trsvcid=4420");
    tree.put("/sys/class/nvme/" + std::string(name) + "/nvme0c" + name[4] + "n1/size", "1\n");
  }
  const std::string subsystem = "/sys/class/nvme-subsystem/nvme-subsys0/";
  tree.put(subsystem + "nvme1/state", "live\n");
  tree.put(subsystem + "nvme0n1/size", "1\n");
  tree.put("/sys/class/block/nvme0n1/holders/md0/x", "");
  EXPECT_THAT(use_texts(host->uses({"nvme1"}).value()), ElementsAre("md0 holds /dev/nvme0n1"));
  tree.put(subsystem + "nvme2/state", "connecting\n");
  EXPECT_THAT(use_texts(host->uses({"nvme1"}).value()), ElementsAre("md0 holds /dev/nvme0n1"));
  tree.put(subsystem + "nvme2/state", "live\n");
  EXPECT_THAT(host->uses({"nvme1"}).value(), IsEmpty());
  EXPECT_THAT(use_texts(host->uses({"nvme1", "nvme2"}).value()), ElementsAre("md0 holds /dev/nvme0n1"))
      << "no controller is left when both go";
}

TEST_F(NvmeSysfs, AControllerThatStaysIsAnError) {
  add("nvme1", "traddr=192.0.2.1,trsvcid=4420");
  const auto done = host->disconnect("nvme1");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "nvme1: disconnect: the controller still exists");
  EXPECT_EQ(tree.get("/sys/class/nvme/nvme1/delete_controller"), "1");
}

}  // namespace
}  // namespace rdmacfg::system
