// SPDX-License-Identifier: Apache-2.0
#include "kinds/memlock_file.hpp"

#include <gtest/gtest.h>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

TEST(MemlockFile, WhatIsWrittenIsReadBack) {
  const Limits limits{{"*", {65536}}, {"@rdma", {}}};
  EXPECT_EQ(parse_limits(render_limits(limits)), limits);
  EXPECT_EQ(render_limits({}), "");
}

TEST(MemlockFile, OtherLinesAreNotOurs) {
  EXPECT_TRUE(
      parse_limits("@rdma soft memlock 1\n# @rdma hard memlock 1\n@rdma hard nofile 1\n@x hard memlock y\n")
          .empty());
  EXPECT_EQ(parse_limits("  @rdma\t-  memlock unlimited # all\n").size(), 1U);
}

TEST(MemlockFile, ALimitIsSoftAndHard) {
  const std::string hard = "@rdma hard memlock unlimited\n";
  EXPECT_TRUE(parse_limits(hard).empty());
  EXPECT_EQ(parse_limit_domains(hard), std::set<std::string>{"@rdma"});
  EXPECT_TRUE(parse_limits(hard + "@rdma soft memlock 64\n").empty());
  EXPECT_EQ(parse_limits(hard + "@rdma soft memlock 64\n@rdma soft memlock unlimited\n").size(), 1U)
      << "the later line counts";
  EXPECT_TRUE(parse_limits("@rdma - memlock 64\n@rdma soft memlock 32\n").empty());
}

TEST(MemlockFile, TheLastLimitOfADropInCounts) {
  EXPECT_EQ(parse_drop_in("[Service]\nLimitMEMLOCK=infinity\n"), model::LockLimit{});
  EXPECT_EQ(parse_drop_in("LimitMEMLOCK=1K\n LimitMEMLOCK=2M\n"), model::LockLimit{2048});
  EXPECT_EQ(parse_drop_in("LimitMEMLOCK=8388608\n"), model::LockLimit{8192}) << "bytes without a unit";
  EXPECT_EQ(parse_drop_in("[Service]\nLimitNOFILE=1\n"), std::nullopt);
  EXPECT_EQ(parse_drop_in(render_drop_in({4096})), model::LockLimit{4096});
}

TEST(MemlockFile, ALaterDropInOfAnotherFolderWins) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/systemd/system/a.service.d/10-x.conf"] = "LimitMEMLOCK=1\n";
  files.content["/run/systemd/system/a.service.d/90-y.conf"] = "[Service]\nLimitMEMLOCK=2\n";
  files.content["/usr/lib/systemd/system/a.service.d/10-x.conf"] = "LimitMEMLOCK=3\n";
  const auto found = foreign_drop_ins(files, "a.service");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2U) << "/etc masks /usr/lib";
  EXPECT_FALSE(found->at(0).wins);
  EXPECT_TRUE(found->at(1).wins);
  EXPECT_EQ(found->at(1).line, 2);
}

TEST(LockLimit, Spellings) {
  const auto kib = [](std::string_view text) {
    const auto limit = model::LockLimit::parse(text);
    return limit && limit->kib ? *limit->kib : -1;
  };
  EXPECT_EQ(kib("0"), 0);
  EXPECT_EQ(kib("64 GiB"), 64 * 1024 * 1024);
  EXPECT_EQ(kib("512M"), 512 * 1024);
  EXPECT_EQ(kib("7K"), 7);
  EXPECT_FALSE(model::LockLimit::parse("unlimited")->kib);
  for (const auto* wrong : {"", "G", "1 XB", "-1", "1.5G", "9999999999999T", "1 GG", "many"}) {
    EXPECT_FALSE(model::LockLimit::parse(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
