// SPDX-License-Identifier: Apache-2.0
// Connected P_Key interfaces over ports with long names, and the names that the kernel gives them at first.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "kinds/ipoib/pkey.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kLongPort = R"({"devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
  {"guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"],
   "interface": {"name": "partition_ib0", "up": true, "children": []}}]}], "cuts_whole_names": true})";

/// How often the host's interfaces are listed to make so many.
std::size_t dumps_to_make(int count) {
  auto kernel = fakes::FakeKernel::parse(kLongPort);
  std::vector<model::Change> changes;
  for (int i = 1; i <= count; ++i) {
    model::Change change;
    change.key = {"pkey", fmt::format("00:02:c9:03:00:31:78:f2/{:#06x}", 0x8000 + i)};
    change.label = fmt::format("part{}", i);
    change.after = {{"name", change.label}, {"mode", std::string("connected")}};
    changes.push_back(std::move(change));
  }
  auto host = kernel->host();
  const auto before = kernel->link_dumps;
  const auto done = detail::create_children(changes, host);
  EXPECT_TRUE(done) << done.error().message;
  for (const auto& change : changes) EXPECT_TRUE(kernel->machine.in_use(change.label)) << change.label;
  return kernel->link_dumps - before;
}

// Before Linux 6.10 all of them have the name "partition_ib0.8" at first.
TEST(PkeyCreation, ManyOverAPortWithALongNameTakeNoMoreDumpsThanFew) {
  EXPECT_EQ(dumps_to_make(100), dumps_to_make(2));
}

TEST(PkeyCreation, OnlyTheFirstNameOfTheRunningKernelHasToBeFree) {
  const auto said = [](const std::string& release, const std::string& held) {
    auto kernel = fakes::FakeKernel::parse(kLongPort);
    kernel->machine.add_link(held, "dummy");
    if (!release.empty()) kernel->files.content["/proc/sys/kernel/osrelease"] = release + "\n";
    auto host = kernel->host();
    const auto report = core::diff(
        config::parse_texts({{"config.toml",
                              "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n"
                              "name = \"partition_ib0\"\n"
                              "[[ipoib.pkey]]\npkey = 2\nname = \"fast\"\nmode = \"connected\"\n"}},
                            "node1", grammar()),
        host);
    std::string out;
    for (const auto& diagnostic : report.diagnostics) out += diagnostic.message + "\n";
    return out;
  };
  const std::string whole = "partition_ib0.8", part = "partition_.8002";
  EXPECT_THAT(said("", whole), HasSubstr("at first"));
  EXPECT_THAT(said("6.1.0-18-amd64", whole), HasSubstr("at first"));
  EXPECT_THAT(said("6.1.0-18-amd64", part), HasSubstr("at first"));
  EXPECT_THAT(said("6.12.9-amd64", whole), IsEmpty());
  EXPECT_THAT(said("6.12.9-amd64", part), HasSubstr("at first"));
}

}  // namespace
}  // namespace rdmacfg::kinds
