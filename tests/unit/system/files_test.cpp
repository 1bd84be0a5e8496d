// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/unique_fd.hpp"
#include "model/limits.hpp"
#include "system/linux/linux_host.hpp"
#include "system/temporary_file.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FilesTest : public ::testing::Test {
 protected:
  struct stat status(const std::string& below) const {
    struct stat out {};
    EXPECT_EQ(::lstat(tree.at(below).c_str(), &out), 0) << below;
    return out;
  }

  TempTree tree;
  std::unique_ptr<Files> files = make_linux_files(tree.path());
};

TEST_F(FilesTest, WritesReadsAndRemoves) {
  ASSERT_TRUE(files->write("/etc/udev/rules.d/70-x.rules", "one\n"));
  EXPECT_EQ(tree.get("/etc/udev/rules.d/70-x.rules"), "one\n");
  EXPECT_EQ(files->read("/etc/udev/rules.d/70-x.rules").value(), std::optional<std::string>("one\n"));
  EXPECT_THAT(files->list("/etc/udev/rules.d").value(), ElementsAre("70-x.rules"));
  ASSERT_TRUE(files->remove("/etc/udev/rules.d/70-x.rules"));
  ASSERT_TRUE(files->remove("/etc/udev/rules.d/70-x.rules"));
  EXPECT_EQ(files->read("/etc/udev/rules.d/70-x.rules").value(), std::optional<std::string>());
  EXPECT_THAT(files->list("/etc/udev/rules.d").value(), IsEmpty());
}

TEST_F(FilesTest, RenamesWhateverIsThere) {
  ASSERT_TRUE(files->write("/s/a", "one"));
  ASSERT_TRUE(files->write("/s/b", "two"));
  ASSERT_TRUE(files->rename("/s/a", "/s/b"));
  EXPECT_EQ(tree.get("/s/b"), "one") << "in the place of another file";
  EXPECT_THAT(files->list("/s").value(), ElementsAre("b"));
  ASSERT_EQ(::symlink("/dev/null", tree.at("/s/link").c_str()), 0);
  ASSERT_EQ(::mkdir(tree.at("/s/folder").c_str(), 0755), 0);
  EXPECT_TRUE(files->rename("/s/link", "/s/link.1"));
  EXPECT_TRUE(files->rename("/s/folder", "/s/folder.1"));
  EXPECT_THAT(files->list("/s").value(), ElementsAre("b", "folder.1", "link.1"));
  EXPECT_TRUE(S_ISLNK(status("/s/link.1").st_mode));
  EXPECT_TRUE(files->rename("/s/none", "/s/b")) << "nothing to rename is not an error";
  EXPECT_EQ(tree.get("/s/b"), "one");
  EXPECT_FALSE(files->rename("/s/b", "/s/folder.1")) << "a folder is not replaced";
}

/// The daemon writes its own records while others clear away what killed runs have left.
TEST_F(FilesTest, ATemporaryFileThatIsBeingWrittenStays) {
  const auto name = "/s/" + std::string(kTemporaryFile) + "aB3xYz";
  tree.put(name, "x");
  {
    const base::UniqueFd writer(::open(tree.at(name).c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(writer.get(), LOCK_EX), 0);
    EXPECT_TRUE(files->remove(name));
    EXPECT_EQ(tree.get(name), "x");
  }
  EXPECT_TRUE(files->remove(name));
  EXPECT_FALSE(std::filesystem::exists(tree.at(name))) << "its writer was killed";
}

/// A journal of 50,000 changes is longer than a file for another program may be.
TEST_F(FilesTest, RecordsMayBeLonger) {
  const std::string text(model::limits::kRecordBytes, 'x'), record = "/var/lib/rdma-configd/journal.json";
  ASSERT_TRUE(files->write_private(record, text));
  EXPECT_EQ(files->read(record).value(), text);
  const auto beyond = files->write_private(record, text + "y");
  ASSERT_FALSE(beyond);
  EXPECT_THAT(beyond.error().message, HasSubstr("are more than the 67108864 allowed"));
  EXPECT_EQ(files->read(record).value(), text) << "what was there stays";
  std::ofstream(tree.at(record), std::ios::app) << "y";
  ASSERT_FALSE(files->read(record));
  EXPECT_TRUE(is_unusable(files->read(record).error())) << "it is set aside as damaged";
  EXPECT_TRUE(files->write_private("/run/rdma-configd/held.json", text));
  EXPECT_FALSE(files->write("/etc/other", text));
  EXPECT_FALSE(files->write("/var/lib/rdma-configd/generations/1.json", text));
}

/// Users lengthen it by mounts of their own.
TEST_F(FilesTest, TheTableOfMountsMayBeAsLong) {
  const std::string text(model::limits::kRecordBytes, 'x');
  for (const std::string table : {"/proc/1/mountinfo", "/proc/self/mountinfo"}) {
    tree.put(table, text);
    const auto read = files->read(table);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->value().size(), text.size());
    std::ofstream(tree.at(table), std::ios::app) << "y";
    EXPECT_FALSE(files->read(table));
  }
  tree.put("/proc/1/mounts", text);
  EXPECT_FALSE(files->read("/proc/1/mounts"));
}

