// SPDX-License-Identifier: Apache-2.0
// Limits of import, each at its value and one beyond.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

#include "foreign/stage.hpp"
#include "model/limits.hpp"

namespace rdmacfg::foreign {
namespace {

using model::limits::kImportEntries;
using model::limits::kImportFiles;
using model::limits::kImportLines;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Lines and files that are not understood, as the program prints them.
std::string faults_gathered(system::Files& files, std::string_view format) {
  Claims claims;
  Request request;
  for (const auto& known : formats()) {
    if (known.name == format) request.formats.push_back(&known);
  }
  (void)gather(request, files, claims);
  std::string out;
  for (const auto& missed : claims.missed) out += missed.where.text() + ": " + missed.text + "\n";
  return out;
}

TEST(ImportBounds, LinesOfOneFile) {
  for (const std::size_t lines : {kImportLines, kImportLines + 1}) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    auto& text = files.content["/etc/modprobe.d/a.conf"];
    for (std::size_t i = 0; i < lines; ++i) text += "#\n";
    const auto missed = faults_gathered(files, "modprobe");
    if (lines == kImportLines) {
      EXPECT_EQ(missed, "");
    } else {
      EXPECT_THAT(missed, HasSubstr("/etc/modprobe.d/a.conf: has more than 20000 lines"));
    }
  }
}

TEST(ImportBounds, FilesOfOneFolder) {
  for (const std::size_t count : {kImportFiles, kImportFiles + 1}) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    for (std::size_t i = 0; i < count; ++i)
      files.content[fmt::format("/etc/modprobe.d/{:05}.conf", i)] = "#\n";
    const auto missed = faults_gathered(files, "modprobe");
    if (count == kImportFiles) {
      EXPECT_EQ(missed, "");
    } else {
      EXPECT_THAT(missed, HasSubstr("/etc/modprobe.d: has 2001 files; the first 2000 are read"));
    }
  }
}

TEST(ImportBounds, EntriesOfAllFiles) {
  Claims claims;
  const auto add = [&](std::size_t number) {
    (void)claims.entry("module", {{"name", fmt::format("m{}", number)}}, {"/etc/modprobe.d/a.conf", 1});
  };
  for (std::size_t i = 0; i < kImportEntries; ++i) add(i);
  EXPECT_THAT(claims.missed, IsEmpty());
  add(kImportEntries);
  ASSERT_EQ(claims.missed.size(), 1U);
  EXPECT_EQ(claims.missed.front().text, "from here on: more than 5000 entries");
  EXPECT_EQ(claims.entries.size(), kImportEntries);
}

}  // namespace
}  // namespace rdmacfg::foreign
