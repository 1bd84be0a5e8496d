// SPDX-License-Identifier: Apache-2.0
// Habits of users of other tools: files behind the subcommand, -f, -o, -V, help CMD, generations, topics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "console.hpp"
#include "core/commit/commit.hpp"
#include "ctl/generation_diff.hpp"
#include "ctl/options.hpp"
#include "ctl/service.hpp"
#include "fakes/proc_tcp.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A console whose documents stand behind the subcommand.
struct Words : Console {
  std::string file(const std::string& name, const std::string& text) const {
    const auto path = folder() / name;
    std::ofstream(path) << text;
    return path.string();
  }
};

const std::string kHabitsPlain =
    std::string("version = 1\n\n[[ipoib]]\nguid = \"") + kGuid1 + "\"\nname = \"mlx4_ib0\"\n";

TEST(Habits, FilesBehindTheSubcommandAndDashF) {
  Words console;
  const auto file = console.file("a.toml", kRename);
  const std::vector<std::vector<std::string>> all{
      {"validate", file}, {"validate", "-f", file}, {"validate", "--file", file}, {"-f", file, "validate"}};
  for (const auto& words : all) {
    EXPECT_EQ(console.run(words), 0) << console.err.str();
    EXPECT_EQ(console.out.str(), "Valid: 1 entry in 1 file.\n");
  }
  EXPECT_EQ(console.run({"diff", file}), 2);
  EXPECT_EQ(console.run({"apply", "--dry-run", "-f", file}), 2);
  const auto more = console.file("b.toml", "version = 1\n[rdma_system]\nnetns = \"shared\"\n");
  EXPECT_EQ(console.run({"validate", file, more}), 0);
  EXPECT_EQ(console.out.str(), "Valid: 2 entries in 2 files.\n");
  EXPECT_EQ(console.run({"validate", "-f", file, "-f", more}), 0);
  EXPECT_EQ(console.out.str(), "Valid: 2 entries in 2 files.\n");
}

TEST(Habits, LooksAreChosenByO) {
  Words console;
  const auto file = console.file("a.toml", kRename);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"show", "-o", "json", "-f", file}, {"show", "--format=json", "-f", file}}) {
    EXPECT_EQ(console.run(words), 0);
    EXPECT_THAT(console.out.str(), StartsWith("{"));
  }
  EXPECT_EQ(console.run({"show", "ports", "-o", "name", "-f", file}), 0);
  EXPECT_EQ(console.out.str(), "mlx4_0/1\nmlx4_0/2\n");
  EXPECT_EQ(console.run({"show", "-o", "yaml"}), 1);
  EXPECT_EQ(console.run({"-V"}), 0);
  EXPECT_THAT(console.out.str(), StartsWith("rdma-configctl 0."));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"validate", "-q", "-f", file}, {"history", "-q"}}) {
    EXPECT_EQ(console.run(words), 0) << words.front();
    EXPECT_EQ(console.out.str(), "") << words.front() << " has no data";
  }
  const auto bad = console.file("bad.toml", "version = 1\nmtu = 1\n");
  EXPECT_EQ(console.run({"validate", "-q", "-f", bad}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("bad.toml:2:1: error: mtu: unknown key"));
}

TEST(Habits, HelpOfASubcommandHasExamples) {
  Words console;
  EXPECT_EQ(console.run({"help", "diff"}), 0);
  const auto text = console.out.str();
  EXPECT_THAT(text, AllOf(StartsWith("Usage: rdma-configctl diff [OPTIONS] [FILE...|N [M]]"),
                          HasSubstr("Examples"), HasSubstr("rdma-configctl diff 3 5")));
  EXPECT_EQ(console.run({"diff", "--help"}), 0);
  EXPECT_EQ(console.out.str(), text);
  EXPECT_EQ(console.run({"help"}), 0);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("Subcommands"), HasSubstr("status")));
}

