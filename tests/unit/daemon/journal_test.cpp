// SPDX-License-Identifier: Apache-2.0
// The journal's messages and what explains them.
#include "daemon/journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/characters.hpp"
#include "unit/ctl/sources.hpp"

namespace rdmacfg::daemon {
namespace {

using ctl::content;
using ctl::found;
using ctl::kSource;
using ctl::matches;

const auto kCatalog = kSource / "units/rdma-configd.catalog";

TEST(Journal, EachMessageIsExplainedOnce) {
  auto explained = found(kCatalog, "-- ([0-9a-f]{32})\n");
  auto used = found(kSource / "src/daemon/journal.cpp", "\"([0-9a-f]{32})\"");
  EXPECT_FALSE(explained.empty());
  std::sort(explained.begin(), explained.end());
  std::sort(used.begin(), used.end());
  EXPECT_EQ(explained, used);
}

TEST(Journal, AnExplanationUsesOnlyWhatIsWritten) {
  const auto names =
      found(kSource / "src/daemon/journal.cpp", "case Message::(k[A-Za-z]+):\\s*return \"[0-9a-f]{32}\"");
  const auto ids = found(kSource / "src/daemon/journal.cpp", "\"([0-9a-f]{32})\"");
  ASSERT_EQ(names.size(), ids.size());
  const auto catalog = content(kCatalog);
  std::size_t explained = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto begin = catalog.find("-- " + ids[i]);
    ASSERT_NE(begin, std::string::npos) << names[i];
    const auto used = matches(catalog.substr(begin, catalog.find("\n-- ", begin) - begin), "@([A-Z_]+)@");
    if (used.empty()) continue;
    std::size_t calls = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(kSource / "src/daemon")) {
      if (!file.is_regular_file()) continue;
      // A call of log(), as far as its end.
      for (const auto& call :
           matches(content(file.path()), ("[^a-z]log\\(([^;]*Message::" + names[i] + "[^;]*);").c_str())) {
        ++calls;
        const auto written = matches(call, "\\{\"(RDMA_[A-Z]+)\",");
        for (const auto& name : used)
          EXPECT_NE(std::find(written.begin(), written.end(), name), written.end())
              << file.path() << ": " << names[i] << ": " << name;
      }
    }
    EXPECT_GE(calls, 1U) << names[i];
    ++explained;
  }
  EXPECT_GE(explained, 4U);
}

TEST(Journal, TextOfOthersActsOnNothing) {
  const std::string evil = "ib0\x1b[2J\r\nPRIORITY=0\xc2\x9b\xe2\x80\xae";
  std::string followed;
  follow([&](int, Message, const std::string& text) { followed = text; });
  ::testing::internal::CaptureStderr();
  log(6, Message::kNoted, evil, {{"RDMA_RESOURCE", evil}});
  const auto printed = ::testing::internal::GetCapturedStderr();
  follow(nullptr);
  EXPECT_EQ(followed, base::harmless(evil));
  EXPECT_EQ(base::first_control(followed), std::nullopt);
  EXPECT_EQ(followed.find('\n'), std::string::npos) << "one line";
  if (!printed.empty()) {
    EXPECT_EQ(printed, followed + "\n");
  }
}

TEST(Journal, WhatIsForDebuggingStaysInTheJournal) {
  std::vector<std::string> followed;
  follow([&](int, Message, const std::string& text) { followed.push_back(text); });
  ::testing::internal::CaptureStderr();
  log(7, Message::kNoted, "for debugging");
  log(6, Message::kNoted, "for everybody");
  (void)::testing::internal::GetCapturedStderr();
  follow(nullptr);
  EXPECT_EQ(followed, std::vector<std::string>{"for everybody"});
}

}  // namespace
}  // namespace rdmacfg::daemon
