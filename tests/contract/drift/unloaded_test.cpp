// SPDX-License-Identifier: Apache-2.0
// An administrator who unloads rdma_cm wants it to stay unloaded: a hold does not load it again.
#include <gtest/gtest.h>

#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kUnloadedHost = R"({
  "devices": [{ "name": "rocep16s0", "driver": "mlx5_core", "pci": "0000:10:00.0", "node_guid": "0002:c903:0031:78f1",
    "ports": [{ "guid": "0002:c903:0031:78f2", "link_layer": "Ethernet", "netdev": "eth1" }] }],
  "links": [{ "name": "eth1", "up": true }, { "name": "eth2", "up": true }]
})";
constexpr const char* kSecond = R"({
  "devices": [{ "name": "rocep17s0", "driver": "mlx5_core", "pci": "0000:11:00.0", "node_guid": "0002:c903:0031:7901",
    "ports": [{ "guid": "0002:c903:0031:7902", "link_layer": "Ethernet", "netdev": "eth2" }] }]
})";

class Unloaded : public testing::Test {
 protected:
  model::Report run(bool holding) {
    auto host = kernel->host();
    host.holding = holding;
    core::Options options;
    options.independent = holding;
    return core::apply(document, host, options);
  }
  model::ResourceReport of(const model::Report& report, const std::string& id) {
    for (const auto& resource : report.resources) {
      if (resource.key == model::Key{"roce", id}) return resource;
    }
    ADD_FAILURE() << id;
    return {};
  }
  int tos(const std::string& device) { return kernel->machine.device(device)->ports.front().roce_tos; }

  std::unique_ptr<fakes::FakeKernel> kernel = fakes::FakeKernel::parse(kUnloadedHost);
  config::Document document = config::parse_texts({{"config.toml", R"(version = 1
[[roce]]
interface = "eth1"
dscp = 26
[[roce]]
interface = "eth2"
dscp = 34
)"}},
                                                  "node1", kinds::grammar());
};

TEST_F(Unloaded, ItStaysSoWhileWhatWasAppliedIsHeld) {
  ASSERT_EQ(run(false).exit, model::Exit::kPartly);
  ASSERT_EQ(tos("rocep16s0"), 106);
  kernel->machine.rdma_cm = 0;
  const auto held = run(true);
  EXPECT_EQ(held.exit, model::Exit::kPartly);
  EXPECT_TRUE(held.plan.empty());
  EXPECT_EQ(of(held, "0000:10:00.0/1").status, model::Status::kPending);
  EXPECT_EQ(of(held, "0000:10:00.0/1").reason, "rdma_cm is not loaded");
  EXPECT_EQ(kernel->machine.rdma_cm, 0);
  EXPECT_EQ(of(run(true), "0000:10:00.0/1").status, model::Status::kPending) << "and again";
}

TEST_F(Unloaded, WhatLoadsItAgainBringsTheDefaultsBack) {
  (void)run(false);
  const auto loaded = kernel->machine.rdma_cm;
  kernel->machine.rdma_cm = 0;
  (void)run(true);
  kernel->machine.rdma_cm = loaded;  // load_rdma_cm() counts on
  kernel->machine.load_rdma_cm();
  ASSERT_EQ(tos("rocep16s0"), 0);
  EXPECT_EQ(of(run(true), "0000:10:00.0/1").status, model::Status::kDone);
  EXPECT_EQ(tos("rocep16s0"), 106);
}

TEST_F(Unloaded, AnApplyLoadsIt) {
  (void)run(false);
  kernel->machine.rdma_cm = 0;
  EXPECT_EQ(of(run(false), "0000:10:00.0/1").status, model::Status::kDone);
  EXPECT_NE(kernel->machine.rdma_cm, 0);
}

TEST_F(Unloaded, OneThatWasNeverLoadedInThisBootIsNotWaitedFor) {
  (void)run(false);
  kernel->boot_id = "5f0c0de0-0000-4000-8000-000000000002";  // the records are of the boot before
  kernel->machine.rdma_cm = 0;
  EXPECT_EQ(of(run(true), "0000:10:00.0/1").status, model::Status::kDone);
  EXPECT_EQ(tos("rocep16s0"), 106);
}

TEST_F(Unloaded, ADeviceThatAppearsWhileItIsUnloadedWaitsToo) {
  (void)run(false);
  kernel->machine.rdma_cm = 0;
  kernel->add(kSecond);
  EXPECT_EQ(of(run(true), "0000:11:00.0/1").status, model::Status::kPending);
  EXPECT_EQ(kernel->machine.rdma_cm, 0);
  EXPECT_EQ(run(false).exit, model::Exit::kOk);
  EXPECT_EQ(tos("rocep17s0"), 136 + 2);
}

}  // namespace
}  // namespace rdmacfg::contract