TEST(Habits, ValuesThatAScriptHasNotSetAreRefused) {
  Words console;
  const std::vector<std::vector<std::string>> all{
      {"apply", "--only"},    {"import", "--output"}, {"import", "--name-template"},
      {"export", "--output"}, {"verify", "--client"}, {"verify", "--mad"},
      {"verify", "--from"},   {"verify", "--ipoib"},  {"verify", "--to"},
      {"fabric", "--from"},   {"fabric", "--route"},  {"metrics", "--output"},
      {"doctor", "--report"}, {"fleet", "--hosts"},   {"show", "--host"},
  };
  for (auto words : all) {
    words.emplace_back("");
    EXPECT_EQ(console.run(words), 1) << words[0];
    EXPECT_THAT(console.err.str(), StartsWith("rdma-configctl: error: " + words[1] + ": is empty; give "));
    EXPECT_THAT(console.out.str(), IsEmpty()) << words[0];
  }
}

TEST(Habits, ValuesOfOptionsThatTakeNoneOrOthers) {
  Words console;
  const std::vector<std::pair<std::vector<std::string>, std::string>> all{
      {{"validate", "--quiet=maybe"}, "--quiet: \"maybe\" is neither true nor false; write --quiet alone"},
      {{"apply", "--yes=please"}, "--yes: \"please\" is neither true nor false; write --yes alone"},
      {{"validate", "-q=no"}, "-q: short options take no =; write -q, or -q and its value as the next word"},
      {{"validate", "-f=new.toml"},
       "-f: short options take no =; write -f, or -f and its value as the next word"},
      {{"wait-online", "--timeout", "5x"}, "--timeout: \"5x\" is not a time from 0s to 86400s"},
      {{"wait-online", "--timeout=-1"}, "--timeout: \"-1\" is not a time from 0s to 86400s"},
      {{"wait-online", "--timeout", "1.5"}, "--timeout: \"1.5\" is not a time from 0s to 86400s"},
      {{"fabric", "--timeout", "0"}, "--timeout: \"0\" is not a time from 1s to 86400s"},
      {{"status", "--timeout", "25h"}, "--timeout: \"25h\" is not a time from 1s to 86400s"},
      {{"apply", "--wait", "61m"}, "--wait: \"61m\" is not a time from 0s to 3600s"},
      {{"apply", "--wait", "5x"}, "--wait: \"5x\" is not a time from 0s to 3600s"},
      {{"apply", "--wait=-1"}, "--wait: \"-1\" is not a time from 0s to 3600s"},
      {{"apply", "--wait", "3601"}, "--wait: \"3601\" is not a time from 0s to 3600s"},
      {{"show", "--document", "ib0"},
       "show --document: unexpected argument ib0; get prints an entry or a value of the "
       "document"},
      {{"show", "--document", "--differs"},
       "--differs cannot be combined with --document, which looks at no resources"},
      {{"show", "--document", "-o", "name"},
       "--format name cannot be combined with --document, which looks at no resources"},
      {{"show", "--color=never"},
       "show has no option --color; only terminals get colour; --no-colour disables it"},
      {{"diff", "--colour"},
       "diff has no option --colour; only terminals get colour; --no-colour disables it"},
      {{"apply", "--wait", "nan"}, "--wait: \"nan\" is not a time from 0s to 3600s"},
  };
  for (const auto& [words, message] : all) {
    EXPECT_EQ(console.run(words), 1) << message;
    EXPECT_EQ(console.err.str(), "rdma-configctl: error: " + message + "\n");
  }
  console.document("version = 1\n");
  EXPECT_EQ(console.run({"apply", "--dry-run", "--wait", "0.5"}), 0) << console.err.str();
}

