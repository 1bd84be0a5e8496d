// SPDX-License-Identifier: Apache-2.0
#include "core/guards/concealed.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "catalog/all.hpp"
#include "fakes/fake_kernel.hpp"
#include "store/held_record.hpp"
#include "store/report_json.hpp"

namespace rdmacfg::core {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSecret = "11111111-22222222-33333333-44444444";
constexpr const char* kWanted = "55555555-66666666-77777777-88888888";

class Concealed : public ::testing::Test {
 protected:
  Concealed() {
    kernel_.sysctl.set("net/ipv4/tcp_fastopen_key", kSecret);
    kernel_.sysctl.root_only.insert("net/ipv4/tcp_fastopen_key");
    kernel_.sysctl.set("net/ipv4/tcp_rmem", "4096 1 2");
  }

  static config::Document document(const std::string& value, bool is_private) {
    const auto text = "version = 1\n[[sysctl]]\nkey = 'net.ipv4.tcp_fastopen_key'\nvalue = '" + value + "'\n";
    return config::parse_texts({{.name = "config.toml", .text = text, .is_private = is_private}}, "node1",
                               kinds::grammar());
  }
  std::string looked(const config::Document& document, bool own_document) {
    auto host = kernel_.host();
    Context context{host, {}};
    return report_json(look_concealed(context,
                                      [&](Context& seen, bool& own) {
                                        own = own_document;
                                        return diff(document, seen.host, seen.options);
                                      }))
        .dump();
  }

  fakes::FakeKernel kernel_;
};

TEST_F(Concealed, AReaderDoesNotSeeWhatOnlyRootReads) {
  EXPECT_THAT(looked(document(kWanted, true), true), Not(HasSubstr(kSecret)));
  // Nor can it be guessed: a document with the right value looks like one with a wrong one.
  auto right = looked(document(kSecret, true), true), wrong = looked(document(kWanted, true), true);
  for (std::size_t at; (at = right.find(kSecret)) != std::string::npos;) right.replace(at, 35, kWanted);
  EXPECT_EQ(right, wrong);
}

TEST_F(Concealed, RootSeesAll) {
  auto host = kernel_.host();
  EXPECT_THAT(report_json(diff(document(kWanted, false), host, {})).dump(), HasSubstr(kSecret));
}

TEST_F(Concealed, APrivateDocumentIsNotShown) {
  EXPECT_THAT(looked(document(kWanted, true), false), Not(HasSubstr(kWanted)));
  EXPECT_THAT(looked(document(kWanted, true), true), HasSubstr(kWanted));
}

TEST_F(Concealed, WhatIsGivenBackComesOfRecordsThatMayBePrivate) {
  auto host = kernel_.host();
  ASSERT_EQ(apply(document(kWanted, false), host, {}).exit, model::Exit::kOk);
  EXPECT_TRUE(kernel_.files.root_only.contains(Paths().state)) << "it holds what only root may read";
  const auto nothing = config::parse_texts({{"config.toml", "version = 1\n"}}, "node1", kinds::grammar());
  EXPECT_THAT(looked(nothing, true), Not(HasSubstr(kSecret)));
  EXPECT_THAT(looked(nothing, true), Not(HasSubstr(kWanted)));
}

TEST_F(Concealed, AnApplyTellsNoMoreThanALook) {
  auto host = kernel_.host();
  Context context{host, {}};
  const auto wanted = document(kWanted, true);
  const auto report = change_concealed(
      &wanted, {.who = "uid 1000", .what = "apply", .host_name = "node1"}, context,
      [&] { return commit(wanted, {.who = "uid 1000", .what = "apply", .host_name = "node1"}, context); });
  EXPECT_EQ(report.exit, model::Exit::kOk);
  ASSERT_EQ(report.plan.changes.size(), 1U);
  EXPECT_THAT(report_json(report).dump(), Not(HasSubstr(kSecret)));
}

TEST_F(Concealed, TheTextsOfAnApplyTellNoMoreThanALook) {
  auto host = kernel_.host();
  Context context{host, {}};
  const auto wanted = document(kWanted, true);
  const Request request{.who = "uid 1000", .what = "apply", .host_name = "node1"};
  const std::string setting = "net/ipv4/tcp_fastopen_key", other = "eth0: mtu is 1500, was 9000";
  const auto report = change_concealed(&wanted, request, context, [&] {
    auto out = commit(wanted, request, context);
    out.error =
        base::Error{base::Code::kRefused, std::string("the kernel has ") + kSecret + " still", EINVAL};
    out.left_over = {"sysctl " + setting + ": value is 1, was 2", "sysctl " + setting + ": value is 3, was 4",
                     other};
    out.notes = {
        model::Note("generation 1 was rolled back: " + setting + " is 5", model::Note::Sort::kRollback),
        model::Note("generation 1 is active again")};
    return out;
  });
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, base::Code::kRefused);
  EXPECT_EQ(report.error->sys_errno, EINVAL);
  const auto hidden = HasSubstr(setting + ": this message is hidden");
  EXPECT_THAT(report.error->message, hidden);
  EXPECT_THAT(report.left_over, ElementsAre(hidden, other)) << "said once";
  EXPECT_THAT(model::note_texts(report.notes), ElementsAre(hidden, "generation 1 is active again"));
  EXPECT_EQ(report.notes.front().sort, model::Note::Sort::kRollback);
  EXPECT_THAT(report_json(report).dump(), Not(HasSubstr(kSecret)));
}

