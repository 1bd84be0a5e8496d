// SPDX-License-Identifier: Apache-2.0
// The documentation's examples hold: `validate` accepts every document without a warning, every command line
// is one of rdma-configctl's, and messages are as the program says them. The commands' output is compared
// in the lab (tests/lab/suite/runbooks/91-docs.sh).
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "console.hpp"
#include "ctl/options.hpp"
#include "sources.hpp"

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

/// The complaints of `validate`; empty when it is content.
std::string complaint(std::string text) {
  // Excerpts leave it out.
  if (text.find("version = ") == std::string::npos) text = "version = 1\n" + text;
  Console console;
  // One of the hosts in examples of [match]: parts for others are not checked.
  console.environment.host_name = "login1";
  console.document(text);
  const int status = console.run({"validate"});
  return status == 0 && console.err.str().empty() ? "" : console.out.str() + console.err.str() + "?";
}

TEST(Documents, OfTheDocumentationAreValid) {
  std::vector<Shown> all = documents_in(fs::path(SOURCE_ROOT) / "README.md", "```toml", "```");
  for (const auto& file : fs::directory_iterator(fs::path(SOURCE_ROOT) / "docs")) {
    if (file.path().extension() != ".md") continue;
    for (auto& shown : documents_in(file.path(), "```toml", "```")) all.push_back(std::move(shown));
  }
  EXPECT_GE(all.size(), 25U);
  for (const auto& shown : all) EXPECT_EQ(complaint(shown.text), "") << shown.where << '\n' << shown.text;
}

/// Documents of docs/runbooks, and the letter that docs/RUNBOOK.md has for their steps.
constexpr std::array<std::pair<std::string_view, char>, 4> kRunbooks{
    {{"rhel", 'R'}, {"debian", 'D'}, {"suse", 'S'}, {"nvidia", 'N'}}};

TEST(RunbookDocuments, AreValidAndNamed) {
  const auto page = content(kSource / "docs/RUNBOOK.md");
  EXPECT_NE(content(kSource / "README.md").find("](docs/runbooks)"), std::string::npos);
  std::set<std::string> there;
  for (const auto& file : fs::directory_iterator(kSource / "docs/runbooks"))
    there.insert(file.path().filename().string());
  EXPECT_EQ(there.size(), kRunbooks.size());
  for (const auto& [book, letter] : kRunbooks) {
    const auto name = std::string(book) + ".toml";
    ASSERT_TRUE(there.contains(name)) << name;
    EXPECT_EQ(complaint(content(kSource / "docs/runbooks" / name)), "") << name;
    EXPECT_NE(page.find("| **" + std::string(1, letter) + "** | [" + name + "](runbooks/" + name + ")"),
              std::string::npos)
        << name;
  }
}

/// Numbers of the steps that a scenario of the lab says to judge, or to leave out with a reason.
std::set<std::string> steps_said(const std::string& script) {
  const auto numbers = matches(script, "\\b(?:step|not_here|judge_addresses) ([0-9]+)");
  return {numbers.begin(), numbers.end()};
}

/// The same of each function of the scenarios' shared file.
std::map<std::string, std::set<std::string>> steps_of_functions() {
  const auto shared = content(kSource / "tests/lab/suite/book.sh");
  std::map<std::string, std::set<std::string>> out;
  for (auto at = shared.find("\njudge_"); at != std::string::npos;) {
    const auto next = shared.find("\njudge_", at + 1);
    const auto text = shared.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    out.emplace(text.substr(0, text.find('(')), steps_said(text));
    at = next;
  }
  return out;
}

