// SPDX-License-Identifier: Apache-2.0
// Services that run although their entries stop or disable them.
#include "kinds/host/service_check.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

/// The messages about a document on a host with these units.
std::string said_of(const std::string& units, const std::string& document,
                    const std::map<std::string, std::string>& files = {}) {
  auto kernel = fakes::FakeKernel::parse(fmt::format(R"({{"units": {{ {} }}}})", units));
  for (const auto& [path, text] : files) kernel->files.content.insert_or_assign(path, text);
  auto host = kernel->host();
  const auto report = core::diff(
      config::parse_texts({{"config.toml", "version = 1\n" + document}}, "node1", grammar()), host);
  std::string out;
  for (const auto& diagnostic : report.diagnostics) out += diagnostic.message + "\n";
  return out;
}

TEST(ServiceCheck, ASocketThatStartsAServiceAgainIsNamed) {
  struct Row {
    const char* socket;
    const char* entries;
    const char* said;
  };
  const std::string listens = R"("ibacm.socket": {"enabled": true, "running": true})";
  const std::string enabled = R"("ibacm.socket": {"enabled": true})";
  const std::string rests = R"("ibacm.socket": {})";
  const char* const stopped = "[[service]]\nname = \"ibacm\"\nrunning = false\n";
  const char* const disabled = "[[service]]\nname = \"ibacm\"\nenabled = false\n";
  const char* const runs = "[[service]]\nname = \"ibacm\"\nrunning = true\n";
  const std::string both_stopped =
      std::string(stopped) + "[[service]]\nname = \"ibacm.socket\"\nrunning = false\n";
  constexpr const char* kConnection =
      "[[service]] running: ibacm.socket starts ibacm.service at the next connection\n";
  constexpr const char* kBoot =
      "[[service]] enabled: ibacm.socket is enabled, and starts ibacm.service at a connection after boot\n";
  for (const auto& row : {Row{listens.c_str(), stopped, kConnection}, Row{rests.c_str(), stopped, ""},
                          Row{enabled.c_str(), stopped, ""}, Row{enabled.c_str(), disabled, kBoot},
                          Row{listens.c_str(), disabled, kBoot}, Row{rests.c_str(), disabled, ""},
                          Row{listens.c_str(), runs, ""}, Row{listens.c_str(), both_stopped.c_str(), ""},
                          Row{R"("other.socket": {"running": true})", stopped, ""}}) {
    SCOPED_TRACE(std::string(row.socket) + row.entries);
    EXPECT_EQ(said_of(fmt::format(R"("ibacm.service": {{"running": true}}, {})", row.socket), row.entries),
              row.said);
  }
}

TEST(ServiceCheck, AServiceThatOthersStartIsNotDisabled) {
  const std::string units = R"("rdma-ndd.service": {"installable": false, "running": true})";
  const std::string entry = "[[service]]\nname = \"rdma-ndd\"\nenabled = false\n";
  EXPECT_THAT(said_of(units, entry), testing::HasSubstr("other units or udev start rdma-ndd.service"));
  EXPECT_EQ(said_of(units, entry + "running = false\n"), "") << "the daemon stops it whenever it starts";
  EXPECT_EQ(said_of(R"("rdma-ndd.service": {"enabled": true})", entry), "");
}

/// unit_file_lookup_state() of systemd: such a unit is "indirect" before and after `systemctl enable`, which
/// enables those that Also= names.
TEST(ServiceCheck, AUnitThatOnlyNamesOthersIsNeitherEnabledNorDisabled) {
  const std::string units = R"("virtlogd.service": {"indirect": true, "running": true})";
  const std::string entry = "[[service]]\nname = \"virtlogd\"\nenabled = ";
  for (const auto* wanted : {"true\n", "false\n"}) {
    EXPECT_EQ(said_of(units, entry + wanted,
                      {{"/usr/lib/systemd/system/virtlogd.service",
                        "[Service]\n[Install]\nAlso=virtlogd.socket virtlogd-admin.socket\n"}}),
              "[[service]] enabled: virtlogd.service itself can be neither enabled nor disabled, as its unit "
              "file only names other units (Also=)\n");
  }
  EXPECT_EQ(said_of(units, entry + "true\n",
                    {{"/usr/lib/systemd/system/virtlogd.service",
                      "[Install]\nWantedBy=multi-user.target\nAlso=virtlogd.socket\n"}}),
            "")
      << "indirect for another's link: enabling it makes its own";
  EXPECT_EQ(said_of(units, entry + "true\n"), "") << "no file of the unit can be read";
  EXPECT_THAT(said_of(R"("sync@a.timer": {"indirect": true})",
                      "[[service]]\nname = \"sync@a.timer\"\nenabled = true\n",
                      {{"/usr/lib/systemd/system/sync@.service", "[Install]\nWantedBy=multi-user.target\n"},
                       {"/usr/lib/systemd/system/sync@.timer", "[Install]\nAlso=other.timer\n"}}),
              testing::HasSubstr("sync@a.timer itself can be neither enabled nor disabled"))
      << "the template is of the instance's type";
}

