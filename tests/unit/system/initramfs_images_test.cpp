// SPDX-License-Identifier: Apache-2.0
#include "system/linux/initramfs_images.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system::detail {
namespace {

TEST(InitramfsImages, AreFoundWhereToolsPutThem) {
  TempTree tree;
  EXPECT_TRUE(observe_images(tree.path()).empty());
  for (const auto* file : {"boot/initrd.img-6.1.0", "boot/initramfs-5.14.img", "boot/initrd-5.3-default",
                           "boot/0a1b/6.9/initrd", "efi/0a1b/6.9/initrd-1", "boot/efi/EFI/Linux/debian.efi"})
    tree.put(file, "image");
  const auto found = observe_images(tree.path()).size();
  EXPECT_EQ(found, 6U);
  for (const auto* file :
       {"boot/vmlinuz-6.1.0", "boot/System.map", "boot/0a1b/6.9/linux", "boot/efi/EFI/x.efi"})
    tree.put(file, "no image");
  EXPECT_EQ(observe_images(tree.path()).size(), found);
}

TEST(InitramfsImages, AreSyncedWhereTheyAreStillThere) {
  TempTree tree;
  const auto none = observe_images(tree.path());
  tree.put("boot/initrd.img-1", "one");
  tree.put("boot/initrd.img-2", "two");
  const auto made = observe_images(tree.path());
  ASSERT_EQ(made.size(), 2U);
  EXPECT_TRUE(sync_made(none, made));
  std::filesystem::remove(tree.path() / "boot/initrd.img-1");
  EXPECT_TRUE(sync_made(none, made)) << "a tool may clear up behind itself";
}

TEST(InitramfsImages, AreMadeAnewWhenWrittenReplacedOrAdded) {
  TempTree tree;
  const auto now = [&] { return observe_images(tree.path()); };
  tree.put("boot/initrd.img-1", "one");
  const auto before = now();
  EXPECT_FALSE(made_anew(before, now()));
  tree.put("boot/vmlinuz-1", "kernel");
  EXPECT_FALSE(made_anew(before, now()));
  tree.put("boot/initrd.img-1", "other");
  EXPECT_TRUE(made_anew(before, now()));
  const auto again = now();
  tree.put("boot/new", "other");
  std::filesystem::rename(tree.path() / "boot/new", tree.path() / "boot/initrd.img-1");
  EXPECT_TRUE(made_anew(again, now())) << "of the same size";
  const auto third = now();
  tree.put("boot/initrd.img-2", "two");
  EXPECT_TRUE(made_anew(third, now()));
  EXPECT_FALSE(made_anew(now(), third)) << "one that goes is none that was made";
}

std::set<std::string> names_of(const Images& images) {
  std::set<std::string> out;
  for (const auto& [file, stamp] : images) out.insert(file.filename().string());
  return out;
}

TEST(InitramfsImages, OnlyThoseOfTheKernelThatRunsCount) {
  TempTree tree;
  using Names = std::set<std::string>;
  const std::string id = "0123456789abcdef0123456789abcdef";
  for (const auto& file :
       {std::string("boot/initramfs-5.14.0-1.el9.x86_64.img"),
        std::string("boot/initramfs-5.14.0-1.el9.x86_64kdump.img"),
        std::string("boot/initramfs-5.14.0-11.el9.x86_64.img"), "boot/initramfs-0-rescue-" + id + ".img",
        "boot/efi/EFI/Linux/" + id + "-5.14.0-1.el9.x86_64+3.efi",
        "boot/efi/EFI/Linux/linux-5.14.0-11.el9.x86_64-" + id + ".efi",
        std::string("boot/initramfs-linux.img")})
    tree.put(file, "image");
  const auto all = observe_images(tree.path());
  EXPECT_EQ(names_of(boot_images(all, "5.14.0-1.el9.x86_64")),
            (Names{"initramfs-5.14.0-1.el9.x86_64.img", id + "-5.14.0-1.el9.x86_64+3.efi"}));
  EXPECT_EQ(names_of(boot_images(all, std::nullopt)),
            (Names{"initramfs-5.14.0-11.el9.x86_64.img", "linux-5.14.0-11.el9.x86_64-" + id + ".efi"}))
      << "the newest kernel's, by number";
  EXPECT_EQ(names_of(boot_images(all, "6.1.0")), Names{"initramfs-linux.img"});
}

TEST(InitramfsImages, AreForTheKernelOfTheirName) {
  TempTree tree;
  const auto release = [&](const std::string& file) {
    tree.put(file, "image");
    return observe_images(tree.path()).at(tree.at(file)).release;
  };
  EXPECT_EQ(release("boot/initrd.img-6.1.0-18-amd64"), "6.1.0-18-amd64");
  EXPECT_EQ(release("boot/initrd.img-6.5.0+12-x"), "6.5.0+12-x");
  EXPECT_EQ(release("boot/initrd-5.14.21-150500-default"), "5.14.21-150500-default");
  EXPECT_EQ(release("boot/0a1b/6.9.3-200.fc40/initrd"), "6.9.3-200.fc40");
  EXPECT_EQ(release("boot/0a1b/6.9.3-200.fc40/initrd-1"), "6.9.3-200.fc40");
  EXPECT_EQ(release("efi/EFI/Linux/debian.efi"), "");
  EXPECT_TRUE(boot_images(observe_images(TempTree().path()), "6.1.0").empty());
}

TEST(InitramfsImages, OfSeveralKernels) {
  TempTree tree;
  tree.put("boot/initrd.img-6.1.0-18-amd64", "");
  tree.put("boot/initrd.img-6.1.0-18-amd64.old", "");
  tree.put("boot/initramfs-6.1.0-9-amd64kdump.img", "");
  EXPECT_FALSE(of_several_kernels(observe_images(tree.path()))) << "spare ones are not remade";
  tree.put("boot/initrd.img-6.1.0-9-amd64", "");
  EXPECT_TRUE(of_several_kernels(observe_images(tree.path())));
}

TEST(LinuxInitramfs, TheToolIsTheOneThatMadeTheImages) {
  TempTree dracut;
  dracut.put("usr/bin/dracut", "");
  EXPECT_EQ(make_linux_initramfs(dracut.path())->tool(), "dracut -f --regenerate-all")
      << "RHEL, Fedora, SUSE";
  TempTree beside;  // Debian's dracut-core, or Ubuntu's dracut with the update-initramfs of its own
  beside.put("usr/bin/dracut", "");
  beside.put("usr/sbin/update-initramfs", "");
  EXPECT_EQ(make_linux_initramfs(beside.path())->tool(), "update-initramfs -u -k all");
  EXPECT_EQ(make_linux_initramfs(TempTree().path())->tool(), std::nullopt);
}

TEST(LinuxInitramfs, MkinitcpioIsLeftToTheAdministrator) {
  TempTree tree;
  tree.put("usr/bin/mkinitcpio", "");
  tree.put("boot/initramfs-linux.img", "");
  EXPECT_TRUE(make_linux_initramfs(tree.path())->has_image());
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "mkinitcpio -P");
  EXPECT_EQ(make_linux_initramfs(tree.path())->by_hand(), "mkinitcpio makes this system's images");
  tree.put("usr/bin/dracut", "");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f --regenerate-all");
  EXPECT_EQ(make_linux_initramfs(tree.path())->by_hand(), std::nullopt);
}

