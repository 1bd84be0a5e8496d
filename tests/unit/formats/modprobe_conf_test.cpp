// SPDX-License-Identifier: Apache-2.0
#include "formats/modprobe_conf.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fakes/memory_files.hpp"
#include "kinds/ethernet/pfc.hpp"

namespace rdmacfg::kinds {
namespace {

TEST(ModprobeFile, LinesSurviveWritingAndReading) {
  const OptionLines lines{
      {"mlx4_en", {{{"pfctx", "0x08", true}, {"udp_rss", "0", true}}}},
      {"snd", {{{"debug", "", false}, {"index", "", true}, {"dyndbg", "+p file a.c", true}}}}};
  EXPECT_EQ(parse_option_lines(render_option_lines(lines)), lines);
}

TEST(ModprobeFile, ReadsWhatModprobeReads) {
  const auto lines = parse_option_lines(
      "# options mlx4_en pfctx=1\n"
      "options mlx4-en pfctx=2 \\\n  pfcrx=3\n"
      "\t options  mlx4_en\tpfctx=4\n"
      "alias x mlx4_en\noptions\noptions bad/name x=1\n");
  ASSERT_EQ(lines.size(), 1U);
  const auto& list = lines.at("mlx4_en").list;
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].text(), "pfcrx=3");
  EXPECT_EQ(list[1].text(), "pfctx=4");  // the last one counts
}

TEST(ModprobeFile, ForeignLinesInTheOrderOfModprobe) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = {{"/usr/lib/modprobe.d/b.conf", "options m x=1\n"},
                   {"/etc/modprobe.d/b.conf", "blacklist m\n"},  // masks the other b.conf
                   {"/run/modprobe.d/a.conf", "\ninstall m /bin/true\n"},
                   {"/usr/lib/modprobe.d/z.conf", "options m y=2 x=3\n"},
                   {"/etc/modprobe.d/c.txt", "options m x=9\n"},
                   {"/etc/modprobe.d/rdma-configd.conf", "options m x=4\n"},
                   {"/etc/modprobe.d/rdma-configd-pfc.conf", "options m x=5\n"},
                   {"/etc/modprobe.d/rdma-configd-netns.conf", "options m x=6\n"}};
  const auto lines = read_foreign_lines(files, KernelOptions::kRead);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].sort, ForeignLine::Sort::kInstall);
  EXPECT_EQ(lines[0].line, 2);
  EXPECT_EQ(lines[0].command, "/bin/true");
  EXPECT_EQ(lines[1].sort, ForeignLine::Sort::kBlacklist);
  EXPECT_EQ(lines[1].file, "/etc/modprobe.d/b.conf");
  EXPECT_FALSE(lines[1].later);
  EXPECT_EQ(lines[2].option.text(), "y=2");
  EXPECT_EQ(lines[3].option.text(), "x=3");
  EXPECT_TRUE(lines[3].later);
}

TEST(ModprobeFile, ACommandThatDoesNothingKeepsAModuleOut) {
  const auto keeps_out = [](const std::string& command) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    files.content = {{"/etc/modprobe.d/a.conf", "install m " + command + "\n"}};
    const auto lines = read_foreign_lines(files, KernelOptions::kRead);
    return lines.size() == 1U && lines.front().keeps_out();
  };
  EXPECT_TRUE(keeps_out("/bin/true"));
  EXPECT_TRUE(keeps_out("/usr/bin/false"));
  EXPECT_TRUE(keeps_out("true"));
  EXPECT_TRUE(keeps_out("/bin/true; /usr/bin/logger \"m is not allowed\""));
  EXPECT_FALSE(keeps_out("/bin/true; /sbin/modprobe --ignore-install m"));
  EXPECT_FALSE(keeps_out("/sbin/modprobe --ignore-install m && /bin/true"));
}

// kmod reads it after all files, so it wins at every load.
TEST(ModprobeFile, TheKernelCommandLineIsReadLast) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = {{"/etc/modprobe.d/z.conf", "options m x=1\n"}, {"/proc/cmdline", "ro m.x=2 quiet\n"}};
  const auto lines = read_foreign_lines(files, KernelOptions::kRead);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].place(), "/etc/modprobe.d/z.conf:1");
  EXPECT_EQ(lines[1].place(), "the kernel command line");
  EXPECT_TRUE(lines[1].later);
  EXPECT_EQ(lines[1].option.text(), "x=2");
  EXPECT_EQ(read_foreign_lines(files, KernelOptions::kLeftOut).size(), 1U);
}

