// SPDX-License-Identifier: Apache-2.0
// Every check of the doctor, provoked on a fake host.
#include "core/doctor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "fakes/fake_kernel.hpp"
#include "kinds/all.hpp"

namespace rdmacfg::core {
namespace {

using fakes::FakeKernel;

constexpr const char* kHealthy = R"({
  "devices": [
    { "name": "mlx4_0", "pci": "0000:10:00.0", "node_guid": "0002:c903:0031:78f1", "ports": [
      { "guid": "0002:c903:0031:78f2", "pkeys": ["0xffff", "0x8002"], "interface": { "name": "ib0", "up": true,
        "children": [{ "pkey": "0x8002", "name": "ib0.8002", "up": true }] } }] },
    { "name": "rocep17s0", "driver": "mlx5_core", "pci": "0000:11:00.0", "node_guid": "0002:c903:0031:7901", "ports": [
      { "guid": "0002:c903:0031:7902", "link_layer": "Ethernet", "netdev": "eth1" }] }],
  "links": [{ "name": "eth1", "up": true }]
})";

class Doctor : public testing::Test {
 protected:
  /// The names of checks that found something; `text`: a document.
  std::vector<std::string> found(const std::string& text = "version = 1\n") {
    auto host = kernel->host();
    auto world = kinds::World::observe(host);
    EXPECT_TRUE(world);
    const auto document = config::parse_texts({{"config.toml", text}}, "node1", kinds::grammar());
    EXPECT_FALSE(model::has_errors(document.diagnostics));
    findings = examine({*world, &document});
    std::vector<std::string> names;
    for (const auto& one : findings) {
      EXPECT_FALSE(one.what.empty() || one.fix.empty() || one.object.empty()) << one.check;
      names.push_back(one.check + " " + one.object);
    }
    return names;
  }

  fakes::Port& port() { return kernel->machine.device("mlx4_0")->ports.front(); }
  using Names = std::vector<std::string>;

  std::unique_ptr<FakeKernel> kernel = FakeKernel::parse(kHealthy);
  std::vector<Finding> findings;
};

TEST_F(Doctor, FindsNothingOnAHealthyHost) {
  EXPECT_EQ(found(), Names{});
  EXPECT_EQ(kernel->faults.calls(), 0U) << "it changes nothing";
}

TEST_F(Doctor, NoSubnetManager) {
  port().state = "INIT";
  EXPECT_EQ(found(), Names{"no_subnet_manager mlx4_0/1"});
  port().state = "DOWN";  // a cable that is out is no matter of the subnet manager's
  EXPECT_EQ(found(), Names{});
}

TEST_F(Doctor, TwoSubnetManagers) {
  kernel->add(
      R"({ "devices": [{ "name": "mlx4_1", "pci": "0000:12:00.0", "node_guid": "0002:c903:0031:8001", "ports": [
    { "guid": "0002:c903:0031:8002" }] }] })");
  EXPECT_EQ(found(), Names{});
  kernel->machine.device("mlx4_1")->ports.front().sm_lid = 7;
  EXPECT_EQ(found(), Names{"two_subnet_managers mlx4_1/1"});
}

TEST_F(Doctor, StaleInitramfs) {
  kernel->initramfs.command = "update-initramfs -u";
  EXPECT_EQ(found(), Names{});
  kernel->files.content["/etc/modprobe.d/rdma-configd-pfc.conf"] = "options mlx4_en pfctx=8 pfcrx=8\n";
  EXPECT_EQ(found(), Names{"stale_initramfs initramfs"});
  EXPECT_NE(findings.front().fix.find("update-initramfs -u"), std::string::npos);
  kernel->initramfs.newer = true;  // made by hand since
  EXPECT_EQ(found(), Names{});
  kernel->initramfs.newer = false;
  kernel->initramfs.there = false;  // boots without one
  EXPECT_EQ(found(), Names{});
}

TEST_F(Doctor, ZeroGuid) {
  kernel->machine.device("rocep17s0")->node_guid = 0;
  EXPECT_EQ(found(), Names{"zero_guid rocep17s0"});
}

TEST_F(Doctor, PkeyMissing) {
  port().pkeys = {0xffff};
  EXPECT_EQ(found(), Names{"pkey_missing ib0.8002"});
  port().pkeys = {0xffff, 0x0002};  // a limited member is one
  EXPECT_EQ(found(), Names{});
}

TEST_F(Doctor, MtuCapped) {
  const std::string document = "version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\nmtu = 4092\n";
  EXPECT_EQ(found(document), Names{});
  kernel->set_mtu("ib0", 2044);
  EXPECT_EQ(found(document), Names{"mtu_capped ib0"});
  EXPECT_EQ(found(), Names{}) << "nobody wants more";
}

TEST_F(Doctor, NoConnectedMode) {
  const std::string document =
      "version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\nmode = \"connected\"\n";
  EXPECT_EQ(found(document), Names{});
  kernel->link("ib0").capable = false;
  EXPECT_EQ(found(document), Names{"no_connected_mode ib0"});
}

