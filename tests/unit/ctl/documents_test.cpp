// SPDX-License-Identifier: Apache-2.0
// What the documentation shows holds: `validate` accepts every document without a warning, and every command
// line is one of rdma-configctl's. What the commands print is compared in the lab
// (tests/lab/suite/91-docs.sh).
#include <gtest/gtest.h>

#include <sstream>

#include "console.hpp"
#include "ctl/options.hpp"

namespace rdmacfg::ctl {
namespace {

namespace fs = std::filesystem;

struct Shown {
  std::string where;  ///< "docs/RECIPES.md:17"
  std::string text;
};

/// The texts between lines that begin with `begin` and lines that begin with `end`.
std::vector<Shown> documents_in(const fs::path& file, const std::string& begin, const std::string& end) {
  std::ifstream stream(file);
  std::vector<Shown> out;
  std::string line;
  bool inside = false;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (inside && line.starts_with(end)) {
      inside = false;
    } else if (inside) {
      out.back().text += line + '\n';
    } else if (line.starts_with(begin)) {
      inside = true;
      out.push_back({file.filename().string() + ":" + std::to_string(number), ""});
    }
  }
  EXPECT_FALSE(inside) << file << ": no " << end;
  return out;
}

/// What `validate` says of it; empty when it is content.
std::string complaint(std::string text) {
  // Excerpts leave it out.
  if (text.find("version = ") == std::string::npos) text = "version = 1\n" + text;
  Console console;
  // One of the hosts in examples of [match]: what is for others is not checked.
  console.environment.host_name = "login1";
  console.document(text);
  const int status = console.run({"validate"});
  return status == 0 && console.err.str().empty() ? "" : console.out.str() + console.err.str() + "?";
}

TEST(Documents, OfTheDocumentationAreValid) {
  std::vector<Shown> all = documents_in(fs::path(SOURCE_ROOT) / "README.md", "```toml", "```");
  for (const auto& file : fs::directory_iterator(fs::path(SOURCE_ROOT) / "docs")) {
    if (file.path().extension() != ".md") continue;
    for (auto& one : documents_in(file.path(), "```toml", "```")) all.push_back(std::move(one));
  }
  EXPECT_GE(all.size(), 25U);
  for (const auto& one : all) EXPECT_EQ(complaint(one.text), "") << one.where << '\n' << one.text;
}

TEST(Documents, OfTheManualPageAreValid) {
  const auto page = fs::path(SOURCE_ROOT) / "docs/man/rdma-configd.toml.5";
  int whole = 0;
  for (auto& one : documents_in(page, ".EX", ".EE")) {
    for (std::size_t at = 0; (at = one.text.find("\\-", at)) != std::string::npos;) one.text.erase(at, 1);
    EXPECT_EQ(complaint(one.text), "") << one.where << '\n' << one.text;
    ++whole;
  }
  EXPECT_GE(whole, 3);
}

/// The command lines of rdma-configctl in a text: in `…`, or a line of a code block, up to what the shell
/// takes.
std::vector<Shown> commands_in(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<Shown> out;
  std::string line;
  bool block = false;
  const auto add = [&](int number, std::string text) {
    text = text.substr(0, text.find_first_of("#|>&;"));
    for (const std::string unfinished : {"…", "..."}) {
      if (const auto at = text.find(unfinished); at != std::string::npos) text.erase(at);
    }
    out.push_back({file.filename().string() + ":" + std::to_string(number), text});
  };
  for (int number = 1; std::getline(stream, line); ++number) {
    const std::string program = "rdma-configctl ";
    if (line.starts_with("```")) {
      block = !block;
    } else if (block) {
      const std::size_t at = line.starts_with("# ") ? 2 : 0;  // a prompt
      if (line.compare(at, program.size(), program) == 0) add(number, line.substr(at));
    } else {
      for (std::size_t at = 0; (at = line.find("`" + program, at)) != std::string::npos; ++at)
        add(number, line.substr(at + 1, line.find('`', at + 1) - at - 1));
    }
  }
  return out;
}

/// What the command line parser says of one; empty when it takes it.
std::string misuse(const std::string& command) {
  std::istringstream stream(command);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    // Words in capitals stand for something.
    if (word == "SECONDS" || word == "N") word = "1";
    words.push_back(word);
  }
  if (words.size() == 1 || (words.size() == 2 && words[1].starts_with("-"))) words.emplace_back("show");
  std::vector<const char*> argv;
  for (const auto& word : words) argv.push_back(word.c_str());
  const auto parsed = parse_command_line(static_cast<int>(argv.size()), argv.data(), {});
  return parsed ? "" : parsed.error().message;
}

TEST(Commands, OfTheDocumentationAreOurs) {
  std::vector<Shown> all = commands_in(fs::path(SOURCE_ROOT) / "README.md");
  for (const auto* folder : {"docs", "docs/adr"}) {
    for (const auto& file : fs::directory_iterator(fs::path(SOURCE_ROOT) / folder)) {
      if (file.path().extension() != ".md" || file.path().filename() == "CHANGELOG.md") continue;
      for (auto& one : commands_in(file.path())) all.push_back(std::move(one));
    }
  }
  EXPECT_GE(all.size(), 40U);
  for (const auto& one : all) EXPECT_EQ(misuse(one.text), "") << one.where << '\n' << one.text;
  EXPECT_NE(misuse("rdma-configctl aply --yes"), "") << "they are really looked at";
  EXPECT_NE(misuse("rdma-configctl apply --jes"), "");
}

TEST(Documents, AreReallyLookedAt) {
  EXPECT_NE(complaint("[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nmode = \"conected\"\n"), "");
  EXPECT_NE(complaint("[[roce]]\ninterface = \"eth0\"\nmode = \"v2\"\n[[lossless]]\ninterface = \"eth0\"\n"),
            "")
      << "a warning counts";
}

}  // namespace
}  // namespace rdmacfg::ctl
