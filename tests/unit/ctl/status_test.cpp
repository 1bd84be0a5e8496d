// SPDX-License-Identifier: Apache-2.0
// status, reload, monitor and what doctor says of the document; with a daemon of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "console.hpp"
#include "core/applied_state.hpp"
#include "core/commit/commit.hpp"
#include "ctl/service.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class StatusService : public Service {
 public:
  StatusService(DaemonStatus status, model::Report report)
      : status_(std::move(status)), report_(std::move(report)) {}
  base::Result<model::Report> apply(const Apply& /*wanted*/, const Call& /*call*/) override {
    return report_;
  }
  base::Result<model::Report> confirm(const Call& /*call*/) override { return report_; }
  base::Result<model::Report> roll_back(std::uint64_t /*g*/, std::uint64_t /*from*/,
                                        const Call& /*call*/) override {
    return report_;
  }
  base::Result<model::Report> reload(const Call& /*call*/) override { return report_; }
  base::Result<DaemonStatus> status() override { return status_; }
  base::Result<void> follow(const std::function<bool(const DaemonEvent* event)>& told) override {
    const DaemonEvent event{5, "repaired", "repaired: ipoib ib0: mtu 2044 → 65520"};
    (void)told(&event);
    return base::fail(base::Code::kNotFound, "rdma-configd exited");
  }

 private:
  DaemonStatus status_;
  model::Report report_;
};

/// A host whose document is the system's own, as far as that can be on a build machine.
struct Host : Console {
  DaemonStatus daemon;
  model::Report report;
  bool runs = true;

  Host() {
    daemon.version = "1";
    daemon.state = "idle";
    environment.service = [this]() -> std::unique_ptr<Service> {
      if (!runs) return nullptr;
      return std::make_unique<StatusService>(daemon, report);
    };
  }
  int apply(const std::string& text) {
    document(text);
    return run({"apply", "--yes", "--local"});
  }
};

TEST(MetricsCommand, AFileHasNoReasonsOfAPrivateDocument) {
  Host host;
  host.document("version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:ff:ff:ff\"\nmtu = 2044\n");
  const auto document = host.folder() / "config.toml", file = host.folder() / "out.prom";
  const auto written = [&] {
    EXPECT_EQ(host.run({"metrics", "--output", file.string()}), 0) << host.err.str();
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  };
  const std::string hidden = "reason=\"hidden, as only root may read the document\"";
  EXPECT_THAT(written(), AllOf(HasSubstr("status=\"pending\",reason="), Not(HasSubstr(hidden))));
  std::filesystem::permissions(document, std::filesystem::perms(0600));
  EXPECT_THAT(written(), HasSubstr("status=\"pending\"," + hidden));
  EXPECT_EQ(host.run({"metrics"}), 0);
  EXPECT_THAT(host.out.str(), Not(HasSubstr(hidden))) << "its reader is who calls";
}

