// SPDX-License-Identifier: Apache-2.0
#include "formats/storage/mount_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmacfg::kinds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// As Linux 6.1 prints it.
constexpr std::string_view kTable =
    "25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
    "40 25 0:42 / /a\\040b rw,relatime shared:7 master:3 - nfs4 192.0.2.1:/x "
    "rw,vers=4.2,rsize=1048576,hard,proto=rdma,port=20049,timeo=600,retrans=2\n"
    "41 25 0:43 / /v6 rw - nfs [2001:db8::1]:/y rw,vers=3,proto=rdma6,port=20049,soft\n"
    "42 25 0:44 / /tcp rw - nfs4 192.0.2.1:/z rw,vers=4.1,proto=tcp\n"
    "43 42 0:45 / /tcp rw - nfs4 192.0.2.2:/z rw,vers=4.1,proto=tcp,port=2050\n"
    "broken line\n44 25 0:46 / /short rw - tmpfs\n";

TEST(Mountinfo, IsReadByPath) {
  const auto mounts = parse_mountinfo(kTable);
  ASSERT_EQ(mounts.size(), 4U);
  EXPECT_FALSE(mounts.at("/").is_nfs());
  EXPECT_EQ(mounts.at("/").options.at("errors"), "remount-ro");
  EXPECT_EQ(text_of_nfs(mounts.at("/a b")), "192.0.2.1:/x rdma 20049");
  EXPECT_EQ(text_of_nfs(mounts.at("/v6")), "[2001:db8::1]:/y rdma 20049");
  EXPECT_EQ(text_of_nfs(mounts.at("/tcp")), "192.0.2.2:/z tcp 2050") << "the last one hides the others";
}

// A mount may be read-only while the file system is not, as the root of a btrfs with snapshots is.
TEST(Mountinfo, ReadOnlyByTheMountOrByTheFileSystem) {
  const std::pair<const char*, bool> rows[] = {
      {"30 1 0:25 /@ / rw,relatime - btrfs /dev/vda3 rw", false},
      {"30 1 0:25 /@ / ro,relatime - btrfs /dev/vda3 rw", true},
      {"30 1 0:25 /@ / rw shared:1 - ext4 /dev/vda3 ro", true},
      {"30 1 0:25 /@ / rw - ext4 /dev/vda3 rw,errors=remount-ro", false}};
  for (const auto& [line, read_only] : rows)
    EXPECT_EQ(parse_mountinfo(line).at("/").read_only, read_only) << line;
}

TEST(Mountinfo, WithoutAPortItIsTheStandardOne) {
  EXPECT_EQ(text_of_nfs({"a:/b", "nfs4", {{"proto", "tcp"}}}), "a:/b tcp 2049");
}

TEST(Mountinfo, OptionsWithOtherValues) {
  const auto mounts = parse_mountinfo(kTable);
  const auto& mount = mounts.at("/a b");
  EXPECT_THAT(other_options({"vers=4.2", "hard", "rsize=4096", "noatime", "sec=sys"}, mount), IsEmpty());
  EXPECT_THAT(other_options({"nfsvers=3", "soft", "timeo=50", "nconnect=4"}, mount),
              ElementsAre("vers=4.2", "hard", "timeo=600"));
  EXPECT_THAT(other_options({"vers=4"}, mount), IsEmpty());
}

// proc_pid_mountinfo(5): six fields, optional ones, "-", and three more.
TEST(Mountinfo, LinesThatAreCutArePassedOver) {
  for (const auto* line :
       {"", "36", "36 35 98:0 / /x rw", "36 35 98:0 / /x rw master:1 shared:2", "36 35 98:0 / /x rw -",
        "36 35 98:0 / /x rw - nfs4", "36 35 98:0 / /x rw - nfs4 a:/b", "36 35 98:0 / /x - nfs4 a:/b"})
    EXPECT_TRUE(parse_mountinfo(line).empty()) << line;
  const auto mounts = parse_mountinfo("36 35 98:0 / /x rw master:1 - nfs4 a:/b rw,port=20049\ncut\n");
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts.at("/x").options.at("port"), "20049");
}

