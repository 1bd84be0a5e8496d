// SPDX-License-Identifier: Apache-2.0
#include "catalog/preset_words.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "model/diagnostic.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {
namespace {

using model::diagnose;
using model::Severity;
using model::Subject;

const model::Location kPresetAt{.file = "config.toml", .line = 3, .column = 1};
const model::Location kPfcAt{.file = "config.toml", .line = 9, .column = 1};

std::vector<model::Section> lossless_entry() {
  model::Section section;
  section.path = "lossless";
  section.where = kPresetAt;
  return {section};
}

std::string named_after_presets(model::Diagnostic diagnostic) {
  model::Diagnostics all{std::move(diagnostic)};
  name_presets(lossless_entry(), all);
  return all.front().message;
}

TEST(PresetWords, AnEntryMadeByAPresetIsCalledAsTheUserWroteIt) {
  const auto about = [](const Subject& subject) {
    return named_after_presets(diagnose(Severity::kError, kPresetAt, subject, "x is wrong", ""));
  };
  EXPECT_EQ(about({.section = "pfc", .key = "interface"}), "[[lossless]] interface: x is wrong");
  EXPECT_EQ(about({.section = "roce", .key = "dscp"}), "[[lossless]] dscp: x is wrong");
  EXPECT_EQ(about({.section = "pfc", .key = "priorities"}), "[[lossless]] priority: x is wrong");
  EXPECT_EQ(about({.section = "roce", .key = "mode"}), "[[lossless]]: mode: x is wrong");
  EXPECT_EQ(about({.section = "pfc"}), "[[lossless]]: x is wrong");
  EXPECT_EQ(about({.section = "roce", .key = {}, .role = Subject::Role::kNoun}), "[[lossless]]: x is wrong");
  EXPECT_EQ(about({.section = "module", .key = "options"}), "[[module]] options: x is wrong");
}

/// The words of a message do not matter: a name may look like a key.
TEST(PresetWords, OnlyTheSubjectDecides) {
  EXPECT_EQ(named_after_presets({Severity::kError, kPresetAt, "[[pfc]] dscp: x is wrong", "", {}}),
            "[[pfc]] dscp: x is wrong");
  const Subject entry{.section = "roce", .key = {}, .role = Subject::Role::kNoun};
  EXPECT_EQ(
      named_after_presets(diagnose(Severity::kWarning, kPresetAt, entry, "dscp: no setting is given", "")),
      "[[lossless]]: dscp: no setting is given");
}

TEST(PresetWords, AnEntryThatIsWrittenKeepsItsName) {
  EXPECT_EQ(named_after_presets(
                diagnose(Severity::kError, kPfcAt, {.section = "pfc", .key = "dscp"}, "x is wrong", "")),
            "[[pfc]] dscp: x is wrong");
}

}  // namespace
}  // namespace rdmacfg::kinds