TEST(LinuxInitramfs, ZiplIsToldOfAnImageThatItLoadsByItsBlocks) {
  TempTree tree;
  tree.put("usr/bin/dracut", "");
  tree.put("usr/sbin/zipl", "");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f --regenerate-all")
      << "it has no configuration";
  tree.put("etc/zipl.conf", "[defaultboot]\ndefaultauto\n");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f --regenerate-all && zipl")
      << "RHEL, Fedora";
  tree.put("boot/zipl/config", "");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f --regenerate-all")
      << "SUSE boots a grub by it";
  TempTree debian;
  debian.put("usr/sbin/update-initramfs", "");
  debian.put("usr/sbin/zipl", "");
  debian.put("etc/zipl.conf", "");
  EXPECT_EQ(make_linux_initramfs(debian.path())->tool(), "update-initramfs -u -k all")
      << "its hook calls zipl";
}

// A look at /boot/zipl would have systemd mount /boot.
TEST(LinuxInitramfs, ZiplsFolderIsNotLookedForBehindAnAutomount) {
  TempTree tree;
  for (const auto* file : {"usr/bin/dracut", "usr/sbin/zipl", "etc/zipl.conf", "boot/zipl/config"})
    tree.put(file, "");
  const auto tool = [&](const std::string& mounts) {
    tree.put("mounts", "/dev/dasda2 / ext4 rw 0 0\n" + mounts);
    return make_linux_initramfs(tree.path(), tree.at("mounts"))->tool();
  };
  const std::string automount = "systemd-1 /boot autofs rw,direct 0 0\n";
  EXPECT_EQ(tool(automount), "dracut -f --regenerate-all && zipl");
  EXPECT_EQ(tool(automount + "/dev/dasda1 /boot ext4 rw 0 0\n"), "dracut -f --regenerate-all");
  EXPECT_EQ(tool("systemd-1 /boot/zipl autofs rw,direct 0 0\n"), "dracut -f --regenerate-all");
}

