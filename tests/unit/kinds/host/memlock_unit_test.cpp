// SPDX-License-Identifier: Apache-2.0
// Drop-ins of ours that somebody has edited.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

constexpr const char* kEditedHost = R"({
  "groups": ["rdma"],
  "units": { "slurmd.service": { "running": true }, "munge.service": { "running": true } },
  "files": {
    "/etc/systemd/system/slurmd.service.d/50-rdma-configd-memlock.conf":
      "# Written by rdma-configd; changes here are overwritten.\n[Service]\nLimitMEMLOCK=infinity\nLimitNOFILE=1\n",
    "/etc/systemd/system/munge.service.d/50-rdma-configd-memlock.conf": "[Service]\nExecStartPre=/bin/true\n" } })";
constexpr const char* kEditedDocument =
    "version = 1\n[[memlock]]\ndomain = '@rdma'\nlimit = 'unlimited'\nunits = ['slurmd']\n";

TEST(MemlockUnit, AnUndoneApplyBringsBackWhatSomebodyHasWritten) {
  std::size_t undone = 0;
  for (std::size_t n = 1; n < 20; ++n) {
    SCOPED_TRACE(n);
    const auto kernel = fakes::FakeKernel::parse(kEditedHost);
    const auto before = kernel->dump({.without_files_below = "/var"});
    kernel->faults.clear();
    kernel->faults.fail_at(n, EIO);
    auto host = kernel->host();
    const auto report =
        core::apply(config::parse_texts({{"config.toml", kEditedDocument}}, "node1", grammar()), host);
    if (report.exit != model::Exit::kUndone) continue;
    ++undone;
    EXPECT_EQ(kernel->dump({.without_files_below = "/var"}), before);
  }
  EXPECT_GT(undone, 0U);
}

/// slurm.conf(5): PropagateResourceLimits is ALL by default.
TEST(MemlockUnit, JobsOfSlurmMayGetTheLimitOfTheirSubmitter) {
  const auto said = [](const std::string& path, const std::string& conf) {
    auto kernel = fakes::FakeKernel::parse(
        R"({"groups": ["rdma"], "units": {"slurmd.service": {}, "munge.service": {}}})");
    kernel->files.content[path] = conf;
    auto host = kernel->host();
    std::string out;
    const auto report =
        core::diff(config::parse_texts({{"config.toml", kEditedDocument}}, "node1", grammar()), host);
    for (const auto& diagnostic : report.diagnostics) out += diagnostic.message + "\n";
    return out;
  };
  const std::string path = "/etc/slurm/slurm.conf";
  const auto told =
      path + ": Slurm gives jobs the limit of the session that submits them, not that of slurmd.service\n";
  for (const auto* conf :
       {"ClusterName=a\n", "PropagateResourceLimits=ALL\n", "#PropagateResourceLimitsExcept=MEMLOCK\n",
        "ClusterName=a PropagateResourceLimits=CORE,MEMLOCK\n", "PropagateResourceLimitsExcept=NOFILE\n"})
    EXPECT_EQ(said(path, conf), told) << conf;
  for (const auto* conf :
       {"PropagateResourceLimitsExcept=MEMLOCK\n", "propagateresourcelimitsexcept=Core,Memlock # x\n",
        "PropagateResourceLimitsExcept=ALL\n", "PropagateResourceLimits=NONE\n",
        "PropagateResourceLimits=NOFILE\n", "Include /etc/slurm/site.conf\n"})
    EXPECT_EQ(said(path, conf), "") << conf;
  EXPECT_EQ(said("/etc/slurm/other.conf", ""), "") << "no slurm.conf";
}

}  // namespace
}  // namespace rdmacfg::kinds
