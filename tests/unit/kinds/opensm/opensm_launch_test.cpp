// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_launch.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "fakes/memory_files.hpp"
#include "formats/shell_value.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr model::Guid kLaunchOne{0x0002c903003178f2}, kLaunchTwo{0x0002c903003178f4};

model::Desired launch_entry(model::Guid port, bool has_options) {
  model::Desired out;
  out.key = {"opensm", port.text()};
  out.settings = {{"enabled", true}, {"running", true}};
  if (has_options) out.needs.push_back({"opensm_option", port.text() + "/qos"});
  return out;
}

std::vector<std::string> launch_errors(std::vector<model::Desired> desired, const std::string& sysconfig,
                                       const LaunchFiles& theirs) {
  model::Diagnostics diagnostics;
  give_own_confs(desired, sysconfig, theirs, diagnostics);
  std::vector<std::string> out;
  for (const auto& diagnostic : diagnostics) out.push_back(diagnostic.message);
  return out;
}

TEST(OpensmLaunch, FilesCountByTheirPortsWhileGuidsIsEmpty) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = {{"/etc/rdma/opensm.conf.1", "guid 0x0002c903003178f2 # left\nsm_priority 5\n"},
                   {"/etc/rdma/opensm.conf.2", "guid \"0x2c903003178f4\"\n"},
                   {"/etc/rdma/opensm.conf.3", "sm_priority 2\n"},
                   {"/etc/rdma/opensm.conf.4", "guid 0x0\n"}};
  const auto found = observe_launch_files(files, "#GUIDS=0x1\n").value();
  ASSERT_EQ(found.size(), 2U) << "the others take the first port";
  EXPECT_EQ(found.at(kLaunchOne).path, "/etc/rdma/opensm.conf.1");
  EXPECT_EQ(found.at(kLaunchOne).priority, 5);
  EXPECT_EQ(found.at(kLaunchTwo).priority, std::nullopt);
  EXPECT_EQ(observe_launch_files(files, "PRIORITY=9\n").value().at(kLaunchOne).priority, 9)
      << "on the command line";
  EXPECT_TRUE(observe_launch_files(files, "GUIDS=0x1\n").value().empty());
}

TEST(OpensmLaunch, OptionsOfOneNeedFilesForAll) {
  const std::string sysconfig = "GUIDS=\"0x0002c903003178f2\"\n";
  EXPECT_THAT(
      launch_errors({launch_entry(kLaunchOne, false), launch_entry(kLaunchTwo, false)}, sysconfig, {}),
      IsEmpty());
  EXPECT_THAT(launch_errors({launch_entry(kLaunchOne, true), launch_entry(kLaunchTwo, true)}, sysconfig, {}),
              IsEmpty());
  EXPECT_THAT(launch_errors({launch_entry(kLaunchOne, true), launch_entry(kLaunchTwo, false)}, "", {}),
              ElementsAre("[[opensm]]: this entry has no options, but another entry has: opensm-launch "
                          "starts subnet managers either from GUIDS or from files"));
  EXPECT_THAT(
      launch_errors({launch_entry(kLaunchTwo, true)}, sysconfig, {}),
      ElementsAre(
          "[[opensm]]: GUIDS of /etc/sysconfig/opensm names port 00:02:c9:03:00:31:78:f2, whose "
          "subnet manager would no longer start: with options of an entry, opensm-launch starts only files"));
}

TEST(OpensmLaunch, FilesOfOthersMayStandBesideButNotOnThePort) {
  const LaunchFiles theirs{{kLaunchTwo, {"/etc/rdma/opensm.conf.2", std::nullopt}}};
  EXPECT_THAT(launch_errors({launch_entry(kLaunchOne, true), launch_entry(kLaunchTwo, false)}, "", theirs),
              IsEmpty());
  EXPECT_THAT(
      launch_errors({launch_entry(kLaunchTwo, true)}, "", theirs),
      ElementsAre("[[opensm]] guid: /etc/rdma/opensm.conf.2 starts a subnet manager on this port, too"));
  const LaunchFiles left{{kLaunchTwo, {"/etc/rdma/opensm.conf.0x0002c903003178f4", std::nullopt}}};
  EXPECT_THAT(launch_errors({launch_entry(kLaunchTwo, true)}, "", left), IsEmpty()) << "it is written over";
}

/// With a port in GUIDS opensm-launch starts no files.
TEST(OpensmLaunch, OptionsAreKeptWhileFilesOfOthersStandBeside) {
  OpensmDefaults defaults;
  defaults.ports[kLaunchOne] = std::nullopt;
  defaults.in_files = true;
  const auto sysconfig = render_opensm_defaults(defaults, OpensmLayout::kRhel);
  const LaunchFiles theirs{{kLaunchTwo, {"/etc/rdma/opensm.conf.2", std::nullopt}}};
  EXPECT_THAT(
      launch_errors({launch_entry(kLaunchOne, false)}, sysconfig, theirs),
      ElementsAre("[[opensm]]: without its own options this entry would be listed in GUIDS of "
                  "/etc/sysconfig/opensm, and opensm.service would ignore /etc/rdma/opensm.conf.2, which "
                  "starts another subnet manager"));
  EXPECT_THAT(launch_errors({launch_entry(kLaunchOne, false)}, sysconfig, {}), IsEmpty());
  EXPECT_THAT(launch_errors({launch_entry(kLaunchOne, true)}, sysconfig, theirs), IsEmpty());
  EXPECT_THAT(launch_errors({launch_entry(kLaunchTwo, false)}, sysconfig, theirs), IsEmpty())
      << "started by that file";
  EXPECT_THAT(launch_errors({launch_entry(kLaunchOne, false)}, "GUIDS=\"0x0002c903003178f2\"\n", theirs),
              IsEmpty())
      << "the file is ignored already";
}

