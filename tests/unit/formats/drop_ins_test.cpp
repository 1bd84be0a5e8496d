// SPDX-License-Identifier: Apache-2.0
#include "formats/drop_ins.hpp"

#include <gmock/gmock.h>

#include <string>
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

TEST(DropIns, SayWhatTheyAssign) {
  const char* const text = "[Service]\n ExecStart = a -b\n#ExecStart=x\nExecStartPre=y\nExecStart=\n";
  EXPECT_THAT(assigned_values(text, "ExecStart"), ElementsAre("a -b", ""));
  EXPECT_THAT(assigned_values(text, "Nice"), IsEmpty());
}

}  // namespace
}  // namespace rdmacfg::kinds