TEST_F(Concealed, TextsOfWhatEverybodyReadsStay) {
  auto host = kernel_.host();
  Context context{host, {}};
  const auto text = std::string("version = 1\n[[sysctl]]\nkey = 'net.ipv4.tcp_rmem'\nvalue = '4096 3 4'\n");
  const auto wanted = config::parse_texts({{"config.toml", text}}, "node1", kinds::grammar());
  const Request request{.who = "uid 1000", .what = "apply", .host_name = "node1"};
  const std::string said = "sysctl net.ipv4.tcp_rmem: value is 4096 1 2, wanted 4096 3 4";
  const auto report = change_concealed(&wanted, request, context, [&] {
    auto out = commit(wanted, request, context);
    out.error = base::Error{base::Code::kRefused, said, 0};
    return out;
  });
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message, said);
}

TEST_F(Concealed, CopiesOfADocumentAreForRoot) {
  auto host = kernel_.host();
  Context context{host, {}};
  for (const bool is_private : {false, true}) {
    ASSERT_EQ(
        commit(document(kWanted, is_private), {.who = "root", .what = "apply", .host_name = "node1"}, context)
            .exit,
        model::Exit::kOk);
  }
  EXPECT_TRUE(kernel_.files.root_only.contains("/var/lib/rdma-configd/generations.json"));
  EXPECT_TRUE(kernel_.files.root_only.contains("/var/lib/rdma-configd/generations/1.json"));
  EXPECT_TRUE(active_is_private(host.files, context.paths)) << "the file was closed since";
  auto sent = document(kWanted, false);
  ASSERT_EQ(
      commit(sent, {.who = "uid 1000", .what = "apply", .host_name = "node1", .of_others = true}, context)
          .exit,
      model::Exit::kOk);
  EXPECT_TRUE(active_is_private(host.files, context.paths)) << "others do not open it";
  ASSERT_EQ(commit(sent, {.who = "root", .what = "apply", .host_name = "node1"}, context).exit,
            model::Exit::kOk);
  EXPECT_FALSE(active_is_private(host.files, context.paths));
  EXPECT_EQ(read_ledger(host.files, context.paths)->active, 1U) << "the same text is the same generation";
}

/// After a reboot the generation before the one that waits is held and looked at, recorded or not.
TEST_F(Concealed, WhatARollbackGoesBackToIsPrivate) {
  const auto wanting = [](const std::string& value, bool is_private) {
    const auto text = "version = 1\n[[sysctl]]\nkey = 'net.ipv4.tcp_rmem'\nvalue = '" + value + "'\n";
    return config::parse_texts({{.name = "config.toml", .text = text, .is_private = is_private}}, "node1",
                               kinds::grammar());
  };
  const Request request{.who = "root", .what = "apply", .host_name = "node1"};
  auto host = kernel_.host();
  Context context{host, {}};
  ASSERT_EQ(commit(wanting("4096 7 8", true), request, context).exit, model::Exit::kOk);
  auto confirmed_later = request;
  confirmed_later.confirm = std::chrono::seconds(60);
  ASSERT_EQ(commit(wanting("4096 3 4", false), confirmed_later, context).exit, model::Exit::kOk);
  EXPECT_TRUE(active_is_private(host.files, context.paths));

  kernel_.reboot();
  kernel_.files.root_only.erase(
      "/etc/sysctl.d/zz-rdma-configd.conf");  // so that the reader's look gets to its end
  auto rebooted = kernel_.host();
  Context after{rebooted, {}};
  const auto report = look_concealed(after, [&](Context& seen, bool& own) {
    own = !active_is_private(seen.host.files, seen.paths);
    return look(request, seen);
  });
  const auto json = report_json(report).dump();
  EXPECT_FALSE(report.resources.empty()) << json;
  EXPECT_THAT(json, Not(HasSubstr("4096 7 8")));
}

