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

/// Those of this host, where they are known.
TEST(TmpfilesLines, SpecifiersOfTheHostAreReplaced) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/tmpfiles.d/site.conf"] =
      "w /a/%m/%b - - - - %H %l\nr /lib/modules/%v/x\nL+ /a/%o/%% - - - - %H\n";
  files.content["/proc/sys/kernel/hostname"] = "node1.example.org\n";
  files.content["/proc/sys/kernel/osrelease"] = "6.1.0-18-amd64\n";
  files.content["/proc/sys/kernel/random/boot_id"] = "0d1e2f30-4a5b-6c7d-8e9f-a0b1c2d3e4f5\n";
  files.content["/etc/machine-id"] = "00112233445566778899aabbccddeeff\n";
  const auto lines = tmpfiles_lines(files);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].path, "/a/00112233445566778899aabbccddeeff/0d1e2f304a5b6c7d8e9fa0b1c2d3e4f5");
  EXPECT_EQ(lines[0].argument, "node1.example.org node1");
  EXPECT_EQ(lines[1].path, "/lib/modules/6.1.0-18-amd64/x");
  EXPECT_EQ(lines[2].path, "/a/%o/%") << "what is not known stays";
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
