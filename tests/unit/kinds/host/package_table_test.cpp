// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/package_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
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

/// [packages] without names stands for those that the other sections need.
TEST(PackageTable, EachSectionNeedsItsPackage) {
  struct Row {
    std::string section, package, command;
  };
  const std::array rows{
      Row{"[[rdma_device]]\npci = \"0000:20:00.0\"\nname = \"late\"\n", "rdma-core", "apt install rdma-core"},
      Row{"[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n", "opensm", "apt install opensm"},
      Row{"[[partition]]\npkey = 0x7fff\n", "opensm", "apt install opensm"},
      Row{"[[opensm_option]]\nkey = \"lmc\"\nvalue = 1\n", "opensm", "apt install opensm"},
      Row{"[nfs_server]\nrdma_port = 20049\n", "nfs-kernel-server", "apt install nfs-kernel-server"},
      Row{"[[nfs_mount]]\npath = \"/a\"\nserver = \"192.0.2.1\"\nexport = \"/x\"\n", "nfs-common",
          "apt install nfs-common"},
      Row{"[srp_initiator]\nothers = true\n", "srptools", "apt install srptools"},
      Row{"[[nvme_connection]]\naddress = \"192.0.2.1\"\n", "nvme-cli", "apt install nvme-cli"},
      Row{"[[iser_session]]\ntarget = \"iqn.2026-01.org.example:a\"\naddress = \"192.0.2.1\"\n", "open-iscsi",
          "apt install open-iscsi"},
      Row{"[[service]]\nname = \"iwpmd\"\nenabled = true\n", "iwpmd", "apt install rdma-core"}};
  for (const auto& row : rows) {
    auto kernel = fakes::FakeKernel::parse(R"({ "files": { "/etc/os-release": "ID=debian\n" } })");
    auto host = kernel->host();
    const auto document =
        config::parse_texts({{"config.toml", "version = 1\n[packages]\n" + row.section}}, "node1", grammar());
    const auto report = core::diff(document, host);
    std::string reason;
    for (const auto& resource : report.resources) {
      if (resource.key == model::Key{"package", row.package}) reason = resource.reason;
    }
    EXPECT_EQ(reason, "not installed: " + row.command) << row.section;
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
      Row{"ID=arch\n", "", ": pacman -S rdma-core"},
      Row{"ID=manjaro\nID_LIKE=arch\n", "", ": pacman -S rdma-core"},
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

// Without rpm-ostree, bootc(8) has only its image to change.
TEST(PackageTable, AHostOfBootcIsChangedByItsImage) {
  fakes::FakeKernel kernel;
  kernel.files.content["/etc/os-release"] = "ID=\"rhel\"\nID_LIKE=\"fedora\"\n";
  kernel.files.content["/usr/bin/bootc"] = "";
  auto host = kernel.host();
  EXPECT_EQ(distribution(host.files), Distribution::kRhel) << "bootc is installed, and has booted nothing";
  kernel.files.content["/run/ostree-booted"] = "";
  EXPECT_EQ(how_to_get(*find_package("srptools"), host.files),
            ": dnf install srp_daemon in the Containerfile of its image");
  EXPECT_EQ(way_to_kernel_arguments(distribution(host.files)), " (in /usr/lib/bootc/kargs.d of its image)");
  kernel.files.content["/usr/bin/rpm-ostree"] = "";
  EXPECT_EQ(how_to_get(*find_package("srptools"), host.files), ": rpm-ostree install srp_daemon");
  EXPECT_EQ(way_to_kernel_arguments(distribution(host.files)), " (rpm-ostree kargs --append)");
  // bootc refuses to upgrade a container image that rpm-ostree has changed.
  auto& origin = kernel.files.content["/sysroot/ostree/deploy/default/deploy/0b1c.0.origin"];
  origin = "[origin]\nrefspec=fedora:fedora/43/x86_64/silverblue\n";
  EXPECT_EQ(how_to_get(*find_package("srptools"), host.files), ": rpm-ostree install srp_daemon");
  origin = "[origin]\ncontainer-image-reference=ostree-unverified-registry:quay.io/site/node:9\n";
  EXPECT_EQ(how_to_get(*find_package("srptools"), host.files),
            ": dnf install srp_daemon in the Containerfile of its image");
  // That image is kept for a rollback alone: the other deployment is booted.
  kernel.files.content["/sysroot/ostree/deploy/default/deploy/77aa.0.origin"] =
      "[origin]\nrefspec=fedora:fedora/43/x86_64/silverblue\n";
  kernel.files.content["/proc/cmdline"] = "root=UUID=4a2b rw ostree=/ostree/boot.1/default/c0ffee/0\n";
  auto& booted = kernel.files.link_targets["/sysroot/ostree/boot.1/default/c0ffee/0"];
  booted = "../../../deploy/default/deploy/77aa.0";
  EXPECT_EQ(how_to_get(*find_package("srptools"), host.files), ": rpm-ostree install srp_daemon");
  booted = "../../../deploy/default/deploy/0b1c.0";
  EXPECT_EQ(how_to_get(*find_package("srptools"), host.files),
            ": dnf install srp_daemon in the Containerfile of its image");
  kernel.files.content.erase("/usr/bin/bootc");
  EXPECT_EQ(how_to_get(*find_package("srptools"), host.files), ": rpm-ostree install srp_daemon");
  EXPECT_EQ(way_to_kernel_arguments(Distribution::kDebian), "");
}

TEST(PackageTable, ArchHasSomeOfThemOnlyInItsUsersRepository) {
  fakes::FakeKernel kernel;
  kernel.files.content["/etc/os-release"] = "ID=arch\n";
  auto host = kernel.host();
  EXPECT_EQ(how_to_get(*find_package("opensm"), host.files), "; package opensm has it");
  EXPECT_EQ(how_to_get(*find_package("nvme-cli"), host.files), ": pacman -S nvme-cli");
  const std::array<const Package*, 2> both{find_package("nvme-cli"), find_package("opensm")};
  EXPECT_EQ(install_command(Distribution::kArch, both), "");
}

// The files lists of Ubuntu's linux-modules-extra, of RHEL's kernel.spec (kernel-modules-extra), of Debian's
// cloud kernels, and of SUSE's kernel-default-base.
TEST(PackageTable, ModulesThatAKernelLacksAreInAnotherPackage) {
  struct Row {
    std::string_view os_release, release, told, mark = {};
  };
  constexpr std::array kRows{
      Row{"ID=ubuntu\nID_LIKE=debian\n", "6.8.0-41-generic",
          "linux-modules-extra-6.8.0-41-generic may have it: apt install "
          "linux-modules-extra-6.8.0-41-generic"},
      Row{"ID=debian\n", "6.1.0-18-cloud-amd64",
          "linux-image-amd64 may have it: apt install linux-image-amd64"},
      Row{"ID=debian\n", "6.1.0-18-amd64", ""},
      Row{"ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "6.8.0-41-generic", ""},
      Row{"ID=rocky\nID_LIKE=\"rhel centos fedora\"\n", "5.14.0-570.12.1.el9_6.x86_64",
          "kernel-modules-extra-5.14.0-570.12.1.el9_6.x86_64 may have it: dnf install "
          "kernel-modules-extra-5.14.0-570.12.1.el9_6.x86_64"},
      Row{"ID=rhel\nID_LIKE=fedora\n", "5.14.0-570.12.1.el9_6.aarch64+64k",
          "kernel-64k-modules-extra-5.14.0-570.12.1.el9_6.aarch64 may have it: dnf install "
          "kernel-64k-modules-extra-5.14.0-570.12.1.el9_6.aarch64"},
      Row{"ID=ol\nID_LIKE=fedora\n", "6.12.0-100.28.2.el10uek.x86_64",
          "kernel-uek-modules-extra-6.12.0-100.28.2.el10uek.x86_64 may have it: dnf install "
          "kernel-uek-modules-extra-6.12.0-100.28.2.el10uek.x86_64"},
      Row{"ID=fedora\n", "6.17.1-300.fc43.x86_64",
          "kernel-modules-extra-6.17.1-300.fc43.x86_64 may have it: rpm-ostree install "
          "kernel-modules-extra-6.17.1-300.fc43.x86_64",
          "/run/ostree-booted"},
      Row{"ID=opensuse-tumbleweed\nID_LIKE=\"opensuse suse\"\n", "6.17.1-1-default",
          "kernel-default may have it, if kernel-default-base is installed: zypper install kernel-default"},
      Row{"ID=sles\nID_LIKE=suse\n", "6.4.0-150600.23.25-azure", ""},
      Row{"ID=fedora\n", "", ""},
      Row{"ID=nixos\n", "6.12.1", ""}};
  for (const auto& row : kRows) {
    fakes::FakeKernel kernel;
    kernel.files.content["/etc/os-release"] = row.os_release;
    if (!row.mark.empty()) kernel.files.content[std::string(row.mark)] = "";
    auto host = kernel.host();
    EXPECT_EQ(package_of_modules(host.files, row.release), row.told) << row.os_release << row.release;
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