TEST_F(Doctor, ConnectedMulticast) {
  kernel->files.content["/proc/net/igmp"] =
      "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n"
      "1\tlo        :     1      V3\n\t\t\t\t010000E0     1 0:00000000\t\t0\n"
      "3\tib0       :     2      V3\n\t\t\t\tFB0000E0     1 0:00000000\t\t0\n\t\t\t\t010000E0     1 "
      "0:00000000\t\t0\n";
  EXPECT_EQ(found(), Names{});
  kernel->set_mode("ib0", model::IpoibMode::kConnected);
  kernel->set_mtu("ib0", 65520);
  EXPECT_EQ(found(), Names{"connected_multicast ib0"});
}

TEST_F(Doctor, GidMissing) {
  kernel->machine.device("rocep17s0")->ports.front().gid_types.clear();
  EXPECT_EQ(found(), Names{"gid_missing rocep17s0/1"});
}

TEST_F(Doctor, RoceMismatch) {
  kernel->add(
      R"({ "devices": [{ "name": "rocep18s0", "pci": "0000:12:00.0", "node_guid": "0002:c903:0031:8001", "ports": [
    { "guid": "0002:c903:0031:8002", "link_layer": "Ethernet", "netdev": "eth2" }] }], "links": [{ "name": "eth2" }],
    "rdma_cm": true, "rdma_cm_folders": ["rocep17s0", "rocep18s0"] })");
  const Names pinned{"pinned_rdma_cm /sys/kernel/config/rdma_cm/rocep17s0",
                     "pinned_rdma_cm /sys/kernel/config/rdma_cm/rocep18s0"};
  EXPECT_EQ(found(), pinned);
  kernel->machine.device("rocep18s0")->ports.front().roce_mode = "IB/RoCE v1";
  EXPECT_EQ(found().front(), "roce_mismatch rocep17s0/1");
}

TEST_F(Doctor, PinnedRdmaCm) {
  kernel->add(R"({ "rdma_cm": true, "rdma_cm_folders": ["rocep17s0"] })");
  EXPECT_EQ(found(), Names{"pinned_rdma_cm /sys/kernel/config/rdma_cm/rocep17s0"});
  kernel->machine.device("rocep17s0")->name = "storage";
  EXPECT_EQ(found(), Names{"pinned_rdma_cm /sys/kernel/config/rdma_cm/rocep17s0"});
  EXPECT_NE(findings.front().what.find("leads nowhere"), std::string::npos);
}

TEST_F(Doctor, SmallMemlock) {
  const auto& unit = kernel->units.add("slurmd.service", {.running = true});
  const auto limits = "/proc/" + std::to_string(unit.pid) + "/limits";
  kernel->files.content[limits] =
      "Limit                     Soft Limit           Hard Limit           Units\n"
      "Max locked memory         8388608              8388608              bytes\n";
  EXPECT_EQ(found(), Names{"small_memlock slurmd.service"});
  kernel->files.content[limits] =
      "Max locked memory         unlimited            unlimited            bytes\n";
  EXPECT_EQ(found(), Names{});
}

TEST_F(Doctor, RivalServices) {
  kernel->units.add("lldpad.service", {.running = true});
  kernel->units.add("openibd.service", {.enabled = true});
  EXPECT_EQ(found(), (Names{"rivals lldpad.service", "rivals openibd.service"}));
  kernel->units.units["lldpad.service"].running = false;
  kernel->units.units["openibd.service"].enabled = false;
  EXPECT_EQ(found(), Names{});
}

TEST_F(Doctor, RivalFiles) {
  auto& files = kernel->files.content;
  files["/etc/infiniband/openib.conf"] = "# SET_IPOIB_CM=yes\nSET_IPOIB_CM=no\n";
  files["/etc/udev/rules.d/82-net-setup-link.rules"] = "# NAME\n";
  EXPECT_EQ(found(), Names{});
  files["/etc/infiniband/openib.conf"] = "SET_IPOIB_CM=yes\n";
  files["/etc/udev/rules.d/82-net-setup-link.rules"] = "SUBSYSTEM==\"net\", NAME=\"$env{NAME}\"\n";
  files["/etc/netplan/50-cloud-init.yaml"] = "network: {}\n";
  EXPECT_EQ(found(),
            (Names{"rivals /etc/infiniband/openib.conf", "rivals /etc/udev/rules.d/82-net-setup-link.rules",
                   "rivals /etc/netplan/50-cloud-init.yaml"}));
}

TEST_F(Doctor, RivalProfiles) {
  kernel->units.add("NetworkManager.service", {.running = true});
  kernel->files.content["/etc/NetworkManager/system-connections/ib.nmconnection"] =
      "[infiniband]\ntransport-mode=datagram\n";
  EXPECT_EQ(found(), Names{}) << "the document has no such interface";
  EXPECT_EQ(found("version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\n"),
            Names{"rivals /etc/NetworkManager/system-connections/ib.nmconnection"});
}

TEST_F(Doctor, EveryCheckHasAName) {
  std::vector<std::string> names;
  for (const auto& check : checks()) names.emplace_back(check.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace rdmacfg::core