// kmod_config_parse_kcmdline() of libkmod/libkmod-config.c; parse_args() and blacklisted() of the kernel.
TEST(ModprobeFile, TheKernelCommandLineIsReadAsKmodAndTheKernelDo) {
  struct Row {
    const char* text;
    std::vector<std::string> found;
  };
  const std::vector<Row> rows{
      {"ro ib-m.on", {"ib_m on"}},
      {"m.x=\"2 3\" m.y=4", {"m x=2 3", "m y=4"}},
      {"\"m.x=2 3\" m.y=4", {"m x=2 3", "m y=4"}},
      {"m\".x\"=2 m.\"x\"=3 \"m.x y\" m.y=4", {"m y=4"}},
      {"a.b.c=1 a=b.c root=/dev/a.b .x=1", {}},
      {"m.x=1 m.y=\"2", {"m x=1"}},
      {"m.x=1 -- m.y=2 module_blacklist=a modprobe.blacklist=b", {"m x=1", "m y=2", "b blacklisted"}},
      {"modprobe.blacklist=a,ib_b modprobe.blacklist=c",
       {"a blacklisted", "ib_b blacklisted", "c blacklisted"}},
      {"modprobe.blacklist=ib-b modprobe.blacklist=\"c,d\" modprobe.blacklist", {}},
      {"module_blacklist=a module-blacklist=b,ib_c,ib-d", {"b blacklisted", "ib_c blacklisted"}},
      {"\"module_blacklist=a,b\"", {"a blacklisted", "b blacklisted"}}};
  for (const auto& [text, found] : rows) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    files.content = {{"/proc/cmdline", std::string(text) + "\n"}};
    std::vector<std::string> now;
    for (const auto& line : read_foreign_lines(files, KernelOptions::kRead)) {
      const bool blacklist = line.sort == ForeignLine::Sort::kBlacklist;
      now.push_back(line.module + " " + (blacklist ? "blacklisted" : line.option.text()));
    }
    EXPECT_EQ(now, found) << text;
  }
}

/// modprobe(8), -b: without it, "blacklist" does not hold for the name that modprobe is given.
TEST(ModprobeFile, ARefusalIsMoreThanABlacklist) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = {{"/etc/modprobe.d/a.conf", "blacklist a\ninstall b /bin/false\ninstall c /sbin/d\n"},
                   {"/proc/cmdline", "modprobe.blacklist=e module_blacklist=f\n"}};
  std::string stopped;
  for (const auto& line : read_foreign_lines(files, KernelOptions::kRead)) {
    if (line.stops_modprobe()) stopped += line.module;
  }
  EXPECT_EQ(stopped, "bf");
}

TEST(ModprobeFile, ValuesAreComparedAsTheKernelReadsThem) {
  const auto same = [](const char* option, const char* running) {
    return same_value(*model::ModuleOption::parse(option), running);
  };
  EXPECT_TRUE(same("pfctx=0x08", "8"));
  EXPECT_FALSE(same("pfctx=0x18", "8"));
  EXPECT_TRUE(same("pfctx=010", "8")) << "octal, to the kernel";
  EXPECT_FALSE(same("pfctx=010", "10"));
  EXPECT_FALSE(same("pfctx=08", "8")) << "no number, to the kernel";
  EXPECT_TRUE(same("on=1", "Y"));
  EXPECT_TRUE(same("on=n", "N"));
  EXPECT_TRUE(same("on", "Y"));
  EXPECT_FALSE(same("on", "N"));
  for (const auto* on : {"x=yes", "x=Yes", "x=true", "x=T", "x=on", "x=ON", "x=enabled", "x=1x"})
    EXPECT_EQ(same(on, "Y"), std::string_view(on) != "x=enabled") << on;
  for (const auto* off : {"x=no", "x=No", "x=false", "x=F", "x=off", "x=Of", "x=oops"})
    EXPECT_EQ(same(off, "N"), std::string_view(off) != "x=oops") << off;
  EXPECT_FALSE(same("x=yes", "N"));
  EXPECT_TRUE(same("list=1,2", "1,2"));
  EXPECT_FALSE(same("name=x", "Y"));
}

TEST(PfcOptions, AreBitMasks) {
  EXPECT_EQ(pfc_options({0x18}).list[0].text(), "pfctx=0x18");
  EXPECT_EQ(pfc_options({0x18}).list[1].text(), "pfcrx=0x18");
  EXPECT_EQ(pfc_priorities(pfc_options({0})), model::Priorities{0});
  EXPECT_EQ(pfc_priorities(pfc_options({0x81})), model::Priorities{0x81});
  EXPECT_FALSE(pfc_priorities({{{"pfctx", "8", true}, {"pfcrx", "4", true}}}));
  EXPECT_FALSE(pfc_priorities({{{"pfctx", "8", true}}}));
  EXPECT_FALSE(pfc_priorities({{{"pfctx", "256", true}, {"pfcrx", "256", true}}}));
}

}  // namespace
}  // namespace rdmacfg::kinds
