// SPDX-License-Identifier: Apache-2.0
// docs/FLEET.md works as it is written: its files are laid into a folder, its commands run, and what they
// print is compared. UPDATE_GOLDEN=1 writes the page with what they print.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "unit/ctl/console.hpp"
#include "unit/ctl/page.hpp"
#include "unit/ctl/sources.hpp"

namespace rdmacfg::ctl::fleet_page {
namespace {

class Page {
 public:
  /// "/root/…" is in the test's folder.
  void write(const std::string& path, const std::string& text) {
    const auto file = console_.folder() / path.substr(1);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  /// The output of a command, with its exit status behind it.
  std::string type(std::string command) {
    command.resize(command.size() - kStatus.size());
    auto words = page::words_of(command);
    words.erase(words.begin());
    const auto home = console_.folder().string();
    for (auto& word : words) {
      if (word.starts_with("/root/")) word = home + word;
    }
    const int status = console_.run(words);
    auto out = console_.out.str() + console_.err.str();
    for (auto at = out.find(home); at != std::string::npos; at = out.find(home)) out.erase(at, home.size());
    return out + std::to_string(status) + '\n';
  }

  static inline const std::string kStatus = "; echo $?";

 private:
  Console console_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

TEST(FleetPage, WorksAsItIsWritten) {
  const auto path = kSource / "docs/FLEET.md";
  const bool update = std::getenv("UPDATE_GOLDEN") != nullptr;
  const auto page = lines_of(content(path));
  Page host;
  std::string written, file;
  std::size_t commands = 0, files = 0;
  for (std::size_t i = 0; i < page.size();) {
    const auto& line = page[i++];
    written += line + '\n';
    if (line.starts_with("`/") && line.ends_with("`:")) file = line.substr(1, line.size() - 3);
    if (line != "```") continue;
    std::string text;
    while (page.at(i) != "```") {
      const auto command = page[i++];
      if (!command.starts_with("# rdma-configctl ")) {
        text += command + '\n';
        continue;
      }
      ASSERT_TRUE(command.ends_with(Page::kStatus)) << command;
      std::vector<std::string> expected;
      while (page.at(i) != "```" && !page[i].starts_with("# ")) expected.push_back(page[i++]);
      const auto out = host.type(command.substr(2));
      const auto lines = lines_of(out);
      const bool same = page::fits(expected, lines);
      EXPECT_TRUE(same || update) << command << " prints\n" << out;
      text += command + '\n';
      for (const auto& printed_line : same ? expected : lines) text += printed_line + '\n';
      ++commands;
    }
    if (!file.empty()) {
      host.write(file, text);
      ++files;
      file.clear();
    }
    written += text + page[i++] + '\n';
  }
  EXPECT_EQ(commands, 4U);
  EXPECT_EQ(files, 8U);
  if (update) std::ofstream(path) << written;
}

}  // namespace
}  // namespace rdmacfg::ctl::fleet_page
