// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/document_json.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "catalog/all.hpp"
#include "model/limits.hpp"
#include "unit/ctl/sources.hpp"

namespace rdmacfg::daemon {
namespace {

using ctl::content;
using ::testing::HasSubstr;

void expect_same(const model::Section& a, const model::Section& b) {
  EXPECT_EQ(a.path, b.path);
  EXPECT_EQ(a.where, b.where);
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (const auto& [key, entry] : a.entries) {
    const auto* other = b.find(key);
    ASSERT_NE(other, nullptr) << key;
    EXPECT_EQ(entry.value, other->value) << key;
    EXPECT_EQ(entry.where, other->where);
    EXPECT_EQ(entry.from_defaults, other->from_defaults);
  }
  ASSERT_EQ(a.children.size(), b.children.size());
  for (std::size_t i = 0; i < a.children.size(); ++i) expect_same(a.children[i], b.children[i]);
}

void expect_same(const config::Document& a, const config::Document& b) {
  ASSERT_EQ(a.sections.size(), b.sections.size());
  for (std::size_t i = 0; i < a.sections.size(); ++i) expect_same(a.sections[i], b.sections[i]);
  ASSERT_EQ(a.diagnostics.size(), b.diagnostics.size());
  for (std::size_t i = 0; i < a.diagnostics.size(); ++i) {
    EXPECT_EQ(a.diagnostics[i].message, b.diagnostics[i].message);
    EXPECT_EQ(a.diagnostics[i].where, b.diagnostics[i].where);
    EXPECT_EQ(a.diagnostics[i].hint, b.diagnostics[i].hint);
    EXPECT_EQ(a.diagnostics[i].severity, b.diagnostics[i].severity);
    EXPECT_EQ(a.diagnostics[i].related.size(), b.diagnostics[i].related.size());
  }
  EXPECT_EQ(a.skipped, b.skipped);
  EXPECT_EQ(a.host, b.host);
  EXPECT_EQ(a.whole, b.whole);
  EXPECT_EQ(a.faulty, b.faulty);
  EXPECT_EQ(a.not_shown, b.not_shown);
}

TEST(DocumentJson, EveryGoldenDocumentLeavesTheSandboxAsItIsParsedOutsideOfIt) {
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TEST_DATA)) {
    if (entry.path().extension() != ".toml") continue;
    if (++seen % 8 != 0) continue;  // each is a process
    const std::vector<config::Text> texts{{"a.toml", content(entry.path())}};
    const auto confined = parse_confined(texts, "host");
    ASSERT_TRUE(confined) << entry.path() << ": " << confined.error().message;
    SCOPED_TRACE(entry.path());
    expect_same(*confined, config::parse_texts(texts, "host", kinds::grammar()));
  }
  EXPECT_GT(seen, 50U);
}

TEST(DocumentJson, ErrorsComeOutWithTheirPlaces) {
  const std::vector<config::Text> texts{{"a.toml", "version = 1\n[[ipoib]]\nnonsense = 3\n"},
                                        {"b.toml", "= broken"}};
  const auto confined = parse_confined(texts, "host");
  ASSERT_TRUE(confined);
  expect_same(*confined, config::parse_texts(texts, "host", kinds::grammar()));
  EXPECT_TRUE(model::has_errors(confined->diagnostics));
}

TEST(DocumentJson, WhatTheSandboxSaysIsNotTrusted) {
  std::string deep = "[\"a\",[-1,0,0,1],[],[]]";
  for (int i = 0; i < 20; ++i) deep = "[\"a\",[-1,0,0,1],[],[" + deep + "]]";
  const auto document = [](const std::string& sections) {
    return R"({"sections":[)" + sections +
           R"(],"diagnostics":[],"skipped":[],"host":"","whole":true,"faulty":[],"not_shown":0})";
  };
  EXPECT_TRUE(document_from(document(""), {}));
  for (const auto& text : {std::string(), std::string("{}"), std::string("[["), document("1"), document(deep),
                           document(R"(["a",[7,0,0,1],[],[]])"),
                           document(R"(["a",[-1,0,0,1],[["k",{"x":1},[-1,0,0,1],true]],[]])")})
    EXPECT_FALSE(document_from(text, {})) << text;
}

TEST(DocumentJson, ADocumentBeyondTheLimitsIsRefusedWithItsPlace) {
  std::string units;
  for (int i = 0; i < 62'000; ++i) units += fmt::format("\"u{}.service\",", i);
  const auto confined =
      parse_confined({{"a.toml", "version = 1\n[[memlock]]\nunits = [" + units + "]\n"}}, "host");
  ASSERT_TRUE(confined);
  ASSERT_TRUE(model::has_errors(confined->diagnostics));
  EXPECT_THAT(confined->diagnostics.front().message, HasSubstr("62000 items, more than the 16384"));
  EXPECT_EQ(confined->diagnostics.front().where.line, 3);
}

}  // namespace
}  // namespace rdmacfg::daemon
