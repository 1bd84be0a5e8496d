// SPDX-License-Identifier: Apache-2.0
#include "ctl/render/render_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "ctl/json.hpp"
#include "ctl/render/blocks.hpp"
#include "unit/ctl/console.hpp"

namespace rdmacfg::ctl {
namespace {

using model::Change;
using model::Operation;
using model::Report;
using model::ResourceReport;
using model::Status;
using Text = std::string;

const Terminal kPlainTerminal{.utf8 = true};

Change change_of(const Text& kind, const Text& id, const Text& label) {
  Change change;
  change.key = {kind, id};
  change.label = label;
  return change;
}

ResourceReport resource(const Text& kind, const Text& id, const Text& label, Status status = Status::kInSync,
                        const Text& reason = "") {
  ResourceReport report;
  report.key = {kind, id};
  report.label = label;
  report.status = status;
  report.reason = reason;
  return report;
}

TEST(SummarizeOpen, NamesWhatIsLeftOpen) {
  Report report;
  report.exit = model::Exit::kPartly;
  report.resources = {resource("ipoib", "a", "ib0"),
                      resource("ipoib", "b", "ib1", Status::kLimited, "no carrier"),
                      resource("ipoib", "c", "", Status::kPending)};
  const auto both = summarize_open(report);
  EXPECT_EQ(both.find("ib1 is limited (no carrier); c is pending; apply again"), 0U) << both;
  const std::set<model::Key> only{{"ipoib", "c"}};
  EXPECT_EQ(summarize_open(report, &only).find("c is pending; apply again"), 0U);
  for (const auto* id : {"d", "e"}) report.resources.push_back(resource("ipoib", id, id, Status::kUnmet));
  EXPECT_NE(summarize_open(report).find("d is unmet and 1 more; apply again"), std::string::npos);
  report.resources.clear();
  report.notes = {"an interrupted apply was finished"};
  EXPECT_EQ(summarize_open(report), report.notes.front().text);
  report.exit = model::Exit::kOk;
  EXPECT_EQ(summarize_open(report), "");
}

Change rename() {
  auto change = change_of("link_name", kGuid1, "ib0");
  change.before = {{"name", Text("ib0")}};
  change.after = {{"name", Text("mlx4_ib0")}, {"rule", Text("mlx4_ib0")}};
  change.fields = {"name", "rule"};
  change.interrupts = {"link down for a moment; addresses are put back"};
  change.origins["name"] = {"/etc/rdma-configd/config.toml", 5, 8};
  return change;
}

Change mode() {
  auto change = change_of("ipoib", kGuid1, "ib0");
  change.before = {{"mode", Text("datagram")}, {"mtu", std::int64_t{2044}}, {"state", Text("up")}};
  change.after = {{"mode", Text("connected")}, {"mtu", std::int64_t{65520}}, {"state", Text("up")}};
  change.fields = {"mode", "mtu"};
  change.interrupts = {"link down for a moment; addresses are put back"};
  change.origins["mode"] = {"/etc/rdma-configd/config.toml", 6, 8};
  change.origins["mtu"] = {"/etc/rdma-configd/conf.d/10-mtu.toml", 3, 8};
  return change;
}

Change child(Operation operation, const Text& pkey, const Text& label) {
  auto change = change_of("pkey", Text(kGuid1) + "/" + pkey, label);
  change.operation = operation;
  if (operation == Operation::kCreate) {
    change.after = {{"name", label}, {"mode", Text("datagram")}};
    change.fields = {"name", "mode"};
  } else {
    change.before = {{"name", label}, {"mode", Text("datagram")}};
    change.interrupts = {"the interface goes"};
  }
  return change;
}

Report three_changes() {
  Report report;
  report.plan.changes = {child(Operation::kDelete, "0x8003", "ib0.8003"), rename(), mode(),
                         child(Operation::kCreate, "0x8002", "mlx4_ib0.8002")};
  for (const auto& change : report.plan.changes) {
    report.resources.push_back(resource(change.key.kind, change.key.id, change.label, Status::kDiffers));
  }
  report.exit = model::Exit::kDiffers;
  return report;
}

TEST(RenderDiff, OneBlockPerObject) {
  EXPECT_EQ(render_diff(three_changes(), kPlainTerminal, Origins::kHidden),
            R"(  ~ mlx4_ib0  (port 00:02:c9:03:00:31:78:f2, now ib0)
      name  ib0      → mlx4_ib0
      mode  datagram → connected
      mtu   2044     → 65520
      interrupts: link down for a moment; addresses are put back
  - ib0.8003  (P_Key 0x8003 of mlx4_ib0)
      interrupts: the interface goes
  + mlx4_ib0.8002  (P_Key 0x8002 of mlx4_ib0)
      name  mlx4_ib0.8002
      mode  datagram

Plan: 1 to create, 1 to change, 1 to delete.
)");
}

TEST(RenderDiff, TellsInterruptionsThatComeLaterFromThoseOfTheApply) {
  Report report;
  report.plan.changes = {rename()};
  report.plan.changes[0].interrupts = {"traffic stops"};
  report.plan.changes[0].interrupts_later = {"link down at the next start"};
  EXPECT_THAT(render_diff(report, kPlainTerminal, Origins::kHidden),
              testing::HasSubstr("      interrupts: traffic stops\n"
                                 "      interrupts later: link down at the next start\n"));
}

TEST(RenderDiff, ExplainsAndShowsEffects) {
  auto report = three_changes();
  report.plan.changes = {rename(), mode()};
  report.plan.changes[1].effect = model::Effect::kInitramfsReboot;
  EXPECT_EQ(render_diff(report, {}, Origins::kShown),
            R"(  ~ mlx4_ib0  (port 00:02:c9:03:00:31:78:f2, now ib0)
      name  ib0      -> mlx4_ib0   config.toml:5
      mode  datagram -> connected  after initramfs and reboot  config.toml:6
      mtu   2044     -> 65520      after initramfs and reboot  10-mtu.toml:3
      interrupts: link down for a moment; addresses are put back

Plan: 0 to create, 1 to change, 0 to delete.
)");
}

TEST(RenderDiff, NamesFilesInFullWhereTwoAreCalledAlike) {
  auto report = three_changes();
  report.plan.changes = {mode()};
  report.plan.changes[0].origins["mtu"].file = "/run/rdma-configd/config.toml";
  const auto text = render_diff(report, kPlainTerminal, Origins::kShown);
  EXPECT_NE(text.find("connected  /etc/rdma-configd/config.toml:6\n"), Text::npos) << text;
}

TEST(RenderDiff, SaysWhatHasToWait) {
  Report report;
  report.resources = {resource("ipoib", "a", "ib0"),
                      resource("ipoib", "b", "ib1", Status::kPending, "no such port"),
                      resource("link_name", "b", "ib1", Status::kPending, "no such port"),
                      resource("pkey", "a/0x8002", "ib0.8002", Status::kLimited, "not in the port's table"),
                      resource("ipoib", "c", "ib2", Status::kForeign)};
  report.resources[3].warnings = {"limited member"};
  report.exit = model::Exit::kPartly;
  EXPECT_EQ(render_diff(report, kPlainTerminal, Origins::kHidden),
            R"(limited  ib0.8002  not in the port's table
pending  ib1       no such port

warning: ib0.8002: limited member

Nothing to do now: 1 resource matches the document, 1 pending, 1 limited.
)");
}

// A software device without its interface has a module to load, and waits for the interface all the same.
TEST(RenderDiff, SaysWhatHasToWaitBesideAChange) {
  Report report;
  report.plan.changes = {change_of("soft_rdma", "eth9/rxe", "rxe0"), change_of("opensm", "a", "opensm")};
  for (auto& change : report.plan.changes) change.operation = Operation::kCreate;
  report.resources = {
      resource("soft_rdma", "eth9/rxe", "rxe0", Status::kDiffers, "interface eth9 does not exist"),
      resource("opensm", "a", "opensm", Status::kDiffers, "no longer in the document")};
  report.resources[0].waits = true;
  report.exit = model::Exit::kDiffers;
  const auto text = render_diff(report, kPlainTerminal, Origins::kHidden);
  EXPECT_THAT(text, testing::HasSubstr("\npending  rxe0  interface eth9 does not exist\n"));
  EXPECT_EQ(text.find("no longer in the document"), Text::npos) << "the plan says so: " << text;
}

TEST(RenderDiff, Nothing) {
  Report report;
  EXPECT_EQ(render_diff(report, kPlainTerminal, Origins::kHidden),
            "Nothing to do: the document configures nothing on this host.\n");
  report.resources = {resource("ipoib", "a", ""), resource("link_name", "a", ""), resource("ipoib", "b", "")};
  EXPECT_EQ(render_diff(report, kPlainTerminal, Origins::kHidden),
            "Nothing to do: 2 resources match the document.\n");
}

TEST(RenderDiff, ColoursBySort) {
  const auto text = render_diff(three_changes(), {.colour = true, .utf8 = true}, Origins::kHidden);
  EXPECT_NE(text.find("\033[33m  ~ mlx4_ib0\033[0m"), Text::npos) << text;
  EXPECT_NE(text.find("\033[32m  + mlx4_ib0.8002\033[0m"), Text::npos);
  EXPECT_NE(text.find("\033[31m  - ib0.8003\033[0m"), Text::npos);
}

TEST(RenderDiff, WrapsSentences) {
  auto report = three_changes();
  report.plan.changes = {rename()};
  const auto text = render_diff(report, {.utf8 = true, .width = 51}, Origins::kHidden);
  EXPECT_NE(
      text.find("      interrupts: link down for a moment; addresses\n                  are put back\n"),
      Text::npos)
      << text;
}

TEST(RenderApplied, Endings) {
  auto report = three_changes();
  for (auto& resource : report.resources) resource.status = Status::kDone;
  report.resources.erase(report.resources.begin());
  report.exit = model::Exit::kOk;
  EXPECT_EQ(render_applied(report, kPlainTerminal),
            R"(done  ib0.8003       deleted
done  ib0
done  mlx4_ib0.8002

Done: 1 created, 1 changed, 1 deleted; 2 resources match the document.
)");
  report.exit = model::Exit::kUndone;
  report.resources.clear();
  EXPECT_EQ(render_applied(report, kPlainTerminal),
            "The apply failed and was undone: the host is as it was before.\n");
  report.exit = model::Exit::kUndoIncomplete;
  report.left_over = {"ib0: mode is connected, was datagram"};
  EXPECT_EQ(render_applied(report, kPlainTerminal),
            R"(The apply failed, and undoing it is incomplete. Left over:
  - ib0: mode is connected, was datagram
Check `rdma-configctl show`, repair that, then apply again.
)");
}

TEST(RenderApplied, DoesNotRepeatWarnings) {
  Report report;
  report.resources = {resource("ipoib", "a", "ib0")};
  report.resources[0].warnings = {"careful"};
  EXPECT_EQ(render_applied(report, kPlainTerminal, report),
            "Nothing to do: 1 resource matches the document.\n");
  EXPECT_NE(render_applied(report, kPlainTerminal).find("warning: ib0: careful"), Text::npos);
}

TEST(TallyOf, TheWorstOfAnObjectCounts) {
  const auto tally =
      tally_of({resource("ipoib", "a", "", Status::kDone), resource("link_name", "a", "", Status::kLimited),
                resource("ipoib", "b", "", Status::kIgnored), resource("ipoib", "c", "", Status::kFailed)});
  EXPECT_EQ(tally.in_sync, 0);
  EXPECT_EQ(tally.limited, 1);
  EXPECT_EQ(tally.failed, 1);
}

TEST(RenderReport, WhatIsNotKnownIsNotCalledNothing) {
  Report lost;
  lost.exit = model::Exit::kUndoIncomplete;
  lost.error = base::Error{base::Code::kIo, "the daemon ended", 0};
  EXPECT_EQ(render_applied(lost, Terminal{}, {}), "The outcome is not known.\n");
  Report untold;
  untold.error = base::Error{base::Code::kRefused, "there is no report", 0};
  EXPECT_EQ(render_applied(untold, Terminal{}, {}), "") << "it may have done something";
}

TEST(ValueText, OfSeveralLinesIsOneLine) {
  EXPECT_EQ(value_text(std::string("storage=0x8002 :\nmgid=ff12::1\nALL=full;")),
            "storage=0x8002 : / mgid=ff12::1 / ALL=full;");
}

TEST(ValueText, OfANumberHasItsUnit) {
  EXPECT_EQ(value_text(std::int64_t{65536}, "KiB"), "65536 KiB");
  EXPECT_EQ(value_text(std::int64_t{65536}), "65536");
  EXPECT_EQ(value_text(Text("unlimited"), "KiB"), "unlimited");
  EXPECT_EQ(value_text({}, "KiB"), "not set");
}

// docs/json/report-1.schema.json: programs branch on these words.
TEST(ReportJson, HasAWordForEachValue) {
  Report report;
  const auto json = [&] { return to_json(report, "diff", 0); };
  const std::vector<Text> exits{"ok", "error", "differs", "undone", "undo_incomplete", "partly"};
  for (std::size_t i = 0; i < exits.size(); ++i) {
    report.exit = static_cast<model::Exit>(i);
    EXPECT_EQ(json().at("exit").at("name"), exits[i]);
  }
  const std::vector<Text> codes{"invalid", "not_found", "unsupported", "denied",
                                "busy",    "refused",   "io",          "timeout"};
  EXPECT_TRUE(json().at("error").is_null());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    report.error = base::Error{static_cast<base::Code>(i), "why", 5};
    EXPECT_EQ(json().at("error").at("code"), codes[i]);
    EXPECT_EQ(json().at("error").at("message"), "why");
    EXPECT_EQ(json().at("error").at("errno"), 5);
  }
  const std::vector<Text> statuses{"in_sync", "differs", "done",    "limited",  "pending",
                                   "unmet",   "failed",  "foreign", "released", "ignored"};
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    report.resources = {resource("ipoib", "g", "ib0", static_cast<Status>(i), "because")};
    EXPECT_EQ(json().at("resources").at(0).at("status"), statuses[i]);
    EXPECT_EQ(json().at("summary").at(statuses[i]), 1) << statuses[i];
  }
  const std::vector<Text> effects{"now", "driver_reload", "initramfs_reboot"};
  const std::vector<Text> operations{"create", "update", "delete"};
  for (std::size_t i = 0; i < effects.size(); ++i) {
    auto change = change_of("module", "mlx4_core", "mlx4_core");
    change.effect = static_cast<model::Effect>(i);
    change.operation = static_cast<Operation>(i);
    change.interrupts = {"traffic stops"};
    change.interrupts_later = {"link down at the next start"};
    change.needs = {{"ipoib", "g"}};
    change.origins["load"] = {"a.toml", 3, 4};
    report.plan.changes = {change};
    const auto told = json().at("changes").at(0);
    EXPECT_EQ(told.at("effect"), effects[i]);
    EXPECT_EQ(told.at("operation"), operations[i]);
    EXPECT_EQ(told.at("interrupts").at(0), "traffic stops");
    EXPECT_EQ(told.at("interrupts_later").at(0), "link down at the next start");
    EXPECT_EQ(told.at("needs").at(0).at("kind"), "ipoib");
    EXPECT_EQ(told.at("origins").at("load").at("line"), 3);
    EXPECT_EQ(json().at("summary").at("changes").at(operations[i]), 1);
  }
}

TEST(ReportJson, HasEachSortOfValue) {
  EXPECT_TRUE(value_json(std::monostate{}).is_null());
  EXPECT_EQ(value_json(true), true);
  EXPECT_EQ(value_json(std::int64_t{-7}), -7);
  EXPECT_EQ(value_json(Text("7")), "7");
  EXPECT_EQ(value_json(std::vector<Text>{"a", "b"}).dump(), R"(["a","b"])");
  EXPECT_TRUE(location_json({}).is_null()) << "nowhere";
  EXPECT_EQ(location_json({"a.toml", 0, 0}).at("file"), "a.toml") << "a file as a whole";
}

}  // namespace
}  // namespace rdmacfg::ctl
