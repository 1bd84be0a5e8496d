// SPDX-License-Identifier: Apache-2.0
// The hosts that a host's own file systems come from.
#include "kinds/mounts.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

using system::DiskUse;
using testing::ElementsAre;
using testing::IsEmpty;

const DiskUse kMountOfRoot{.text = "mounted", .sort = DiskUse::Sort::kMount, .name = "/"};
const DiskUse kMountElsewhere{.text = "mounted", .sort = DiskUse::Sort::kMount, .name = "/scratch"};
const DiskUse kHeld{.text = "held"};

class RootServers : public testing::Test {
 protected:
  /// "/ 192.0.2.9", with the host's end behind it where that is known.
  std::vector<std::string> servers(const std::string& mountinfo) {
    kernel_->files.content["/proc/1/mountinfo"] = mountinfo;
    auto host = kernel_->host();
    std::vector<std::string> out;
    for (const auto& server : observe_root_servers(host)) {
      out.push_back(server.where + " " + server.peer.text() +
                    (server.local ? " from " + server.local->text() : std::string()));
    }
    return out;
  }

  std::unique_ptr<fakes::FakeKernel> kernel_ = fakes::FakeKernel::parse(
      R"({"devices": [], "links": [{"name": "ib0", "up": true, "items": ["route 192.0.2.0/24"]},
          {"name": "ib1", "up": true, "items": ["route default via 198.51.100.1", "route 192.0.2.9/32 table 7"]}]})");
};

TEST_F(RootServers, OfNfs) {
  EXPECT_THAT(servers("22 1 0:21 / / rw - nfs4 srv:/a rw,addr=192.0.2.9,clientaddr=192.0.2.1\n"),
              ElementsAre("/ 192.0.2.9 from 192.0.2.1"));
  EXPECT_THAT(servers("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
                      "23 22 0:21 / /usr rw - nfs srv:/usr rw,vers=3,addr=2001:db8::9\n"),
              ElementsAre("/usr 2001:db8::9"));
  EXPECT_THAT(servers("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
                      "23 22 0:21 / /scratch rw - nfs4 srv:/a rw,addr=192.0.2.9\n"),
              IsEmpty())
      << "the system goes on without it";
}

TEST_F(RootServers, OfNfsBelowAnOverlay) {
  EXPECT_THAT(
      servers("22 1 0:30 / / rw - overlay overlay rw,lowerdir=/run/rootfs/image,upperdir=/run/upper/d\n"
              "23 22 0:21 / /run/rootfs rw - nfs4 srv:/a rw,addr=192.0.2.9\n"
              "24 22 0:22 / /run/root rw - nfs4 srv:/b rw,addr=192.0.2.10\n"),
      ElementsAre("/ 192.0.2.9"));
}

TEST_F(RootServers, OfDisks) {
  kernel_->nvme_host.controllers = {{"nvme0", "nqn.a", "rdma", "192.0.2.9", "4420", "live"},
                                    {"nvme1", "nqn.b", "rdma", "192.0.2.10", "4420", "live"}};
  kernel_->nvme_host.used["nqn.a"] = {kMountOfRoot};
  kernel_->nvme_host.used["nqn.b"] = {kMountElsewhere};
  const std::string root = "22 1 259:1 / / rw - ext4 /dev/nvme0n1p1 rw\n";
  EXPECT_THAT(servers(root), ElementsAre("/ 192.0.2.9"));
}

// A page on a disk that is gone stops its program, as a file of the system does.
TEST_F(RootServers, OfSwapSpace) {
  kernel_->nvme_host.controllers = {{"nvme0", "nqn.a", "rdma", "192.0.2.9", "4420", "live"},
                                    {"nvme1", "nqn.b", "rdma", "192.0.2.10", "4420", "live"}};
  kernel_->nvme_host.used["nqn.a"] = {
      DiskUse{.text = "/dev/nvme0n1 is swap space", .sort = DiskUse::Sort::kSwap}};
  kernel_->nvme_host.used["nqn.b"] = {kMountElsewhere};
  const std::string local = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
  const std::string scratch = local + "23 22 259:1 / /scratch rw - ext4 /dev/nvme1n1 rw\n";
  const std::string heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
  EXPECT_THAT(servers(local), IsEmpty()) << "no swap space that the kernel uses";
  kernel_->files.content["/proc/swaps"] = heading + "/dev/nvme0n1  partition\t1048572\t0\t-2\n";
  EXPECT_THAT(servers(local), ElementsAre("swap space 192.0.2.9"));
  kernel_->files.content["/proc/swaps"] = heading + "/scratch/swap  file\t1048572\t0\t-2\n";
  EXPECT_THAT(servers(scratch), ElementsAre("/scratch 192.0.2.10"));
  kernel_->files.content["/proc/swaps"] = heading + "/my\\040scratch/swap  file\t1048572\t0\t-2\n";
  kernel_->nvme_host.used["nqn.b"] = {DiskUse{.text = "/dev/nvme1n1 is mounted on /my scratch",
                                              .sort = DiskUse::Sort::kMount,
                                              .name = "/my scratch"}};
  EXPECT_THAT(servers(local + "23 22 259:1 / /my\\040scratch rw - ext4 /dev/nvme1n1 rw\n"),
              ElementsAre("/my scratch 192.0.2.10"));
  kernel_->files.content["/proc/swaps"] = heading + "/scratch/swap  file\t1048572\t0\t-2\n";
  kernel_->nvme_host.used["nqn.b"].clear();
  EXPECT_THAT(servers(local + "23 22 0:21 / /scratch rw - nfs4 srv:/a rw,addr=192.0.2.9\n"),
              ElementsAre("/scratch 192.0.2.9"));
  kernel_->nvme_host.used["nqn.b"] = {kMountElsewhere};
  kernel_->files.content["/proc/swaps"] = heading + "/swapfile  file\t1048572\t0\t-2\n";
  EXPECT_THAT(servers(scratch), IsEmpty());
}

