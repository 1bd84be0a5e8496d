// SPDX-License-Identifier: Apache-2.0
// tests/proof names tests: each is there.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace rdmacfg {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// "Suite.Name" of every test of a program.
std::set<std::string> tests_of(const std::string& folder) {
  const std::regex test(R"(\nTEST(?:_F|_P)?\((\w+), (\w+)\))");
  std::set<std::string> out;
  // Small areas share a program (tests/CMakeLists.txt).
  std::vector<fs::path> folders{fs::path("unit") / folder, fs::path(folder)};
  if (folder == "core") folders.insert(folders.end(), {"unit/doctor", "unit/store"});
  if (folder == "kinds") folders.insert(folders.end(), {"unit/catalog", "unit/formats"});
  for (const auto& below : folders) {
    const auto path = fs::path(SOURCE_ROOT) / "tests" / below;
    if (!fs::is_directory(path)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.path().extension() != ".cpp") continue;
      const auto text = content(entry.path());
      for (std::sregex_iterator at(text.begin(), text.end(), test), end; at != end; ++at)
        out.insert((*at)[1].str() + "." + (*at)[2].str());
    }
  }
  return out;
}

TEST(Proof, NamesTestsThatThereAre) {
  std::istringstream lines(content(fs::path(SOURCE_ROOT) / "tests/proof"));
  std::size_t defects = 0;
  const std::regex row(R"(^\t(\d+) \|.*\| ([^|]+)$)"), program(R"((\w+)_tests:(\S+))");
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    EXPECT_EQ(found[1].str(), std::to_string(++defects));
    const auto named = found[2].str();
    for (const auto word : base::split(named, ' ')) {
      std::smatch match;
      const std::string text(word);
      if (!std::regex_match(text, match, program)) {
        const auto command = text.substr(0, text.find('='));
        EXPECT_TRUE(fs::exists(fs::path(SOURCE_ROOT) / "tests" / command)) << command;
        continue;
      }
      const auto there = tests_of(match[1].str());
      const auto filters = match[2].str();
      for (const auto filter : base::split(filters, ':')) {
        const bool any = std::any_of(there.begin(), there.end(),
                                     [&](const auto& test) { return base::matches_glob(filter, test); });
        EXPECT_TRUE(any) << line << ": no test is called " << filter;
      }
    }
  }
  EXPECT_EQ(defects, 14U);
}

}  // namespace
}  // namespace rdmacfg
