// SPDX-License-Identifier: Apache-2.0
#include "kinds/boot_record.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>

#include "fakes/faults.hpp"
#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

constexpr const char* kRecord = "/var/lib/rdma-configd/roce-defaults";

class BootRecord : public ::testing::Test {
 protected:
  std::optional<std::string> read() {
    const auto text = read_boot_record(files, kRecord);
    EXPECT_TRUE(text);
    return text.value_or(std::nullopt);
  }

  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
};

TEST_F(BootRecord, IsInVar) {
  EXPECT_EQ(read(), std::nullopt);
  EXPECT_TRUE(write_boot_record(files, kRecord, "a"));
  EXPECT_EQ(read(), "a");
  EXPECT_EQ(files.content.at(kRecord), "a");
  EXPECT_TRUE(write_boot_record(files, kRecord, std::nullopt));
  EXPECT_TRUE(files.content.empty());
}

TEST_F(BootRecord, IsInRunUntilVarCanBeWritten) {
  ASSERT_TRUE(write_boot_record(files, kRecord, "a"));
  faults.refuse("/var/lib/rdma-configd/", EROFS);
  EXPECT_TRUE(write_boot_record(files, kRecord, "b"));
  EXPECT_EQ(read(), "b");
  EXPECT_TRUE(write_boot_record(files, kRecord, std::nullopt));
  EXPECT_EQ(read().value_or(""), "") << "the one in /var does not count";
  faults.clear();
  EXPECT_TRUE(write_boot_record(files, kRecord, "c"));
  EXPECT_EQ(read(), "c");
  EXPECT_EQ(files.content.size(), 1U);
}

TEST_F(BootRecord, FailsWhereNeitherCanBeWritten) {
  faults.refuse("/var/lib/rdma-configd/", ENOSPC);
  faults.refuse("/run/rdma-configd/", ENOSPC);
  const auto done = write_boot_record(files, kRecord, "a");
  ASSERT_FALSE(done);
  EXPECT_TRUE(done.error().message.starts_with(kRecord)) << done.error().message;
}

/// A record returns to /var. A kill leaves the whole new text or none of it.
TEST_F(BootRecord, AKillNeverRestoresTheOlderText) {
  for (const auto& next : {std::optional<std::string>("b"), std::optional<std::string>()}) {
    bool killed = true, written = false;
    for (std::size_t call = 1; killed; ++call) {
      SCOPED_TRACE(call);
      files.content = {{kRecord, "0"}, {boot_record_in_run(kRecord), "a"}};
      faults.clear();
      faults.kill_at(call);
      killed = false;
      try {
        EXPECT_TRUE(write_boot_record(files, kRecord, next));
      } catch (const fakes::Killed&) {
        killed = true;
      }
      const auto now = read().value_or("");
      if (now != "a") written = true;
      EXPECT_EQ(now, written ? next.value_or("") : "a") << "once it was the new one it stays so";
      const auto in_var = files.content.find(kRecord);
      if (in_var == files.content.end() || in_var->second != "0") {
        EXPECT_EQ(now, next.value_or(""));
      }
    }
    EXPECT_TRUE(written);
  }
}

TEST_F(BootRecord, OfOneThatIsLostNothingIsKnown) {
  files.content[kRecord] = "a";
  files.next_read[kRecord] = EIO;
  EXPECT_EQ(read(), "a") << "it is read once more";
  files.links.insert(kRecord);
  EXPECT_EQ(read(), std::nullopt);
  files.links.clear();
  files.unreadable.insert(kRecord);
  EXPECT_FALSE(read_boot_record(files, kRecord));
}

}  // namespace
}  // namespace rdmacfg::kinds