TEST(RunbookDocuments, HaveEveryStepOfTheirRunbookAndAScenarioThatJudgesIt) {
  const auto page = content(kSource / "docs/RUNBOOK.md");
  const auto functions = steps_of_functions();
  EXPECT_GT(functions.size(), 20U);
  for (const auto& [book, letter] : kRunbooks) {
    const auto name = std::string(book);
    const auto script = content(kSource / "tests/lab/suite/runbooks" / ("98-book-" + name + ".sh"));
    auto judged = steps_said(script);
    for (const auto& function : matches(script, "\\b(judge_[a-z_]+)")) {
      ASSERT_TRUE(functions.contains(function)) << name << ": " << function;
      judged.insert(functions.at(function).begin(), functions.at(function).end());
    }
    // The comments of a document number its entries.
    std::string comments;
    std::istringstream document(content(kSource / "docs/runbooks" / (name + ".toml")));
    for (std::string line; std::getline(document, line);) {
      if (line.starts_with("# ")) comments += line + '\n';
    }
    const auto numbers = matches(comments, "\\b([0-9]+)\\b");
    const std::set<std::string> numbered(numbers.begin(), numbers.end());
    int rows = 0;
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
      static const std::regex row(R"(\| ([0-9]+) \| .* \| ([RDSN ]+) \| .* \| .* \|)");
      std::smatch cells;
      if (!std::regex_match(line, cells, row) || cells.str(2).find(letter) == std::string::npos) continue;
      ++rows;
      EXPECT_TRUE(judged.contains(cells.str(1))) << name << ".sh does not judge " << line;
      EXPECT_TRUE(numbered.contains(cells.str(1))) << name << ".toml does not number " << line;
    }
    EXPECT_GE(rows, 15) << name;
  }
}

TEST(Documents, OfTheManualPageAreValid) {
  const auto page = fs::path(SOURCE_ROOT) / "docs/man/rdma-configd.toml.5";
  int whole = 0;
  for (auto& shown : documents_in(page, ".EX", ".EE")) {
    for (std::size_t at = 0; (at = shown.text.find("\\-", at)) != std::string::npos;) shown.text.erase(at, 1);
    EXPECT_EQ(complaint(shown.text), "") << shown.where << '\n' << shown.text;
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

/// The complaint of the command line parser; empty when it accepts the line.
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
      for (auto& shown : commands_in(file.path())) all.push_back(std::move(shown));
    }
  }
  EXPECT_GE(all.size(), 40U);
  for (const auto& shown : all) EXPECT_EQ(misuse(shown.text), "") << shown.where << '\n' << shown.text;
  EXPECT_NE(misuse("rdma-configctl aply --yes"), "") << "they are really looked at";
  EXPECT_NE(misuse("rdma-configctl apply --jes"), "");
}

/// A manual page as it is read, near enough.
std::string plain(std::string page) {
  page = std::regex_replace(page, std::regex(R"(\\f[BIRP])"), "");
  return std::regex_replace(page, std::regex(R"(\\(-|&))"), "$1");
}

TEST(Commands, OfTheManualPagesAreOurs) {
  int commands = 0;
  for (const auto& file : fs::directory_iterator(kSource / "docs/man")) {
    auto page = plain(content(file.path()));
    // Before it there is the synopsis.
    page.erase(0, page.find("\n.SH DESCRIPTION"));
    for (const auto& line : matches(page, "\n([^\n]*rdma-configctl [^\n]*)")) {
      if (line.starts_with(".\\")) continue;
      // After a prompt, in a list of commands, as a request of its own, or in quotes.
      for (const auto& command : matches(line, "(?:^|^# |&& |^\\.B |\")(rdma-configctl [^\"#|>&;]*)")) {
        EXPECT_EQ(misuse(command), "") << file.path() << '\n' << line;
        ++commands;
      }
    }
  }
  EXPECT_GE(commands, 12);
}

TEST(Commands, OfThePackagesNotesAreOurs) {
  const auto text = content(kSource / "packaging/debian/rdma-configd.README.Debian");
  auto commands = matches(text, "\n  (rdma-configctl [^\n]*)");
  for (auto& command : matches(text, "\"(rdma-configctl\\s[^\"]*)\"")) commands.push_back(std::move(command));
  EXPECT_GE(commands.size(), 9U);
  for (const auto& command : commands) EXPECT_EQ(misuse(command), "") << command;
}

