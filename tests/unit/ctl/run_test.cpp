// SPDX-License-Identifier: Apache-2.0
// The command line from one end to the other: output, streams, and exit status.
#include "ctl/run.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "console.hpp"
#include "ctl/docs/command_texts.hpp"
#include "ctl/render/terminal.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(Usage, MistakesEndInOneWithASuggestion) {
  Console console;
  const auto fails = [&](const std::vector<std::string>& words, const std::string& message) {
    EXPECT_EQ(console.run(words), 1) << message;
    EXPECT_THAT(console.out.str(), IsEmpty());
    EXPECT_EQ(console.err.str(), "rdma-configctl: error: " + message + "\n");
  };
  fails({"shwo"}, "unknown subcommand shwo; did you mean show?");
  fails({"frobnicate"}, "unknown subcommand frobnicate; see `rdma-configctl --help`");
  fails({"apply", "--dry-rum"}, "apply has no option --dry-rum; did you mean --dry-run?");
  fails({"--jsno", "show"}, "show has no option --jsno; did you mean --json?");
  fails({"--yes", "apply"},
        "--yes is an option of apply; put it after that word: rdma-configctl apply --yes");
  fails({"--wait=5", "apply"},
        "--wait is an option of apply; put it after that word: rdma-configctl apply --wait=5");
  fails({"--yes", "show"}, "show has no option --yes; see `rdma-configctl show --help`");
  fails({"apply", "-n"}, "apply has no option -n; did you mean --dry-run?");
  fails({"show", "-n"}, "show has no option -n; see `rdma-configctl show --help`");
  fails({"show", "-j"}, "show has no option -j; did you mean --json?");
  fails({"show", "--output=json"}, "show has no option --output; did you mean --format?");
  fails({"show", "--foo=3"}, "show has no option --foo; see `rdma-configctl show --help`");
  fails({"show", "-x"}, "show has no option -x; see `rdma-configctl show --help`");
  fails({"fabric", "--svg"}, "fabric has no option --svg; write -o svg");
  fails({"fabric", "--graphviz"}, "fabric has no option --graphviz; write -o dot");
  fails({"fabric", "--output", "map.svg"},
        "fabric has no option --output; drawings go to stdout: rdma-configctl fabric -o svg > FILE.svg");
  fails({"fabric", "--output=map.dot"},
        "fabric has no option --output; drawings go to stdout: rdma-configctl fabric -o dot > map.dot");
  fails({"fabric", "--output=json"}, "fabric has no option --output; did you mean --format?");
  fails({"-x", "show"}, "show has no option -x; see `rdma-configctl show --help`");
  fails({"status", "ib0"}, "status: unexpected argument ib0");
  fails({"diff", "/nonexistent.toml"}, "/nonexistent.toml: No such file or directory");
  fails({"completion"},
        "unknown subcommand completion; the package installs the completions of bash, zsh and fish, which "
        "a new shell loads");
  fails({"plan"}, "unknown subcommand plan; did you mean diff?");
  fails({"version"}, "unknown subcommand version; did you mean --version?");
  fails({"show", "-o", "yaml"}, "--format: \"yaml\" is not one of text, wide, name, json, dot, svg");
  fails({"diff", "-o", "name"}, "--format name is valid only with show, status and fabric");
  fails({"apply", "-o", "name", "--yes"}, "--format name is valid only with show, status and fabric");
  fails({"apply", "--only"}, "--only: NAME is missing");
  fails({"help", "shwo"}, "unknown subcommand shwo; did you mean show?");
  fails({"show", "diff"}, "show and diff cannot be combined");
  fails({}, "missing subcommand: show, status, diff, apply, …; see `rdma-configctl --help`");
  fails({"show", "--root", "/nonexistent"}, "--root /nonexistent: No such file or directory");
  fails({"show", "--root", "/"},
        "--root /: that is the running system; leave it out to configure this host, or give the folder "
        "of the image");
  fails({"show", "--root", ""}, "--root: is empty; give DIR, or leave --root out");
  fails({"show", "--config", ""}, "--config: is empty; give FILE, or leave --config out");
  fails({"--root=", "show"}, "--root: is empty; give DIR, or leave --root out");
  fails({"show", "--config=", "ib0"}, "--config: is empty; give FILE, or leave --config out");
  fails({"show", "--root", "/a", "--root", "/b"}, "--root is given more than once");
  fails({"show", "--root", "/proc/self/status"}, "--root /proc/self/status: not a directory");
  fails({"show", "--root", "/etc/passwd"}, "--root /etc/passwd: not a directory");
}

