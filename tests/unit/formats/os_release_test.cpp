// SPDX-License-Identifier: Apache-2.0
#include "formats/os_release.hpp"

#include <gtest/gtest.h>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

// os-release(5): the file in /usr/lib counts where there is none in /etc, and is not merged with that.
TEST(OsRelease, TheFileOfTheVendorCountsWithoutOneInEtc) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  EXPECT_EQ(observe_distribution_ids(files), "");
  files.content["/usr/lib/os-release"] =
      "NAME=\"Rocky Linux\"\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n";
  EXPECT_EQ(observe_distribution_ids(files), "rocky rhel centos fedora");
  files.content["/etc/os-release"] = "ID=debian\n";
  EXPECT_EQ(observe_distribution_ids(files), "debian ");
}

}  // namespace
}  // namespace rdmacfg::kinds