TEST(Habits, TimesTakeUnits) {
  const std::vector<std::pair<std::vector<const char*>, std::uint64_t>> all{
      {{"rdma-configctl", "wait-online", "--timeout", "5m"}, 300},
      {{"rdma-configctl", "wait-online", "--timeout", "0"}, 0},
      {{"rdma-configctl", "status", "--timeout=90s"}, 90},
      {{"rdma-configctl", "fabric", "--timeout", "1m30s"}, 90},
      {{"rdma-configctl", "fabric", "--timeout", "90"}, 90},
  };
  for (const auto& [words, seconds] : all) {
    const auto line = parse_command_line(static_cast<int>(words.size()), words.data(), {});
    ASSERT_TRUE(line.has_value()) << line.error().message;
    EXPECT_EQ(line->arguments.timeout, std::optional<std::uint64_t>(seconds));
  }
  const std::vector<const char*> words{"rdma-configctl", "apply", "--wait", "1m"};
  const auto line = parse_command_line(static_cast<int>(words.size()), words.data(), {});
  ASSERT_TRUE(line.has_value()) << line.error().message;
  EXPECT_EQ(line->arguments.apply.wait, std::optional<double>(60));
}

TEST(Habits, HelpKnowsItsOptions) {
  Words console;
  EXPECT_EQ(console.run({"help", "--nosuch"}), 1);
  EXPECT_THAT(console.err.str(), StartsWith("rdma-configctl: error: help has no option --nosuch;"));
  EXPECT_EQ(console.run({"help", "--json"}), 0) << console.err.str();
}

TEST(Habits, QuietHasNothingToSayOfAHostInSync) {
  Words console;
  console.document("version = 1\n");
  EXPECT_EQ(console.run({"diff", "-q"}), 0) << console.err.str();
  EXPECT_EQ(console.out.str(), "");
  EXPECT_EQ(console.run({"apply", "--dry-run", "-q"}), 0) << console.err.str();
  EXPECT_EQ(console.out.str(), "");
  console.document(kRename);
  EXPECT_EQ(console.run({"diff", "-q"}), 2);
  EXPECT_THAT(console.out.str(), Not(IsEmpty())) << "changes are data";
}

TEST(Habits, AnApplyThatCannotBeToldIsNamed) {
  Words console;
  console.document(kRename);
  console.out.setstate(std::ios::badbit);
  EXPECT_EQ(console.run({"apply", "--dry-run"}), 1) << "its output is all that it does";
  EXPECT_EQ(console.run({"apply", "--yes"}), 0) << "judged by what it did";
  EXPECT_THAT(console.err.str(), HasSubstr("the output could not be written"));
}

TEST(Habits, TheRootOfAnImageIsNoPathOfAFormat) {
  Words console;
  std::filesystem::create_directories(console.folder() / "image/etc");
  const auto image = (console.folder() / "image").string();
  EXPECT_EQ(console.run({"import", "limits", image}), 1);
  EXPECT_THAT(console.err.str(),
              HasSubstr(image + " looks like the root of a host: run `rdma-configctl import limits --root " +
                        image + "`"));
}

