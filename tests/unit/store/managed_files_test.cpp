// SPDX-License-Identifier: Apache-2.0
#include "store/managed_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/memory_files.hpp"
#include "system/temporary_file.hpp"

namespace rdmacfg::core {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Leftovers, TemporariesGoAndEverythingElseStays) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  const auto temporary = std::string(system::kTemporaryFile) + "aB3xYz";
  files.content = {{"/etc/sysctl.d/" + temporary, ""},
                   {"/etc/sysctl.d/.hidden", "of others"},
                   {"/etc/systemd/system/opensm@0x1.service.d/" + temporary, "x"},
                   {"/etc/systemd/system/opensm@0x1.service.d/50-rdma-configd.conf", "ours"},
                   {"/home/user/" + temporary, "not where we write"},
                   {"/var/lib/rdma-configd/" + temporary, "{"}};
  clear_temporaries(files);
  EXPECT_THAT(files.content,
              ElementsAre(Pair("/etc/sysctl.d/.hidden", "of others"),
                          Pair("/etc/systemd/system/opensm@0x1.service.d/50-rdma-configd.conf", "ours"),
                          Pair("/home/user/" + temporary, "not where we write")));
}

TEST(Leftovers, FoldersOfDropIns) {
  EXPECT_TRUE(is_managed_folder("/etc/sysctl.d"));
  EXPECT_TRUE(is_managed_folder("/etc/systemd/system/slurmd.service.d"));
  EXPECT_FALSE(is_managed_folder("/etc/systemd/system/a/b.d"));
  EXPECT_FALSE(is_managed_folder("/etc/systemd/system"));
  EXPECT_FALSE(is_managed_folder("/etc"));
}

TEST(Leftovers, FilesOfOursAndThoseWithSettingsOfOurs) {
  for (const auto* path : {"/etc/sysctl.d/zz-rdma-configd.conf", "/etc/rdma/modules/rdma_configd.conf",
                           "/etc/opensm/partitions.conf", "/etc/sysconfig/opensm", "/etc/rdma/mlx4.conf",
                           "/etc/systemd/system/slurmd.service.d/50-rdma-configd-memlock.conf",
                           "/etc/NetworkManager/system-connections/rdma-configd-ib0.nmconnection"}) {
    EXPECT_TRUE(is_managed_file(path)) << path;
  }
  for (const auto* path :
       {"/etc/sysctl.d/99-sysctl.conf", "/etc/sysctl.d/.rdma-configd.aB3xYz", "/etc/opensm/qos-policy.conf",
        "/etc/default/grub", "/etc/sysctl.d/sub/rdma-configd.conf", "/home/rdma-configd.conf", "rdma-configd",
        "/var/lib/rdma-configd/state.json", "/var/lib/rdma-configd/rdma-configd.conf"}) {
    EXPECT_FALSE(is_managed_file(path)) << path;
  }
}

}  // namespace
}  // namespace rdmacfg::core