TEST(MetricsCommand, TellsHowTheHostStands) {
  Host host;
  host.daemon.repairs_by_kind = {{"ipoib", 3}};
  host.daemon.contended = {{"ipoib", "g", "mtu"}};
  ASSERT_EQ(host.apply(kRename), 0) << host.err.str();
  EXPECT_EQ(host.run({"metrics"}), 0) << host.err.str();
  const auto text = host.out.str();
  EXPECT_THAT(text, AllOf(HasSubstr("\nrdma_configd_compared 1\n"),
                          HasSubstr("\nrdma_configd_resources{kind=\"ipoib\",status=\"in_sync\"} 1\n"),
                          HasSubstr("\nrdma_configd_generation 1\n"), HasSubstr("\nrdma_configd_up 1\n"),
                          HasSubstr("\nrdma_configd_last_apply_rolled_back 0\n"),
                          HasSubstr("\nrdma_configd_repairs_total{kind=\"ipoib\"} 3\n"),
                          HasSubstr("\nrdma_configd_contended{kind=\"ipoib\"} 1\n")));
  const auto file = (host.folder() / "out.prom").string();
  EXPECT_EQ(host.run({"metrics", "--output", file}), 0);
  EXPECT_EQ(host.out.str(), "");
  std::ostringstream written;
  written << std::ifstream(file).rdbuf();
  EXPECT_EQ(written.str(), text);
  EXPECT_EQ(host.run({"metrics", "--output", "-"}), 0);
  EXPECT_EQ(host.out.str(), text);
  EXPECT_EQ(host.run({"metrics", "--output", (host.folder() / "none" / "out.prom").string()}), 1);
  EXPECT_EQ(host.run({"metrics", "--root", host.folder().string()}), 1);
  EXPECT_EQ(host.run({"metrics", "--json"}), 1);

  EXPECT_EQ(host.run({"metrics", "--features"}), 0);
  EXPECT_THAT(host.out.str(), HasSubstr("\nrdma-configd.in-sync=true\n"));

  host.document("version = 1\nx = 1\n");
  EXPECT_EQ(host.run({"metrics"}), 1) << "the host could not be compared";
  EXPECT_THAT(host.out.str(),
              AllOf(HasSubstr("\nrdma_configd_compared 0\n"), HasSubstr("\nrdma_configd_up 1\n")));
}

TEST(Status, TellsOneScreenAndAStatusForMonitoring) {
  Host host;
  host.daemon.repairs = 3;
  host.daemon.last_repair = "2026-11-21T14:03:22Z ipoib ib0: mtu 2044 → 65520";
  ASSERT_EQ(host.apply(kRename), 0) << host.err.str();
  EXPECT_EQ(host.run({"status"}), 0) << host.out.str() << host.err.str();
  EXPECT_THAT(host.out.str(),
              AllOf(StartsWith("everything matches the document\n"), HasSubstr("idle, version 1"),
                    HasSubstr("1, applied "), HasSubstr("by root (apply)"), HasSubstr("1 in sync"),
                    HasSubstr("3, the last at 2026-11-21"), HasSubstr("ipoib ib0: mtu 2044 → 65520")));
  EXPECT_EQ(host.run({"status", "-q"}), 0);
  EXPECT_THAT(host.out.str() + host.err.str(), IsEmpty());
  EXPECT_EQ(host.run({"status", "-o", "name"}), 0);
  EXPECT_EQ(host.out.str(), "everything matches the document: 1 in sync\n");

  host.kernel.set_mode("mlx4_ib0", model::IpoibMode::kDatagram);
  EXPECT_EQ(host.run({"status"}), 2);
  EXPECT_THAT(host.out.str(), AllOf(StartsWith("something is wrong\n"), HasSubstr("1 differing")));

  Host absent;
  absent.document("version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:00:00:01\"\nmode = \"connected\"\n");
  EXPECT_EQ(absent.run({"status"}), 5);
  EXPECT_EQ(absent.run({"status", "--pending-ok"}), 0);
  host.document("version = 1\nx = 1\n");
  EXPECT_EQ(host.run({"status"}), 1);
  EXPECT_THAT(host.err.str(), HasSubstr("config.toml:2"));
}

TEST(Status, ADamagedLedgerIsSaid) {
  Host host;
  ASSERT_EQ(host.apply(kRename), 0) << host.err.str();
  const core::GenerationPaths paths;
  auto& content = host.kernel.files.content;
  content[paths.ledger] = "{";
  EXPECT_EQ(host.run({"status"}), 2) << "somebody has to look at the disk";
  EXPECT_THAT(host.out.str(), HasSubstr("1, applied ")) << "as the copy says";
  EXPECT_THAT(host.err.str(),
              AllOf(HasSubstr("DEGRADED: " + paths.ledger + ": damaged"), HasSubstr("its copy is used")));
  content.erase(paths.backup);
  (void)host.run({"status"});
  EXPECT_THAT(host.out.str(), AllOf(HasSubstr("not known"), Not(HasSubstr("nothing has been applied"))));
  EXPECT_THAT(host.err.str(), HasSubstr("the active generation is unknown"));
}