TEST(Usage, OnlyAnOptionThatTheRestCanDoWithoutMayBeLeftOut) {
  Console console;
  const auto fails = [&](const std::vector<std::string>& words, const std::string& message) {
    EXPECT_EQ(console.run(words), 1) << message;
    EXPECT_EQ(console.err.str(), "rdma-configctl: error: " + message + "\n");
  };
  fails({"fleet", "validate", "--hosts", ""}, "--hosts: is empty; give HOSTS|FILE");
  fails({"fleet", "report", "--hosts=", "answers"},
        "--hosts: is empty; give HOSTS|FILE, or leave --hosts out");
  fails({"verify", "--ipoib=ib0", "--to", ""}, "--to: is empty; give ADDRESS");
  fails({"verify", "--to", ""}, "--to: is empty; give ADDRESS, or leave --to out");
}

TEST(Usage, AnErrorNamesTheWayToWhatWasMeant) {
  Console console;
  const auto fails = [&](const std::vector<std::string>& words, const std::string& message) {
    EXPECT_EQ(console.run(words), 1) << message;
    EXPECT_EQ(console.err.str(), "rdma-configctl: error: " + message + "\n");
  };
  fails({"history", "diff", "1"}, "history and diff cannot be combined; compare generations with diff N M");
  fails({"fabric", "--port", "mlx5_0/1"}, "fabric has no option --port; did you mean --from?");
  fails({"show", "--port", "1"}, "show has no option --port; see `rdma-configctl show --help`");
  fails({"apply", "--force"}, "apply has no option --force; did you mean --yes?");
}

TEST(Usage, WordsBehindTwoDashesAreNoOptions) {
  Console console;
  const auto says = [&](const std::vector<std::string>& words) {
    EXPECT_EQ(console.run(words), 1);
    return console.err.str();
  };
  EXPECT_THAT(says({"validate", "--", "-odd.toml"}), HasSubstr(" -odd.toml: No such file or directory"));
  EXPECT_THAT(says({"validate", "--", "show"}), HasSubstr(" show: No such file or directory"));
  EXPECT_THAT(says({"show", "-x"}), HasSubstr("show has no option -x"));
  EXPECT_THAT(says({"set", "sysctl[kernel.sched_rt_runtime_us].value", "-1"}), Not(HasSubstr("no option")));
  EXPECT_THAT(says({"set", "sysctl[kernel.sched_rt_runtime_us].value", "-x"}), HasSubstr("no option -x"));
}

