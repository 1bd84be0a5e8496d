// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/package_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

/// The files lists of debian/ and of redhat/ and suse/ rdma-core.spec.
TEST(PackageTable, UnitsAreInThePackagesOfEachDistribution) {
  struct Row {
    std::string_view unit, debian, rhel, suse;
  };
  constexpr std::array kRows{Row{"iwpmd.service", "rdma-core", "iwpmd", "iwpmd"},
                             Row{"rdma-ndd.service", "rdma-core", "rdma-core", "rdma-ndd"},
                             Row{"rdma-hw.target", "rdma-core", "rdma-core", "rdma-core"},
                             Row{"srp_daemon.service", "srptools", "srp_daemon", "srp_daemon"},
                             Row{"ibacm.socket", "ibacm", "ibacm", "ibacm"},
                             Row{"opensm@0x0002c903003178f2.service", "opensm", "opensm", "opensm"}};
  for (const auto& row : kRows) {
    const auto* package = package_of_unit(row.unit);
    ASSERT_NE(package, nullptr) << row.unit;
    EXPECT_EQ(name_on(*package, Distribution::kDebian), row.debian) << row.unit;
    EXPECT_EQ(name_on(*package, Distribution::kRhel), row.rhel) << row.unit;
    EXPECT_EQ(name_on(*package, Distribution::kSuse), row.suse) << row.unit;
    const std::array<const Package*, 1> wanted{package};
    EXPECT_EQ(install_command(Distribution::kSuse, wanted), "zypper install " + std::string(row.suse));
  }
  EXPECT_EQ(package_of_unit("slurmd.service"), nullptr);
}

TEST(PackageTable, EachNameIsThatOfOnePackage) {
  for (const auto& package : packages()) {
    EXPECT_EQ(find_package(package.name), &package) << package.name;
    EXPECT_NE(find_package(name_on(package, Distribution::kRhel)), nullptr) << package.name;
    EXPECT_NE(find_package(name_on(package, Distribution::kSuse)), nullptr) << package.name;
    EXPECT_NE(find_package(name_on(package, Distribution::kDebian)), nullptr) << package.name;
  }
}

// dnf and zypper refuse to change a root that is mounted read-only: rpm-ostree(1), transactional-update(8).
TEST(PackageTable, TheCommandIsTheOneThatTheRootTakes) {
  struct Row {
    std::string_view release, mark, command, mounts = {};
  };
  constexpr std::string_view kMicroOs = "ID=\"opensuse-microos\"\nID_LIKE=\"suse opensuse\"\n";
  constexpr std::string_view kTumbleweed = "ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n";
  constexpr std::string_view kProgram = "/usr/sbin/transactional-update";
  constexpr std::array kRows{
      Row{"ID=debian\n", "", ": apt install srptools"},
      Row{"ID=ubuntu\nID_LIKE=debian\n", "", ": apt install srptools"},
      Row{"ID=\"rhel\"\nID_LIKE=\"fedora\"\n", "", ": dnf install srp_daemon"},
      Row{"ID=fedora\n", "/run/ostree-booted", ": rpm-ostree install srp_daemon"},
      Row{"ID=\"sles\"\nID_LIKE=\"suse\"\n", "", ": zypper install srp_daemon"},
      Row{kMicroOs, kProgram, ": transactional-update pkg install srp_daemon"},
      Row{kMicroOs, kProgram, ": transactional-update pkg install srp_daemon",
          "30 1 0:25 /@/.snapshots/1/snapshot / ro,relatime shared:1 - btrfs /dev/vda3 rw,space_cache=v2\n"},
      // The program alone makes no such system: there zypper installs.
      Row{kTumbleweed, kProgram, ": zypper install srp_daemon",
          "30 1 0:25 /@/.snapshots/1/snapshot / rw,relatime shared:1 - btrfs /dev/vda3 rw,space_cache=v2\n"},
      Row{kTumbleweed, kProgram, ": zypper install srp_daemon",
          "30 1 8:2 / / ro,relatime shared:1 - ext4 /dev/vda3 ro\n"},
      Row{"ID=nixos\n", "", "; package srptools has it"}};
  for (const auto& row : kRows) {
    fakes::FakeKernel kernel;
    kernel.files.content["/etc/os-release"] = row.release;
    if (!row.mark.empty()) kernel.files.content[std::string(row.mark)] = "";
    if (!row.mounts.empty()) kernel.files.content["/proc/1/mountinfo"] = row.mounts;
    auto host = kernel.host();
    EXPECT_EQ(how_to_get(*find_package("srptools"), host.files), row.command) << row.release << row.mounts;
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
