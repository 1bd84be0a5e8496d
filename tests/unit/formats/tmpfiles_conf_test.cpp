// SPDX-License-Identifier: Apache-2.0
#include "formats/tmpfiles_conf.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

/// tmpfiles.d(5), specifiers: those of the system manager that no host has otherwise.
TEST(TmpfilesLines, SpecifiersAreReplaced) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/tmpfiles.d/site.conf"] =
      "w %S/x/%%y - - - - %t %u%G 100%% %\nr %T/a\nR %V/b\nw /%m/%H - - - - %b\n";
  const auto lines = tmpfiles_lines(files);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].path, "/var/lib/x/%y");
  EXPECT_EQ(lines[0].argument, "/run root0 100% %");
  EXPECT_EQ(lines[1].path, "/tmp/a");
  EXPECT_EQ(lines[2].path, "/var/tmp/b");
  EXPECT_EQ(lines[3].path, "/%m/%H");
  EXPECT_EQ(lines[3].argument, "%b");
}

/// glob(3), GLOB_BRACE
TEST(TmpfilesLines, BracesStandForEachChoice) {
  TmpfilesLine line;
  line.act = TmpfilesLine::Act::kRemove;
  line.path = "/etc/{a,b{1,2},}*.conf";
  for (const auto* path : {"/etc/a.conf", "/etc/b1x.conf", "/etc/b2.conf", "/etc/.conf", "/etc/c.conf"})
    EXPECT_EQ(line.concerns(path), std::string(path) != "/etc/.conf") << path;
  line.path = "/etc/{a,b}/";
  line.below = true;
  EXPECT_FALSE(line.concerns("/etc/c/x"));
  for (line.path = "/"; line.path.size() < 4000;) line.path += "{a,b}";
  EXPECT_FALSE(line.concerns("/etc/a")) << "of very many choices not each is tried";
}

}  // namespace
}  // namespace rdmacfg::kinds
