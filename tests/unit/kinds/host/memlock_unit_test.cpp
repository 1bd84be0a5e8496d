// SPDX-License-Identifier: Apache-2.0
// Drop-ins of ours that somebody has edited.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>

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

}  // namespace
}  // namespace rdmacfg::kinds