TEST(Usage, BadValuesAreMistakesToo) {
  Console console;
  EXPECT_EQ(console.run({"apply", "--wait", "soon"}), 1);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("--wait"), HasSubstr("soon")));
  EXPECT_EQ(console.run({"show", "--config"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("--config"));
  const auto says = [&](const std::vector<std::string>& words) {
    EXPECT_EQ(console.run(words), 1);
    return console.err.str();
  };
  for (const auto* number : {"-1", "0", "abc", "1.5", "99999999999999999999"})
    EXPECT_THAT(says({"rollback", "--yes", number}),
                HasSubstr(fmt::format("\"{}\" is not the number of a generation; see", number)));
  EXPECT_THAT(says({"apply", "--confirm", "-1"}),
              HasSubstr("--confirm: \"-1\" is not a time from 1s to 24h"));
  EXPECT_THAT(says({"apply", "--confirm=0"}), HasSubstr("\"0\" is not a time from 1s to 24h"));
}

TEST(Usage, HelpTeaches) {
  Console console;
  EXPECT_EQ(console.run({"--help"}), 0);
  EXPECT_THAT(console.out.str(),
              AllOf(StartsWith("Usage: "), HasSubstr("A first tour"), HasSubstr("Exit status:"),
                    HasSubstr("--pending-ok"), Not(HasSubstr("reference"))));
  EXPECT_EQ(console.run({"apply", "-h"}), 0);
  EXPECT_THAT(console.out.str(),
              AllOf(HasSubstr("-y, --yes"), HasSubstr("--wait SECONDS"), HasSubstr("--root DIR")));
  EXPECT_EQ(console.run({"-h", "diff"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("--explain"));
}

TEST(Usage, HelpFitsTheTerminal) {
  Console console;
  console.terminal();
  console.variables["NO_COLOR"] = "1";
  std::vector<std::vector<std::string>> all;
  all.push_back({"--help"});
  for (const auto& command : command_texts()) all.push_back({std::string(command.name), "--help"});
  for (const int columns : {60, 80, 200}) {
    console.variables["COLUMNS"] = std::to_string(columns);
    for (const auto& words : all) {
      EXPECT_EQ(console.run(words), 0) << words.front();
      std::istringstream lines(console.out.str());
      for (std::string line; std::getline(lines, line);) {
        // An example that is to be copied stays in one line.
        if (line.starts_with("  ") && line.find("rdma-configctl ") != std::string::npos && words.size() > 1)
          continue;
        EXPECT_LE(display_width(line), columns) << words.front() << ": " << line;
      }
    }
  }
}

TEST(Usage, Version) {
  Console console;
  EXPECT_EQ(console.run({"--version"}), 0);
  EXPECT_THAT(console.out.str(), StartsWith("rdma-configctl 0."));
  EXPECT_EQ(console.run({"--version", "--json"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("org.rdmaconfigd.version/1"));
}

TEST(Usage, OptionsBeforeAndAfterTheSubcommand) {
  Console console;
  console.document("version = 1\n");
  EXPECT_EQ(console.run({"--json", "show"}), 0);
  EXPECT_THAT(console.out.str(), StartsWith("{"));
  EXPECT_EQ(console.run({"show", "--json"}), 0);
  EXPECT_THAT(console.out.str(), StartsWith("{"));
}

TEST(Validate, CountsEntriesOrShowsMistakes) {
  Console console;
  console.document(kRename);
  EXPECT_EQ(console.run({"validate"}), 0);
  EXPECT_EQ(console.out.str(), "Valid: 1 entry in 1 file.\n");
  // Only what has brackets of its own is an entry.
  console.document(
      "version = 1\n[rdma_system]\nnetns = \"shared\"\n[[ipoib]]\nmatch = { device = \"mlx4_*\", port = 1 }\n"
      "ipv4 = { addresses = [\"192.0.2.1/24\"] }\n[[ipoib.pkey]]\npkey = 0x8002\n"
      "ipv6 = { addresses = [\"2001:db8::1/64\"] }\n");
  EXPECT_EQ(console.run({"validate"}), 0);
  EXPECT_EQ(console.out.str(), "Valid: 3 entries in 1 file.\n");
  console.document(kRename + "mdoe = \"x\"\n");
  EXPECT_EQ(console.run({"validate"}), 1);
  EXPECT_THAT(console.out.str(), IsEmpty());
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("config.toml:8"), HasSubstr("mode")));
}

TEST(Validate, AMissingFileIsAnError) {
  Console console;
  console.document("");
  EXPECT_EQ(console.run({"validate", "--config", "/nonexistent.toml"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("rdma-configctl: error: "));
}

TEST(Diff, ShowsThePlanAndChangesNothing) {
  Console console;
  console.document(kRename);
  const auto before = console.kernel.dump();
  EXPECT_EQ(console.run({"diff"}), 2);
  EXPECT_THAT(console.out.str(), HasSubstr("  ~ mlx4_ib0  (port 00:02:c9:03:00:31:78:f2, now ib0)\n"));
  EXPECT_THAT(console.out.str(), HasSubstr("datagram → connected"));
  EXPECT_THAT(console.err.str(), IsEmpty());
  EXPECT_EQ(console.run({"diff", "--explain"}), 2);
  EXPECT_THAT(console.out.str(), HasSubstr("config.toml:5\n"));
  EXPECT_EQ(console.run({"apply", "--dry-run"}), 2);
  EXPECT_THAT(console.out.str(), HasSubstr("Dry run: nothing was changed.\n"));
  EXPECT_EQ(console.kernel.dump(), before);
  EXPECT_EQ(console.locks, 0);
}

TEST(Diff, PendingIsFive) {
  Console console;
  console.document("version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:00:00:01\"\nmode = \"connected\"\n");
  EXPECT_EQ(console.run({"diff"}), 5);
  EXPECT_THAT(console.out.str(), HasSubstr("pending"));
  EXPECT_EQ(console.run({"diff", "--pending-ok"}), 0);
}

TEST(Apply, MakesItSoAndThenThereIsNothingToDo) {
  Console console;
  console.document(kRename);
  EXPECT_EQ(console.run({"apply", "--yes"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(),
              AllOf(HasSubstr("~ mlx4_ib0"),
                    HasSubstr("Done: 0 created, 1 changed, 0 deleted; 1 resource matches the document.")));
  EXPECT_EQ(console.kernel.link("mlx4_ib0").mtu, 65520);
  EXPECT_EQ(console.locks, 1);
  EXPECT_EQ(console.run({"apply", "--yes"}), 0);
  EXPECT_THAT(console.out.str(), testing::EndsWith("Nothing to do: 1 resource matches the document.\n"));
  EXPECT_EQ(console.run({"diff"}), 0);
}

TEST(Apply, AsksOnATerminal) {
  for (const auto* answer : {"n\n", "", "\n", "yesterday\n"}) {
    Console console;
    console.document(kRename);
    console.terminal();
    console.answer(answer);
    const auto before = console.kernel.dump();
    EXPECT_EQ(console.run({"apply"}), 1);
    EXPECT_THAT(console.err.str(),
                AllOf(HasSubstr("Apply this 1 change? [y/N] "), HasSubstr("nothing was changed")));
    EXPECT_EQ(console.kernel.dump(), before);
  }
  Console console;
  console.document(kRename);
  console.terminal();
  console.answer("Y\n");
  EXPECT_EQ(console.run({"apply"}), 0);
  EXPECT_EQ(console.kernel.link("mlx4_ib0").mtu, 65520);
}

TEST(Apply, DoesNotDoWhatWasNotShown) {
  Console console;
  console.document(kRename);
  console.terminal();
  console.answer("y\n");
  console.environment.lock = [&](const auto& /*root*/, const auto&) -> base::Result<std::shared_ptr<void>> {
    console.kernel.set_mode("ib0",
                            model::IpoibMode::kConnected);  // somebody else, while the question stood there
    return std::shared_ptr<void>();
  };
  EXPECT_EQ(console.run({"apply"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("the host changed while you were reading"));
  EXPECT_EQ(console.kernel.link("ib0").name, "ib0");
}

TEST(Apply, RefusesBeforeItBegins) {
  Console console;
  console.document(kRename);
  EXPECT_EQ(console.run({"apply"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("add --yes"));
  EXPECT_EQ(console.run({"apply", "--json"}), 1);
  EXPECT_THAT(console.out.str(), HasSubstr("add --yes"));
  console.environment.privileged = false;
  EXPECT_EQ(console.run({"apply", "--yes"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("requires root"));
  EXPECT_EQ(console.run({"apply", "--dry-run"}), 2);
  console.environment.privileged = true;
  console.lock_error = base::Error{base::Code::kTimeout, "process 17 is still applying", 0};
  EXPECT_EQ(console.run({"apply", "--yes"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("process 17"));
  EXPECT_EQ(console.kernel.link("ib0").name, "ib0");
}

TEST(Apply, AFailureIsUndoneAndSaidSo) {
  Console console;
  console.document(kRename);
  const auto before = console.kernel.dump({.without_files_below = "/var/lib/rdma-configd"});
  console.kernel.faults.refuse("mode connected", EINVAL);
  const auto status = console.run({"apply", "--yes"});
  EXPECT_EQ(status, 3);
  EXPECT_THAT(console.err.str(), HasSubstr("rdma-configctl: error: "));
  EXPECT_THAT(console.out.str(), HasSubstr("The apply failed and was undone"));
  EXPECT_EQ(console.kernel.dump({.without_files_below = "/var/lib/rdma-configd"}), before);
}

TEST(Apply, AtBootItSaysLittle) {
  Console console;
  console.document(kRename);
  EXPECT_EQ(console.run({"apply", "--boot"}), 0);
  EXPECT_THAT(console.out.str(), Not(HasSubstr("→")));
  EXPECT_THAT(console.out.str(), HasSubstr("Done: "));
}

TEST(Apply, QuietlyItSaysWhatIsPendingAndNothingElse) {
  Console console;
  console.document("version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:00:00:01\"\nmode = \"connected\"\n");
  EXPECT_EQ(console.run({"apply", "--yes", "--quiet"}), 5);
  EXPECT_THAT(console.out.str(), IsEmpty());
  EXPECT_THAT(console.err.str(),
              AllOf(HasSubstr("rdma-configctl: "), HasSubstr(" is pending ("), HasSubstr("; apply again ")));
  EXPECT_EQ(console.run({"apply", "--yes", "--quiet", "--pending-ok"}), 0);
  EXPECT_THAT(console.err.str(), Not(HasSubstr("apply again"))) << "0 has no reason";
  console.document(kRename);
  EXPECT_EQ(console.run({"apply", "--yes", "--quiet"}), 0);
  EXPECT_THAT(console.out.str(), IsEmpty());
  EXPECT_THAT(console.err.str(), Not(HasSubstr("apply again")));
}

TEST(Apply, SaysWhereTheNextBootGoesAnotherWay) {
  Console console;
  console.document(kRename);
  EXPECT_EQ(console.run({"apply", "--yes"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), Not(HasSubstr("boot applies nothing")));
  console.kernel.files.content["/proc/1/mountinfo"] = "22 1 0:9 / / rw - tmpfs tmpfs rw\n";
  console.kernel.units.add("rdma-configd.service", {.masked = true});
  EXPECT_EQ(console.run({"apply", "--yes"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(),
              AllOf(HasSubstr("rdma-configd.service is masked"), HasSubstr("is in memory")));
  auto& unit = console.kernel.units.units.at("rdma-configd.service");
  unit.masked = false;
  EXPECT_EQ(console.run({"apply", "--yes"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("rdma-configd.service is not enabled"));
  EXPECT_THAT(console.out.str(), Not(HasSubstr("rolls this apply back")));
  EXPECT_EQ(console.run({"apply", "--yes", "--confirm", "60"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("neither applies anything nor rolls this apply back"));
  unit.enabled = true;
  EXPECT_EQ(console.run({"apply", "--yes"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), Not(HasSubstr("boot applies nothing")));
}

TEST(Apply, OfflineLocksTheFolderAndNeedsNoRoot) {
  Console console;
  console.document(kRename);
  console.environment.privileged = false;
  const auto status = console.run({"apply", "--yes", "--root", console.folder().string()});
  EXPECT_TRUE(status == 0 || status == 5) << status << console.err.str();
  EXPECT_EQ(console.locks, 1);
}

TEST(Apply, OfflineSaysWhatTheFirstBootSets) {
  Console console;
  const std::string name = "version = 1\n[[rdma_device]]\npci = \"0000:10:00.0\"\nname = \"mlx4_a\"\n";
  const auto apply = [&](const std::string& document) {
    console.document(document);
    EXPECT_EQ(console.run({"apply", "--yes", "--root", console.folder().string()}), 0) << console.err.str();
    return console.out.str() + console.err.str();
  };
  EXPECT_THAT(apply(name), Not(HasSubstr("first boot")));
  EXPECT_THAT(
      apply(name + "[[service]]\nname = \"rdma-ndd\"\nenabled = true\n[[roce]]\ninterface = \"eth1\"\nmode = "
                   "\"v2\"\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n[[pfc]]\ninterface = "
                   "\"eth1\"\npriorities = [3]\n"),
      AllOf(HasSubstr("the first boot sets "), HasSubstr("rdma-ndd.service"), HasSubstr("DCB of eth1"),
            HasSubstr("00:02:c9:03:00:31:78:f2")));
  EXPECT_THAT(apply(name + "[[service]]\nname = \"rdma-ndd\"\nenabled = true\n"),
              HasSubstr("the first boot sets rdma-ndd.service: "));
}

TEST(Diff, OfflineNamesTheFilesOfTheImage) {
  Console console;
  console.document(kRename);
  const auto root = std::filesystem::canonical(console.folder()).string();
  ASSERT_TRUE(console.kernel.host().files.write("/var/lib/rdma-configd/state.json", "{"));
  // It is reported, and the check goes on.
  EXPECT_EQ(console.run({"diff", "--root", root}), 2);
  EXPECT_THAT(console.err.str(), HasSubstr("/var/lib/rdma-configd/state.json: damaged"));
  EXPECT_EQ(console.run({"diff", "--root", root, "--json"}), 2);
  EXPECT_THAT(console.out.str(), HasSubstr("/var/lib/rdma-configd/state.json: damaged"));
  EXPECT_EQ(console.run({"diff"}), 2);
  EXPECT_THAT(console.err.str(), HasSubstr("/var/lib/rdma-configd/state.json: damaged"));
}

TEST(Validate, ErrorsOfRulesAreSortedAmongTheOthersAndCounted) {
  Console console;
  std::string text = "version = 1\n";
  for (int i = 1; i <= 100; ++i) {
    text += "[[ipoib]]\nguid = \"00:02:c9:03:00:31:00:" + fmt::format("{:02x}", i) + "\"\n";
    text += i % 10 == 0 ? "mdoe = 1\n" : "mtu = 65520\n";
  }
  console.document(text);
  EXPECT_EQ(console.run({"validate", "--json"}), 1);
  const auto json = nlohmann::json::parse(console.out.str());
  const auto& all = json.at("diagnostics");
  ASSERT_EQ(all.size(), 51U);
  EXPECT_THAT(all.at(8).at("message").get<std::string>(), HasSubstr("65520"));
  EXPECT_THAT(all.at(9).at("message").get<std::string>(), HasSubstr("mdoe"));
  EXPECT_THAT(all.at(10).at("message").get<std::string>(), HasSubstr("65520"));
  EXPECT_EQ(all.at(50).at("message"), "50 more errors are not shown");
}

TEST(Apply, OfflineTheNameIsTheImages) {
  Console console;
  console.environment.host_name = "builder";
  console.document(
      "version = 1\n[match]\nhost = \"gpu*\"\n[[module]]\nname = \"mlx4_core\"\noptions = [\"num_vfs=4\"]\n");
  const std::vector<std::string> apply{"apply", "--yes", "--root", console.folder().string()};
  EXPECT_EQ(console.run(apply), 1) << "an image without a name";
  EXPECT_THAT(console.err.str(),
              HasSubstr("config.toml:3:8: error: [match] host: this host has no name (yet)"));
  EXPECT_EQ(console.run({"validate"}), 0) << console.err.str();
  console.kernel.files.content["/etc/hostname"] = "gpu007\n";
  console.run(apply);
  EXPECT_TRUE(console.kernel.files.content.contains("/etc/modprobe.d/rdma-configd.conf"));
  console.kernel.files.content["/etc/hostname"] = "login1\n";
  console.run(apply);
  EXPECT_THAT(console.out.str() + console.err.str(), HasSubstr("not used: "));
}

TEST(Apply, OfflineNamesAnInitramfsThatIsOlder) {
  Console console;
  console.kernel.initramfs.command = "dracut -f --regenerate-all";
  console.document("version = 1\n[[module]]\nname = \"mlx4_core\"\noptions = [\"num_vfs=4\"]\n");
  const std::vector<std::string> apply{"apply", "--yes", "--root", console.folder().string()};
  EXPECT_EQ(console.run(apply), 5) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("initramfs stale: run dracut -f --regenerate-all in that root"));
  console.kernel.initramfs.newer = true;
  EXPECT_EQ(console.run(apply), 0) << console.out.str();
}

TEST(Apply, OfflineNamesAnInitramfsThatMayHoldWhatWasDropped) {
  Console console;
  console.kernel.initramfs.command = "dracut -f --regenerate-all";
  console.document("version = 1\n[[module]]\nname = \"mlx4_core\"\noptions = [\"num_vfs=4\"]\n");
  const std::vector<std::string> apply{"apply", "--yes", "--root", console.folder().string()};
  ASSERT_EQ(console.run(apply), 5) << console.err.str();
  console.kernel.initramfs.newer = true;  // made by hand, as it said
  ASSERT_EQ(console.run(apply), 0) << console.out.str();
  console.document("version = 1\n");
  console.out.str("");
  EXPECT_EQ(console.run({"diff", "--root", console.folder().string()}), 2);
  console.kernel.initramfs.newer = false;  // as the folder of the file that goes is changed
  EXPECT_EQ(console.run(apply), 5) << console.err.str();
  EXPECT_FALSE(console.kernel.files.content.contains("/etc/modprobe.d/rdma-configd.conf"));
  EXPECT_THAT(console.out.str(), HasSubstr("initramfs stale: run dracut -f --regenerate-all in that root"));
  EXPECT_EQ(console.run(apply), 5) << "until somebody has run it";
  console.kernel.initramfs.newer = true;
  EXPECT_EQ(console.run(apply), 0) << console.out.str();
}

TEST(Show, WorksWithoutAConfiguration) {
  Console console;
  EXPECT_EQ(console.run({"show", "--root", console.folder().string()}), 0);
  EXPECT_THAT(console.err.str(), HasSubstr("there is no configuration"));
}

TEST(Show, TellsWhatIsThere) {
  Console console;
  console.document(kRename);
  EXPECT_EQ(console.run({"show"}), 0);
  const auto text = console.out.str();
  EXPECT_THAT(text, AllOf(HasSubstr("DEVICES"), HasSubstr("00:02:c9:03:00:31:78:f0"), HasSubstr("PORTS"),
                          HasSubstr("mlx4_0/2"), HasSubstr("0x8002-0x8004, 0xffff, limited 0x0005")));
  EXPECT_THAT(text, AllOf(HasSubstr("IPOIB INTERFACES"), HasSubstr("CONFORMITY"),
                          HasSubstr("mode datagram → connected")));
}

TEST(Show, SaysThatItCouldNotBeWritten) {
  Console console;
  console.document(kRename);
  console.out.setstate(std::ios::badbit);
  EXPECT_EQ(console.run({"show"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("the output could not be written"));
  console.environment.reader_is_gone = [] { return true; };
  EXPECT_EQ(console.run({"show"}), 0);
  EXPECT_THAT(console.err.str(), IsEmpty());
}

TEST(Show, NarrowsToAName) {
  Console console;
  console.document(kRename);
  console.kernel.add_child("ib0", 0x8002, "ib0.8002");
  for (const auto* name : {"mlx4_0/1", kGuid1, "ib0", "0x0002c903003178f2"}) {
    EXPECT_EQ(console.run({"show", name}), 0) << name;
    EXPECT_THAT(console.out.str(), AllOf(HasSubstr("mlx4_0/1  port"), HasSubstr("ib0.8002  P_Key interface"),
                                         Not(HasSubstr("mlx4_0/2  port"))))
        << name;
  }
  EXPECT_EQ(console.run({"show", "ib0.8002"}), 0);
  EXPECT_THAT(console.out.str(), Not(HasSubstr("ib0  IPoIB interface")));
  EXPECT_EQ(console.run({"show", "mlx4_0"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("mlx4_0/2  port"));
  EXPECT_EQ(console.run({"show", "mlx4_1"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("no object is named mlx4_1; udev may have renamed the device from "
                                           "this kernel name: there is mlx4_0"));
  EXPECT_EQ(console.run({"show", "mlx4_0/9"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("no object is named mlx4_0/9; mlx4_0 has ports 1, 2\n"));
}

TEST(Show, ABrokenDocumentDoesNotHideTheHost) {
  Console console;
  console.document("version = 1\n[[ipoib]\n");
  EXPECT_EQ(console.run({"show"}), 1);
  EXPECT_THAT(console.out.str(), HasSubstr("mlx4_0/1"));
  EXPECT_THAT(console.err.str(), HasSubstr("config.toml:2"));
}

TEST(Show, FitsEightyColumns) {
  Console console;
  console.document(kRename);
  console.terminal();
  console.variables["COLUMNS"] = "80";
  console.variables["NO_COLOR"] = "1";
  EXPECT_EQ(console.run({"show"}), 0);
  std::istringstream lines(console.out.str());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
}

}  // namespace
}  // namespace rdmacfg::ctl