// Only what is really below the root file system counts, whatever a volume manager has besides.
TEST_F(RootServers, OfDisksBelowVolumesArraysAndPools) {
  kernel_->nvme_host.controllers = {{"nvme0", "nqn.a", "rdma", "192.0.2.9", "4420", "live"}};
  struct Row {
    std::vector<DiskUse> used;
    const char* root;
    bool found;
  };
  const char* const volume = "22 1 253:0 / / rw - ext4 /dev/mapper/vg-root rw\n";
  const char* const btrfs = "22 1 0:31 / / rw - btrfs /dev/sda1 rw\n";
  const char* const zfs = "22 1 0:31 / / rw - zfs rpool/ROOT/debian rw\n";
  for (const auto& row :
       {Row{{kHeld, kMountOfRoot}, volume, true}, Row{{kHeld, kMountElsewhere}, volume, false},
        Row{{kHeld}, volume, false},
        Row{{DiskUse{.text = "in a btrfs", .sort = DiskUse::Sort::kBtrfs}}, btrfs, true},
        Row{{DiskUse{.text = "in a btrfs", .sort = DiskUse::Sort::kBtrfs}}, volume, false},
        Row{{kMountOfRoot}, btrfs, true}, Row{{kMountElsewhere}, btrfs, false},
        Row{{DiskUse{.text = "in rpool", .sort = DiskUse::Sort::kPool, .name = "rpool"}}, zfs, true},
        Row{{DiskUse{.text = "in tank", .sort = DiskUse::Sort::kPool, .name = "tank"}}, zfs, false}}) {
    kernel_->nvme_host.used["nqn.a"] = row.used;
    EXPECT_EQ(servers(row.root).size(), row.found ? 1U : 0U) << row.root << row.used.front().text;
  }
}

TEST_F(RootServers, AreReachedAsTheMainTableSays) {
  auto host = kernel_->host();
  const auto to = [&](const char* address) {
    return interfaces_to({{model::IpAddress::parse(address).value(), {}, "/"}}, host).value();
  };
  EXPECT_THAT(to("192.0.2.9"), ElementsAre(kernel_->link("ib0").index));
  EXPECT_THAT(to("203.0.113.1"), ElementsAre(kernel_->link("ib1").index));
  EXPECT_THAT(to("2001:db8::9"), IsEmpty());
  EXPECT_THAT(interfaces_to({}, host).value(), IsEmpty());
}

TEST(MemoryBelow, IsWhatTheNextBootForgets) {
  struct Row {
    const char* mountinfo;
    const char* memory;
  };
  for (const auto& [mountinfo, memory] :
       {Row{"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n", ""},
        Row{"1 1 0:2 / / rw - rootfs rootfs rw\n", "rootfs"},
        Row{"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 0:9 / /etc rw - tmpfs tmpfs rw\n", "tmpfs"},
        Row{"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 0:9 / /et rw - tmpfs tmpfs rw\n", ""},
        Row{"22 1 0:9 / / rw - tmpfs tmpfs rw\n23 22 8:1 / /etc rw - ext4 /dev/sda1 rw\n", ""},
        Row{"22 1 0:30 / / rw - overlay o rw,lowerdir=/ro,upperdir=/run/rw/up\n"
            "23 22 0:9 / /run rw - tmpfs tmpfs rw\n",
            "an overlay in tmpfs"},
        Row{"22 1 0:30 / / rw - overlay o rw,lowerdir=/ro,upperdir=/var/lib/containers/up\n", ""}})
    EXPECT_EQ(memory_below("/etc/sysctl.d/a.conf", parse_mountinfo(mountinfo)), memory) << mountinfo;
}

}  // namespace
}  // namespace rdmacfg::kinds
