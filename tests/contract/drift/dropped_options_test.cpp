// SPDX-License-Identifier: Apache-2.0
// Module options that the document drops, where somebody else made the initramfs that holds them.
#include <cerrno>

#include "contract/stage.hpp"
#include "kinds/host/initramfs_stamp.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kDracutHost = R"({ "initramfs": { "tool": "dracut -f" },
  "modules": { "mlx4_core": { "parameters": { "num_vfs": "0" } } } })";
constexpr const char* kOptions =
    "version = 1\n[initramfs]\npolicy = \"report\"\n"
    "[[module]]\nname = \"mlx4_core\"\noptions = [\"num_vfs=4\"]\n";

/// Somebody made the image while the options were there.
Stage dracut_stage() {
  Stage out(Scenario{.name = "dropped", .host = kDracutHost, .documents = {kOptions, "version = 1\n"}});
  if (!out.kernel().initramfs.rebuild()) throw std::runtime_error("no image");
  out.kernel().faults.clear();
  return out;
}

bool is_noted(Stage& stage) {
  return stage.kernel().files.content.contains(std::string(kinds::kInitramfsStamp));
}

TEST(DroppedOptions, WhatIsLeftToALaterRunIsNotForgotten) {
  auto staged = dracut_stage();
  EXPECT_FALSE(is_noted(staged));
  core::Options options;
  options.awaited = true;
  const auto report = staged.apply(options);
  EXPECT_EQ(report.exit, Exit::kPartly) << text_of(report);
  EXPECT_TRUE(is_noted(staged));
  const auto later = staged.apply();
  EXPECT_EQ(later.exit, Exit::kOk) << text_of(later);
  const auto& calls = staged.kernel().faults.log();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "dracut -f"), 1);
  ASSERT_EQ(later.plan.changes.size(), 1U);
  EXPECT_EQ(later.plan.changes.front().key.kind, "initramfs");
  EXPECT_FALSE(is_noted(staged));
  EXPECT_TRUE(staged.diff().plan.empty());
}

TEST(DroppedOptions, UndoingTakesTheNoteBack) {
  auto undisturbed = dracut_stage();
  ASSERT_TRUE(applied(undisturbed.apply()));
  const auto calls = undisturbed.kernel().faults.log();
  for (std::size_t n = 1; n <= calls.size(); ++n) {
    SCOPED_TRACE(calls[n - 1]);
    auto staged = dracut_stage();
    const auto before = staged.dump();
    staged.kernel().faults.fail_at(n, EPERM);
    const auto report = staged.apply();
    if (applied(report)) continue;
    EXPECT_EQ(difference(staged.dump(), before), "") << text_of(report);
    if (report.exit == Exit::kUndone && calls[n - 1] != "dracut -f") {
      const auto again = staged.apply();
      EXPECT_TRUE(applied(again)) << text_of(again);
      EXPECT_FALSE(is_noted(staged));
    }
  }
}

}  // namespace
}  // namespace rdmacfg::contract
