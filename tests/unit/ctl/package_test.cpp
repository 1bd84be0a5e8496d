// SPDX-License-Identifier: Apache-2.0
// The packages know every file that is written, and their installed documentation is consistent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fakes/fake_kernel.hpp"
#include "sources.hpp"
#include "store/managed_files.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

TEST(Package, PurgesEveryFileThatIsWritten) {
  const auto script = content(kSource / "packaging/debian/rdma-configd.postrm");
  const auto files = written_files();
  // "{}.d": a folder for each unit
  for (const auto& path : files.paths)
    EXPECT_THAT(script,
                HasSubstr(path.find('{') == std::string::npos ? path : fs::path(path).filename().string()));
  for (const auto& name : files.names) EXPECT_THAT(script, HasSubstr(name));
  for (const auto& prefix : files.prefixes) EXPECT_THAT(script, HasSubstr("/" + prefix + "*."));
  for (const auto& name : files.shared) EXPECT_THAT(script, HasSubstr(name));
  // Blocks in those.
  const auto marks =
      matches(code_below("formats") + code_below("kinds"), "constexpr Marks k\\w+(\\{[^}]*\\})");
  EXPECT_GE(marks.size(), 2U);
  for (const auto& pair : marks) {
    const auto texts = matches(pair, "\"([^\"]*)\"");
    EXPECT_GE(texts.size(), 2U) << pair;  // and the begin of earlier releases
    for (const auto& text : texts) EXPECT_THAT(script, HasSubstr(text));
  }
}

/// A write that was killed leaves its file in any of the folders.
TEST(Package, PurgesLeftoversOfEveryFolder) {
  const auto script = content(kSource / "packaging/debian/rdma-configd.postrm");
  fakes::FakeKernel kernel;
  const auto host = kernel.host();
  int folders = 0;
  for (const auto& folder : core::managed_folders(host.files)) {
    if (folder.starts_with("/var/lib/rdma-configd")) continue;
    const auto wanted = folder.starts_with("/run/") ? " " + folder + "/.rdma-configd-*" : "\n" + folder;
    EXPECT_THAT(script, HasSubstr(wanted + "\n"));
    ++folders;
  }
  EXPECT_GT(folders, 10);
}

/// Readers of the administrator's files find no mark of ours in the files that a withdrawal leaves.
TEST(Package, WithdrawalKnowsEveryMark) {
  const auto hand_over = content(kSource / "src/catalog/withdraw_files.cpp");
  int marks = 0;
  std::vector<fs::directory_entry> sources;
  for (const auto* area : {"src/formats", "src/kinds", "src/catalog"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource / area)) {
      if (entry.is_regular_file()) sources.push_back(entry);
    }
  }
  for (const auto& source : sources) {
    for (const auto& name : found(source.path(), "constexpr Marks (k\\w+)")) {
      for (const auto* end : {".begin", ".end"})
        EXPECT_THAT(hand_over, HasSubstr(name + end)) << source.path();
      ++marks;
    }
    EXPECT_THAT(found(source.path(), "(k(?:Begin|End)) *=\\s*\""), IsEmpty())
        << "marks are for managed_block.hpp";
    for (const auto& name :
         found(source.path(),
               "\"(/etc/[a-z/]*(?:partitions.conf|opensm.conf|default/opensm|sysconfig/opensm))\""))
      EXPECT_THAT(hand_over, HasSubstr(name)) << source.path();
  }
  EXPECT_GE(marks, 2);
}

/// Of the pages below a folder: the links to files, and which of them lead nowhere.
int follow_links(const fs::path& folder, std::set<std::string>& dead) {
  int links = 0;
  for (const auto& page : fs::recursive_directory_iterator(folder)) {
    if (page.path().extension() != ".md") continue;
    for (const auto& target : found(page.path(), "\\]\\(([^)\\s#]+)(?:#[^)]*)?\\)")) {
      // A command line at a prompt of the lab looks like one.
      if (target.find("://") != std::string::npos || std::regex_match(target, std::regex("[0-9a-f]+")))
        continue;
      ++links;
      if (!fs::exists(page.path().parent_path() / target))
        dead.insert(page.path().lexically_relative(folder).string() + " to " + target);
    }
  }
  return links;
}

TEST(Package, LinksOfInstalledPagesHold) {
  if (!installed("cmake")) GTEST_SKIP() << "cmake is not installed";
  const Scratch into;
  const auto said = say(std::string("cmake --install ") + BUILD_ROOT + " --component docs --prefix " +
                        (into.path() / "usr").string());
  const auto pages = into.path() / "usr/share/doc/rdma-configd";
  ASSERT_TRUE(fs::exists(pages / "README.md")) << said;
  for (const auto* file : {"examples/config.toml", "rdma-configd.schema.json", "docs/TROUBLESHOOTING.md"})
    EXPECT_TRUE(fs::exists(pages / file)) << file;
  std::set<std::string> dead;
  EXPECT_GT(follow_links(pages, dead), 40);
  EXPECT_THAT(dead, IsEmpty());
}

TEST(Package, LinksOfTheSourcesHold) {
  std::set<std::string> dead;
  EXPECT_GT(follow_links(kSource / "docs", dead), 30);
  EXPECT_THAT(dead, IsEmpty());
}

/// A call that starts the daemon would apply what is in /etc for whoever calls.
TEST(Package, NobodyStartsTheDaemonOverTheBus) {
  for (const std::string folder : {"conf", "units", "packaging"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kSource / folder)) {
      if (!entry.is_regular_file()) continue;
      const auto text = content(entry.path());
      for (const std::string key : {"[D-BUS Service]", "SystemdService=", "Alias=dbus-", "BusName="})
        EXPECT_EQ(text.find(key), std::string::npos) << entry.path() << " has " << key;
    }
  }
  for (const std::string file : {"CMakeLists.txt", "src/CMakeLists.txt", "packaging/CMakeLists.txt"})
    EXPECT_EQ(content(kSource / file).find("dbus-1/system-services"), std::string::npos) << file;
}

}  // namespace
}  // namespace rdmacfg::ctl