TEST(LinuxInitramfs, OpenSusesBootLoadersTakeTheirImagesFromTheirOwnTool) {
  TempTree tree;
  tree.put("usr/bin/dracut", "");
  tree.put("usr/bin/sdbootutil", "");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f --regenerate-all")
      << "installed is not in use";
  tree.put("etc/sysconfig/bootloader", "# comment\nLOADER_TYPE=\"grub2-efi\"\nSECURE_BOOT=\"yes\"\n");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f --regenerate-all");
  for (const auto* line :
       {"LOADER_TYPE=\"grub2-bls\"\n", "LOADER_TYPE=systemd-boot\n", "LOADER_TYPE='systemd-boot' \n"}) {
    tree.put("etc/sysconfig/bootloader", line);
    EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "sdbootutil mkinitrd") << line;
    EXPECT_EQ(make_linux_initramfs(tree.path())->by_hand(), std::nullopt);
  }
}

TEST(LinuxInitramfs, TheBootLoaderOfAnImageIsReadBelowItsRoot) {
  TempTree tree;
  tree.put("usr/bin/dracut", "");
  tree.put("usr/bin/sdbootutil", "");
  tree.put("usr/etc/bootloader", "LOADER_TYPE=systemd-boot\n");
  tree.put("etc/sysconfig/other", "");
  tree.link("etc/sysconfig/bootloader", "/usr/etc/bootloader");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "sdbootutil mkinitrd");
  tree.put("secret", "LOADER_TYPE=systemd-boot\n");
  std::filesystem::remove(tree.at("etc/sysconfig/bootloader"));
  tree.link("etc/sysconfig/bootloader", tree.at("secret"));
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f --regenerate-all") << "not of the host";
}

TEST(LinuxInitramfs, NoLinkOfAnImageLeadsOutOfItsRoot) {
  TempTree host, tree;
  tree.put("usr/bin/dracut", "");
  host.put("dracut.conf", "uefi=yes\n");
  host.put("boot/initrd.img-6.1.0", "image");
  host.put("deploy/0b1c.0.origin", "[origin]\ncontainer-image-reference=x\n");
  tree.put("sys/firmware/efi/efivars/StubInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f", "");
  tree.link("etc/dracut.conf", host.at("dracut.conf"));
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "kernel-install add-all");
  tree.link("boot", host.at("boot"));
  tree.link("usr/bin/mkinitcpio", host.at("dracut.conf"));
  EXPECT_FALSE(make_linux_initramfs(tree.path())->has_image());
  std::filesystem::remove(tree.at("usr/bin/dracut"));
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), std::nullopt);
  for (const auto* file : {"run/ostree-booted", "usr/bin/bootc", "usr/bin/rpm-ostree"}) tree.put(file, "");
  tree.link("sysroot/ostree/deploy/default", host.path());
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "rpm-ostree initramfs-etc");
}

TEST(LinuxInitramfs, AbsoluteLinksOfAnImageLeadBelowItsRoot) {
  TempTree tree;
  tree.put("usr/bin/dracut", "");
  tree.put("usr/share/site.conf", "uefi=yes\n");
  tree.put("usr/lib/images/initrd.img-6.1.0", "image");
  tree.put("sys/firmware/efi/efivars/StubInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f", "");
  tree.link("etc/dracut.conf", "/usr/share/site.conf");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f --regenerate-all");
  tree.link("boot", "/usr/lib/images");
  EXPECT_TRUE(make_linux_initramfs(tree.path())->has_image());
}