TEST_F(FilesTest, RenamesWithinAFolderOnly) {
  ASSERT_TRUE(files->write("/s/a", "one"));
  ASSERT_TRUE(files->write("/t/b", "two"));
  for (const std::string target : {"/t/a", "/a", "/s/../t/a", "/s/", ""}) {
    const auto done = files->rename("/s/a", target);
    ASSERT_FALSE(done) << target;
    EXPECT_EQ(done.error().code, base::Code::kInvalid) << target;
  }
  EXPECT_EQ(tree.get("/s/a"), "one");
}

TEST_F(FilesTest, AbsentIsNoError) {
  EXPECT_EQ(files->read("/no/such/file").value(), std::optional<std::string>());
  EXPECT_TRUE(files->remove("/no/such/file"));
  EXPECT_THAT(files->list("/no/such").value(), IsEmpty());
}

TEST_F(FilesTest, ModesDoNotDependOnTheUmask) {
  const mode_t before = ::umask(0077);
  EXPECT_TRUE(files->write("/a/b/c", "x"));
  ::umask(before);
  EXPECT_EQ(status("/a/b/c").st_mode & 07777U, 0644U);
  EXPECT_EQ(status("/a/b").st_mode & 07777U, 0755U);
  EXPECT_EQ(status("/a").st_mode & 07777U, 0755U);
}

TEST_F(FilesTest, EqualIsNotRewritten) {
  ASSERT_TRUE(files->write("/f", "same"));
  const auto inode = status("/f").st_ino;
  ASSERT_TRUE(files->write("/f", "same"));
  EXPECT_EQ(status("/f").st_ino, inode);
  ASSERT_TRUE(files->write("/f", "other"));
  EXPECT_NE(status("/f").st_ino, inode);
  EXPECT_THAT(files->list("/").value(), ElementsAre("f"));
}

TEST_F(FilesTest, AnotherModeIsRewritten) {
  ASSERT_TRUE(files->write("/f", "same"));
  ASSERT_EQ(::chmod(tree.at("/f").c_str(), 0666), 0);
  ASSERT_TRUE(files->write("/f", "same"));
  EXPECT_EQ(status("/f").st_mode & 07777U, 0644U);
}

TEST_F(FilesTest, WhatFewerMayReadStaysSo) {
  ASSERT_TRUE(files->write("/opensm.conf", "m_key 0x1\n"));
  ASSERT_EQ(::chmod(tree.at("/opensm.conf").c_str(), 0640), 0);
  ASSERT_TRUE(files->write("/opensm.conf", "m_key 0x2\n"));
  EXPECT_EQ(status("/opensm.conf").st_mode & 07777U, 0640U);
  ASSERT_EQ(::chmod(tree.at("/opensm.conf").c_str(), 0600), 0);
  ASSERT_TRUE(files->write("/opensm.conf", "m_key 0x3\n"));
  EXPECT_EQ(status("/opensm.conf").st_mode & 07777U, 0600U);
  const auto inode = status("/opensm.conf").st_ino;
  ASSERT_TRUE(files->write("/opensm.conf", "m_key 0x3\n"));
  EXPECT_EQ(status("/opensm.conf").st_ino, inode);
}

/// A file's group that is not this process's own.
constexpr gid_t kGroup = 12345;