TEST(Habits, HelpHelpsWithItself) {
  Words console;
  EXPECT_EQ(console.run({"help", "help"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), StartsWith("Usage: rdma-configctl help [OPTIONS] [SUBCOMMAND]\n"));
  EXPECT_EQ(console.run({"help", "help", "show"}), 1);
}

TEST(Habits, HelpTakesTheWordsOfASubcommand) {
  Words console;
  const std::vector<std::pair<std::vector<std::string>, std::string>> all{
      {{"help", "fabric", "targets"}, "fabric"}, {{"help", "show", "ports"}, "show"},
      {{"help", "import", "nm"}, "import"},      {{"help", "history", "show"}, "history"},
      {{"help", "fleet", "validate"}, "fleet"},
  };
  for (const auto& [words, subcommand] : all) {
    EXPECT_EQ(console.run(words), 0) << console.err.str();
    EXPECT_THAT(console.out.str(), StartsWith("Usage: rdma-configctl " + subcommand + " ")) << words.back();
  }
  EXPECT_EQ(console.run({"help", "show", "diff"}), 1);
  EXPECT_EQ(console.run({"help", "targets"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("unknown subcommand targets"));
}

TEST(Habits, TopicsNamesAndPatterns) {
  Words console;
  console.kernel.add_child("ib0", 0x8002, "ib0.8002");
  EXPECT_EQ(console.run({"show", "ports"}), 0);
  EXPECT_THAT(console.out.str(),
              AllOf(StartsWith("PORTS"), HasSubstr("mlx4_0/2"), Not(HasSubstr("DEVICES"))));
  EXPECT_EQ(console.run({"show", "ports", "mlx4_0/1"}), 0);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("mlx4_0/1"), Not(HasSubstr("mlx4_0/2"))));
  EXPECT_EQ(console.run({"show", "ipoib", "ib0*"}), 0);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("ib0.8002"), Not(HasSubstr("ib1"))));
  EXPECT_EQ(console.run({"show", "ib0", "ib1"}), 0);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("ib0  IPoIB"), HasSubstr("ib1  IPoIB")));
  EXPECT_EQ(console.run({"show", "mlx4_0/1", "ports", "ipoib"}), 0) << "in any order, and several";
  EXPECT_THAT(console.out.str(), AllOf(StartsWith("PORTS"), HasSubstr("IPOIB INTERFACES"),
                                       HasSubstr("mlx4_0/1"), Not(HasSubstr("mlx4_0/2"))));
  EXPECT_EQ(console.run({"show", "eth*"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("nothing here matches eth*"));
  EXPECT_EQ(console.run({"show", "prots"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("did you mean ports?"));
}

TEST(Habits, ManyChildrenAreFolded) {
  Words console;
  for (const std::uint16_t pkey :
       std::initializer_list<std::uint16_t>{0x8002, 0x8003, 0x8004, 0x8006, 0x8007})
    console.kernel.add_child("ib0", pkey, fmt::format("ib0.{:04x}", pkey));
  EXPECT_EQ(console.run({"show", "ipoib"}), 0);
  EXPECT_THAT(console.out.str(),
              AllOf(HasSubstr("ib0.8002 to ib0.8007"), HasSubstr("5: 0x8002-0x8004, 0x8006, 0x8007"),
                    Not(HasSubstr("ib0.8004 "))));
  EXPECT_EQ(console.run({"show", "ipoib", "--wide"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("ib0.8004 "));
}

TEST(Habits, OnlyWhatDiffers) {
  Words console;
  const auto file = console.file("a.toml", kRename + "[[service]]\nname = \"rdma-ndd\"\nenabled = true\n");
  EXPECT_EQ(console.run({"show", "--differs", "-f", file}), 0);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("ib0"), HasSubstr("pending"), Not(HasSubstr("foreign")),
                                       Not(HasSubstr("PORTS"))));
  EXPECT_EQ(console.run({"show", "--differs", "-o", "name", "-f", file}), 0);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("mlx4_ib0\n"), Not(HasSubstr("mlx4_0\n"))));
}

TEST(Habits, GenerationsAreShownAndCompared) {
  Words console;
  ASSERT_EQ(console.run({"apply", "--yes", console.file("a.toml", kHabitsPlain)}), 0) << console.err.str();
  ASSERT_EQ(console.run({"apply", "--yes", console.file("b.toml", kRename)}), 0) << console.err.str();
  EXPECT_EQ(console.run({"history", "show", "1"}), 0);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("a.toml\nversion = 1\n"), Not(HasSubstr("65520"))));
  EXPECT_EQ(console.run({"history", "show", "9"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("there is no generation 9"));
  EXPECT_EQ(console.run({"diff", "1", "2"}), 2);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("--- generation 1\n+++ generation 2\n"),
                                       HasSubstr("+mtu = 65520\n"), Not(HasSubstr("-guid"))));
  EXPECT_EQ(console.run({"diff", "2", "2"}), 0);
  EXPECT_EQ(console.run({"diff", "1"}), 2);
  EXPECT_THAT(console.out.str(), HasSubstr("connected → datagram"));
  EXPECT_EQ(console.run({"diff", "2"}), 0);
  EXPECT_EQ(console.run({"diff", "1", "2", "3"}), 1);
}