TEST(Documents, NameUnitsThatThereAre) {
  std::vector<fs::path> pages{kSource / "README.md", kSource / "packaging/debian/rdma-configd.README.Debian"};
  for (const auto* folder : {"docs", "docs/man"}) {
    for (const auto& file : fs::directory_iterator(kSource / folder)) {
      if (file.is_regular_file()) pages.push_back(file.path());
    }
  }
  int units = 0;
  for (const auto& page : pages) {
    const auto text = plain(content(page));
    auto names = matches(text, "[^\\w-](rdma-configd[a-z@-]*\\.(?:service|target))");
    for (auto& name : matches(text, "(?:systemctl [a-z -]*|journalctl -u) (rdma-configd[a-z@-]*)"))
      names.push_back(std::move(name));
    for (const auto& name : names) {
      const auto file = name.find('.') == std::string::npos ? name + ".service" : name;
      EXPECT_TRUE(fs::exists(kSource / "units" / file)) << page << ": " << name;
      ++units;
    }
  }
  EXPECT_GE(units, 15);
}

/// The messages in docs/TROUBLESHOOTING.md: in quotes, and in first columns of tables that list them.
std::vector<Shown> messages_in(const fs::path& file) {
  std::vector<Shown> out;
  std::istringstream stream(content(file));
  std::string head;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const auto where = file.filename().string() + ":" + std::to_string(number);
    if (!line.starts_with("|")) {
      head.clear();
    } else {
      const auto cell = line.substr(2, line.find(" |", 2) - 2);
      if (head.empty()) {
        head = cell;
      } else if ((head == "message" || head == "reason" || head == "`show` or `doctor` says") &&
                 !cell.starts_with("---") && !cell.starts_with('`') && !cell.starts_with("exit status")) {
        out.push_back({where, cell});
      }
    }
    const auto text = std::regex_replace(line, std::regex("`[^`]*`"), "");
    for (const auto& message : matches(text, "\"([^\"]*)\"")) out.push_back({where, message});
  }
  return out;
}

/// Whether the program says so; … stands for anything.
bool is_said(const std::string& message, const std::string& program) {
  static const std::string kAny = "…";
  for (std::size_t start = 0; start <= message.size();) {
    auto end = message.find(kAny, start);
    if (end == std::string::npos) end = message.size();
    auto part = message.substr(start, end - start);
    part.erase(0,
               part.find_first_not_of(' ') == std::string::npos ? part.size() : part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    if (program.find(part) == std::string::npos) return false;
    start = end + kAny.size();
  }
  return true;
}

TEST(Documents, QuoteMessagesAsTheyAre) {
  // The literals of the sources, the golden cases' output, and the journal's explanations.
  auto program = std::regex_replace(code_below(""), std::regex("\\\\\""), "\"") +
                 content(kSource / "units/rdma-configd.catalog");
  for (const auto& file : fs::recursive_directory_iterator(TEST_DATA)) {
    if (file.path().filename() == "expected.txt") program += content(file.path());
  }
  const auto messages = messages_in(kSource / "docs/TROUBLESHOOTING.md");
  EXPECT_GE(messages.size(), 25U);
  for (const auto& message : messages)
    EXPECT_TRUE(is_said(message.text, program)) << message.where << ": " << message.text;
  EXPECT_FALSE(is_said("a driver reload is needed, with the options that it runs with", program));
  EXPECT_FALSE(is_said("process … holds the lock", program));
}

TEST(Documents, AreReallyLookedAt) {
  EXPECT_NE(complaint("[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nmode = \"conected\"\n"), "");
  EXPECT_NE(complaint("[[roce]]\ninterface = \"eth0\"\ndscp = 26\n[[pfc]]\ninterface = \"eth0\"\n"
                      "priorities = [3]\ndscp = [\"24:3\"]\n"),
            "")
      << "a warning counts";
}

}  // namespace
}  // namespace rdmacfg::ctl
