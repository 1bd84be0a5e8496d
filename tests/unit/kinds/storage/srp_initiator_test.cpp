// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/srp/srp_initiator.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "formats/storage/srp_rules.hpp"
#include "kinds/storage/srp/srp_session.hpp"
#include "model/limits.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::HasSubstr;

constexpr const char* kSrpHost =
    R"({ "units": { "srp_daemon.service": { "enabled": true, "running": true }, "srp_daemon_port@.service": {} } })";
constexpr const char* kSrpText =
    "version = 1\n[srp_initiator]\nothers = false\n[[srp_rule]]\nname = \"a\"\nioc_guid = \"66\"\n";

config::Document srp_document(const std::string& text) {
  return config::parse_texts({{"config.toml", text}}, "node1", grammar());
}

/// The first error of a document with these options.
std::string srp_error(const std::string& options) {
  auto kernel = fakes::FakeKernel::parse(kSrpHost);
  auto host = kernel->host();
  const auto report = core::diff(srp_document(kSrpText + options), host);
  return report.diagnostics.empty() ? "" : report.diagnostics.front().message;
}

TEST(SrpInitiator, OptionsOfALoginAreBounded) {
  EXPECT_EQ(model::limits::kSrpOptionBytes, 72U);
  // "ch_count=1,comp_vector=2147483,max_sect=2147483647,queue_size=2147483647" has as many.
  const std::string most = "queue_size = 2147483647\nmax_sect = 2147483647\ncomp_vector = 2147483\n";
  EXPECT_EQ(srp_error(most), "");
  EXPECT_EQ(srp_error(most + "ch_count = 1\n"), "");
  EXPECT_THAT(srp_error(most + "ch_count = 12\n"), HasSubstr("73 bytes together; 72 are allowed"));
}

TEST(SrpInitiator, TheDaemonIsRestartedOnce) {
  auto kernel = fakes::FakeKernel::parse(kSrpHost);
  auto host = kernel->host();
  const auto& unit = kernel->units.units.at("srp_daemon.service");
  const auto before = unit.starts_seen;
  ASSERT_EQ(core::apply(srp_document(kSrpText), host).exit, model::Exit::kOk);
  EXPECT_EQ(unit.starts_seen, before + 1);
  ASSERT_EQ(core::apply(srp_document(kSrpText), host).exit, model::Exit::kOk);
  EXPECT_EQ(unit.starts_seen, before + 1) << "a second apply changes nothing";
}

TEST(SrpInitiator, ADaemonThatEndsWithTheRulesRunsAgainWithoutThem) {
  auto kernel = fakes::FakeKernel::parse(kSrpHost);
  auto host = kernel->host();
  const auto before = kernel->dump({.without_files_below = "/var"});
  auto& unit = kernel->units.units.at("srp_daemon.service");
  unit.ends = [&kernel] { return kernel->files.content.contains(std::string(kSrpRulesFile)); };
  const auto report = core::apply(srp_document(kSrpText), host);
  EXPECT_EQ(report.exit, model::Exit::kUndone);
  ASSERT_TRUE(report.error);
  EXPECT_THAT(report.error->message, HasSubstr("exited after its restart"));
  EXPECT_TRUE(unit.running);
  EXPECT_EQ(kernel->dump({.without_files_below = "/var"}), before);
}

// The kernel's logins come from whatever rules srp_daemon reads.
TEST(SrpInitiator, DropInsThatLeadToOtherRulesAreNamed) {
  struct Row {
    const char* name;
    const char* text;
    bool named;
  };
  for (const auto& row :
       {Row{"10-site", "ExecStart=\nExecStart=/usr/sbin/srp_daemon --systemd -e -c -f /etc/site.conf -j %I\n",
            true},
        Row{"10-site", "ExecStart=\nExecStart=/usr/sbin/srp_daemon --systemd -e -c -j %I -R 60\n", false},
        Row{"10-site", "BindReadOnlyPaths=\n", false}, Row{"90-site", "BindReadOnlyPaths=\n", true},
        Row{"90-site", "BindReadOnlyPaths=/srv:/mnt\n", false}}) {
    SCOPED_TRACE(std::string(row.name) + " " + row.text);
    auto kernel = fakes::FakeKernel::parse(kSrpHost);
    kernel->files.content[fmt::format("/etc/systemd/system/srp_daemon_port@.service.d/{}.conf", row.name)] =
        std::string("[Service]\n") + row.text;
    auto host = kernel->host();
    std::string said;
    for (const auto& diagnostic : core::diff(srp_document(kSrpText), host).diagnostics)
      said += diagnostic.message + "\n";
    EXPECT_EQ(said.find("read rules other than those of the document") != std::string::npos, row.named)
        << said;
  }
}

TEST(SrpInitiator, LoginsAreShownAsIbsrpdmSpellsTargets) {
  auto kernel = fakes::FakeKernel::parse(R"({ "files": {
    "/sys/class/scsi_host/host0/id_ext": "0x200500a0b81146a1\n",
    "/sys/class/scsi_host/host0/ioc_guid": "0x00a0b80200402bef\n",
    "/sys/class/scsi_host/host0/service_id": "0x200500a0b81146a2\n",
    "/sys/class/scsi_host/host0/pkey": "0x8002\n",
    "/sys/class/scsi_host/host0/dgid": "fe80:0000:0000:0000:0002:c902:0040:2bd6\n",
    "/sys/class/scsi_host/host0/orig_dgid": "fe80:0000:0000:0000:0002:c902:0040:2bd5\n",
    "/sys/class/scsi_host/host0/local_ib_device": "mlx4_0\n",
    "/sys/class/scsi_host/host0/local_ib_port": "2\n",
    "/sys/class/scsi_host/host1/proc_name": "ahci\n" } })");
  auto host = kernel->host();
  const auto sessions = observe_srp_sessions(host.files);
  ASSERT_TRUE(sessions);
  ASSERT_EQ(sessions->size(), 1U);
  EXPECT_EQ(text_of(sessions->front()),
            "id_ext=200500a0b81146a1,ioc_guid=00a0b80200402bef,dgid=fe800000000000000002c90200402bd5,"
            "pkey=8002,service_id=200500a0b81146a2 over mlx4_0/2")
      << "a login that the target has redirected goes by what was asked for";
}

TEST(SrpInitiator, BelowAnotherRootOnlyFilesAreWritten) {
  auto kernel = fakes::FakeKernel::parse("{}");
  auto host = kernel->host();
  host.offline = true;
  EXPECT_EQ(core::apply(srp_document(kSrpText), host).exit, model::Exit::kOk);
  EXPECT_EQ(kernel->files.content.at(std::string(kSrpDropIn)), render_srp_drop_in());
  EXPECT_TRUE(is_our_srp_file(kernel->files.content.at(std::string(kSrpRulesFile))));
}

}  // namespace
}  // namespace rdmacfg::kinds
