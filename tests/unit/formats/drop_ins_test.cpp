// SPDX-License-Identifier: Apache-2.0
#include "formats/drop_ins.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(DropIns, OfAllFoldersComeInTheOrderOfTheirNames) {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  for (const auto* path :
       {"/etc/systemd/system/opensm@7.service.d/50-ours.conf",
        "/etc/systemd/system/opensm@7.service.d/60-instance.conf",
        "/usr/lib/systemd/system/opensm@.service.d/55-template.conf",
        "/run/systemd/system/service.d/10-all.conf", "/etc/systemd/system/service.d/60-instance.conf",
        "/etc/systemd/system/opensm@.service.d/notes.txt",
        "/etc/systemd/system/opensm@8.service.d/99-another.conf"})
    files.content[path] = "[Service]\n";
  std::vector<std::string> all;
  for (const auto& other : other_drop_ins(files, "opensm@7.service", "50-ours.conf"))
    all.push_back(other.path + (other.after_ours ? " after" : " before"));
  EXPECT_THAT(all, ElementsAre("/run/systemd/system/service.d/10-all.conf before",
                               "/usr/lib/systemd/system/opensm@.service.d/55-template.conf after",
                               "/etc/systemd/system/opensm@7.service.d/60-instance.conf after"));
}

// systemd.unit(5): of files with one name that of the first folder counts.
TEST(DropIns, FoldersOfSystemctlEditAndGeneratorsCountInTheirOrder) {
  constexpr const char* kFirstToLast[] = {
      "/etc/systemd/system.control",   "/run/systemd/system.control",  "/run/systemd/transient",
      "/run/systemd/generator.early",  "/etc/systemd/system",          "/etc/systemd/system.attached",
      "/run/systemd/system",           "/run/systemd/system.attached", "/run/systemd/generator",
      "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",      "/lib/systemd/system",
      "/run/systemd/generator.late"};
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  for (const auto* folder : kFirstToLast)
    files.content[std::string(folder) + "/opensm.service.d/60-limit.conf"] = "[Service]\n";
  for (const auto* folder : kFirstToLast) {
    const auto others = other_drop_ins(files, "opensm.service", "50-ours.conf");
    ASSERT_EQ(others.size(), 1U) << folder;
    const auto path = std::string(folder) + "/opensm.service.d/60-limit.conf";
    EXPECT_EQ(others[0].path, path);
    files.content.erase(path);
  }
  EXPECT_THAT(other_drop_ins(files, "opensm.service", "50-ours.conf"), IsEmpty());
}

TEST(DropIns, ALineGoesOnAfterABackslash) {
  struct Row {
    const char* text;
    std::vector<std::string> values;
  };
  for (const auto& row : {
           Row{"ExecStart=a \\\n-F x\n", {"a  -F x"}},
           Row{"ExecStart=a\\\n# a comment \\\n; another\n-F x\n", {"a -F x"}},
           Row{"ExecStart=a\\\r\n-F x\r\n", {"a -F x"}},
           Row{"ExecStart=a\\\nExecStart=b\n", {"a ExecStart=b"}},
           Row{"ExecStart=a\\\\\nExecStart=b\n", {"a\\\\", "b"}},
           Row{"ExecStart=\\\n\\\nb\n", {"b"}},
           Row{"#ExecStart=a\\\nExecStart=b\n", {"b"}},
           Row{"ExecStart=a\\\n\nExecStart=b\n", {"a", "b"}},
           Row{"ExecStart=a\\", {"a"}},
           Row{"\\\n", {}},
           Row{"", {}},
       })
    EXPECT_EQ(assigned_values(row.text, "ExecStart"), row.values) << row.text;
}

TEST(DropIns, LinesAreCountedWhereTheyBegin) {
  std::vector<std::pair<int, std::string>> lines;
  for (const auto& line : unit_lines("[Service]\n# c\nA=1\\\n2\nB=3"))
    lines.emplace_back(line.number, line.text);
  EXPECT_THAT(lines, ElementsAre(std::pair(1, std::string("[Service]")), std::pair(3, std::string("A=1 2")),
                                 std::pair(5, std::string("B=3"))));
}

TEST(DropIns, SayWhatTheyAssign) {
  const char* const text = "[Service]\n ExecStart = a -b\n#ExecStart=x\nExecStartPre=y\nExecStart=\n";
  EXPECT_THAT(assigned_values(text, "ExecStart"), ElementsAre("a -b", ""));
  EXPECT_THAT(assigned_values(text, "Nice"), IsEmpty());
}

}  // namespace
}  // namespace rdmacfg::kinds