TEST(ServiceCheck, ATransientUnitIsNotEnabled) {
  const std::string entry = "[[service]]\nname = \"run-1\"\nenabled = true\n";
  EXPECT_EQ(said_of(R"("run-1.service": {"transient": true, "running": true})", entry),
            "[[service]] enabled: run-1.service is a transient unit, which the next boot removes\n");
}

/// systemd-debug-generator(8): the unit is masked in /run before any enabled link counts.
TEST(ServiceCheck, AUnitThatTheNextCommandLineMasksIsNamed) {
  struct Row {
    const char* file;
    const char* text;
    int line;  ///< 0: nothing is said
  };
  constexpr const char* kGrub = "/etc/default/grub";
  constexpr const char* kEntry = "/boot/loader/entries/a.conf";
  for (const auto& row :
       {Row{kGrub, "GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX=\"quiet systemd.mask=ibacm\"\n", 2},
        Row{kGrub, "GRUB_CMDLINE_LINUX_DEFAULT='systemd.mask=ibacm.service'\n", 1},
        Row{kGrub, "GRUB_CMDLINE_LINUX=\"systemd.mask=ibacm\"\nGRUB_CMDLINE_LINUX=\"\"\n", 0},
        Row{kGrub, "#GRUB_CMDLINE_LINUX=\"systemd.mask=ibacm\"\n", 0},
        Row{"/etc/kernel/cmdline", "root=/dev/sda1 systemd.mask=ibacm.service\n", 1},
        Row{"/etc/kernel/cmdline", "rd.systemd.mask=ibacm.service systemd.mask=ibacm.socket\n", 0},
        Row{kEntry, "title Debian\noptions root=/dev/sda1\noptions systemd.mask=ibacm\n", 3},
        Row{kEntry, "title systemd.mask=ibacm\n", 0}}) {
    const auto expected = row.line == 0
                              ? std::string()
                              : fmt::format(
                                    "[[service]] enabled: {}:{} masks ibacm.service from the next boot on "
                                    "(systemd.mask=)\n",
                                    row.file, row.line);
    EXPECT_EQ(said_of(R"("ibacm.service": {"enabled": true})",
                      "[[service]]\nname = \"ibacm\"\nenabled = true\n", {{row.file, row.text}}),
              expected)
        << row.text;
    EXPECT_EQ(said_of(R"("ibacm.service": {})", "[[service]]\nname = \"ibacm\"\nenabled = false\n",
                      {{row.file, row.text}}),
              "")
        << row.text;
  }
}

TEST(ServiceCheck, ADisabledUnitThatTheNextCommandLineStartsIsNamed) {
  const std::map<std::string, std::string> files{{"/etc/kernel/cmdline", "quiet systemd.wants=ibacm\n"}};
  const std::string entry = "[[service]]\nname = \"ibacm\"\nenabled = ";
  EXPECT_EQ(
      said_of(R"("ibacm.service": {})", entry + "false\n", files),
      "[[service]] enabled: /etc/kernel/cmdline:1 starts ibacm.service at the next boot (systemd.wants=)\n");
  EXPECT_EQ(said_of(R"("ibacm.service": {"enabled": true})", entry + "true\n", files), "");
}

TEST(ServiceCheck, TheRemedyOfAMaskIsWhereTheMaskIs) {
  const system::Unit masked{.name = "ibacm.service",
                            .id = "ibacm.service",
                            .load = "masked",
                            .active = {},
                            .sub = {},
                            .file = "masked",
                            .job = {}};
  auto runtime = masked;
  runtime.file = "masked-runtime";
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  EXPECT_EQ(remedy_of_mask(masked, files), "systemctl unmask ibacm.service, or leave it out here");
  EXPECT_EQ(remedy_of_mask(runtime, files), "systemctl unmask --runtime ibacm.service, or leave it out here");
  files.content["/proc/cmdline"] = "quiet systemd.mask=ibacm\n";
  EXPECT_EQ(
      remedy_of_mask(runtime, files),
      "remove systemd.mask=ibacm.service from the kernel command line and reboot, or leave it out here");
}

}  // namespace
}  // namespace rdmacfg::kinds