// Three octal digits stand for a byte; anything else behind a backslash is itself.
TEST(Mountinfo, EscapedBytes) {
  const std::pair<const char*, const char*> rows[] = {
      {"/a\\040b", "/a b"}, {"/a\\011b", "/a\tb"},  {"/a\\134b", "/a\\b"}, {"/a\\", "/a\\"},
      {"/a\\04", "/a\\04"}, {"/a\\09x", "/a\\09x"}, {"/a\\x20", "/a\\x20"}};
  for (const auto& [written, path] : rows) {
    const auto mounts = parse_mountinfo("36 35 98:0 / " + std::string(written) + " rw - nfs4 a:/b rw");
    EXPECT_TRUE(mounts.contains(path)) << written;
  }
}

TEST(Mountinfo, EscapedBytesOfOptions) {
  const auto mounts =
      parse_mountinfo("36 35 0:30 / / rw - overlay o rw,lowerdir=/my\\040data,upperdir=/a\\040b");
  EXPECT_EQ(mounts.at("/").options.at("lowerdir"), "/my data");
  EXPECT_EQ(mounts.at("/").options.at("upperdir"), "/a b");
}

// systemd.automount(5): the first access mounts, and the file system covers the trigger.
TEST(Mountinfo, APathThatAnAccessWouldMount) {
  const std::string root = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
  const std::string trigger = "30 22 0:33 / /boot rw - autofs systemd-1 rw,fd=35,direct\n";
  const std::string mounted = "31 30 8:2 / /boot rw - vfat /dev/sda2 rw\n";
  EXPECT_FALSE(waits_for_access("/boot/loader", parse_mountinfo(root)));
  EXPECT_TRUE(waits_for_access("/boot/loader", parse_mountinfo(root + trigger)));
  EXPECT_TRUE(waits_for_access("/boot", parse_mountinfo(root + trigger)));
  EXPECT_FALSE(waits_for_access("/bootleg", parse_mountinfo(root + trigger)));
  EXPECT_FALSE(waits_for_access("/boot/loader", parse_mountinfo(root + trigger + mounted)));
  EXPECT_FALSE(waits_for_access("/boot/loader", {})) << "nothing is known";
}

/// fsname= of FUSE, and the first argument of mount(8), are any text.
TEST(Mountinfo, TheSourceOfAUsersMountNamesNoDisk) {
  const auto mounts = parse_mountinfo(
      "30 22 0:33 / /a rw - fuse.sshfs /dev/sdb rw,user_id=1000,group_id=1000\n"
      "31 22 0:34 / /b rw - tmpfs /dev/sdb rw\n"
      "32 22 0:35 / /c rw - fuse /dev/sdb rw\n"
      "33 22 0:36 / /d rw - fuse.apfs /dev/sdb rw,user_id=0,group_id=0\n"
      "34 22 8:16 / /e rw - ext4 /dev/sdb rw\n"
      "35 22 8:17 / /f rw - fuseblk /dev/sdb1 rw,user_id=0,group_id=0\n");
  for (const auto* path : {"/a", "/b", "/c"}) EXPECT_TRUE(is_anybodys(mounts.at(path))) << path;
  for (const auto* path : {"/d", "/e", "/f"}) EXPECT_FALSE(is_anybodys(mounts.at(path))) << path;
}

TEST(Fstab, LinesAreByPath) {
  const auto* text =
      "# comment\nUUID=1 / ext4 defaults 0 1\n\na:/b\t/my\\040data/ nfs4 ro 0 0\n#x /off nfs\nbad /y\n";
  EXPECT_THAT(parse_fstab(text), ElementsAre(Pair("/", 2), Pair("/my data", 4)));
}

}  // namespace
}  // namespace rdmacfg::kinds