TEST(Status, DegradedIsWrongUntilAnApply) {
  Host host;
  ASSERT_EQ(host.apply(kRename), 0) << host.err.str();
  host.kernel.files.content[core::kDegradedFile] = R"({"schema": 1, "reasons": ["state.json: damaged"]})";
  EXPECT_EQ(host.run({"status"}), 2);
  EXPECT_THAT(host.out.str(), StartsWith("something is wrong\n"));
  EXPECT_THAT(host.err.str(), HasSubstr("DEGRADED: state.json: damaged"));
  EXPECT_EQ(host.run({"status", "--json"}), 2);
  EXPECT_TRUE(nlohmann::json::parse(host.out.str())["degraded"]);
  ASSERT_EQ(host.run({"apply", "--yes", "--local"}), 0) << host.err.str();
  EXPECT_EQ(host.run({"status", "--json"}), 0);
  EXPECT_FALSE(nlohmann::json::parse(host.out.str())["degraded"]);
}

TEST(Status, WhereNothingIsConfiguredNothingIsAsTheDocumentSays) {
  Host host;
  ASSERT_EQ(host.apply("version = 1\n"), 0) << host.err.str();
  EXPECT_EQ(host.run({"status"}), 0) << host.out.str() << host.err.str();
  EXPECT_THAT(host.out.str(), StartsWith("nothing is configured\n"));
}

TEST(Status, ADocumentThatIsNotThereAnyMoreIsSaidByAll) {
  Host host;
  const auto file = host.folder() / "a.toml";
  std::ofstream(file) << kRename;
  ASSERT_EQ(host.run({"apply", "--yes", "--local", file}), 0) << host.err.str();
  if (std::filesystem::exists("/etc/rdma-configd/config.toml")) GTEST_SKIP() << "this host has a document";
  EXPECT_EQ(host.run({"status"}), 0) << "it is held as it was";
  EXPECT_THAT(host.out.str(), AllOf(HasSubstr("none any more"), HasSubstr("1, applied")));
  EXPECT_EQ(host.run({"doctor"}), 2);
  EXPECT_THAT(host.out.str(), HasSubstr("the daemon enforces generation 1"));
}

TEST(Status, ADaemonThatIsMissingOrInTroubleIsWrong) {
  Host host;
  ASSERT_EQ(host.apply(kRename), 0);
  host.runs = false;
  EXPECT_EQ(host.run({"status"}), 2);
  EXPECT_THAT(host.out.str(), HasSubstr("not running"));
  host.runs = true;
  host.daemon.contended.emplace_back("ipoib", kGuid1, "mtu was changed back 3 times");
  EXPECT_EQ(host.run({"status", "--json"}), 2);
  const auto json = nlohmann::json::parse(host.out.str());
  EXPECT_EQ(json["summary"]["contended"], 1);
  EXPECT_EQ(json["contended"][0]["reason"], "mtu was changed back 3 times");
  host.daemon.contended.clear();
  host.daemon.refused = "config.toml:1: error";
  EXPECT_EQ(host.run({"status"}), 2);
  EXPECT_THAT(host.out.str(), HasSubstr("refused"));
}

TEST(Status, WhatWaitsForConfirmationCountsDownEverywhere) {
  Host host;
  host.document(kRename);
  ASSERT_EQ(host.run({"apply", "--yes", "--local", "--confirm", "2m"}), 0) << host.err.str();
  EXPECT_EQ(host.run({"status"}), 5);
  EXPECT_THAT(host.out.str(), AllOf(HasSubstr("unconfirmed"), HasSubstr(" left (until ")));
  EXPECT_EQ(host.run({"status", "--json"}), 5);
  EXPECT_GT(nlohmann::json::parse(host.out.str())["unconfirmed"]["seconds_left"], 60);
  for (const std::string command : {"show", "diff"}) {
    EXPECT_EQ(host.run({command}), 0);
    EXPECT_THAT(host.err.str(), HasSubstr("generation 1 waits for confirmation for another ")) << command;
  }
  EXPECT_EQ(host.run({"doctor"}), 2);
  EXPECT_THAT(host.out.str(), HasSubstr("waits for confirmation; will be rolled back in "));
}

