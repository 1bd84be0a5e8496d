// SPDX-License-Identifier: Apache-2.0
// tests/data/faults/documents.txt: the mistakes of people, each reported with its line and cause.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "core/guards/plausibility.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::core::faults {
namespace {

const std::string kFolder = std::string(TEST_DATA) + "/faults/";

struct Case {
  int line = 0;          ///< of the file
  bool only = false;     ///< it is the only error
  bool on_host = false;  ///< checked against host.json, too
  std::string place;     ///< "3:8", "pending", or "accepted"
  std::string cause;     ///< part of message or hint
  std::string document;
};

std::string unescaped(std::string_view text) {
  std::string out = text.starts_with('!') ? "" : "version = 1\n";
  if (text.starts_with('!')) text.remove_prefix(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    if (next == 'n') out += '\n';
    if (next == 'a') out += '\a';
    if (next == '\\') out += '\\';
    if (next == 'G') out += "guid = \"00:02:c9:03:00:31:78:f2\"\n";
  }
  return out;
}

std::vector<Case> cases() {
  std::vector<Case> out;
  std::ifstream file(kFolder + "documents.txt");
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const auto first = line.find(" | "), second = line.find(" | ", first + 3);
    Case row{.line = number,
             .place = line.substr(0, first),
             .cause = line.substr(first + 3, second - first - 3),
             .document = unescaped(std::string_view(line).substr(second + 3))};
    if (row.place.starts_with("only ")) {
      row.only = true;
      row.place.erase(0, 5);
    }
    if (row.place.starts_with("host ")) {
      row.on_host = true;
      row.place.erase(0, 5);
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::string content(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

model::Report judged(const Case& row) {
  auto document = config::parse_texts({{.name = "x", .text = row.document}}, "node1", kinds::grammar());
  require_version(document);
  warn_of_implausible(document);
  if (!row.on_host) return validate(document);
  auto kernel = fakes::FakeKernel::parse(content(kFolder + "host.json"));
  auto host = kernel->host();
  return diff(document, host);
}

std::string place_of(const model::Diagnostic& diagnostic) {
  return fmt::format("{}:{}", diagnostic.where.line, diagnostic.where.column);
}

/// The first error; without one the first warning; without that the first resource that waits.
std::pair<std::string, std::string> answer(const model::Report& report) {
  for (const auto severity : {model::Severity::kError, model::Severity::kWarning}) {
    for (const auto& diagnostic : report.diagnostics) {
      if (diagnostic.severity == severity)
        return {place_of(diagnostic),
                diagnostic.message + (diagnostic.hint.empty() ? "" : "; hint: " + diagnostic.hint)};
    }
  }
  for (const auto& resource : report.resources) {
    if (resource.status == model::Status::kPending || !resource.reason.empty())
      return {"pending", resource.reason};
  }
  return {"accepted", ""};
}

TEST(Faults, EachSaysTheLineAndTheCause) {
  const bool print = std::getenv("FAULTS_PRINT") != nullptr;
  for (const auto& row : cases()) {
    const auto report = judged(row);
    const auto [place, text] = answer(report);
    if (print) std::cout << row.line << '\t' << place << '\t' << text << '\n';
    EXPECT_TRUE(place == row.place && text.find(row.cause) != std::string::npos)
        << kFolder << "documents.txt:" << row.line << ": " << row.document << "expected " << row.place << ' '
        << row.cause << "\nis       " << place << ' ' << text;
    const auto errors =
        std::count_if(report.diagnostics.begin(), report.diagnostics.end(),
                      [](const auto& diagnostic) { return diagnostic.severity == model::Severity::kError; });
    EXPECT_TRUE(!row.only || errors == 1)
        << kFolder << "documents.txt:" << row.line << ": " << errors << " errors: " << row.document;
  }
}

/// Every section of the language has its faults here.
TEST(Faults, CoverTheGrammar) {
  const auto all = cases();
  EXPECT_GE(all.size(), 400U);
  std::set<std::string> documents;
  for (const auto& row : all)
    EXPECT_TRUE(documents.insert(row.document).second) << "line " << row.line << " is there twice";
  for (const auto& spec : kinds::grammar()) {
    const auto header = spec.repeated ? fmt::format("[[{}]]", spec.name) : fmt::format("[{}]", spec.name);
    const auto count = std::count_if(all.begin(), all.end(), [&](const Case& row) {
      return row.document.find(header) != std::string::npos && row.place != "accepted";
    });
    EXPECT_GE(count, 3) << header;
  }
}

}  // namespace
}  // namespace rdmacfg::core::faults
