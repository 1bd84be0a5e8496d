// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/iser/iser_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <utility>

#include "formats/storage/iser_unit.hpp"
#include "unit/kinds/storage/session_host.hpp"

namespace rdmacfg::kinds {
namespace {

using model::Exit;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kIserText =
    "version = 1\n[[iser_session]]\ntarget = \"iqn.2026-01.org.example:a\"\naddress = \"192.0.2.1\"\n";
constexpr const char* kNoSessions = "version = 1\n";
constexpr const char* kIserPortal = "iqn.2026-01.org.example:a 192.0.2.1:3260,1";

class IserSessions : public SessionHost {
 protected:
  IserSessions()
      : SessionHost(R"({
    "files": { "/usr/sbin/iscsiadm": "" }, "units": { "remote-fs.target": {"enabled": true} },
    "iscsi": { "targets": ["iqn.2026-01.org.example:a 192.0.2.1:3260,1"] } })") {}

  std::string& unit() { return kernel->files.content[std::string(kIserUnitFile)]; }
  bool has(std::string_view path) { return kernel->files.content.contains(std::string(path)); }

  fakes::FakeIscsi& iscsi = kernel->iscsi;
};

TEST_F(IserSessions, ComeAndGoWithTheirRecords) {
  ASSERT_EQ(run(kIserText).exit, Exit::kOk);
  ASSERT_THAT(iscsi.sessions, SizeIs(1));
  EXPECT_EQ(iscsi.sessions[0].interface, kIserInterface);
  EXPECT_THAT(iscsi.records, ElementsAre(kIserPortal));
  EXPECT_TRUE(has(kIserBootDropIn));
  ASSERT_EQ(run(kNoSessions).exit, Exit::kOk);
  EXPECT_THAT(iscsi.sessions, IsEmpty());
  EXPECT_THAT(iscsi.records, IsEmpty());
  EXPECT_FALSE(has(kIserUnitFile));
  EXPECT_FALSE(has(kIserBootDropIn));
}

TEST_F(IserSessions, ABootLogsIn) {
  ASSERT_EQ(run(kIserText).exit, Exit::kOk);
  kernel->reboot();
  EXPECT_THAT(iscsi.sessions, SizeIs(1));
  EXPECT_EQ(run(kIserText).exit, Exit::kOk);
}

TEST_F(IserSessions, ADisabledRemoteFsTargetIsNamed) {
  kernel->units.units.at("remote-fs.target").enabled = false;
  const auto report = run(kIserText);
  ASSERT_THAT(report.diagnostics, SizeIs(1));
  EXPECT_EQ(report.diagnostics.front().message,
            "[[iser_session]]: remote-fs.target is not enabled, so its units do not start at the next boot");
  EXPECT_EQ(report.diagnostics.front().hint, "`systemctl enable remote-fs.target`");
}

TEST_F(IserSessions, ATargetThatIsAwayIsPendingAndAHoldTriesAgain) {
  const auto targets = std::exchange(iscsi.targets, {});
  EXPECT_EQ(run(kIserText).exit, Exit::kPartly);
  EXPECT_THAT(unit(), HasSubstr(kIserPortal));
  EXPECT_EQ(run(kIserText).exit, Exit::kPartly) << "nothing is undone for it";
  const auto held = hold(kIserText);
  ASSERT_TRUE(held.error);
  EXPECT_THAT(held.error->message, HasSubstr("iscsiadm has not logged in"));
  iscsi.targets = targets;
  EXPECT_EQ(hold(kIserText).exit, Exit::kOk);
  EXPECT_THAT(iscsi.sessions, SizeIs(1));
}

TEST_F(IserSessions, ASessionThatIsGoneIsMadeAgain) {
  ASSERT_EQ(run(kIserText).exit, Exit::kOk);
  iscsi.sessions.clear();
  EXPECT_EQ(hold(kIserText).exit, Exit::kOk);
  EXPECT_THAT(iscsi.sessions, SizeIs(1));
}

TEST_F(IserSessions, ThoseOfOthersStayAndAreNotDoubled) {
  iscsi.sessions.push_back(
      {"session1", "iqn.2026-01.org.example:a", "192.0.2.1", 3260, 1, "iser", "iser", "LOGGED_IN"});
  EXPECT_EQ(run(kIserText).exit, Exit::kPartly);
  EXPECT_THAT(iscsi.sessions, SizeIs(1));
  EXPECT_FALSE(has(kIserUnitFile));
  EXPECT_EQ(run(kNoSessions).exit, Exit::kOk);
  EXPECT_THAT(iscsi.sessions, SizeIs(1));
  iscsi.sessions.clear();
  EXPECT_EQ(run(kIserText).exit, Exit::kOk);
  EXPECT_THAT(iscsi.sessions, SizeIs(1));
}

TEST_F(IserSessions, ARecordOfOthersIsNamedAsIscsiadmKnowsIt) {
  const auto hint = [&](const std::string& path) {
    const auto file = "/etc/iscsi/nodes/iqn.2026-01.org.example:a/" + path;
    kernel->files.content[file] = "node.startup = automatic\n";
    const auto report = run(kIserText);
    kernel->files.content.erase(file);
    return report.diagnostics.empty() ? std::string() : report.diagnostics.front().hint;
  };
  EXPECT_THAT(hint("192.0.2.1,860,2/default"), HasSubstr(" -p 192.0.2.1:860,2 -I default -o "));
  EXPECT_THAT(hint("192.0.2.1,3260"), HasSubstr(" -p 192.0.2.1:3260 -o "));
}

TEST_F(IserSessions, APlanSaysThatASecretGoesWithItsRecord) {
  const std::string record = "/etc/iscsi/nodes/iqn.2026-01.org.example:a/192.0.2.1,3260,1/rdma-configd";
  for (const bool secret : {false, true}) {
    ASSERT_EQ(run(kIserText).exit, Exit::kOk);
    kernel->files.content[record] = secret ? "node.session.auth.password = s\n" : "node.startup = manual\n";
    const auto plan = run(kNoSessions).plan;
    ASSERT_THAT(plan.changes, SizeIs(1));
    EXPECT_THAT(plan.changes[0].interrupts, SizeIs(secret ? 2 : 1));
  }
}

TEST_F(IserSessions, AnotherSessionThatWorksIsNotTakenForALostOneOfOurs) {
  ASSERT_EQ(run(kIserText).exit, Exit::kOk);
  iscsi.sessions[0].state = "FAILED";
  iscsi.sessions.push_back(
      {"session9", "iqn.2026-01.org.example:a", "192.0.2.1", 3260, 1, "tcp", "default", "LOGGED_IN"});
  EXPECT_EQ(run(kIserText).exit, Exit::kPartly);
  iscsi.sessions[0].state = "LOGGED_IN";
  EXPECT_EQ(run(kIserText).exit, Exit::kOk);
}

TEST_F(IserSessions, WhileADiskIsInUseItStaysLoggedIn) {
  ASSERT_EQ(run(kIserText).exit, Exit::kOk);
  iscsi.used["iqn.2026-01.org.example:a"] = {system::DiskUse{"/dev/sdb is mounted on /scratch"}};
  EXPECT_EQ(run(kNoSessions).exit, Exit::kPartly);
  EXPECT_THAT(iscsi.sessions, SizeIs(1));
  EXPECT_TRUE(has(kIserUnitFile));
  iscsi.used.clear();
  EXPECT_EQ(run(kNoSessions).exit, Exit::kOk);
  EXPECT_THAT(iscsi.sessions, IsEmpty());
}

TEST_F(IserSessions, BothPathsToADiskInUseStayWhenBothGo) {
  const auto both = std::string(kIserText) +
                    "[[iser_session]]\ntarget = \"iqn.2026-01.org.example:a\"\naddress = \"192.0.2.2\"\n";
  iscsi.targets.insert("iqn.2026-01.org.example:a 192.0.2.2:3260,1");
  iscsi.multipath.insert("iqn.2026-01.org.example:a");
  iscsi.used["iqn.2026-01.org.example:a"] = {system::DiskUse{"dm-0 holds /dev/sdb"}};
  ASSERT_EQ(run(both).exit, Exit::kOk);
  ASSERT_THAT(iscsi.sessions, SizeIs(2));
  EXPECT_EQ(run(kNoSessions).exit, Exit::kPartly);
  EXPECT_THAT(iscsi.sessions, SizeIs(2));
  EXPECT_EQ(run(kIserText).exit, Exit::kOk) << "one of them may go";
  EXPECT_THAT(iscsi.sessions, SizeIs(1));
}

TEST_F(IserSessions, AnotherPortWaitsWhileADiskIsInUse) {
  iscsi.targets.insert("iqn.2026-01.org.example:a 192.0.2.1:860,1");
  const auto other = std::string(kIserText) + "port = 860\n";
  ASSERT_EQ(run(kIserText).exit, Exit::kOk);
  iscsi.used["iqn.2026-01.org.example:a"] = {system::DiskUse{"/dev/sdb is mounted on /scratch"}};
  EXPECT_EQ(run(other).exit, Exit::kPartly);
  ASSERT_THAT(iscsi.sessions, SizeIs(1)) << "the disk is not brought in twice";
  EXPECT_EQ(iscsi.sessions[0].port, 3260);
  iscsi.used.clear();
  EXPECT_EQ(run(other).exit, Exit::kOk);
  ASSERT_THAT(iscsi.sessions, SizeIs(1));
  EXPECT_EQ(iscsi.sessions[0].port, 860);
}

TEST_F(IserSessions, AnInterruptedLogoutGoesOn) {
  ASSERT_EQ(run(kIserText).exit, Exit::kOk);
  unit() = render_iser_unit({.leaving = {*IserPortal::parse(kIserPortal)}});
  EXPECT_EQ(run(kNoSessions).exit, Exit::kOk);
  EXPECT_THAT(iscsi.sessions, IsEmpty());
  EXPECT_FALSE(has(kIserUnitFile));

  ASSERT_EQ(run(kIserText).exit, Exit::kOk);
  unit() = render_iser_unit({.leaving = {*IserPortal::parse(kIserPortal)}});
  EXPECT_EQ(run(kIserText).exit, Exit::kOk);
  EXPECT_EQ(unit(), render_iser_unit({.wanted = {*IserPortal::parse(kIserPortal)}}));
  EXPECT_THAT(iscsi.sessions, SizeIs(1));
}

TEST_F(IserSessions, ALoginThatIsUndoneLeavesItsRecord) {
  ASSERT_EQ(run(kIserText).exit, Exit::kOk);
  const auto written = unit();
  IserSession then;
  then.unit = std::string(kIserUnit);
  then.at_boot = true;
  model::Change back;
  back.key = {"iser_session", kIserPortal};
  back.operation = model::Operation::kUpdate;
  back.fields = {"logged_in"};
  back.after = model::to_attributes(then);
  auto host = kernel->host();
  ASSERT_TRUE(iser_session().apply(std::span(&back, 1), host));
  EXPECT_THAT(iscsi.sessions, IsEmpty());
  EXPECT_TRUE(iscsi.records.contains(kIserPortal)) << "it may have a secret";
  EXPECT_EQ(unit(), written);

  unit() = render_iser_unit({.resting = {*IserPortal::parse(kIserPortal)}});
  EXPECT_EQ(run(kIserText).exit, Exit::kOk) << "a run ended in between";
  EXPECT_EQ(unit(), written);
  EXPECT_THAT(iscsi.sessions, SizeIs(1));
}

/// Nobody comes to finish it before the next boot.
TEST_F(IserSessions, AnInterruptedUndoneLoginEndsWithItsBoot) {
  ASSERT_EQ(run(kIserText).exit, Exit::kOk);
  const IserLogins interrupted{.resting = {*IserPortal::parse(kIserPortal)}, .boot = kernel->boot_id};
  unit() = render_iser_unit(interrupted);
  kernel->reboot();
  EXPECT_THAT(iscsi.sessions, SizeIs(1));
  EXPECT_EQ(run(kIserText).exit, Exit::kOk);
  EXPECT_EQ(unit(), render_iser_unit({.wanted = {*IserPortal::parse(kIserPortal)}}));
}

TEST_F(IserSessions, AnEditedUnitIsPutRight) {
  ASSERT_EQ(run(kIserText).exit, Exit::kOk);
  const auto written = unit();
  unit() += "ExecStart=/bin/true\n";
  EXPECT_EQ(run(kIserText).exit, Exit::kOk);
  EXPECT_EQ(unit(), written);
  EXPECT_THAT(iscsi.sessions, SizeIs(1));
}

TEST_F(IserSessions, BelowAnotherRootOnlyFilesAreWritten) {
  auto host = kernel->host();
  host.offline = true;
  const auto document = config::parse_texts({{"config.toml", kIserText}}, "node1", grammar());
  EXPECT_EQ(core::apply(document, host).exit, Exit::kOk);
  EXPECT_EQ(kernel->files.content.at(std::string(kIserBootDropIn)), render_iser_boot_drop_in());
  EXPECT_THAT(iscsi.sessions, IsEmpty());
}

TEST_F(IserSessions, WhatGoesBelowAnotherRootLosesItsRecordAtTheNextBoot) {
  const auto a = *IserPortal::parse(kIserPortal);
  const auto b = *IserPortal::parse("iqn.2026-01.org.example:b 192.0.2.2:3260,1");
  iscsi.targets.insert(b.text());
  const auto both = std::string(kIserText) +
                    "[[iser_session]]\ntarget = \"iqn.2026-01.org.example:b\"\naddress = \"192.0.2.2\"\n";
  ASSERT_EQ(run(both).exit, Exit::kOk);
  auto host = kernel->host();
  host.offline = true;
  const auto document = config::parse_texts({{"config.toml", kIserText}}, "node1", grammar());
  for (int time = 0; time < 2; ++time) {
    ASSERT_EQ(core::apply(document, host).exit, Exit::kOk);
    EXPECT_EQ(unit(), render_iser_unit({.wanted = {a}, .leaving = {b}}));
  }
  kernel->reboot();
  EXPECT_THAT(iscsi.records, ElementsAre(kIserPortal));
  EXPECT_THAT(iscsi.sessions, SizeIs(1));
  EXPECT_EQ(run(kIserText).exit, Exit::kOk);
  EXPECT_EQ(unit(), render_iser_unit({.wanted = {a}}));
}

}  // namespace
}  // namespace rdmacfg::kinds
