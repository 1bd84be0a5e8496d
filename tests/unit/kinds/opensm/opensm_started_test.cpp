// SPDX-License-Identifier: Apache-2.0
// The warning about an OpenSM that was started before its files were written.
#include <gtest/gtest.h>

#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

constexpr const char* kStartedText = R"(version = 1
[[opensm]]
guid = "00:02:c9:03:00:31:78:f2"
[[opensm_option]]
key = "max_wire_smps"
value = 16
[[opensm_file]]
option = "node_name_map_name"
lines = ["0x0002c90300a0b001 \"leaf 1\""]
[[opensm_file]]
option = "per_module_logging_file"
lines = ["osm_sa.c=0x3"]
)";

/// The host's differing file decides: the plan restarts OpenSM for it, or has it read the file again.
TEST(OpensmStarted, AWarningIsGivenUnlessThePlanRestartsOpensm) {
  const auto kernel = fakes::FakeKernel::parse(
      R"({"devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [{"guid": "00:02:c9:03:00:31:78:f2",
          "sm": false, "state": "INIT", "interface": {"name": "ib0", "up": true}}]}],
          "units": {"opensm.service": {"reloads": false, "enabled": false},
                    "opensm@.service": {"installable": false, "reloads": false}},
          "files": {"/etc/default/opensm": "PORTS=ALL\n"}})");
  auto host = kernel->host();
  const auto document = config::parse_texts({{"config.toml", kStartedText}}, "node1", grammar());
  ASSERT_EQ(core::apply(document, host).exit, model::Exit::kOk);
  auto& content = kernel->files.content;
  for (int pid = 1000; pid < 1010; ++pid) {
    content["/proc/" + std::to_string(pid) + "/stat"] =
        std::to_string(pid) + " (opensm) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1000 0 0\n";
  }
  content["/proc/stat"] = "cpu 1 2 3\nbtime 1700000000\n";
  content["/proc/uptime"] = "99.50 180.00\n";
  kernel->files.writings["/etc/opensm/opensm.conf"] = 1'700'000'013'000'000;
  const auto warnings = [&] {
    int count = 0;
    for (const auto& diagnostic : core::diff(document, host).diagnostics)
      count += diagnostic.hint.starts_with("OpenSM reads that file when it starts") ? 1 : 0;
    return count;
  };
  EXPECT_EQ(warnings(), 1);
  const std::string log_levels = "/etc/opensm/rdma-log-levels.conf",
                    names = "/etc/opensm/rdma-node-names.conf";
  ASSERT_TRUE(content.contains(log_levels));
  ASSERT_TRUE(content.contains(names));
  content[log_levels] += "osm_sm.c=0x3\n";
  EXPECT_EQ(warnings(), 1) << "OpenSM reads that file again, and opensm.conf not";
  content[names] += "0x0002c90300a0b002 \"leaf 2\"\n";
  EXPECT_EQ(warnings(), 0) << "the plan restarts OpenSM";
}

}  // namespace
}  // namespace rdmacfg::kinds