TEST_F(FilesTest, NoOtherGroupGetsToReadIt) {
  ASSERT_TRUE(files->write("/opensm.conf", "m_key 0x1\n"));
  if (::chown(tree.at("/opensm.conf").c_str(), ::geteuid(), kGroup) != 0) GTEST_SKIP() << "not root";
  ASSERT_EQ(::chmod(tree.at("/opensm.conf").c_str(), 0640), 0);
  ASSERT_TRUE(files->write("/opensm.conf", "m_key 0x2\n"));
  EXPECT_EQ(status("/opensm.conf").st_mode & 07777U, 0640U);
  EXPECT_EQ(status("/opensm.conf").st_gid, kGroup) << "the group that may read it is the same";
  const auto inode = status("/opensm.conf").st_ino;
  ASSERT_TRUE(files->write("/opensm.conf", "m_key 0x2\n"));
  EXPECT_EQ(status("/opensm.conf").st_ino, inode);
}

TEST_F(FilesTest, WhatIsRemovedAndComesBackIsForAsFewAsBefore) {
  for (const mode_t mode : {0600U, 0640U, 0644U}) {
    ASSERT_TRUE(files->write("/opensm.conf", "m_key 0x1\n"));
    ASSERT_EQ(::chmod(tree.at("/opensm.conf").c_str(), mode), 0);
    const bool given = ::chown(tree.at("/opensm.conf").c_str(), ::geteuid(), kGroup) == 0;
    ASSERT_TRUE(files->remove("/opensm.conf"));
    ASSERT_TRUE(files->write("/opensm.conf", "m_key 0x1\n"));
    EXPECT_EQ(status("/opensm.conf").st_mode & 07777U, mode);
    if (given && mode == 0640U) {
      EXPECT_EQ(status("/opensm.conf").st_gid, kGroup);
    }
    ASSERT_TRUE(files->remove("/opensm.conf"));
    files = make_linux_files(tree.path());  // a later run: the file is a new one
  }
  ASSERT_TRUE(files->write("/opensm.conf", "x"));
  EXPECT_EQ(status("/opensm.conf").st_mode & 07777U, 0644U);
}

/// Writes as a user who may give a file to no other group; root's own files are given to that user.
class FilesOfAUserTest : public FilesTest {
 protected:
  static constexpr uid_t kUser = 54321;

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "not root";
    ASSERT_EQ(::chmod(tree.path().c_str(), 0755), 0);
    ASSERT_EQ(::chown(tree.path().c_str(), kUser, kUser), 0);
  }
  void TearDown() override {
    if (::getuid() == 0) become(0);
  }

  /// A file of the user with the group `kGroup`, changed by the user.
  void change(const std::string& path, bool edits = false, mode_t mode = 0640) {
    const auto write = [&](const char* text) {
      return edits ? files->edit(path, text) : files->write(path, text);
    };
    ASSERT_TRUE(files->write(path, "one\n"));
    ASSERT_EQ(::chown(tree.at(path).c_str(), kUser, kGroup), 0);
    ASSERT_EQ(::chmod(tree.at(path).c_str(), mode), 0);
    become(kUser);
    const auto done = write("two\n");
    EXPECT_TRUE(done) << done.error().message;
    const auto inode = status(path).st_ino;
    EXPECT_TRUE(write("two\n"));
    EXPECT_EQ(status(path).st_ino, inode) << "once is enough";
  }

  static void become(uid_t user) {
    const bool done =
        user == 0 ? ::seteuid(0) == 0 && ::setegid(0) == 0 : ::setegid(user) == 0 && ::seteuid(user) == 0;
    EXPECT_TRUE(done) << user;
  }
};

TEST_F(FilesOfAUserTest, NoOtherGroupGetsToReadIt) {
  change("/opensm.conf");
  EXPECT_EQ(status("/opensm.conf").st_mode & 07777U, 0600U);
  EXPECT_NE(status("/opensm.conf").st_gid, kGroup);
}

TEST_F(FilesOfAUserTest, NoOtherGroupGetsToReadItOnceItIsEdited) {
  change("/opensm.conf", true);
  EXPECT_EQ(status("/opensm.conf").st_mode & 07777U, 0600U);
  EXPECT_NE(status("/opensm.conf").st_gid, kGroup);
}

TEST_F(FilesOfAUserTest, MembersOfAGroupThatIsLostMayDoNoMoreThanBefore) {
  for (const auto& [before, after] :
       {std::pair{0604U, 0600U}, {0646U, 0604U}, {0664U, 0604U}, {0644U, 0604U}, {0660U, 0600U}}) {
    const auto path = fmt::format("/partitions-{:o}.conf", before);
    change(path, true, before);
    become(0);
    EXPECT_EQ(status(path).st_mode & 07777U, after) << path;
    EXPECT_NE(status(path).st_gid, kGroup);
  }
}

