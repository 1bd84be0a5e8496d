// SPDX-License-Identifier: Apache-2.0
#include "ctl/output_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "unit/temp_folder.hpp"

namespace rdmacfg::ctl {

/// How many folders the disk was asked to take.
std::atomic<int>& synced_folders() {
  static std::atomic<int> count{0};
  return count;
}

/// Called once, when the program has found a file and asks whether it may write to it.
std::function<void()>& at_access() {
  static std::function<void()> then;
  return then;
}

}  // namespace rdmacfg::ctl

/// In the place of the library's.
extern "C" int fsync(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) ++rdmacfg::ctl::synced_folders();
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

/// The same.
extern "C" int faccessat(int folder, const char* path, int mode, int /*flags*/) noexcept {
  if (const auto then = std::exchange(rdmacfg::ctl::at_access(), {})) then();
  return static_cast<int>(::syscall(SYS_faccessat, folder, path, mode));
}

namespace rdmacfg::ctl {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

std::string text_in(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

mode_t mode_in(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

/// Events of a folder, by name.
std::map<std::string, std::uint32_t> events_in(int inotify) {
  std::map<std::string, std::uint32_t> out;
  std::array<char, 8192> buffer{};
  for (ssize_t size = 0; (size = ::read(inotify, buffer.data(), buffer.size())) > 0;) {
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      if (event.len != 0) out[buffer.data() + at + sizeof event] |= event.mask;
      at += sizeof event + event.len;
    }
  }
  return out;
}

TEST(OutputFile, TheDiskHasTheNameToo) {
  const unit::TempFolder folder;
  for (const auto put : {&write_output, &write_private_output, &replace_output}) {
    for (const auto* text : {"new\n", "replaced\n"}) {
      const int before = synced_folders();
      ASSERT_TRUE(put(folder.path() / "file", text));
      EXPECT_EQ(text_in(folder.path() / "file"), text);
      EXPECT_GT(synced_folders(), before);
    }
    fs::remove(folder.path() / "file");
  }
}

TEST(OutputFile, APrivateOneIsNeverOpenToOthers) {
  const unit::TempFolder folder;
  std::ofstream(folder.path() / "old") << "x";
  fs::permissions(folder.path() / "old", fs::perms(0644));
  const base::UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(::inotify_add_watch(inotify.get(), folder.path().c_str(), IN_CREATE | IN_MOVED_TO | IN_MODIFY),
            0);
  for (const auto* name : {"new", "old"}) {
    ASSERT_TRUE(write_private_output(folder.path() / name, "secret"));
    EXPECT_EQ(mode_in(folder.path() / name), 0600U);
  }
  const auto events = events_in(inotify.get());
  for (const auto* name : {"new", "old"})
    EXPECT_EQ(events.at(name), static_cast<std::uint32_t>(IN_MOVED_TO)) << "it came with its mode";
}

TEST(OutputFile, ModesAreThoseOfTheUserOrOfTheFile) {
  const unit::TempFolder folder;
  const auto path = folder.path() / "file";
  const mode_t before = ::umask(027);
  const auto made = write_output(path, "x");
  ::umask(before);
  ASSERT_TRUE(made);
  EXPECT_EQ(mode_in(path), 0640U);
  fs::permissions(path, fs::perms(0604));
  ASSERT_TRUE(write_output(path, "y"));
  EXPECT_EQ(mode_in(path), 0604U);
}

TEST(OutputFile, WhatAKilledRunLeftIsRemoved) {
  const unit::TempFolder folder;
  const auto left = folder.path() / ".rdma-configd-aaaaaa", held = folder.path() / ".rdma-configd-bbbbbb";
  const auto own = folder.path() / ".rdma-configd-notes.toml";
  for (const auto& path : {left, held, own, folder.path() / ".other"}) std::ofstream(path) << "x";
  const base::UniqueFd living(::open(held.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(living.get(), LOCK_EX), 0);
  ASSERT_TRUE(write_output(folder.path() / "file", "x"));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    names.push_back(entry.path().filename().string());
  EXPECT_THAT(names,
              UnorderedElementsAre(".other", ".rdma-configd-bbbbbb", ".rdma-configd-notes.toml", "file"));
}

constexpr uid_t kStranger = 65534;

/// Gives a file or a link to somebody else.
void give_away(const fs::path& path) { ASSERT_EQ(::lchown(path.c_str(), kStranger, kStranger), 0); }

TEST(OutputFile, WhatOthersPutWhereEverybodyMayWriteIsLeftAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const unit::TempFolder folder;
  const auto shared = folder.path() / "shared", own = folder.path() / "own";
  fs::create_directory(shared);
  fs::permissions(shared, fs::perms(01777));
  std::ofstream(own) << "mine";
  std::ofstream(shared / "file") << "theirs";
  fs::create_symlink(own, shared / "link");
  fs::create_symlink(folder.path() / "none", shared / "dangling");
  fs::create_symlink(shared / "link", folder.path() / "by-way-of");
  for (const auto* name : {"file", "link", "dangling"}) give_away(shared / name);
  for (const auto put : {&write_output, &write_private_output}) {
    for (const auto& path :
         {shared / "file", shared / "link", shared / "dangling", folder.path() / "by-way-of"}) {
      const auto done = put(path, "x");
      ASSERT_FALSE(done) << path;
      EXPECT_EQ(done.error().code, base::Code::kDenied) << path;
    }
  }
  EXPECT_EQ(text_in(own), "mine");
  EXPECT_EQ(text_in(shared / "file"), "theirs");
  EXPECT_FALSE(fs::exists(folder.path() / "none"));
  fs::permissions(shared, fs::perms(0755));
  EXPECT_TRUE(write_output(shared / "link", "x")) << "only its owner can have put it there";
  EXPECT_EQ(text_in(own), "x");
}

TEST(OutputFile, OwnFilesAndLinksAreWrittenWhereEverybodyMayWrite) {
  const unit::TempFolder folder;
  fs::permissions(folder.path(), fs::perms(01777));
  std::ofstream(folder.path() / "file") << "old";
  fs::create_symlink("file", folder.path() / "link");
  ASSERT_TRUE(write_output(folder.path() / "link", "new"));
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(text_in(folder.path() / "file"), "new");
}

/// A link to it, such as /dev/stdout, has no path as its text; root could replace it.
TEST(OutputFile, WhatAProcessHasOpenIsWrittenTo) {
  const unit::TempFolder folder;
  const auto link = folder.path() / "link", file = folder.path() / "file";
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const base::UniqueFd reader(ends[0]), writer(ends[1]);
  const base::UniqueFd opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  ASSERT_TRUE(opened);
  const auto link_to = [&](int fd) {
    fs::remove(link);
    fs::create_symlink("/proc/self/fd/" + std::to_string(fd), link);
  };
  for (const auto put : {&write_output, &write_private_output, &replace_output}) {
    link_to(writer.get());
    ASSERT_TRUE(put(link, "x"));
    EXPECT_TRUE(fs::is_symlink(link));
    char byte = 0;
    ASSERT_EQ(::read(reader.get(), &byte, 1), 1);
    EXPECT_EQ(byte, 'x');
    link_to(opened.get());
    ASSERT_TRUE(put(link, "text"));
    EXPECT_TRUE(fs::is_symlink(link));
    std::array<char, 8> bytes{};
    EXPECT_EQ(::pread(opened.get(), bytes.data(), bytes.size(), 0), 4) << "it is the same file";
    EXPECT_EQ(::ftruncate(opened.get(), 0), 0);
  }
}

TEST(OutputFile, APrivateOneBelongsToWhoeverWritesIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const unit::TempFolder folder;
  const auto path = folder.path() / "file";
  struct stat status {};
  for (const auto put : {&write_output, &write_private_output}) {
    std::ofstream(path) << "old";
    give_away(path);
    ASSERT_TRUE(put(path, "secret"));
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, put == &write_output ? kStranger : 0U);
    fs::remove(path);
  }
}

/// The user of the folder would get a file of root's in a folder of root's.
TEST(OutputFile, AFolderThatIsExchangedForALinkIsNotFollowed) {
  const unit::TempFolder folder;
  const auto theirs = folder.path() / "theirs", moved = folder.path() / "moved", own = folder.path() / "own";
  for (const auto put : {&write_output, &write_private_output}) {
    fs::create_directory(theirs);
    fs::create_directory(own);
    std::ofstream(theirs / "file") << "old";
    at_access() = [&] {
      fs::rename(theirs, moved);
      fs::create_directory_symlink(own, theirs);
    };
    ASSERT_TRUE(put(theirs / "file", "new"));
    ASSERT_TRUE(fs::is_symlink(theirs)) << "it was exchanged";
    EXPECT_TRUE(fs::is_empty(own));
    EXPECT_EQ(text_in(moved / "file"), "new");
    for (const auto& path : {theirs, moved, own}) fs::remove_all(path);
  }
}

TEST(OutputFile, LinksInACircleAreAnError) {
  const unit::TempFolder folder;
  fs::create_symlink("b", folder.path() / "a");
  fs::create_symlink("a", folder.path() / "b");
  const auto done = write_output(folder.path() / "a", "x");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().sys_errno, ELOOP);
}

TEST(OutputFile, ALinkToNothingMakesWhatItLeadsTo) {
  const unit::TempFolder folder;
  fs::create_symlink("there", folder.path() / "link");
  ASSERT_TRUE(write_output(folder.path() / "link", "x"));
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(text_in(folder.path() / "there"), "x");
}

}  // namespace
}  // namespace rdmacfg::ctl