TEST(Habits, ADocumentFromElsewhereSaysHowItStays) {
  Words console;
  const auto file = console.file("a.toml", kRename);
  ASSERT_EQ(console.run({"apply", "--yes", file}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("`rdma-configctl apply --install FILE` makes this one permanent"));
  ASSERT_EQ(console.run({"apply", "--yes", "--install", file}), 0) << console.err.str();
  EXPECT_EQ(console.kernel.files.content["/etc/rdma-configd/config.toml"], kRename);
  EXPECT_FALSE(console.kernel.files.root_only.contains("/etc/rdma-configd/config.toml"));
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  ASSERT_EQ(console.run({"apply", "--yes", "--install", file}), 0) << console.err.str();
  const auto other = console.file("b.toml", kRename + "# another\n");
  console.kernel.faults.refuse("/etc/rdma-configd/config.toml: write", EROFS);
  EXPECT_EQ(console.run({"apply", "--yes", "--install", other}), 4) << "the next boot applies another one";
  EXPECT_THAT(console.err.str(), HasSubstr("applied, but not installed"));
  EXPECT_THAT(console.out.str(),
              HasSubstr("Applied, but incompletely. Left over:\n  - applied, but not installed"));
  EXPECT_EQ(console.kernel.files.content["/etc/rdma-configd/config.toml"], kRename);
  console.kernel.faults.clear();
  EXPECT_EQ(console.run({"apply", "--yes", "--install"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("--install takes one FILE"));
  console.kernel.files.content["/etc/rdma-configd/conf.d/10-x.toml"] = "version = 1\n";
  EXPECT_EQ(console.run({"apply", "--yes", "--install", file}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("10-x.toml would be merged"));
}

/// A writer of the same image's document is to wait, and one of the host's is not.
TEST(Habits, InstallingBelowAnotherRootLocksTheDocumentThere) {
  Words console;
  const auto file = console.file("a.toml", "version = 1\n");
  std::vector<std::filesystem::path> locked;
  console.environment.lock_document =
      [&](const std::filesystem::path& folder) -> base::Result<std::shared_ptr<void>> {
    locked.push_back(folder);
    return std::shared_ptr<void>();
  };
  ASSERT_EQ(console.run({"apply", "--yes", "--install", file}), 0) << console.err.str();
  EXPECT_EQ(locked, (std::vector<std::filesystem::path>{""}));
  locked.clear();
  const auto image = console.folder() / "image";
  std::filesystem::create_directory(image);
  ASSERT_EQ(console.run({"apply", "--yes", "--root", image.string(), "--install", file}), 0)
      << console.err.str();
  EXPECT_EQ(locked, (std::vector<std::filesystem::path>{std::filesystem::canonical(image)}));
}

TEST(Habits, DeletionsAreSaid) {
  Words console;
  const auto child = console.file("a.toml", kRename + "[[ipoib.pkey]]\npkey = 0x8002\n");
  ASSERT_EQ(console.run({"apply", "--yes", child}), 0) << console.err.str();
  ASSERT_EQ(console.run({"apply", "--yes", console.file("b.toml", kRename)}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("done  mlx4_ib0.8002  deleted"), HasSubstr("1 deleted")));
  ASSERT_EQ(console.run({"apply", "--yes", console.file("c.toml", "version = 1\n")}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), Not(HasSubstr(std::string("done  ") + kGuid1))) << "one line for an object";
}

TEST(Habits, LongOutputGoesThroughThePager) {
  Words console;
  console.terminal();
  std::string paged;
  console.environment.page = [&](const std::string& text) {
    paged = text;
    return true;
  };
  console.environment.rows = 5;
  EXPECT_EQ(console.run({"show"}), 0);
  EXPECT_THAT(paged, HasSubstr("PORTS"));
  EXPECT_THAT(console.out.str(), IsEmpty());
  paged.clear();
  EXPECT_EQ(console.run({"show", "--no-pager"}), 0);
  EXPECT_THAT(paged, IsEmpty());
  console.environment.rows = 500;
  EXPECT_EQ(console.run({"show"}), 0);
  EXPECT_THAT(paged, IsEmpty());
  EXPECT_THAT(console.out.str(), HasSubstr("PORTS"));
}

TEST(Habits, ConfirmIsAskedOnATerminal) {
  for (const std::string answer : {"y", "n", "gone"}) {
    Words console;
    console.terminal();
    console.answer(answer == "gone" ? "y\n" : "y\n" + answer + "\n");
    const int status = console.run({"apply", "--confirm", "1m", console.file("a.toml", kRename)});
    EXPECT_THAT(console.err.str(), HasSubstr("Keep these changes? [y/n] ")) << answer;
    const auto ledger = core::load_ledger(console.kernel.files, core::GenerationPaths().ledger);
    ASSERT_TRUE(ledger);
    EXPECT_EQ(ledger->unconfirmed.has_value(), answer == "gone") << answer;
    EXPECT_EQ(status, answer == "n" ? 3 : 0) << answer << console.err.str();
    const auto& links = console.kernel.machine.links;
    const bool renamed =
        std::any_of(links.begin(), links.end(), [](const auto& link) { return link.name == "mlx4_ib0"; });
    EXPECT_EQ(renamed, answer != "n") << answer;
  }
}

TEST(Habits, ARollbackThatFailsIsNotSaidToHaveSucceeded) {
  Words console;
  console.terminal();
  console.answer("y\nn\n");
  console.environment.readable = [&](auto) {
    console.kernel.faults.refuse("generations.json: write", EROFS);
    return true;
  };
  EXPECT_EQ(console.run({"apply", "--confirm", "1m", console.file("a.toml", kRename)}), 4);
  EXPECT_THAT(console.err.str(), HasSubstr("the rollback could not be recorded"));
}

/// An apply without an answer. `looks`: run while the question stands, `waits`: while the end is waited for.
struct Unanswered : Words {
  int end(const std::function<void()>& looks, const std::function<void()>& waits) {
    terminal();
    answer("y\n");
    environment.readable = [looks](auto) {
      looks();
      return false;
    };
    environment.sleep = [waits](auto) { waits(); };
    return run({"apply", "--confirm", "1m", file("a.toml", kRename)});
  }
  void pass_deadline() {
    const auto path = core::GenerationPaths().ledger;
    auto ledger = core::load_ledger(kernel.files, path);
    ASSERT_TRUE(ledger && ledger->unconfirmed);
    ledger->unconfirmed->deadline_ms = 0;
    ASSERT_TRUE(core::save_ledger(kernel.files, path, *ledger));
  }
  void as_the_timer(model::Report (*what)(const core::Request&, core::Context&)) {
    auto host = kernel.host();
    core::Context context{host, {}};
    EXPECT_EQ(what({.who = "root", .what = "test", .host_name = "node1"}, context).exit, model::Exit::kOk);
  }
};

TEST(Habits, AnApplyThatIsNotConfirmedIsSaidToBeUndoneWhenItIs) {
  Unanswered console;
  int waited = 0;
  EXPECT_EQ(console.end([&] { console.pass_deadline(); },
                        [&] {
                          if (++waited == 3) console.as_the_timer(core::expire);
                        }),
            3);
  EXPECT_EQ(waited, 3);
  EXPECT_THAT(console.err.str(),
              AllOf(HasSubstr("not confirmed in time: the changes are being rolled back"),
                    HasSubstr("the changes were rolled back; see `rdma-configctl history`")));
}

TEST(Habits, AnUndoingThatDoesNotComeIsNotSaidToHaveSucceeded) {
  Unanswered console;
  int waited = 0;
  EXPECT_EQ(console.end([&] { console.pass_deadline(); }, [&] { ++waited; }), 4);
  EXPECT_EQ(waited, 240) << "seconds: a daemon-reload, and a minute";
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("cannot tell whether the changes were rolled back"),
                                       Not(HasSubstr("rolled back; see `rdma-configctl history`"))));
}

TEST(Habits, TheAnswersOfOthersAreTold) {
  Unanswered kept;
  EXPECT_EQ(kept.end([&] { kept.as_the_timer(core::confirm); }, [] {}), 0);
  EXPECT_THAT(kept.err.str(), HasSubstr("another session has confirmed the changes"));
  Unanswered undone;
  EXPECT_EQ(undone.end(
                [&] {
                  undone.pass_deadline();
                  undone.as_the_timer(core::expire);
                },
                [] {}),
            3);
  EXPECT_THAT(undone.err.str(), HasSubstr("the changes were rolled back; see `rdma-configctl history`"));
}

TEST(Habits, TheSessionThatIsCutOffIsNamed) {
  Words console;
  console.terminal();
  console.answer("n\n");
  auto& link = console.kernel.link("ib0");
  link.up = true;
  link.items.emplace_back("addr4 192.0.2.7/24");
  const auto file = console.file("a.toml", kRename);
  console.variables["SSH_CONNECTION"] = "198.51.100.1 4711 192.0.2.7 22";
  EXPECT_EQ(console.run({"apply", file}), 1);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("this ssh session comes in through ib0 (192.0.2.7)"),
                                       HasSubstr("--confirm 5m")));
  console.variables["SSH_CONNECTION"] = "198.51.100.1 4711 192.0.2.8 22";
  console.answer("n\n");
  EXPECT_EQ(console.run({"apply", file}), 1);
  EXPECT_THAT(console.err.str(), Not(HasSubstr("ssh session")));
}