TEST(Install, APrivateFileStaysPrivateWhereTheDaemonAppliesIt) {
  Host host;
  const std::string main = "/etc/rdma-configd/config.toml";
  const auto file = host.folder() / "secret.toml";
  std::ofstream(file) << kRename;
  for (const bool is_private : {false, true}) {
    std::filesystem::permissions(file, std::filesystem::perms(is_private ? 0600 : 0644));
    host.kernel.files.content.erase(main);
    ASSERT_EQ(host.run({"apply", "--yes", "--install", file.string()}), 0) << host.err.str();
    EXPECT_EQ(host.kernel.files.content[main], kRename);
    EXPECT_EQ(host.kernel.files.root_only.contains(main), is_private);
  }
}

TEST(Contended, IsSaidWhereverItDiffers) {
  Host host;
  ASSERT_EQ(host.apply(kRename), 0);
  host.kernel.set_mode("mlx4_ib0", model::IpoibMode::kDatagram);
  host.daemon.contended.emplace_back("ipoib", kGuid1, "mode was changed back 3 times");
  EXPECT_EQ(host.run({"diff"}), 2);
  EXPECT_THAT(host.out.str(), HasSubstr("the daemon leaves it alone until the next apply"));
  EXPECT_EQ(host.run({"show"}), 0);
  EXPECT_THAT(host.out.str(), HasSubstr("the daemon leaves it alone until the next apply"));
  EXPECT_EQ(host.run({"doctor"}), 2);
  EXPECT_THAT(host.out.str(), HasSubstr("another program keeps changing it: mode was changed back 3 times"));
}

TEST(Reload, FailsWhereTheDocumentIsNotHeld) {
  Host host;
  EXPECT_EQ(host.run({"reload"}), 0) << host.err.str();
  host.report.diagnostics.push_back(
      {model::Severity::kError, {"config.toml", 2, 1, 1}, "unknown key x", "", {}});
  EXPECT_EQ(host.run({"reload", "--json"}), 1);
  host.report.diagnostics.clear();
  host.report.exit = model::Exit::kError;
  host.report.notes = {"the document has errors; generation 1 stays active instead"};
  EXPECT_EQ(host.run({"reload"}), 1);
  EXPECT_THAT(host.err.str(), HasSubstr("generation 1 stays active instead"));
  host.runs = false;
  EXPECT_EQ(host.run({"reload"}), 1);
  EXPECT_THAT(host.err.str(), HasSubstr("rdma-configd is not running"));
  int told = 0;
  host.environment.hang_up = [&](int pid) {
    told = pid;
    return true;
  };
  host.variables["MAINPID"] = "4711";
  EXPECT_EQ(host.run({"reload"}), 0) << "before there is a bus";
  host.out.setstate(std::ios::badbit);
  EXPECT_EQ(host.run({"reload"}), 0) << "judged by what it did";
  EXPECT_EQ(told, 4711);
  EXPECT_EQ(host.run({"reload", "-f", "x.toml"}), 1);
}

TEST(Monitor, PrintsALineForEachEvent) {
  Host host;
  EXPECT_EQ(host.run({"monitor"}), 1) << "the daemon has ended";
  EXPECT_THAT(host.out.str(), HasSubstr("repaired: ipoib ib0: mtu 2044 → 65520\n"));
  EXPECT_THAT(host.err.str(), HasSubstr("rdma-configd exited"));
  EXPECT_EQ(host.run({"monitor", "--json"}), 1);
  EXPECT_EQ(nlohmann::json::parse(host.out.str())["event"], "repaired");
  host.runs = false;
  EXPECT_EQ(host.run({"monitor"}), 1);
}

