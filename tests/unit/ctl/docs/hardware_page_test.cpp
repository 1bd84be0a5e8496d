// SPDX-License-Identifier: Apache-2.0
// The drivers in docs/HARDWARE.md: each row of its tables names a test that is there, or says why it
// has none; and each driver of the program's table is on the page, has its documents, and is played by the
// lab.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "kinds/ethernet/dcb_drivers.hpp"
#include "unit/ctl/sources.hpp"

namespace rdmacfg::ctl::hardware_page {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Suites, "Suite.Test" and the names of cases.
const std::set<std::string>& tests_there_are() {
  static const auto names = [] {
    std::set<std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kSource / "tests")) {
      if (!entry.path().filename().string().ends_with("_test.cpp")) continue;
      std::istringstream lines(content(entry.path()));
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("TEST")) {
          const auto open = line.find('('), comma = line.find(", ", open), close = line.find(')', comma);
          if (close == std::string::npos) continue;
          const auto suite = line.substr(open + 1, comma - open - 1);
          out.insert(suite);
          out.insert(suite + "." + line.substr(comma + 2, close - comma - 2));
        } else if (entry.path().generic_string().find("/tests/contract/") != std::string::npos) {
          for (const char* before : {"Case{\"", ".name = \"", "            \""}) {
            const auto at = line.find(before);
            if (at == std::string::npos) continue;
            const auto begin = at + std::string(before).size();
            out.insert(line.substr(begin, line.find('"', begin) - begin));
          }
        }
      }
    }
    return out;
  }();
  return names;
}

bool is_there(const std::string& named) {
  namespace fs = std::filesystem;
  if (named.find('/') != std::string::npos) {
    if (!named.ends_with("/*"))
      return fs::exists(kSource / named) || fs::exists(kSource / "tests/data" / named);
    const auto folder = kSource / "tests/data" / named.substr(0, named.size() - 2);
    return fs::is_directory(folder) && !fs::is_empty(folder);
  }
  std::string pattern;
  for (const char c : named) pattern += c == '*' ? std::string("\\w*") : c == '.' ? "\\." : std::string(1, c);
  const std::regex expression(pattern);
  return std::any_of(tests_there_are().begin(), tests_there_are().end(),
                     [&](const auto& test) { return std::regex_match(test, expression); });
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out;
  for (std::size_t begin = 1; begin < line.size();) {
    auto end = line.find(" |", begin);
    if (end == std::string::npos) end = line.size();
    out.push_back(line.substr(begin, end - begin));
    begin = end + 2;
  }
  return out;
}

using Rows = std::vector<std::vector<std::string>>;

/// The rows of all tables whose last column says the test.
Rows rows_with_tests(const std::string& page) {
  Rows out;
  bool in_table = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) {
      in_table = false;
    } else if (line.ends_with("| test |") || line.ends_with("| test, or why not |")) {
      in_table = true;
    } else if (in_table && !line.starts_with("|---")) {
      out.push_back(cells_of(line));
    }
  }
  return out;
}

std::set<int> numbers_in(const std::string& text) {
  std::set<int> out;
  for (const auto& number : matches(text, "(\\d+)")) out.insert(std::stoi(number));
  return out;
}

TEST(HardwarePage, EachRowNamesATestThatIsThereOrSaysWhyNot) {
  const auto page = content(kSource / "docs/HARDWARE.md");
  const auto explained = matches(page, "\n- ([^:\n]+): ");
  const auto rows = rows_with_tests(page);
  for (const auto& row : rows) {
    const auto named = matches(row.back(), "`([^`]*)`");
    for (const auto& test : named) EXPECT_TRUE(is_there(test)) << test << ", of" << row.front();
    if (!named.empty()) continue;
    EXPECT_EQ(row.back(), " none") << row.front() << " names no test";
    EXPECT_TRUE(std::any_of(explained.begin(), explained.end(),
                            [&](const auto& subject) {
                              return (", " + subject + ",").find("," + row.front() + ",") !=
                                         std::string::npos ||
                                     row.front().starts_with(" " + subject + " (");
                            }))
        << "the page must say why" << row.front() << " has none";
  }
}

TEST(HardwarePage, TheDifferencesAreAllThere) {
  std::set<int> numbers;
  for (const auto& row : rows_with_tests(content(kSource / "docs/HARDWARE.md"))) {
    if (row.front().find_first_not_of(" 0123456789,") == std::string::npos)
      numbers.merge(numbers_in(row.front()));
  }
  constexpr int kDifferences = 28;
  for (int i = 1; i <= kDifferences; ++i) EXPECT_THAT(numbers, Contains(i));
}

TEST(HardwarePage, ATestThatIsNotThereIsNoticed) {
  EXPECT_TRUE(is_there("DcbDrivers"));
  EXPECT_TRUE(is_there("hns3_*"));
  EXPECT_FALSE(is_there("hns4_*"));
  EXPECT_FALSE(is_there("DcbOfIce.NoSuchTest"));
  EXPECT_FALSE(is_there("tests/contract/no_such_test.cpp"));
  EXPECT_FALSE(is_there("no_such_kind/*"));
}

// The next driver is one row of the program, one of the page, cases of documents, a personality of the lab.
TEST(HardwarePage, EachDriverOfTheProgramIsThereWithItsCasesAndItsPersonality) {
  const auto page = content(kSource / "docs/HARDWARE.md");
  const auto lab = content(kSource / "docs/LAB.md");
  const auto scenario = content(kSource / "tests/lab/suite/ethernet/38-drivers.sh");
  const auto documents = content(kSource / "tests/lab/suite/ethernet/64-documents-by-driver.sh");
  std::string module;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "tests/lab/module"))
    module += content(entry.path());
  for (const auto& driver : kinds::dcb_drivers()) {
    if (driver.name.empty()) continue;
    const std::string name(driver.name);
    const auto personality = name.substr(0, name.find('_'));
    EXPECT_THAT(page, HasSubstr("| `" + name + "` |"));
    EXPECT_TRUE(is_there(personality + "_*")) << name << " has no documents in tests/contract";
    EXPECT_THAT(module, HasSubstr(".driver = \"" + name + "\"")) << "the lab does not play it";
    EXPECT_THAT(lab, HasSubstr("`" + personality + "`"));
    const auto loads = personality == "mlx5" ? "roce:m5:" : "dcb=" + personality;  // the default
    EXPECT_THAT(scenario, HasSubstr(loads)) << "no row of what it does";
    EXPECT_THAT(documents, HasSubstr(loads)) << "no documents are tried on it";
  }
}

}  // namespace
}  // namespace rdmacfg::ctl::hardware_page