TEST(LinuxInitramfs, AFifoIsNotWaitedFor) {
  TempTree tree;
  tree.put("usr/bin/dracut", "");
  tree.put("sys/firmware/efi/efivars/StubInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f", "");
  tree.put("etc/dracut.conf.d/10-uki.conf", "uefi=yes\n");
  ASSERT_EQ(::mkfifo(tree.at("etc/dracut.conf").c_str(), 0600), 0);
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f --regenerate-all");
  for (const auto* file : {"run/ostree-booted", "usr/bin/bootc", "usr/bin/rpm-ostree"}) tree.put(file, "");
  std::filesystem::create_directories(tree.at("sysroot/ostree/deploy/default/deploy"));
  ASSERT_EQ(::mkfifo(tree.at("sysroot/ostree/deploy/default/deploy/0.origin").c_str(), 0600), 0);
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "rpm-ostree initramfs-etc");
}

TEST(LinuxInitramfs, AnAutomountThatNobodyHasMountedIsNotKnown) {
  TempTree tree;
  tree.put("usr/bin/dracut", "");
  tree.put("etc/modprobe.d/rdma-configd.conf", "options mlx4_core x=1\n");
  tree.put("boot/initrd.img-6.1.0", "behind the automount");
  const std::vector<std::string> paths{"/etc/modprobe.d/rdma-configd.conf"};
  const std::string root = "/dev/sda2 / ext4 rw 0 0\n";
  const std::string automount = "systemd-1 /boot autofs rw,relatime,fd=60,direct 0 0\n";
  const auto of = [&](const std::string& mounts) {
    tree.put("mounts", mounts);
    return make_linux_initramfs(tree.path(), tree.at("mounts"));
  };
  EXPECT_EQ(of(root)->unseen(), std::nullopt);
  EXPECT_EQ(of(root + automount)->unseen(), "/boot");
  EXPECT_TRUE(of(root + automount)->has_image()) << "there may be one";
  EXPECT_FALSE(of(root + automount)->newer_than(paths));
  EXPECT_TRUE(observe_images(tree.path(), tree.at("mounts")).empty());
  EXPECT_EQ(of(root + automount + "/dev/sda1 /boot vfat rw 0 0\n")->unseen(), std::nullopt);
  EXPECT_EQ(observe_images(tree.path(), tree.at("mounts")).size(), 1U);
  const std::string efi = "systemd-1 /boot/efi autofs rw,direct 0 0\n";
  EXPECT_EQ(of(root + efi)->unseen(), std::nullopt) << "the image is in /boot";
  std::filesystem::remove(tree.at("boot/initrd.img-6.1.0"));
  tree.put("boot/efi/token/6.1.0/initrd", "behind the automount");
  EXPECT_EQ(of(root + efi)->unseen(), "/boot/efi");
  EXPECT_TRUE(observe_images(tree.path(), tree.at("mounts")).empty());
  EXPECT_EQ(make_linux_initramfs(tree.path())->unseen(), std::nullopt)
      << "nothing is mounted in an image tree";
}

TEST(LinuxInitramfs, AReadOnlyBootIsLeftToTheAdministrator) {
  TempTree tree;
  tree.put("usr/bin/dracut", "");
  const auto of = [&](const std::string& mounts) {
    tree.put("mounts", mounts);
    return make_linux_initramfs(tree.path(), tree.at("mounts"));
  };
  const std::string root = "/dev/sda2 / btrfs ro,relatime,subvol=/@/.snapshots/7/snapshot 0 0\n";
  EXPECT_EQ(of(root)->by_hand(), "/boot is mounted read-only");
  EXPECT_EQ(of(root)->tool(), "dracut -f --regenerate-all");
  const auto refused = of(root)->rebuild();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kUnsupported);
  EXPECT_EQ(of(root + "/dev/sda1 /boot ext4 rw,relatime 0 0\n")->by_hand(), std::nullopt);
  EXPECT_EQ(of(root + "/dev/sda1 /boot/efi vfat rw 0 0\n")->by_hand(), "/boot is mounted read-only")
      << "what lies below it says nothing";
  EXPECT_EQ(
      of("/dev/sda2 / ext4 rw 0 0\n/dev/sda1 /boot ext4 rw 0 0\n/dev/sda1 /boot ext4 ro 0 0\n")->by_hand(),
      "/boot is mounted read-only")
      << "the last one mounted is the one that is seen";
  EXPECT_EQ(of("/dev/sda2 / ext4 rw,errors=remount-ro 0 0\n")->by_hand(), std::nullopt);
  EXPECT_EQ(of("/dev/sda2 / ext4 rw 0 0\nx /bootstrap ext4 ro 0 0\n")->by_hand(), std::nullopt);
  tree.put("usr/sbin/transactional-update", "");
  EXPECT_EQ(of(root)->tool(), "transactional-update initrd");
  EXPECT_EQ(make_linux_initramfs(tree.path())->by_hand(), std::nullopt)
      << "of an image tree nothing is known";
}

