// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/marker.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "fakes/memory_files.hpp"

namespace rdmacfg::daemon {
namespace {

constexpr const char* kMarkerPath = "/run/rdma-configd/running";

/// As proc_pid_stat(5) has it.
std::string stat_text(const std::string& pid, const std::string& start) {
  std::string out = pid + " (a) b) S";
  for (int field = 4; field < 22; ++field) out += " 0";
  return out + " " + start + " 0 0\n";
}

class MarkerTest : public ::testing::Test {
 protected:
  MarkerTest() { run(ours_, "500"); }

  void run(const std::string& pid, const std::string& start) {
    files_.content["/proc/" + pid + "/stat"] = stat_text(pid, start);
  }

  fakes::Faults faults_;
  fakes::MemoryFiles files_{faults_};
  const std::string ours_ = std::to_string(::getpid());
  const std::string other_ = std::to_string(::getpid() + 1);
  Marker marker_{files_, kMarkerPath, "this boot"};
};

TEST_F(MarkerTest, StandsUntilTheEnd) {
  EXPECT_FALSE(marker_.stands());
  ASSERT_TRUE(marker_.set());
  EXPECT_TRUE(marker_.stands());
  EXPECT_EQ(files_.content[kMarkerPath], "this boot\n" + ours_ + " 500\n");
  ASSERT_TRUE(marker_.clear());
  EXPECT_FALSE(marker_.stands());
}

// Such as one that somebody starts by hand beside the service.
TEST_F(MarkerTest, ASecondDaemonLeavesTheFirstOnesAlone) {
  const auto first = "this boot\n" + other_ + " 400\n";
  files_.content[kMarkerPath] = first;
  run(other_, "400");
  ASSERT_TRUE(marker_.set());
  EXPECT_EQ(files_.content[kMarkerPath], first);
  ASSERT_TRUE(marker_.clear());
  EXPECT_EQ(files_.content[kMarkerPath], first) << "a crash of the first one is one";
}

TEST_F(MarkerTest, OfOneThatIsNotThereAnyMoreItIsTakenOver) {
  for (const auto* left :
       {"gone", "gone, start unknown", "number used again", "another boot", "an older release"}) {
    SCOPED_TRACE(left);
    const std::string what = left;
    files_.content.erase("/proc/" + other_ + "/stat");
    if (!what.starts_with("gone")) run(other_, what == "number used again" ? "900" : "400");
    files_.content[kMarkerPath] = what == "an older release"      ? "this boot\n"
                                  : what == "another boot"        ? "last boot\n" + other_ + " 400\n"
                                  : what == "gone, start unknown" ? "this boot\n" + other_ + "\n"
                                                                  : "this boot\n" + other_ + " 400\n";
    EXPECT_EQ(marker_.stands(), what != "another boot");
    ASSERT_TRUE(marker_.set());
    EXPECT_EQ(files_.content[kMarkerPath], "this boot\n" + ours_ + " 500\n");
    ASSERT_TRUE(marker_.clear());
    EXPECT_FALSE(files_.content.contains(kMarkerPath));
  }
}

}  // namespace
}  // namespace rdmacfg::daemon