TEST(Habits, TheWayToTheHostsOwnFileSystemsIsNamed) {
  Words console;
  console.terminal();
  console.answer("n\n");
  auto& link = console.kernel.link("ib0");
  link.up = true;
  link.items = {"addr4 192.0.2.7/24", "route 192.0.2.0/24"};
  const auto file = console.file("a.toml", kRename);
  constexpr const char* kWarning = "this host reaches its own file systems";
  auto& mounts = console.kernel.files.content["/proc/1/mountinfo"];
  mounts = "22 1 0:21 / / rw - nfs4 192.0.2.9:/a rw,addr=192.0.2.9\n";
  EXPECT_EQ(console.run({"apply", file}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr(kWarning));
  EXPECT_EQ(console.run({"diff", file}), 2);
  EXPECT_THAT(console.err.str(), HasSubstr(kWarning));
  mounts = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
  EXPECT_EQ(console.run({"diff", file}), 2);
  EXPECT_THAT(console.err.str(), Not(HasSubstr("file systems")));
}

// NetworkManager lets go of the way to the host's own file systems later, when the apply is over.
TEST(Habits, TheSessionIsToldOfAnInterruptionOnlyIfItComesNow) {
  struct Row {
    const char* mounts;
    bool now;
  };
  for (const auto& row : {Row{"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n", true},
                          Row{"22 1 0:21 / / rw - nfs4 192.0.2.9:/a rw,addr=192.0.2.9\n", false}}) {
    SCOPED_TRACE(row.mounts);
    Words console;
    console.terminal();
    console.answer("n\n");
    console.kernel.files.content["/etc/NetworkManager/conf.d/site.conf"] = "[main]\n";
    console.kernel.files.content["/proc/1/mountinfo"] = row.mounts;
    console.kernel.network_manager.start();
    auto& link = console.kernel.link("ib0");
    link.up = true;
    link.items = {"addr4 192.0.2.7/24", "route 192.0.2.0/24"};
    const auto file = console.file("a.toml", std::string("version = 1\n[[ipoib]]\nguid = \"") + kGuid1 +
                                                 "\"\nbackend = \"direct\"\n"
                                                 "ipv4 = { addresses = [\"192.0.2.7/24\"] }\n");
    console.variables["SSH_CONNECTION"] = "198.51.100.1 4711 192.0.2.7 22";
    EXPECT_EQ(console.run({"apply", file}), 1);
    const auto said = console.out.str() + console.err.str();
    EXPECT_EQ(said.find("this ssh session") != std::string::npos, row.now) << said;
    EXPECT_EQ(said.find("interrupts later") == std::string::npos, row.now) << said;
    EXPECT_THAT(said, Not(HasSubstr("programs stop")));
  }
}

// Linux 6.2 and later rename an interface that is up, and interrupt nothing.
TEST(Habits, TheSessionWhoseInterfaceGetsAnotherNameIsNamed) {
  Words console;
  console.terminal();
  console.answer("n\n");
  console.kernel.machine.rename_up = true;
  console.kernel.files.content["/proc/sys/kernel/osrelease"] = "6.12.9-amd64\n";
  auto& link = console.kernel.link("ib0");
  link.up = true;
  link.items.emplace_back("addr4 192.0.2.7/24");
  const auto file = console.file("a.toml", kHabitsPlain);
  console.variables["SSH_CONNECTION"] = "198.51.100.1 4711 192.0.2.7 22";
  EXPECT_EQ(console.run({"apply", file}), 1);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("this ssh session comes in through ib0 (192.0.2.7)"),
                                       HasSubstr("renamed"), HasSubstr("--confirm 5m")));
  EXPECT_THAT(console.err.str(), Not(HasSubstr("interrupted")));
}