TEST(LinuxInitramfs, OstreeMakesItsImages) {
  TempTree tree;
  tree.put("usr/bin/dracut", "");
  tree.put("run/ostree-booted", "");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "rpm-ostree initramfs-etc");
  EXPECT_EQ(make_linux_initramfs(tree.path())->by_hand(), "ostree makes this system's images");
  // With both, it depends on what is deployed: a container image that rpm-ostree has changed is one that
  // bootc refuses to upgrade.
  tree.put("usr/bin/bootc", "");
  tree.put("usr/bin/rpm-ostree", "");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "rpm-ostree initramfs-etc");
  const std::string origin = "sysroot/ostree/deploy/default/deploy/0b1c.0.origin";
  tree.put(origin, "[origin]\nrefspec=fedora:fedora/43/x86_64/silverblue\n");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "rpm-ostree initramfs-etc");
  tree.put(origin, "[origin]\ncontainer-image-reference=ostree-unverified-registry:quay.io/site/node:9\n");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f in the Containerfile of its image");
}

TEST(LinuxInitramfs, ADeploymentThatIsKeptForARollbackDoesNotCount) {
  TempTree tree;
  for (const auto* file : {"usr/bin/dracut", "run/ostree-booted", "usr/bin/bootc", "usr/bin/rpm-ostree"})
    tree.put(file, "");
  const std::string deployments = "sysroot/ostree/deploy/default/deploy/";
  tree.put(deployments + "0b1c.0.origin", "[origin]\ncontainer-image-reference=x\n");
  tree.put(deployments + "77aa.0.origin", "[origin]\nrefspec=fedora:fedora/43/x86_64/silverblue\n");
  tree.put("proc/cmdline", "root=UUID=4a2b rw ostree=/ostree/boot.1/default/c0ffee/0\n");
  std::filesystem::create_directories(tree.at("sysroot/ostree/boot.1.1/default/c0ffee"));
  tree.link("sysroot/ostree/boot.1", "boot.1.1");
  tree.link("sysroot/ostree/boot.1.1/default/c0ffee/0", "../../../deploy/default/deploy/77aa.0");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "rpm-ostree initramfs-etc");
  std::filesystem::remove(tree.at("sysroot/ostree/boot.1.1/default/c0ffee/0"));
  tree.link("sysroot/ostree/boot.1.1/default/c0ffee/0", "../../../deploy/default/deploy/0b1c.0");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f in the Containerfile of its image");
}

TEST(LinuxInitramfs, AContainerBringsTheImageOfBootc) {
  TempTree tree;
  tree.put("usr/bin/dracut", "");
  tree.put("usr/bin/bootc", "");
  EXPECT_EQ(make_linux_initramfs(tree.path())->by_hand(), std::nullopt) << "bootc has not booted this system";
  tree.put("run/ostree-booted", "");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f in the Containerfile of its image");
  EXPECT_EQ(make_linux_initramfs(tree.path())->by_hand(),
            "this system's initramfs comes with its container image");
}

// systemd-stub(7); Fedora's kernel-uki-virt, Unified Kernel Support Phase 1.
TEST(LinuxInitramfs, AUnifiedKernelImageIsLeftToTheAdministrator) {
  TempTree tree;
  tree.put("usr/bin/dracut", "");
  tree.put("boot/initramfs-6.17.1-300.fc43.x86_64.img", "");
  tree.put("boot/efi/EFI/Linux/6.17.1-300.fc43.x86_64.efi", "");
  EXPECT_EQ(make_linux_initramfs(tree.path())->by_hand(), std::nullopt) << "it is there, and not booted";
  tree.put("sys/firmware/efi/efivars/StubInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f", "");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "kernel-install add-all");
  EXPECT_EQ(make_linux_initramfs(tree.path())->by_hand(),
            "this system boots a unified kernel image, and one of a package stays as it is");
  const auto refused = make_linux_initramfs(tree.path())->rebuild();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kUnsupported);
  tree.put("etc/dracut.conf.d/10-uki.conf", "uefi=\"yes\"\n");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f --regenerate-all") << "dracut makes it";
  tree.put("etc/dracut.conf.d/20-site.conf", "# uefi=yes\nuefi=no\n");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "kernel-install add-all");
}

