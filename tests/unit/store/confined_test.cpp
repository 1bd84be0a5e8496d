// SPDX-License-Identifier: Apache-2.0
// Errors of parsing a document in the sandbox.
#include "store/confined.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "catalog/all.hpp"
#include "config/document.hpp"

namespace rdmacfg::core {
namespace {

std::string confined_error(const Confine& confine) {
  const auto document = parse_confined({{"config.toml", std::string("version = 1\n")}}, "node1", confine);
  return document ? std::string() : document.error().message;
}

TEST(Confined, SaysWhyADocumentCannotBeParsed) {
  const auto says = [](const std::string& answer) {
    return [=](const std::function<std::string()>& /*compute*/) { return base::Result<std::string>(answer); };
  };
  EXPECT_EQ(confined_error(nullptr), "parsing the document: there is no sandbox in this program");
  EXPECT_EQ(confined_error([](const std::function<std::string()>& /*compute*/) -> base::Result<std::string> {
              return base::fail(base::Code::kIo, "clone: Operation not permitted");
            }),
            "parsing the document: clone: Operation not permitted");
  for (const auto* answer : {"", "{", "{}", "[]", "{\"sections\": 1}"})
    EXPECT_EQ(confined_error(says(answer)), "the result of the sandbox is invalid") << answer;
  EXPECT_EQ(confined_error([](const std::function<std::string()>& compute) {
              return base::Result<std::string>(compute());
            }),
            "");
}

TEST(Confined, KeepsTheTopicOfADiagnostic) {
  const auto here = [](const std::function<std::string()>& compute) {
    return base::Result<std::string>(compute());
  };
  const auto document =
      parse_confined({{"config.toml", std::string("[[ipoib]]\nversion = 1\n")}}, "node1", here);
  ASSERT_TRUE(document);
  EXPECT_TRUE(std::any_of(
      document->diagnostics.begin(), document->diagnostics.end(),
      [](const auto& diagnostic) { return diagnostic.topic == model::Topic::kMisplacedVersion; }));
}

}  // namespace
}  // namespace rdmacfg::core
