// SPDX-License-Identifier: Apache-2.0
#include "catalog/owned_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "catalog/all.hpp"
#include "fakes/fake_kernel.hpp"
#include "fakes/memory_files.hpp"
#include "formats/limits_conf.hpp"
#include "formats/nm_unmanaged.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "formats/opensm/opensm_files.hpp"
#include "formats/storage/mount_unit.hpp"
#include "formats/udev/udev_backend.hpp"
#include "kinds/address/profiles/networkd_file.hpp"
#include "kinds/address/profiles/networkd_older.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"
#include "kinds/host/initramfs_stamp.hpp"
#include "system/temporary_file.hpp"

namespace rdmacfg::kinds {
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
                   {"/etc/rdma-configd/.rdma-configd-notes.toml", "of an administrator"},
                   {"/etc/rdma-configd/config.toml", "a document"},
                   {"/etc/rdma-configd/" + temporary, "half a document"},
                   {"/etc/rdma-configd/conf.d/" + temporary, "half a document"},
                   {"/home/user/" + temporary, "not where we write"},
                   {"/var/lib/rdma-configd/" + temporary, "{"}};
  clear_temporaries(files);
  EXPECT_THAT(files.content,
              ElementsAre(Pair("/etc/rdma-configd/.rdma-configd-notes.toml", "of an administrator"),
                          Pair("/etc/rdma-configd/config.toml", "a document"),
                          Pair("/etc/sysctl.d/.hidden", "of others"),
                          Pair("/etc/systemd/system/opensm@0x1.service.d/50-rdma-configd.conf", "ours"),
                          Pair("/home/user/" + temporary, "not where we write")));
}

TEST(Leftovers, FoldersOfDropInsAreThoseThatAreThere) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = {{"/etc/systemd/system/slurmd.service.d/10-mine.conf", ""},
                   {"/etc/systemd/system/a/b.d/c", ""},
                   {"/etc/systemd/system/x.service", ""}};
  auto folders = managed_folders(files);
  const auto in_units = [](const std::string& folder) { return folder.starts_with("/etc/systemd/system"); };
  EXPECT_THAT(folders, testing::Contains("/run/rdma-configd"));
  EXPECT_THAT(folders, testing::Contains("/etc/sysctl.d"));
  std::erase_if(folders, std::not_fn(in_units));
  EXPECT_THAT(folders,
              ElementsAre("/etc/systemd/system", "/etc/systemd/system/nvmf-autoconnect.service.d",
                          "/etc/systemd/system/remote-fs.target.d", "/etc/systemd/system/slurmd.service.d",
                          "/etc/systemd/system/srp_daemon_port@.service.d"));
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
        "/etc/sysctl.d/rdma-configd-of-others.conf", "/var/lib/rdma-configd/state.json",
        "/var/lib/rdma-configd/rdma-configd.conf"}) {
    EXPECT_FALSE(is_managed_file(path)) << path;
  }
}

TEST(OwnedFiles, APatternStandsForAtLeastOneCharacterOfOnePart) {
  EXPECT_TRUE(matches("/etc/a*.b", "/etc/ax.b"));
  EXPECT_TRUE(matches("/etc/*.d/x", "/etc/a@b.service.d/x"));
  EXPECT_TRUE(matches("/etc/a", "/etc/a"));
  for (const auto* path : {"/etc/a.b", "/etc/a/x.b", "/etc/ax.bc", "/etc/x.b", ""})
    EXPECT_FALSE(matches("/etc/a*.b", path)) << path;
}

TEST(OwnedFiles, DeclarationsAreWhole) {
  std::set<std::string_view> paths;
  for (const auto* file : owned_files()) {
    SCOPED_TRACE(file->path);
    EXPECT_TRUE(paths.insert(file->path).second) << "declared by two";
    EXPECT_TRUE(file->what.ends_with('.'));
    EXPECT_EQ(file->extent == OwnedFile::Extent::kBlock, file->marks != nullptr);
    EXPECT_EQ(file->extent == OwnedFile::Extent::kRecord, file->path.starts_with("/var/lib/rdma-configd/"));
    EXPECT_EQ(owned_file(file->path), file);
    if (file->rendered != nullptr) {
      EXPECT_EQ(file->rendered(""), "");
      EXPECT_EQ(file->path.find('*'), std::string_view::npos);
    }
  }
  EXPECT_GT(paths.size(), 20U);
}

