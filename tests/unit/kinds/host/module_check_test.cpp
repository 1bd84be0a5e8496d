// SPDX-License-Identifier: Apache-2.0
// Modules, and the kernel command line of the next boot.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

/// The messages about mlx4_en with pfctx=8 on a host with these files.
std::string said_with(const std::map<std::string, std::string>& files, const std::string& more = {}) {
  auto kernel =
      fakes::FakeKernel::parse(R"({"modules": {"mlx4_en": {"loaded": true, "parameters": {"pfctx": "8"}}}})");
  for (const auto& [path, text] : files) kernel->files.content.insert_or_assign(path, text);
  auto host = kernel->host();
  const auto report =
      core::diff(config::parse_texts({{"config.toml",
                                       "version = 1\n[[module]]\nname = \"mlx4_en\"\noptions = "
                                       "[\"pfctx=8\"]\n" +
                                           more}},
                                     "node1", grammar()),
                 host);
  std::string out;
  for (const auto& diagnostic : report.diagnostics) out += diagnostic.message + "\n";
  return out;
}

/// kmod_config_parse_kcmdline(): the command line is read after all files.
TEST(ModuleCheck, TheNextCommandLineWinsOverOurOptions) {
  constexpr const char* kGrub = "/etc/default/grub";
  const std::string sets =
      "[[module]] options: /etc/default/grub:1 sets pfctx of mlx4_en from the next boot on: \"pfctx=4\"\n";
  const std::string refuses =
      "[[module]] name: /etc/default/grub:1 blacklists mlx4_en from the next boot on\n";
  EXPECT_EQ(said_with({{kGrub, "GRUB_CMDLINE_LINUX=\"mlx4_en.pfctx=4\"\n"}}), sets);
  EXPECT_EQ(said_with({{kGrub, "GRUB_CMDLINE_LINUX=\"mlx4_en.pfctx=0x8 mlx4_core.debug_level=1\"\n"}}), "");
  EXPECT_EQ(said_with({{kGrub, "GRUB_CMDLINE_LINUX=\"modprobe.blacklist=mlx4_en,mlx5_ib\"\n"}}), refuses);
  EXPECT_EQ(said_with({{kGrub, "GRUB_CMDLINE_LINUX=\"modprobe.blacklist=mlx4_en\"\n"}}, "load = false\n"), "")
      << "nothing of ours loads the module";
}

// Entries of kernels that are no longer booted have the words of their time.
TEST(ModuleCheck, OfSeveralKernelsTheEntryOfTheNextBootCounts) {
  const std::string folder = "/boot/loader/entries/";
  const auto entry = [](const std::string& version, const std::string& words) {
    return "title Linux\nversion " + version + "\noptions root=/dev/sda1 " + words + "\n";
  };
  const std::string sets = "mlx4_en.pfctx=4";
  const auto told = [&](const std::string& name) {
    return "[[module]] options: " + folder + name +
           ":3 sets pfctx of mlx4_en from the next boot on: \"pfctx=4\"\n";
  };
  const std::string older = "x-6.9.0.conf", newer = "x-6.10.0.conf", rescue = "x-0-rescue.conf";
  std::map<std::string, std::string> files{{folder + older, entry("6.9.0", sets)},
                                           {folder + newer, entry("6.10.0", "quiet")},
                                           {folder + rescue, entry("0-rescue-x", sets)}};
  EXPECT_EQ(said_with(files), "");
  files["/boot/grub2/grubenv"] = "# GRUB Environment Block\nsaved_entry=x-6.9.0\n####";
  EXPECT_EQ(said_with(files), told(older));
  files["/boot/grub2/grubenv"] = "saved_entry=x-5.0.0\n";
  EXPECT_EQ(said_with(files), "") << "there is no such entry";
  files["/boot/loader/loader.conf"] = "timeout 3\ndefault x-6.9*\n";
  files.erase("/boot/grub2/grubenv");
  EXPECT_EQ(said_with(files), told(older));
  files["/boot/loader/loader.conf"] = "default @saved\n";
  EXPECT_EQ(said_with(files), "");
  files[folder + newer] = entry("6.10.0", sets);
  EXPECT_EQ(said_with(files), told(newer));
}

TEST(ModuleCheck, NothingIsMountedToLookAtEntries) {
  std::map<std::string, std::string> files{
      {"/boot/loader/entries/a.conf", "options mlx4_en.pfctx=4\n"},
      {"/proc/1/mountinfo", "30 22 0:33 / /boot rw - autofs systemd-1 rw,direct\n"}};
  EXPECT_EQ(said_with(files), "");
  files["/proc/1/mountinfo"] += "31 30 8:2 / /boot rw - vfat /dev/sda2 rw\n";
  EXPECT_NE(said_with(files), "");
}

// openSUSE's grub2-bls, and systemd-boot without a boot partition.
TEST(ModuleCheck, EntriesOnTheEfiPartitionCount) {
  for (const std::string partition : {"/efi", "/boot/efi"}) {
    std::map<std::string, std::string> files{
        {partition + "/loader/entries/a-6.9.conf", "version 6.9\noptions mlx4_en.pfctx=4\n"},
        {partition + "/loader/entries/a-6.10.conf", "version 6.10\noptions quiet\n"}};
    EXPECT_EQ(said_with(files), "") << partition;
    files[partition + "/loader/loader.conf"] = "default a-6.9.conf\n";
    EXPECT_NE(said_with(files), "") << partition;
    files["/proc/1/mountinfo"] = "30 22 0:33 / " + partition + " rw - autofs systemd-1 rw,direct\n";
    EXPECT_EQ(said_with(files), "") << partition << " is not mounted for this";
  }
}

/// tmpfiles.d(5): "w" writes to a file that is there, as that of a parameter of a loaded module.
TEST(ModuleCheck, LinesOfTmpfilesThatWriteAParameterAreNamed) {
  const auto said = [](const std::string& line) {
    return said_with({{"/etc/tmpfiles.d/site.conf", line + "\n"}});
  };
  EXPECT_EQ(
      said("w /sys/module/mlx4_en/parameters/pfctx - - - - 4"),
      "[[module]] options: /etc/tmpfiles.d/site.conf:1 writes 4 to /sys/module/mlx4_en/parameters/pfctx at "
      "boot\n");
  EXPECT_EQ(said("w /sys/module/mlx4_en/parameters/pfctx - - - - 0x8"), "");
  EXPECT_EQ(said("w /sys/module/mlx4_en/parameters/pfcrx - - - - 4"), "");
  EXPECT_EQ(said("w /sys/module/mlx4_core/parameters/pfctx - - - - 4"), "");
}

TEST(ModuleCheck, GrubsFolderReplacesOrAdds) {
  constexpr const char* kGrub = "/etc/default/grub";
  constexpr const char* kSite = "/etc/default/grub.d/site.cfg";
  const std::string first = "GRUB_CMDLINE_LINUX=\"mlx4_en.pfctx=4\"\n";
  EXPECT_EQ(said_with({{kGrub, first}, {kSite, "GRUB_CMDLINE_LINUX=\"quiet\"\n"}}), "");
  EXPECT_EQ(said_with({{kGrub, first}, {kSite, "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX quiet\"\n"}}),
            "[[module]] options: /etc/default/grub:1 sets pfctx of mlx4_en from the next boot on: "
            "\"pfctx=4\"\n");
}

}  // namespace
}  // namespace rdmacfg::kinds
