// SPDX-License-Identifier: Apache-2.0
// docs/ADD-A-KIND.md shows code that compiles and works: its blocks are those of login_variable.{hpp,cpp}.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "example/login_variable.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kProfile = "/etc/profile.d/rdma-configd.sh";

std::string text_of_source(const std::string& path) {
  std::ifstream file(std::string(SOURCE_ROOT) + "/" + path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The blocks of a page that begin with ```LANGUAGE.
std::vector<std::string> blocks_of(const std::string& page, const std::string& language) {
  std::vector<std::string> out;
  const auto begin = "```" + language + "\n";
  for (auto at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const auto from = at + begin.size();
    out.push_back(page.substr(from, page.find("```", from) - from));
  }
  return out;
}

/// The resources of the kind that a document asks for.
std::vector<model::Desired> desired_by(const std::string& text, World& world,
                                       model::Diagnostics& diagnostics) {
  const auto document = config::parse_texts({{"a.toml", text}}, "node1", {login_variable_section()});
  EXPECT_THAT(document.diagnostics, IsEmpty());
  Bound bound;
  bound.sections = document.sections;
  bound.world = &world;
  std::vector<model::Desired> out;
  login_variable().parse(bound, out, diagnostics);
  return out;
}

model::Change change_to(const model::Desired& desired) {
  model::Change change;
  change.key = desired.key;
  change.label = desired.label;
  change.after = desired.settings;
  return change;
}

TEST(AddAKind, ThePageShowsTheCode) {
  const auto page = text_of_source("docs/ADD-A-KIND.md");
  const auto code =
      text_of_source("tests/example/login_variable.hpp") + text_of_source("tests/example/login_variable.cpp");
  const auto blocks = blocks_of(page, "cpp");
  EXPECT_THAT(blocks, SizeIs(testing::Ge(4U)));
  for (const auto& block : blocks) EXPECT_THAT(code, HasSubstr(block));
}

TEST(AddAKind, TheEntryOfThePageIsAppliedAndTakenBack) {
  const auto entries = blocks_of(text_of_source("docs/ADD-A-KIND.md"), "text");
  ASSERT_THAT(entries, SizeIs(1));
  fakes::FakeKernel kernel;
  auto host = kernel.host();
  auto world = World::observe(host);
  ASSERT_TRUE(world);
  model::Diagnostics diagnostics;
  const auto desired = desired_by("version = 1\n" + entries.front(), *world, diagnostics);
  EXPECT_THAT(diagnostics, IsEmpty());
  ASSERT_THAT(desired, SizeIs(1));
  EXPECT_THAT(login_variable().observe(*world).value(), IsEmpty());

  auto change = change_to(desired.front());
  ASSERT_TRUE(login_variable().apply({&change, 1}, host));
  EXPECT_THAT(kernel.files.content[kProfile], HasSubstr("export UCX_TLS='rc,ud,self'\n"));
  const auto observed = login_variable().observe(*world).value();
  ASSERT_THAT(observed, SizeIs(1));
  EXPECT_EQ(observed.front().key, desired.front().key);
  EXPECT_EQ(observed.front().settings, desired.front().settings);

  const auto* file = &login_variable().files().front();
  EXPECT_EQ(file->path, kProfile);
  EXPECT_EQ(file->rendered(kernel.files.content[kProfile] + "rm -rf /\n"), kernel.files.content[kProfile]);

  change.operation = model::Operation::kDelete;
  change.after.clear();
  ASSERT_TRUE(login_variable().apply({&change, 1}, host));
  EXPECT_FALSE(kernel.files.content.contains(kProfile));
}

TEST(AddAKind, AValueThatAShellWouldEndIsRefusedWithItsPlace) {
  fakes::FakeKernel kernel;
  auto host = kernel.host();
  auto world = World::observe(host);
  ASSERT_TRUE(world);
  model::Diagnostics diagnostics;
  EXPECT_THAT(
      desired_by("version = 1\n[[login_variable]]\nname = \"A\"\nvalue = \"it's\"\n", *world, diagnostics),
      IsEmpty());
  ASSERT_THAT(diagnostics, SizeIs(1));
  EXPECT_EQ(diagnostics.front().where.line, 4);
}

}  // namespace
}  // namespace rdmacfg::kinds