TEST_F(FilesOfAUserTest, AFileOfAnotherUserBecomesThatOfTheEditor) {
  constexpr uid_t kSomebody = 54322;
  tree.put("/opensm.conf", "one\n");
  const auto path = tree.at("/opensm.conf");
  ASSERT_EQ(::chown(path.c_str(), kSomebody, kGroup), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  become(kUser);
  for (const auto* text : {"two\n", "three\n"}) {
    const auto done = files->edit("/opensm.conf", text);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(files->read("/opensm.conf").value(), std::optional<std::string>(text));
  }
  EXPECT_EQ(status("/opensm.conf").st_uid, kUser);
  EXPECT_EQ(status("/opensm.conf").st_mode & 07777U, 0604U);
}

TEST_F(FilesOfAUserTest, WhoeverAnAccessListRefusesStaysRefused) {
  constexpr const char* kName = "system.posix_acl_access";
  // user::rw-, user:4242:---, group::r--, mask::r--, other::r-- (linux/posix_acl_xattr.h)
  constexpr std::array<unsigned char, 44> kList{2,    0, 0, 0,                          //
                                                1,    0, 6, 0, 0xff, 0xff, 0xff, 0xff,  //
                                                2,    0, 0, 0, 0x92, 0x10, 0,    0,     //
                                                4,    0, 4, 0, 0xff, 0xff, 0xff, 0xff,  //
                                                0x10, 0, 4, 0, 0xff, 0xff, 0xff, 0xff,  //
                                                0x20, 0, 4, 0, 0xff, 0xff, 0xff, 0xff};
  tree.put("/opensm.conf", "one\n");
  const auto path = tree.at("/opensm.conf");
  ASSERT_EQ(::chown(path.c_str(), kUser, kGroup), 0);
  if (::setxattr(path.c_str(), kName, kList.data(), kList.size(), 0) != 0)
    GTEST_SKIP() << "this file system has no access control lists";
  become(kUser);
  ASSERT_TRUE(files->edit("/opensm.conf", "two\n"));
  EXPECT_EQ(status("/opensm.conf").st_mode & 07777U, 0600U) << "the mask, and the others";
}

TEST_F(FilesOfAUserTest, WhatIsOursStaysReadable) {
  change("/09-rdma-configd-ib0.network");
  EXPECT_EQ(status("/09-rdma-configd-ib0.network").st_mode & 07777U, 0644U);
}

TEST_F(FilesTest, AnEditKeepsOwnerGroupAndMode) {
  tree.put("/partitions.conf", "one\n");
  ASSERT_EQ(::chmod(tree.at("/partitions.conf").c_str(), 0664), 0);
  const bool given = ::chown(tree.at("/partitions.conf").c_str(), 54321, kGroup) == 0;
  const auto before = status("/partitions.conf");
  ASSERT_TRUE(files->edit("/partitions.conf", "two\n"));
  const auto after = status("/partitions.conf");
  EXPECT_EQ(tree.get("/partitions.conf"), "two\n");
  EXPECT_NE(after.st_ino, before.st_ino) << "it is replaced as a whole";
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_uid, before.st_uid) << given;
  EXPECT_EQ(after.st_gid, before.st_gid) << given;
  ASSERT_TRUE(files->edit("/partitions.conf", "two\n"));
  EXPECT_EQ(status("/partitions.conf").st_ino, after.st_ino);
}

TEST_F(FilesTest, AnEditMakesAFileLikeAnyOther) {
  ASSERT_TRUE(files->edit("/a/partitions.conf", "one\n"));
  EXPECT_EQ(status("/a/partitions.conf").st_mode & 07777U, 0644U);
}