/// Else reports for other users would say while /var is full that nothing is known of what was made.
TEST_F(Concealed, RecordsInTheRuntimeDirectoryAreReadForAReader) {
  const Request request{.who = "root", .what = "apply", .host_name = "node1"};
  auto host = kernel_.host();
  Context context{host, {}};
  ASSERT_EQ(commit(document(kWanted, false), request, context).exit, model::Exit::kOk);
  HeldRecord held;
  held.journal.boot_id = host.boot_id;
  held.over = true;
  ASSERT_TRUE(save_held_record(host.files, context.options.paths, held));
  ASSERT_TRUE(host.files.hidden(context.options.paths.held));
  const auto report = look_concealed(context, [&](Context& seen, bool& own) {
    own = true;
    return look(request, seen);
  });
  EXPECT_THAT(model::note_texts(report.notes), Not(Contains(HasSubstr("what rdma-configd remembers"))));
}

TEST_F(Concealed, AFileThatOnlyRootMayReadHidesItsKindAlone) {
  constexpr const char* kFile = "/etc/sysctl.d/zz-rdma-configd.conf";
  auto host = kernel_.host();
  const auto text = std::string(
      "version = 1\n[[sysctl]]\nkey = 'net.ipv4.tcp_rmem'\nvalue = '4096 3 4'\n"
      "[[module]]\nname = 'mlx4_core'\noptions = ['num_vfs=4']\n");
  const auto wanted = config::parse_texts({{"config.toml", text}}, "node1", kinds::grammar());
  kernel_.files.content[kFile] = "# rdma-configd\nnet/ipv4/tcp_rmem = 4096 7 8\n";
  kernel_.files.root_only.insert(kFile);
  Context context{host, {}};
  const auto report = look_concealed(context, [&](Context& seen, bool& own) {
    own = true;
    return diff(wanted, seen.host, seen.options);
  });
  EXPECT_FALSE(report.error) << report.error->message;
  EXPECT_FALSE(report.resources.empty());
  for (const auto& resource : report.resources) EXPECT_NE(resource.key.kind, "sysctl");
  for (const auto& change : report.plan.changes) EXPECT_NE(change.key.kind, "sysctl");
  EXPECT_THAT(
      model::note_texts(report.notes),
      Contains(HasSubstr(std::string("sysctl: not shown, since only root may read its files (") + kFile)));
  EXPECT_THAT(report_json(report).dump(), Not(HasSubstr("4096 7 8")));

  const auto sysctl_alone = config::parse_texts({{"config.toml", text.substr(0, text.find("[[module]]"))}},
                                                "node1", kinds::grammar());
  const auto nothing_seen = look_concealed(context, [&](Context& seen, bool& own) {
    own = true;
    return diff(sysctl_alone, seen.host, seen.options);
  });
  EXPECT_EQ(nothing_seen.exit, model::Exit::kPartly) << "nobody knows that it is in sync";
  const auto by_root = diff(sysctl_alone, host, {});
  EXPECT_FALSE(by_root.error);
  EXPECT_THAT(report_json(by_root).dump(), HasSubstr("4096 7 8"));
}

TEST_F(Concealed, AConfirmedDocumentForEverybodyIsNotPrivate) {
  const Request request{.who = "root", .what = "apply", .host_name = "node1"};
  auto host = kernel_.host();
  Context context{host, {}};
  ASSERT_EQ(commit(document(kWanted, true), request, context).exit, model::Exit::kOk);
  auto confirmed_later = request;
  confirmed_later.confirm = std::chrono::seconds(60);
  ASSERT_EQ(commit(document(kSecret, false), confirmed_later, context).exit, model::Exit::kOk);
  EXPECT_TRUE(active_is_private(host.files, context.paths));
  ASSERT_EQ(confirm(request, context).exit, model::Exit::kOk);
  EXPECT_FALSE(active_is_private(host.files, context.paths));
}

TEST_F(Concealed, FilesMadeOfAPrivateDocumentArePrivate) {
  auto host = kernel_.host();
  const auto text = std::string("version = 1\n[[sysctl]]\nkey = 'net.ipv4.tcp_rmem'\nvalue = '4096 3 4'\n");
  for (const bool is_private : {false, true}) {
    kernel_.files.content.clear();
    kernel_.files.root_only.clear();
    const auto parsed = config::parse_texts({{.name = "config.toml", .text = text, .is_private = is_private}},
                                            "node1", kinds::grammar());
    ASSERT_EQ(apply(parsed, host, {}).exit, model::Exit::kOk);
    std::size_t files = 0;
    for (const auto& [path, content] : kernel_.files.content) {
      ++files;
      EXPECT_EQ(kernel_.files.root_only.contains(path), is_private) << path;
    }
    EXPECT_GE(files, 2U);
  }
}

}  // namespace
}  // namespace rdmacfg::core