// dropindirs_sort() of dracut.sh.
TEST(LinuxInitramfs, AFileInEtcTakesThePlaceOfDracutsOwn) {
  TempTree tree;
  tree.put("usr/bin/dracut", "");
  tree.put("boot/efi/EFI/Linux/6.17.1-300.fc43.x86_64.efi", "");
  tree.put("sys/firmware/efi/efivars/StubInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f", "");
  tree.put("usr/lib/dracut/dracut.conf.d/10-uki.conf", "uefi=yes\n");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f --regenerate-all");
  tree.put("etc/dracut.conf.d/10-uki.conf", "");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "kernel-install add-all");
  tree.put("run/initramfs/dracut.conf.d/20-boot.conf", "uefi=yes\n");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f --regenerate-all") << "dracut-ng 109";
  tree.put("etc/dracut.conf.d/9-site.conf", "uefi=no\n");
  EXPECT_EQ(make_linux_initramfs(tree.path())->tool(), "dracut -f --regenerate-all") << "9 comes before 20";
}

TEST(LinuxInitramfs, AnotherImageSaysNothingOfAUnifiedOne) {
  TempTree tree;
  tree.put("usr/bin/dracut", "");
  tree.put("sys/firmware/efi/efivars/StubInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f", "");
  tree.put("etc/modprobe.d/rdma-configd.conf", "options mlx4_core x=1\n");
  const std::vector<std::string> paths{"/etc/modprobe.d/rdma-configd.conf"};
  const auto made = [&](const std::string& file, std::time_t when) {
    tree.put(file, "image");
    const std::array<timespec, 2> times{{{when, 0}, {when, 0}}};
    ASSERT_EQ(::utimensat(AT_FDCWD, tree.at(file).c_str(), times.data(), 0), 0);
  };
  const auto soon = std::time(nullptr) + 3600;
  made("boot/efi/EFI/Linux/6.17.1-300.fc43.x86_64.efi", 1000);
  made("boot/initramfs-6.17.1-300.fc43.x86_64.img", soon);
  EXPECT_FALSE(make_linux_initramfs(tree.path())->newer_than(paths));
  made("boot/efi/EFI/Linux/6.17.1-300.fc43.x86_64.efi", soon);
  EXPECT_TRUE(make_linux_initramfs(tree.path())->newer_than(paths));
}

TEST(LinuxInitramfs, AnImageTreeIsStaleWhileItsNewestKernelsImageIsOlder) {
  TempTree tree;
  tree.put("usr/sbin/update-initramfs", "");
  tree.put("etc/modprobe.d/rdma-configd.conf", "options mlx4_core x=1\n");
  const auto initramfs = make_linux_initramfs(tree.path());
  EXPECT_EQ(initramfs->tool(), "update-initramfs -u -k all");
  EXPECT_FALSE(initramfs->has_image());
  const auto made = [&](const std::string& file, std::time_t when) {
    tree.put(file, "image");
    const std::array<timespec, 2> times{{{when, 0}, {when, 0}}};
    ASSERT_EQ(::utimensat(AT_FDCWD, tree.at(file).c_str(), times.data(), 0), 0);
  };
  const std::vector<std::string> paths{"/etc/modprobe.d/rdma-configd.conf"};
  const auto soon = std::time(nullptr) + 3600;
  made("boot/initrd.img-6.1.0-18-amd64", 1000);
  EXPECT_FALSE(initramfs->newer_than(paths));
  made("boot/initrd.img-6.1.0-9-amd64", soon);
  made("boot/initramfs-6.1.0-18-amd64kdump.img", soon);
  made("boot/initrd.img-6.1.0-18-amd64.old-dkms", soon);
  EXPECT_FALSE(initramfs->newer_than(paths)) << "another kernel's hides nothing";
  made("boot/initrd.img-6.1.0-18-amd64", soon);
  EXPECT_TRUE(initramfs->newer_than(paths));
}

}  // namespace
}  // namespace rdmacfg::system::detail