TEST(OpensmLaunch, AnEntryWithOptionsIsStartedByItsFile) {
  std::vector<model::Desired> desired{launch_entry(kLaunchOne, true)};
  model::Diagnostics diagnostics;
  give_own_confs(desired, "", {}, diagnostics);
  EXPECT_EQ(model::value_of(desired[0].settings, "own_conf"), model::Value{true});
  desired = {launch_entry(kLaunchOne, false)};
  give_own_confs(desired, "", {}, diagnostics);
  EXPECT_FALSE(desired[0].settings.contains("own_conf"));
}

TEST(OpensmLaunch, OptionsWaitWithTheirSubnetManagers) {
  constexpr model::Guid kRuns{0x0002c903003178f6};
  std::vector<model::Desired> desired(5);
  desired[0].key = {"opensm_option", kLaunchOne.text() + "/qos"};
  desired[1].key = {"opensm_file", kLaunchTwo.text() + "/qos_policy_file"};
  desired[2].key = {"opensm_option", "qos"};
  desired[3].key = {"opensm_option", kRuns.text() + "/qos"};
  desired[4].key = {"opensm", kLaunchOne.text()};
  for (auto& resource : desired) resource.settings = {{"value", std::string("TRUE")}};
  hold_own_confs(desired, {{kLaunchOne, "no port has this GUID now"}, {kLaunchTwo, "another is master"}});
  EXPECT_EQ(desired[0].pending, "no port has this GUID now");
  EXPECT_EQ(desired[1].pending, "another is master");
  for (const std::size_t held : {0U, 1U}) EXPECT_TRUE(desired[held].settings.empty()) << held;
  for (const std::size_t other : {2U, 3U, 4U}) {
    EXPECT_FALSE(desired[other].pending) << other;
    EXPECT_FALSE(desired[other].settings.empty()) << other;
  }
}

/// The service runs on with a file that is removed while it runs.
TEST(OpensmLaunch, ADroppedSubnetManagerIsNotStartedAgainByItsFile) {
  const auto kernel = fakes::FakeKernel::parse(R"({
    "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
      { "guid": "00:02:c9:03:00:31:78:f2", "sm": false, "state": "INIT", "interface": { "name": "ib0", "up": true } },
      { "guid": "00:02:c9:03:00:31:78:f4", "sm": false, "state": "INIT", "interface": { "name": "ib1", "up": true } }] }],
    "units": { "opensm.service": { "reloads": false } },
    "files": { "/etc/sysconfig/opensm": "", "/etc/rdma/opensm.conf": "" } })");
  const auto& files = kernel->files.content;
  const auto launched = [&] {
    return std::count_if(files.begin(), files.end(),
                         [](const auto& file) { return file.first.starts_with("/etc/rdma/opensm.conf.0x"); });
  };
  std::ptrdiff_t at_start = 0;
  kernel->units.started = [&](const std::string& unit) {
    if (unit == kOpensmService) at_start = launched();
  };
  const auto run = [&](const std::string& text) {
    auto host = kernel->host();
    return core::apply(config::parse_texts({{"config.toml", "version = 1\n" + text}}, "node1", grammar()),
                       host, core::Options{})
        .exit;
  };
  const auto entry = [](const char* guid, int interval) {
    return "[[opensm]]\nguid = \"" + std::string(guid) +
           "\"\n[[opensm.option]]\nkey = \"sweep_interval\"\nvalue = " + std::to_string(interval) + "\n";
  };
  const auto first = entry("00:02:c9:03:00:31:78:f2", 5), second = entry("00:02:c9:03:00:31:78:f4", 6);
  EXPECT_EQ(run(first + second), model::Exit::kOk);
  EXPECT_EQ(at_start, 2);
  EXPECT_EQ(shell_value(files.at("/etc/sysconfig/opensm"), "GUIDS"), "");
  EXPECT_EQ(run(first), model::Exit::kOk);
  EXPECT_EQ(at_start, 1);
  EXPECT_EQ(run("[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n"), model::Exit::kOk);
  EXPECT_EQ(shell_value(files.at("/etc/sysconfig/opensm"), "GUIDS"), "0x0002c903003178f2");
  EXPECT_EQ(launched(), 0);
  EXPECT_EQ(run(""), model::Exit::kOk);
}

}  // namespace
}  // namespace rdmacfg::kinds
