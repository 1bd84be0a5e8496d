// SPDX-License-Identifier: Apache-2.0
// The packages know every file that is written, and their installed documentation is consistent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "catalog/owned_files.hpp"
#include "fakes/fake_kernel.hpp"
#include "sources.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

TEST(Package, PurgesEveryFileThatIsDeclared) {
  const auto script = content(kSource / "packaging/debian/rdma-configd.postrm");
  for (const auto* file : kinds::owned_files()) {
    if (!file->path.starts_with("/etc/")) continue;
    EXPECT_THAT(script, HasSubstr(std::string(file->path)));
    if (file->extent != kinds::OwnedFile::Extent::kBlock) continue;
    ASSERT_NE(file->marks, nullptr) << file->path;
    for (const auto mark : {file->marks->begin, file->marks->end, file->marks->former_begin})
      EXPECT_THAT(script, HasSubstr(std::string(mark))) << file->path;
  }
}

/// Of texts in the sources that look like paths of ours, or are what has marks.
TEST(Package, DeclaresEveryFileThatIsWritten) {
  const auto code =
      code_below("formats") + code_below("kinds") + code_below("catalog") + code_below("system");
  const auto paths = matches(code, "\"(/etc/[^\"{*]*rdma[-_]configd[^\"/{*]*\\.[a-z]+)\"");
  EXPECT_GT(paths.size(), 12U);
  for (const auto& path : paths) EXPECT_NE(kinds::owned_file(path), nullptr) << path;
  std::set<const kinds::Marks*> marks;
  for (const auto* file : kinds::owned_files()) {
    if (file->marks != nullptr) marks.insert(file->marks);
  }
  EXPECT_EQ(marks.size(), matches(code, "constexpr Marks (k\\w+)").size());
}

/// A write that was killed leaves its file in any of the folders.
TEST(Package, PurgesLeftoversOfEveryFolder) {
  const auto script = content(kSource / "packaging/debian/rdma-configd.postrm");
  fakes::FakeKernel kernel;
  const auto host = kernel.host();
  int folders = 0;
  for (const auto& folder : kinds::managed_folders(host.files)) {
    if (folder.starts_with("/var/lib/rdma-configd")) continue;
    const auto wanted = folder.starts_with("/run/") ? " " + folder + "/.rdma-configd-*" : "\n" + folder;
    EXPECT_THAT(script, HasSubstr(wanted + "\n"));
    ++folders;
  }
  EXPECT_GT(folders, 10);
}

TEST(Package, TheTableOfFilesIsNotStale) {
  const auto text = content(kSource / "docs/ARCHITECTURE.md");
  EXPECT_THAT(text, HasSubstr("<!-- generated: rdma-configctl reference files -->\n\n" +
                              kinds::owned_files_as_markdown() + "\n<!-- end of generated -->"))
      << "packaging/update-generated writes it again";
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
