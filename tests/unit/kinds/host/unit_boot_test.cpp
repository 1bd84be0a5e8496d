// SPDX-License-Identifier: Apache-2.0
// Units that run now but do not start at the next boot.
#include "kinds/host/unit_boot.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

bool left_out(const std::string& load, const std::string& file, const std::string& link = "") {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  if (!link.empty()) files.content[link] = "";
  system::Unit unit;
  unit.name = unit.id = "x.service";
  unit.load = load;
  unit.file = file;
  return is_left_out_at_boot(unit, files);
}

/// States of unit_file_lookup_state(); links in /run vanish with a reboot, and generators re-create theirs.
TEST(UnitBoot, KnowsUnitsThatTheNextBootDoesNotStart) {
  EXPECT_TRUE(left_out("loaded", "disabled"));
  EXPECT_TRUE(left_out("loaded", "enabled-runtime"));
  EXPECT_TRUE(left_out("masked", "masked"));
  EXPECT_TRUE(left_out("loaded", "masked")) << "masked since it was loaded";
  EXPECT_TRUE(left_out("not-found", ""));
  for (const auto* file : {"enabled", "static", "alias", "indirect", "generated", ""})
    EXPECT_FALSE(left_out("loaded", file)) << file;
  EXPECT_FALSE(left_out("masked", "masked-runtime")) << "until the boot";
  const std::string link = "/run/systemd/generator/multi-user.target.wants/x.service";
  EXPECT_FALSE(left_out("loaded", "disabled", link));
  EXPECT_FALSE(left_out("loaded", "enabled-runtime", link));
  EXPECT_TRUE(left_out("masked", "masked", link));
  const std::string of_image = "/usr/lib/systemd/system/multi-user.target.wants/x.service";
  EXPECT_FALSE(left_out("loaded", "disabled", of_image));
  EXPECT_TRUE(left_out("loaded", "disabled", "/usr/lib/systemd/system/multi-user.target.d/x.service"));
}

TEST(UnitBoot, TheNextCommandLineMasksUnits) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/kernel/cmdline"] = "root=/dev/sda1 systemd.mask=x.service\n";
  EXPECT_EQ(mask_at_boot("x.service", files), "/etc/kernel/cmdline:1");
  EXPECT_EQ(mask_at_boot("y.service", files), "");
}

}  // namespace
}  // namespace rdmacfg::kinds