TEST_F(FilesTest, AnEditKeepsTheAccessList) {
  constexpr const char* kName = "system.posix_acl_access";
  // user::rw-, user:4242:r--, group::r--, mask::rw-, other::--- (linux/posix_acl_xattr.h)
  constexpr std::array<unsigned char, 44> kList{2,    0, 0, 0,                          //
                                                1,    0, 6, 0, 0xff, 0xff, 0xff, 0xff,  //
                                                2,    0, 4, 0, 0x92, 0x10, 0,    0,     //
                                                4,    0, 4, 0, 0xff, 0xff, 0xff, 0xff,  //
                                                0x10, 0, 6, 0, 0xff, 0xff, 0xff, 0xff,  //
                                                0x20, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
  tree.put("/opensm.conf", "one\n");
  const auto path = tree.at("/opensm.conf");
  if (::setxattr(path.c_str(), kName, kList.data(), kList.size(), 0) != 0)
    GTEST_SKIP() << "this file system has no access control lists";
  const auto mode = status("/opensm.conf").st_mode;
  ASSERT_TRUE(files->edit("/opensm.conf", "two\n"));
  std::array<unsigned char, 100> list{};
  const auto length = ::getxattr(path.c_str(), kName, list.data(), list.size());
  ASSERT_EQ(length, static_cast<ssize_t>(kList.size()));
  EXPECT_TRUE(std::equal(kList.begin(), kList.end(), list.begin()));
  EXPECT_EQ(status("/opensm.conf").st_mode, mode);
}

TEST_F(FilesTest, ALabelIsKept) {
  constexpr std::string_view kLabel = "system_u:object_r:mine_t:s0";
  ASSERT_TRUE(files->write("/f", "one"));
  const auto path = tree.at("/f");
  if (::setxattr(path.c_str(), "security.selinux", kLabel.data(), kLabel.size(), 0) != 0) {
    GTEST_SKIP() << "this file system takes no label from this user";
  }
  ASSERT_TRUE(files->write("/f", "two"));
  std::array<char, 100> label{};
  const auto length = ::getxattr(path.c_str(), "security.selinux", label.data(), label.size());
  ASSERT_GT(length, 0);
  EXPECT_EQ(std::string_view(label.data(), static_cast<std::size_t>(length)), kLabel);
}

TEST_F(FilesTest, NeverThroughASymlink) {
  tree.put("/secret", "untouched");
  tree.link("/etc/link", "../secret");
  tree.link("/etc/dangling", "nowhere");
  for (const auto* path : {"/etc/link", "/etc/dangling"}) {
    EXPECT_THAT(files->read(path).error().message, HasSubstr("symbolic link")) << path;
    EXPECT_THAT(files->write(path, "evil").error().message, HasSubstr("symbolic link")) << path;
    EXPECT_THAT(files->remove(path).error().message, HasSubstr("symbolic link")) << path;
  }
  EXPECT_EQ(tree.get("/secret"), "untouched");
  EXPECT_FALSE(std::filesystem::exists(tree.at("/etc/nowhere")));
  EXPECT_THAT(files->list("/etc").value(), ElementsAre("dangling", "link"));
}

TEST_F(FilesTest, FoldersMayBeLinksButStayBelowTheRoot) {
  TempTree outside;
  outside.put("/f", "outside");
  tree.put("/real/f", "inside");
  tree.link("/absolute", "/real");
  tree.link("/escape", outside.path());
  tree.link("/up", "../../../../../../../../real");
  EXPECT_EQ(files->read("/absolute/f").value(), std::optional<std::string>("inside"));
  EXPECT_EQ(files->read("/up/f").value(), std::optional<std::string>("inside"));
  EXPECT_EQ(files->read("/../../../real/f").value(), std::optional<std::string>("inside"));
  EXPECT_EQ(files->read("/escape/f").value(), std::optional<std::string>());
  EXPECT_FALSE(files->write("/escape/g", "x"));
  EXPECT_FALSE(std::filesystem::exists(outside.at("/g")));
}

TEST_F(FilesTest, OnlyRegularFiles) {
  ASSERT_EQ(::mkfifo(tree.at("/fifo").c_str(), 0644), 0);
  std::filesystem::create_directory(tree.at("/folder"));
  EXPECT_THAT(files->read("/fifo").error().message, HasSubstr("a FIFO"));
  EXPECT_THAT(files->write("/fifo", "x").error().message, HasSubstr("a FIFO"));
  EXPECT_THAT(files->read("/folder").error().message, HasSubstr("a directory"));
  EXPECT_THAT(files->write("/folder", "x").error().message, HasSubstr("a directory"));
  EXPECT_THAT(files->remove("/folder").error().message, HasSubstr("a directory"));
  EXPECT_FALSE(files->list("/fifo"));
}

TEST_F(FilesTest, OnlyALinkToDevNullMasks) {
  tree.put("/etc/empty", "");
  tree.link("/etc/mask", "/dev/null");
  tree.link("/etc/other", "/dev/nullx");
  tree.link("/etc/short", "/dev");
  EXPECT_TRUE(files->masks("/etc/mask"));
  for (const auto* path : {"/etc/empty", "/etc/other", "/etc/short", "/etc/none", "/none/mask", "relative"})
    EXPECT_FALSE(files->masks(path)) << path;
}

TEST_F(FilesTest, TellsWhenAFileWasCreatedWhereThatIsKnown) {
  tree.put("/first", "");
  tree.put("/second", "");
  EXPECT_EQ(files->born("/none"), std::nullopt);
  const auto first = files->born("/first"), second = files->born("/second");
  if (!first || !second) GTEST_SKIP() << "this file system does not tell";
  EXPECT_LE(*first, *second);
  EXPECT_GT(*first, 1'600'000'000'000'000U) << "microseconds since 1970";
  tree.put("/first", "changed");
  EXPECT_EQ(files->born("/first"), first);
}

TEST_F(FilesTest, TellsWhenAFileWasLastWrittenAlsoThroughALink) {
  tree.put("/etc/file", "");
  tree.link("/etc/link", "file");
  EXPECT_EQ(files->modified("/etc/none"), std::nullopt);
  const std::array<timespec, 2> times{timespec{1'700'000'000, 0}, timespec{1'700'000'001, 5'000}};
  ASSERT_EQ(::utimensat(AT_FDCWD, tree.at("/etc/file").c_str(), times.data(), 0), 0);
  EXPECT_EQ(files->modified("/etc/file"), 1'700'000'001'000'005U);
  EXPECT_EQ(files->modified("/etc/link"), 1'700'000'001'000'005U);
}

TEST_F(FilesTest, LinksOfOthersAreReadThrough) {
  tree.put("/srv/theirs", "text");
  tree.link("/etc/absolute", "/srv/theirs");
  tree.link("/etc/relative", "../srv/./theirs");
  tree.link("/etc/chain", "absolute");
  tree.link("/etc/loop", "loop");
  tree.link("/etc/dangling", "/srv/none");
  for (const auto* path : {"/srv/theirs", "/etc/absolute", "/etc/relative", "/etc/chain"}) {
    EXPECT_EQ(files->read_linked(path).value_or(std::nullopt), std::optional<std::string>("text")) << path;
  }
  tree.put("/usr/local/common", "beside its target");
  tree.put("/etc/common", "beside the link to its folder");
  tree.link("/usr/local/d/file", "../common");
  tree.link("/etc/d", "/usr/local/d");
  EXPECT_EQ(files->read_linked("/etc/d/file").value_or(std::nullopt),
            std::optional<std::string>("beside its target"));
  EXPECT_FALSE(files->read("/etc/absolute"));
  EXPECT_THAT(files->read_linked("/etc/loop").error().message, HasSubstr("a symbolic link"));
  EXPECT_EQ(files->read_linked("/etc/dangling").value(), std::nullopt);
  EXPECT_EQ(files->read_linked("/etc/none").value(), std::nullopt);
}

TEST_F(FilesTest, LongOnesAreRefusedWhenReadAndCanBeReplaced) {
  ASSERT_TRUE(files->write("/edge", std::string(4U << 20U, 'x')));
  EXPECT_EQ(files->read("/edge").value()->size(), 4U << 20U);
  tree.put("/long", std::string((4U << 20U) + 1, 'x'));
  EXPECT_THAT(files->read("/long").error().message, HasSubstr("longer than 4 MiB"));
  EXPECT_FALSE(files->write("/edge", std::string((4U << 20U) + 1, 'x')));
  ASSERT_EQ(::chmod(tree.at("/long").c_str(), 0600), 0);
  ASSERT_TRUE(files->write("/long", "short"));
  EXPECT_EQ(files->read("/long").value(), std::optional<std::string>("short"));
  EXPECT_EQ(status("/long").st_mode & 07777U, 0600U) << "it is for no more readers";
}

TEST_F(FilesTest, SyncsFoldersThatAreThere) {
  ASSERT_TRUE(files->write("/a/f", "x"));
  EXPECT_TRUE(files->sync("/a"));
  EXPECT_TRUE(files->sync("/none"));
  EXPECT_FALSE(files->sync("/a/f")) << "a file";
}

TEST_F(FilesTest, RefusesWhatIsNoFilePath) {
  for (const auto* path : {"", "/", "relative", "/a/", "/a/..", "/."}) {
    EXPECT_EQ(files->write(path, "x").error().code, base::Code::kInvalid) << path;
  }
}

TEST_F(FilesTest, NamesTheFileWithItsRoot) {
  tree.put("/a", "not a folder");
  EXPECT_THAT(files->write("/a/b", "x").error().message, HasSubstr(tree.at("/a").native()));
  EXPECT_THAT(make_linux_files("/no/such/root")->write("/f", "x").error().message,
              HasSubstr("/no/such/root"));
}

TEST_F(FilesTest, SaysWhatOthersMayRead) {
  namespace fs = std::filesystem;
  const auto mode = [&](fs::perms perms) { fs::permissions(tree.at("/f"), perms); };
  tree.put("/f", "x");
  mode(fs::perms::owner_read | fs::perms::others_read);
  EXPECT_TRUE(files->open_to_others("/f"));
  mode(fs::perms::owner_all | fs::perms::group_write);
  EXPECT_TRUE(files->open_to_others("/f"));
  mode(fs::perms::owner_all);
  EXPECT_EQ(files->open_to_others("/f"), ::geteuid() != 0) << "another owner than root";
  EXPECT_FALSE(files->open_to_others("/none"));
}

TEST_F(FilesTest, SaysWhatNobodyMayExecute) {
  namespace fs = std::filesystem;
  tree.put("/etc/rc.d/rc.local", "x");
  tree.link("/etc/rc.local", "rc.d/rc.local");
  const auto mode = [&](fs::perms perms) { fs::permissions(tree.at("/etc/rc.d/rc.local"), perms); };
  mode(fs::perms::owner_read);
  EXPECT_TRUE(files->not_executable("/etc/rc.d/rc.local"));
  EXPECT_TRUE(files->not_executable("/etc/rc.local")) << "by the file that the link leads to";
  mode(fs::perms::owner_read | fs::perms::group_exec);
  EXPECT_FALSE(files->not_executable("/etc/rc.local"));
  EXPECT_FALSE(files->not_executable("/none"));
}

TEST_F(FilesTest, HiddenIsWhatOthersCannotReachOnTheResolvedWay) {
  namespace fs = std::filesystem;
  tree.put("/srv/secret/sub/file", "x");
  tree.put("/srv/open/file", "x");
  tree.link("/etc/absolute", "/srv/secret/sub/file");
  tree.link("/etc/relative", "../srv/secret/sub/../sub/file");
  tree.link("/etc/folder", "/srv/secret/sub");
  tree.link("/etc/chain", "folder");
  tree.link("/etc/open", "../srv/open");
  tree.link("/etc/loop", "loop");
  const std::vector<std::string> through{"/srv/secret/sub/file", "/etc/absolute", "/etc/relative",
                                         "/etc/folder/file", "/etc/chain/file"};
  const auto mode = [&](const char* below, unsigned bits) {
    fs::permissions(tree.at(below), static_cast<fs::perms>(bits));
  };
  for (const auto* folder : {"/srv", "/srv/secret", "/srv/secret/sub", "/srv/open", "/etc"})
    mode(folder, 0755);
  for (const auto* file : {"/srv/secret/sub/file", "/srv/open/file"}) mode(file, 0644);
  for (const auto& path : through) EXPECT_FALSE(files->hidden(path)) << path;
  mode("/srv/secret", 0750);
  for (const auto& path : through) EXPECT_TRUE(files->hidden(path)) << path;
  EXPECT_FALSE(files->hidden("/etc/open/file"));
  mode("/srv/secret", 0711);
  for (const auto& path : through) EXPECT_FALSE(files->hidden(path)) << path << ": it may be entered";
  mode("/srv/secret/sub/file", 0640);
  for (const auto& path : through) EXPECT_TRUE(files->hidden(path)) << path;
  for (const auto* path : {"/etc/loop", "/etc/none", "/none/file", "/srv/open/file/below", "/"})
    EXPECT_FALSE(files->hidden(path)) << path;
  EXPECT_TRUE(files->hidden("/etc/" + std::string(300, 'x'))) << "nobody knows its mode";
}

TEST_F(FilesTest, SaysWhichModesItWouldNotHaveWritten) {
  const auto odd = [&](unsigned mode, Readers readers) {
    std::filesystem::permissions(tree.at("/f"), static_cast<std::filesystem::perms>(mode));
    return files->odd_access("/f", readers);
  };
  EXPECT_EQ(files->odd_access("/none", Readers::kEverybody), "");
  ASSERT_TRUE(files->write("/f", "x"));
  EXPECT_EQ(files->odd_access("/f", Readers::kEverybody), "");
  EXPECT_EQ(odd(0666, Readers::kEverybody), "mode 0666");
  EXPECT_EQ(odd(0755, Readers::kEverybody), "mode 0755");
  EXPECT_EQ(odd(0640, Readers::kEverybody), "") << "an administrator may let fewer read it";
  EXPECT_EQ(odd(0600, Readers::kEverybody), "");
  EXPECT_EQ(odd(0600, Readers::kRoot), "");
  EXPECT_EQ(odd(0644, Readers::kRoot), "mode 0644");
  ASSERT_TRUE(files->write_private("/f", "x"));
  EXPECT_EQ(files->odd_access("/f", Readers::kRoot), "") << "writing it again puts it right";
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(tree.at("/f").c_str(), 65534, 0), 0);
  EXPECT_EQ(files->odd_access("/f", Readers::kRoot), "owner 65534");
  ASSERT_TRUE(files->write_private("/f", "x"));
  EXPECT_EQ(files->odd_access("/f", Readers::kRoot), "");
}

TEST(FilesOfTheMachine, FilesWithoutASizeAreReadToTheirEnd) {
  const auto files = make_linux_files();
  const auto text = files->read("/proc/self/status");
  ASSERT_TRUE(text && *text);
  EXPECT_THAT(**text, HasSubstr("VmPeak"));
}

// The machine's own root, with hostile links in folders that are written.
class HostileLinks : public ::testing::Test {
 protected:
  std::string at(const std::string& below) const { return tree.at(below).native(); }
  void expect_refused(const std::string& below) {
    EXPECT_THAT(files->write(at(below), "evil").error().message, HasSubstr("leads out of /")) << below;
    EXPECT_THAT(files->write_private(at(below), "evil").error().message, HasSubstr("leads out of /"));
    EXPECT_THAT(files->remove(at(below)).error().message, HasSubstr("leads out of /")) << below;
  }

  TempTree tree;
  std::unique_ptr<Files> files = make_linux_files();
};

TEST_F(HostileLinks, NothingIsWrittenOrRemovedThroughAnAbsoluteOne) {
  tree.put("/outside/f", "untouched");
  tree.link("/etc/rules.d", at("/outside"));
  expect_refused("/etc/rules.d/f");
  expect_refused("/etc/rules.d/new/g");
  EXPECT_EQ(tree.get("/outside/f"), "untouched");
  EXPECT_THAT(files->list(at("/outside")).value(), ElementsAre("f"));
  EXPECT_EQ(files->read(at("/etc/rules.d/f")).value(), std::optional<std::string>("untouched"));
}

TEST_F(HostileLinks, NothingIsWrittenThroughOneThatClimbsOutOfItsTopFolder) {
  std::string up;
  for (int i = 0; i < 40; ++i) up += "../";
  tree.link("/etc/rules.d", up + "proc");
  expect_refused("/etc/rules.d/f");
}

TEST_F(HostileLinks, OneThatStaysInsideIsFollowed) {
  tree.put("/etc/real/f", "old");
  tree.link("/etc/rules.d", "real");
  ASSERT_TRUE(files->write(at("/etc/rules.d/f"), "new"));
  EXPECT_EQ(tree.get("/etc/real/f"), "new");
}

TEST_F(HostileLinks, ALoopAndADanglingOneAreErrors) {
  tree.link("/etc/loop", "loop");
  tree.link("/etc/dangling", "nowhere");
  EXPECT_FALSE(files->write(at("/etc/loop/f"), "x"));
  EXPECT_FALSE(files->write(at("/etc/dangling/f"), "x"));
  EXPECT_FALSE(std::filesystem::exists(at("/etc/nowhere")));
}

TEST_F(HostileLinks, AFileThatTurnsIntoALinkIsReplacedNeverFollowed) {
  tree.put("/victim", "untouched");
  ASSERT_TRUE(files->write(at("/etc/f"), "ours"));
  std::filesystem::remove(at("/etc/f"));
  tree.link("/etc/f", "../victim");
  EXPECT_THAT(files->write(at("/etc/f"), "evil").error().message, HasSubstr("symbolic link"));
  EXPECT_EQ(tree.get("/victim"), "untouched");
}

}  // namespace
}  // namespace rdmacfg::system
