// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <iterator>

#include "system/linux/linux_host.hpp"
#include "unit/system/temp_tree.hpp"

namespace rdmacfg::daemon {
namespace {

using ::testing::HasSubstr;

class MetricsFileTest : public ::testing::Test {
 protected:
  MetricsFileTest() {
    tree.put("/a/other.prom", "1");
    tree.put("/b/other.prom", "1");
    mount("");
  }
  /// `mounts`: beside the file system of "/".
  void mount(const std::string& mounts) const {
    tree.put("/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n" + mounts);
  }
  [[nodiscard]] std::string folder(const std::string& name) const { return tree.at(name).native(); }
  [[nodiscard]] bool exists(const std::string& path) const { return std::filesystem::exists(tree.at(path)); }
  [[nodiscard]] MetricsFile file() const { return {*files, folder("/run/metrics"), folder("/mountinfo")}; }

  system::TempTree tree;
  std::unique_ptr<system::Files> files = system::make_linux_files();
  metrics::Facts facts;
};

TEST_F(MetricsFileTest, IsWrittenWhenSomethingHasChanged) {
  auto metrics = file();
  facts.generation = 1;
  EXPECT_EQ(metrics.keep(folder("/a"), facts), "");
  EXPECT_THAT(tree.get("/a/rdma-configd.prom"), HasSubstr("\nrdma_configd_generation 1\n"));
  tree.put("/a/rdma-configd.prom", "somebody else's");
  EXPECT_EQ(metrics.keep(folder("/a"), facts), "");
  EXPECT_EQ(tree.get("/a/rdma-configd.prom"), "somebody else's")
      << "nothing has changed, so nothing is written";
  facts.generation = 2;
  EXPECT_EQ(metrics.keep(folder("/a"), facts), "");
  EXPECT_THAT(tree.get("/a/rdma-configd.prom"), HasSubstr("\nrdma_configd_generation 2\n"));
}

TEST_F(MetricsFileTest, GoesWithTheLineOfTheDocument) {
  auto metrics = file();
  EXPECT_EQ(metrics.keep("", facts), "");
  EXPECT_EQ(metrics.keep(folder("/a"), facts), "");
  EXPECT_EQ(metrics.keep(folder("/b"), facts), "") << "another folder";
  EXPECT_FALSE(exists("/a/rdma-configd.prom"));
  EXPECT_TRUE(exists("/b/rdma-configd.prom"));
  EXPECT_EQ(metrics.keep("", facts), "");
  EXPECT_FALSE(exists("/b/rdma-configd.prom"));
  EXPECT_FALSE(exists("/run/metrics"));
  EXPECT_TRUE(exists("/a/other.prom") && exists("/b/other.prom")) << "files of others stay";
}

TEST_F(MetricsFileTest, LeavesNothingOfAKilledWrite) {
  tree.put("/a/.rdma-configd-Ab12Cd", "half a line");
  tree.put("/a/.other-Ab12Cd", "of somebody else");
  tree.put("/a/.rdma-configd-notes.toml", "of an administrator");
  EXPECT_EQ(file().keep(folder("/a"), facts), "");
  EXPECT_FALSE(exists("/a/.rdma-configd-Ab12Cd"));
  EXPECT_TRUE(exists("/a/.other-Ab12Cd"));
  EXPECT_TRUE(exists("/a/.rdma-configd-notes.toml"));
  EXPECT_TRUE(exists("/a/rdma-configd.prom"));
  tree.put("/a/.rdma-configd-Ef34Gh", "half a line");
  EXPECT_EQ(file().keep(folder("/b"), facts), "") << "the document names another folder at the next start";
  EXPECT_FALSE(exists("/a/.rdma-configd-Ef34Gh"));
}

/// Each removal waits for the disk, and the owner of the folder may have made any number of such files.
TEST_F(MetricsFileTest, AFolderFullOfLeftoversIsClearedInSteps) {
  constexpr int kFiles = 40, kAtOnce = 16;
  for (int i = 0; i < kFiles; ++i) tree.put(fmt::format("/a/.rdma-configd-{:06}", i), "");
  const auto left = [this] {
    return std::distance(std::filesystem::directory_iterator(folder("/a")),
                         std::filesystem::directory_iterator()) -
           2;  // other.prom, and ours
  };
  EXPECT_EQ(file().keep(folder("/a"), facts), "");
  EXPECT_EQ(left(), kFiles - kAtOnce);
  EXPECT_EQ(file().keep(folder("/a"), facts), "");
  EXPECT_EQ(left(), kFiles - 2 * kAtOnce) << "the next daemon clears more";
}

/// The next daemon knows where the file of the one before it is.
TEST_F(MetricsFileTest, IsRemovedByTheNextDaemon) {
  EXPECT_EQ(file().keep(folder("/a"), facts), "");
  EXPECT_EQ(file().keep(folder("/a"), facts), "");
  EXPECT_TRUE(exists("/a/rdma-configd.prom"));
  EXPECT_EQ(file().keep("", facts), "");
  EXPECT_FALSE(exists("/a/rdma-configd.prom"));
  tree.put("/run/metrics", folder("/a") + "/other.prom\n");
  EXPECT_EQ(file().keep("", facts), "");
  EXPECT_TRUE(exists("/a/other.prom")) << "a note that is not ours";
}

TEST_F(MetricsFileTest, ItsFolderIsNotCreated) {
  auto metrics = file();
  EXPECT_THAT(metrics.keep(folder("/c"), facts), HasSubstr("does not exist"));
  EXPECT_FALSE(exists("/c"));
  std::filesystem::create_directory(tree.at("/c"));
  EXPECT_EQ(metrics.keep(folder("/c"), facts), "") << "it is tried again";
  EXPECT_TRUE(exists("/c/rdma-configd.prom"));
}

/// A server that is gone would stop the main loop, and the watchdog would end the daemon.
TEST_F(MetricsFileTest, NothingIsDoneOnAFileSystemThatMayNeverAnswer) {
  auto metrics = file();
  EXPECT_EQ(metrics.keep(folder("/a"), facts), "");
  facts.generation = 2;
  const auto far = [this](const std::string& type) {
    mount("2 1 0:52 / " + folder("/a") + " rw - " + type + " server:/export rw\n");
  };
  for (const std::string type : {"nfs4", "fuse.sshfs", "autofs", "lustre"}) {
    far(type);
    EXPECT_EQ(metrics.keep(folder("/a"), facts),
              "metrics: folder " + folder("/a") + " is on a file system of type " + type +
                  ", which can block the daemon; choose a folder on a local disk or in memory");
    EXPECT_THAT(tree.get("/a/rdma-configd.prom"), HasSubstr("\nrdma_configd_generation 0\n"));
  }
  std::filesystem::create_directory_symlink(folder("/a"), tree.at("/link"));
  EXPECT_THAT(file().keep(folder("/link"), facts), HasSubstr("of type lustre"));
  EXPECT_EQ(metrics.keep(folder("/b"), facts), "") << "another folder";
  EXPECT_TRUE(exists("/a/rdma-configd.prom")) << "it stays";
  EXPECT_TRUE(exists("/b/rdma-configd.prom"));
  mount("2 1 0:52 / " + folder("/a") + " rw - tmpfs tmpfs rw\n");
  EXPECT_EQ(metrics.keep(folder("/a"), facts), "");
  EXPECT_THAT(tree.get("/a/rdma-configd.prom"), HasSubstr("\nrdma_configd_generation 2\n"));
}

TEST_F(MetricsFileTest, SaysThatAKilledDaemonDoesNotRun) {
  EXPECT_EQ(file().say_ended(), "") << "there are none";
  facts.daemon.emplace();
  EXPECT_EQ(file().keep(folder("/a"), facts), "");
  const auto up = tree.get("/a/rdma-configd.prom");
  EXPECT_THAT(up, HasSubstr("\nrdma_configd_up 1\n"));
  EXPECT_EQ(file().say_ended(), "");
  facts.daemon.reset();
  EXPECT_EQ(tree.get("/a/rdma-configd.prom"), metrics::text_of(facts)) << "as one that ends by itself";
  EXPECT_EQ(file().say_ended(), "");
  EXPECT_EQ(tree.get("/a/rdma-configd.prom"), metrics::text_of(facts));

  tree.put("/a/rdma-configd.prom", up);
  mount("2 1 0:52 / " + folder("/a") + " rw - nfs4 server:/export rw\n");
  EXPECT_EQ(file().say_ended(), "") << "a server that is gone is not waited for";
  EXPECT_EQ(tree.get("/a/rdma-configd.prom"), up);
  mount("");
  tree.put("/a/other.prom", up);
  tree.put("/run/metrics", folder("/a") + "/other.prom\n");
  EXPECT_EQ(file().say_ended(), "");
  EXPECT_EQ(tree.get("/a/other.prom"), up) << "a note that is not ours";
}

/// The owner of a folder on the way may put a link to another one in its place.
TEST_F(MetricsFileTest, TheEndIsNotWrittenThroughASymbolicLink) {
  const std::string up = "# ours\nrdma_configd_up 1\n";
  tree.put("/b/rdma-configd.prom", up);
  std::filesystem::create_symlink(tree.at("/b/rdma-configd.prom"), tree.at("/a/rdma-configd.prom"));
  std::filesystem::create_directory_symlink(folder("/b"), tree.at("/link"));
  for (const std::string at : {"/a", "/link"}) {
    tree.put("/run/metrics", folder(at) + "/rdma-configd.prom\n");
    EXPECT_THAT(file().say_ended(), HasSubstr("metrics: ")) << at;
    EXPECT_EQ(tree.get("/b/rdma-configd.prom"), up) << at;
  }
}

TEST_F(MetricsFileTest, IsNotWrittenThroughASymbolicLink) {
  tree.put("/elsewhere", "mine");
  std::filesystem::create_symlink(tree.at("/elsewhere"), tree.at("/a/rdma-configd.prom"));
  (void)file().keep(folder("/a"), facts);
  EXPECT_EQ(tree.get("/elsewhere"), "mine");
}

}  // namespace
}  // namespace rdmacfg::daemon
