// SPDX-License-Identifier: Apache-2.0
#include "system/linux/initramfs_images.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace rdmacfg::system::detail