TEST(Doctor, ErrorsOfTheDocumentEndInOne) {
  Host host;
  host.document("version = 1\n[[ipoib]]\nguid = \"nonsense\"\n");
  EXPECT_EQ(host.run({"doctor"}), 1);
  EXPECT_THAT(host.err.str(), AllOf(HasSubstr("config.toml:3"), HasSubstr("the document has errors"),
                                    Not(HasSubstr("nothing found"))));
  EXPECT_EQ(host.run({"doctor", "--json"}), 1);
  const auto json = nlohmann::json::parse(host.out.str());
  EXPECT_EQ(json["schema"], "org.rdmaconfigd.doctor/1");
  EXPECT_EQ(json["exit"]["name"], "error");
  EXPECT_FALSE(json["diagnostics"].empty());
}

TEST(Doctor, SeesDriftPortsAndDaemon) {
  Host host;
  ASSERT_EQ(host.apply(kRename), 0);
  host.kernel.set_mode("mlx4_ib0", model::IpoibMode::kDatagram);
  EXPECT_EQ(host.run({"doctor"}), 2);
  EXPECT_THAT(host.out.str(),
              AllOf(HasSubstr("mode is datagram, not connected"), HasSubstr("not_as_wanted")));
  host.kernel.units.add("rdma-configd.service", {.enabled = true, .running = false});
  EXPECT_EQ(host.run({"doctor"}), 2);
  EXPECT_THAT(host.out.str(), HasSubstr("daemon_down"));
}

core::Ledger ledger_of(const std::string& digest) {
  core::Ledger ledger;
  ledger.active = 1;
  ledger.generations = {{.number = 1,
                         .digest = "other",
                         .when = "2026-11-21T14:03:22Z",
                         .who = "root",
                         .what = "apply",
                         .fate = ""},
                        {.number = 2,
                         .digest = digest,
                         .when = "",
                         .who = "",
                         .what = "",
                         .fate = "rolled back: it was not confirmed in time",
                         .why = "it was not confirmed in time"}};
  return ledger;
}

TEST(AppliedState, SaysWhatIsHeldInstead) {
  config::Document document;
  document.files.push_back({"/etc/rdma-configd/config.toml", "version = 1\n"});
  auto ledger = ledger_of(core::digest_of(document));
  const auto clock = core::system_clock();
  auto applied_state = core::applied_state_of(ledger, &document, "boot", clock);
  EXPECT_FALSE(applied_state.refused) << "nobody has refused it";
  EXPECT_THAT(core::notes_of(applied_state).at(0).text, HasSubstr("not the one applied last"));
  ledger.refused = {core::digest_of(document)};
  applied_state = core::applied_state_of(ledger, &document, "boot", clock);
  EXPECT_TRUE(applied_state.refused);
  EXPECT_THAT(
      core::notes_of(applied_state).at(0).text,
      AllOf(HasSubstr("was rolled back (it was not confirmed in time)"), HasSubstr("enforces generation 1")));
  ledger.active = 2;
  EXPECT_THAT(core::notes_of(core::applied_state_of(ledger, &document, "boot", clock)), IsEmpty());
}

TEST(AppliedState, SpeaksOfTimes) {
  using std::chrono::milliseconds;
  EXPECT_EQ(core::spoken(milliseconds(1)), "1 s");
  EXPECT_EQ(core::spoken(milliseconds(42000)), "42 s");
  EXPECT_EQ(core::spoken(milliseconds(60000)), "1 min");
  EXPECT_EQ(core::spoken(milliseconds(299000)), "4 min 59 s");
  EXPECT_EQ(core::spoken(milliseconds(3780000)), "1 h 3 min");
  EXPECT_EQ(core::local_time("nonsense", {}), "nonsense");
}

}  // namespace
}  // namespace rdmacfg::ctl