TEST(Habits, ALookSaysWhatAnApplyThatNobodySeesWouldRefuse) {
  Words console;
  const auto with = [&](const std::string& keys) {
    return console.file("a.toml", std::string("version = 1\n[[ipoib]]\nguid = \"") + kGuid1 +
                                      "\"\nname = \"mlx4_ib0\"\nstate = \"up\"\n" + keys);
  };
  ASSERT_EQ(console.run({"apply", "--yes", with("ipv4 = { addresses = [\"192.0.2.7/24\"] }\n")}), 0)
      << console.err.str();
  console.kernel.files.content["/proc/net/tcp"] =
      fakes::proc_tcp(fakes::proc_tcp_end("192.0.2.7", 22), fakes::proc_tcp_end("192.0.2.9", 54321));
  const auto without = with("ipv4 = { addresses = [\"192.0.2.8/24\"] }\n");
  const auto said =
      AllOf(HasSubstr("warning: this would remove mlx4_ib0 192.0.2.7, which carries a login session"),
            HasSubstr("`apply --yes`"), HasSubstr("--allow-removal"));
  EXPECT_EQ(console.run({"diff", without}), 2);
  EXPECT_THAT(console.err.str(), said);
  EXPECT_EQ(console.run({"apply", "--dry-run", without}), 2);
  EXPECT_THAT(console.err.str(), said);
  EXPECT_EQ(console.run({"apply", "--dry-run", "--allow-removal", without}), 2);
  EXPECT_THAT(console.err.str(), IsEmpty());
  EXPECT_EQ(console.run({"apply", "--yes", without}), 1) << "as it was said";
}

TEST(UnifiedDiff, HasContextAndHunks) {
  EXPECT_EQ(unified_diff("a", "x\n", "b", "x\n"), "");
  EXPECT_EQ(unified_diff("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  EXPECT_EQ(unified_diff("a", "", "b", "1\n"), "--- a\n+++ b\n@@ -0,0 +1 @@\n+1\n");
  std::string from, to;
  for (int i = 1; i <= 40; ++i) {
    from += fmt::format("{}\n", i);
    if (i != 3) to += fmt::format("{}\n", i == 30 ? 300 : i);
  }
  EXPECT_EQ(unified_diff("a", from, "b", to),
            "--- a\n+++ b\n@@ -1,6 +1,5 @@\n 1\n 2\n-3\n 4\n 5\n 6\n@@ -27,7 +26,7 @@\n 27\n 28\n "
            "29\n-30\n+300\n 31\n 32\n 33\n");
}

}  // namespace
}  // namespace rdmacfg::ctl