/// The names that kinds give to files of one pattern.
TEST(OwnedFiles, PatternsAreThoseOfTheNames) {
  const auto declared = [](const std::string& path) {
    const auto* file = owned_file(path);
    return file == nullptr ? std::string_view() : file->path;
  };
  constexpr model::Guid kOwnedPort{0x0002c903003178f2};
  const auto child = kOwnedPort.text() + "/0x8002";
  for (const auto& id : {kOwnedPort.text(), child}) {
    EXPECT_EQ(declared(networkd_file(id)), "/etc/systemd/network/09-rdma-configd-*.network");
    EXPECT_EQ(declared(nm_file(id)), "/etc/NetworkManager/system-connections/rdma-configd-*.nmconnection");
  }
  EXPECT_EQ(declared(std::string(kKeepOffNetworkd)), kKeepOffNetworkd);
  EXPECT_EQ(declared(older_networkd_file(child)), "/etc/systemd/network/10-rdma-configd-*.network");
  EXPECT_EQ(declared(std::string(kOlderKeepOffNetworkd)), kOlderKeepOffNetworkd);
  EXPECT_EQ(declared(std::string(kKeepOffNetworkManager)), kKeepOffNetworkManager);
  EXPECT_EQ(declared(drop_in_path("user@.service")), "/etc/systemd/system/*.d/50-rdma-configd-memlock.conf");
  EXPECT_EQ(declared(opensm_drop_in(kOwnedPort)),
            "/etc/systemd/system/opensm@*.service.d/50-rdma-configd.conf");
  for (const std::string folder : {"/etc/opensm", "/etc/rdma"}) {
    EXPECT_EQ(declared(opensm_own_conf(folder, kOwnedPort)), folder + "/opensm-*.conf");
    EXPECT_EQ(declared(opensm_instance_conf(folder, kOwnedPort)), folder + "/opensm.conf.*");
    for (const auto& file : opensm_side_files())
      EXPECT_EQ(declared(folder + "/" + opensm_side_name(file, kOwnedPort)), folder + "/rdma-*.conf");
  }
}

TEST(OwnedFiles, FilesOfAPatternAreListed) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  const model::Guid port{0x0002c903003178f2};
  files.content = {{networkd_file(port.text()), ""},
                   {std::string(kKeepOffNetworkd), ""},
                   {"/etc/systemd/network/20-eth0.network", ""},
                   {drop_in_path("slurmd.service"), ""},
                   {"/etc/systemd/system/slurmd.service.d/50-other.conf", ""}};
  EXPECT_EQ(files_of(*owned_file(networkd_file(port.text())), files).value(),
            std::vector{networkd_file(port.text())});
  EXPECT_EQ(files_of(*owned_file(drop_in_path("x.service")), files).value(),
            std::vector{drop_in_path("slurmd.service")});
}

/// systemd passes over a file that is named as a folder of drop-ins, and so does everybody here.
TEST(OwnedFiles, AFileInPlaceOfAFolderHidesNothing) {
  fakes::FakeKernel kernel;
  kernel.files.content = {{"/etc/systemd/system/notes.d", "text"},
                          {"/etc/systemd/system/old.service.d", "text"},
                          {drop_in_path("slurmd.service"), render_drop_in(model::LockLimit{})}};
  EXPECT_EQ(files_of(*owned_file(drop_in_path("x.service")), kernel.files).value(),
            std::vector{drop_in_path("slurmd.service")});
  auto host = kernel.host();
  auto world = World::observe(host).value();
  for (const auto* name : {"file", "memlock_unit"}) {
    const auto observed = find(name)->observe(world);
    ASSERT_TRUE(observed) << observed.error().message;
    EXPECT_EQ(observed->size(), 1U) << name;
  }
}

/// Mount units have the names of their paths, whoever made them.
TEST(OwnedFiles, FilesOfOthersWithSuchANameAreNotOurs) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = {{mount_unit_file("/ours"), render_mount_unit({"/ours", "192.0.2.1", "/x", 20049, {}})},
                   {mount_unit_file("/theirs"), "[Mount]\nWhat=a:/b\nWhere=/theirs\n"}};
  EXPECT_EQ(files_of(*owned_file(mount_unit_file("/theirs")), files).value(),
            std::vector{mount_unit_file("/ours")});
}

/// An older version's are ours by their first line, too.
TEST(OwnedFiles, FilesUnderAnOlderNameAreOursByTheirFirstLine) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  const auto ours = older_networkd_file("00:02:c9:03:00:31:78:f2"),
             theirs = older_networkd_file("00:02:c9:03:00:31:78:f3");
  const std::string keep_off(kOlderKeepOffNetworkd);
  files.content = {{ours, render_network("00:02:c9:03:00:31:78:f2", {})},
                   {theirs, "[Match]\nName=eth0\n"},
                   {keep_off, "[Match]\nName=eth0\n"}};
  EXPECT_EQ(files_of(*owned_file(ours), files).value(), std::vector{ours});
  EXPECT_EQ(files_of(*owned_file(keep_off), files).value(), std::vector<std::string>());
}

TEST(OwnedFiles, KindsBelowKnowWhatTheInitramfsContains) {
  std::set<std::string_view> declared;
  for (const auto* file : initramfs_files()) declared.insert(file->path);
  EXPECT_EQ(declared, std::set<std::string_view>(kInitramfsFiles.begin(), kInitramfsFiles.end()));
}

}  // namespace
}  // namespace rdmacfg::kinds
