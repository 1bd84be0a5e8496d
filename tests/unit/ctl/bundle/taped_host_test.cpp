// SPDX-License-Identifier: Apache-2.0
// The host of a report: nothing changes it, what nobody asked is as on a host that has no such thing, and an
// answer comes back as it was given.
#include "ctl/bundle/taped_host.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::ctl {
namespace {

struct TapedChange {
  const char* name;
  std::function<base::Result<void>(system::Host&)> make;
};

template <class T>
base::Result<void> without_its_value(const base::Result<T>& result) {
  if (!result) return base::fail(result.error());
  return {};
}

std::vector<TapedChange> changes_of_network() {
  using namespace std::chrono_literals;
  return {
      {"links.execute", [](system::Host& host) { return host.links.execute({}); }},
      {"links.restore_carried", [](system::Host& host) { return host.links.restore_carried({}, 1, "ib0"); }},
      {"inet.execute", [](system::Host& host) { return host.inet.execute({}); }},
      {"resolver.set_dns", [](system::Host& host) { return host.resolver.set_dns(1, {}); }},
      {"network_manager.reread", [](system::Host& host) { return host.network_manager.reread(); }},
      {"network_manager.load", [](system::Host& host) { return host.network_manager.load({}); }},
      {"network_manager.remove", [](system::Host& host) { return host.network_manager.remove("u"); }},
      {"network_manager.activate",
       [](system::Host& host) { return host.network_manager.activate("u", "ib0", 1ms); }},
      {"network_manager.deactivate", [](system::Host& host) { return host.network_manager.deactivate("u"); }},
      {"network_manager.reapply", [](system::Host& host) { return host.network_manager.reapply("ib0"); }},
      {"network_manager.create_checkpoint",
       [](system::Host& host) { return without_its_value(host.network_manager.create_checkpoint({}, 1s)); }},
      {"network_manager.extend_checkpoint",
       [](system::Host& host) { return host.network_manager.extend_checkpoint("/1", 1s); }},
      {"network_manager.destroy_checkpoint",
       [](system::Host& host) { return host.network_manager.destroy_checkpoint("/1"); }},
      {"network_manager.rollback", [](system::Host& host) { return host.network_manager.rollback("/1"); }},
      {"networkd.reload", [](system::Host& host) { return host.networkd.reload(); }},
      {"networkd.reconfigure", [](system::Host& host) { return host.networkd.reconfigure(1); }},
      {"ipoib.write_mode",
       [](system::Host& host) { return host.ipoib.write_mode("ib0", model::IpoibMode::kConnected); }},
      {"ipoib.create_child",
       [](system::Host& host) { return host.ipoib.create_child("ib0", model::Pkey{}); }},
      {"dcb.set_pfc", [](system::Host& host) { return host.dcb.set_pfc("eth0", 8); }},
      {"dcb.set_ets", [](system::Host& host) { return host.dcb.set_ets("eth0", {}); }},
      {"dcb.add_app", [](system::Host& host) { return host.dcb.add_app("eth0", {}); }},
      {"dcb.delete_app", [](system::Host& host) { return host.dcb.delete_app("eth0", {}); }},
      {"dcb.set_dcbx", [](system::Host& host) { return host.dcb.set_dcbx("eth0", 1); }},
      {"dcb.set_trust", [](system::Host& host) { return host.dcb.set_trust("eth0", {}); }},
  };
}

std::vector<TapedChange> changes_of_devices() {
  return {
      {"rdma_admin.rename_device",
       [](system::Host& host) { return host.rdma_admin.rename_device("a", "b"); }},
      {"rdma_admin.new_link",
       [](system::Host& host) { return host.rdma_admin.new_link("a", "rxe", "eth0"); }},
      {"rdma_admin.delete_link", [](system::Host& host) { return host.rdma_admin.delete_link("a"); }},
      {"rdma_cm.start", [](system::Host& host) { return host.rdma_cm.start(); }},
      {"rdma_cm.make_folder",
       [](system::Host& host) { return without_its_value(host.rdma_cm.make_folder("a")); }},
      {"rdma_cm.write_gid_type",
       [](system::Host& host) { return host.rdma_cm.write_gid_type("a", 1, "RoCE v2"); }},
      {"rdma_cm.write_tos", [](system::Host& host) { return host.rdma_cm.write_tos("a", 1, 104); }},
      {"rdma_cm.remove_folder", [](system::Host& host) { return host.rdma_cm.remove_folder("a"); }},
      {"mlx4_ports.set_type",
       [](system::Host& host) { return host.mlx4_ports.set_type("0000:10:00.0", 1, "ib"); }},
      {"rdma_system.set_shared", [](system::Host& host) { return host.rdma_system.set_shared(false); }},
      {"nfsd.listen_rdma", [](system::Host& host) { return host.nfsd.listen_rdma(20049); }},
      {"nvme_target.start", [](system::Host& host) { return host.nvme_target.start(); }},
      {"nvme_target.make_subsystem", [](system::Host& host) { return host.nvme_target.make_subsystem("n"); }},
      {"nvme_target.remove_subsystem",
       [](system::Host& host) { return host.nvme_target.remove_subsystem("n"); }},
      {"nvme_target.set_any_host",
       [](system::Host& host) { return host.nvme_target.set_any_host("n", true); }},
      {"nvme_target.allow_host", [](system::Host& host) { return host.nvme_target.allow_host("n", "h"); }},
      {"nvme_target.disallow_host",
       [](system::Host& host) { return host.nvme_target.disallow_host("n", "h"); }},
      {"nvme_target.make_namespace",
       [](system::Host& host) { return host.nvme_target.make_namespace("n", {}); }},
      {"nvme_target.remove_namespace",
       [](system::Host& host) { return host.nvme_target.remove_namespace("n", 1); }},
      {"nvme_target.make_port", [](system::Host& host) { return host.nvme_target.make_port({}); }},
      {"nvme_target.remove_port", [](system::Host& host) { return host.nvme_target.remove_port(1); }},
      {"nvme_target.offer", [](system::Host& host) { return host.nvme_target.offer(1, "n"); }},
      {"nvme_target.withdraw", [](system::Host& host) { return host.nvme_target.withdraw(1, "n"); }},
      {"nvme_host.disconnect", [](system::Host& host) { return host.nvme_host.disconnect("nvme1"); }},
      {"lio.start", [](system::Host& host) { return host.lio.start("iscsi"); }},
      {"lio.make_backstore", [](system::Host& host) { return host.lio.make_backstore({}); }},
      {"lio.remove_backstore", [](system::Host& host) { return host.lio.remove_backstore("fileio_0/a"); }},
      {"lio.make_target", [](system::Host& host) { return host.lio.make_target({}); }},
      {"lio.remove_group", [](system::Host& host) { return host.lio.remove_group({}); }},
      {"lio.remove_target", [](system::Host& host) { return host.lio.remove_target({}); }},
      {"lio.enable", [](system::Host& host) { return host.lio.enable({}, true); }},
      {"lio.allow_any", [](system::Host& host) { return host.lio.allow_any({}); }},
      {"lio.make_lun", [](system::Host& host) { return host.lio.make_lun({}, {}); }},
      {"lio.remove_lun", [](system::Host& host) { return host.lio.remove_lun({}, 0); }},
      {"lio.make_acl", [](system::Host& host) { return host.lio.make_acl({}, "i"); }},
      {"lio.remove_acl", [](system::Host& host) { return host.lio.remove_acl({}, "i"); }},
      {"lio.map", [](system::Host& host) { return host.lio.map({}, "i", {}); }},
      {"lio.unmap", [](system::Host& host) { return host.lio.unmap({}, "i", 0); }},
      {"lio.make_portal", [](system::Host& host) { return host.lio.make_portal({}, {}); }},
      {"lio.remove_portal", [](system::Host& host) { return host.lio.remove_portal({}, "192.0.2.1:3260"); }},
  };
}

std::vector<TapedChange> changes_of_system() {
  using namespace std::chrono_literals;
  return {
      {"files.write", [](system::Host& host) { return host.files.write("/etc/x", "x"); }},
      {"files.write_private", [](system::Host& host) { return host.files.write_private("/etc/x", "x"); }},
      {"files.edit", [](system::Host& host) { return host.files.edit("/etc/x", "x"); }},
      {"files.rename", [](system::Host& host) { return host.files.rename("/etc/x", "/etc/y"); }},
      {"files.remove", [](system::Host& host) { return host.files.remove("/etc/x"); }},
      {"udev.reload_rules", [](system::Host& host) { return host.udev.reload_rules(); }},
      {"udev.trigger", [](system::Host& host) { return host.udev.trigger({}); }},
      {"udev.trigger_rdma_device",
       [](system::Host& host) { return host.udev.trigger_rdma_device("mlx5_0"); }},
      {"units.set_enabled", [](system::Host& host) { return host.units.set_enabled("x.service", true); }},
      {"units.act",
       [](system::Host& host) { return host.units.act(system::UnitAction::kStart, "x.service"); }},
      {"units.signal", [](system::Host& host) { return host.units.signal("x.service", 1); }},
      {"units.kill", [](system::Host& host) { return host.units.kill("x.service"); }},
      {"units.reload_manager", [](system::Host& host) { return host.units.reload_manager(); }},
      {"timers.arm", [](system::Host& host) { return host.timers.arm("x", 1ms); }},
      {"timers.disarm", [](system::Host& host) { return host.timers.disarm("x"); }},
      {"modules.load", [](system::Host& host) { return host.modules.load("ib_ipoib"); }},
      {"modules.unload", [](system::Host& host) { return host.modules.unload("ib_ipoib"); }},
      {"initramfs.rebuild", [](system::Host& host) { return host.initramfs.rebuild(); }},
      {"accounts.make_declared",
       [](system::Host& host) { return host.accounts.make_declared("/usr/lib/x.conf"); }},
      {"sysctl.write", [](system::Host& host) { return host.sysctl.write("net/core/somaxconn", "1"); }},
      {"packages.install", [](system::Host& host) { return host.packages.install({}); }},
  };
}

TEST(TapedHost, RefusesEveryChange) {
  fakes::FakeKernel kernel;
  kernel.add_device({.name = "mlx4_0", .node_guid = 1}).ib_port({.guid = "0002:c903:0031:78f2"});
  const auto before = kernel.dump();
  auto real = kernel.host();
  Tape records, replays(nlohmann::json::object());
  TapedHost recording(records, real), replayed(replays, "boot");
  for (const auto& changes : {changes_of_network(), changes_of_devices(), changes_of_system()}) {
    for (const auto& change : changes) {
      for (auto* taped : {&recording, &replayed}) {
        const auto result = change.make(taped->host());
        ASSERT_FALSE(result) << change.name;
        EXPECT_EQ(result.error().sys_errno, EROFS) << change.name;
      }
    }
  }
  EXPECT_EQ(kernel.faults.calls(), 0U);
  EXPECT_EQ(kernel.dump(), before);
}

TEST(TapedHost, WaitsForNothing) {
  Tape tape(nlohmann::json::object());
  TapedHost taped(tape, "boot");
  auto& host = taped.host();
  const std::chrono::hours forever{10'000};
  const std::vector<int> indexes{1, 2};
  const std::vector<std::string> names{"ib0"};
  EXPECT_EQ(host.links.wait_for_carrier(indexes, forever).value(), std::vector<int>());
  EXPECT_TRUE(host.inet.wait_for_addresses({1}, forever));
  host.network_manager.wait_for_release(names, forever);
  host.network_manager.wait_for_ready(names, forever);
  EXPECT_FALSE(host.networkd.pause(forever));
  EXPECT_FALSE(host.network_manager.is_running());
  EXPECT_EQ(host.rdma_cm.folders_made(), 0U);
  EXPECT_TRUE(host.accounts.login_hosts().empty());
  EXPECT_TRUE(host.modules.known().empty());
}

TEST(TapedHost, WhatNobodyAskedIsNotThere) {
  Tape tape(nlohmann::json::object());
  TapedHost taped(tape, "boot");
  auto& host = taped.host();
  EXPECT_EQ(host.boot_id, "boot");
  EXPECT_TRUE(host.links.observe_links().value().empty());
  EXPECT_FALSE(host.files.read("/etc/x").value());
  EXPECT_FALSE(host.files.read_linked("/etc/x").value());
  EXPECT_TRUE(host.files.list("/etc").value().empty());
  EXPECT_FALSE(host.dcb.observe_dcb("eth7").value());
  EXPECT_FALSE(host.sysctl.read("net/core/somaxconn"));
  EXPECT_FALSE(host.modules.info("ib_ipoib").value());
  EXPECT_FALSE(host.lio.observe().value());
  EXPECT_FALSE(host.packages.can_install());
  EXPECT_EQ(tape.missing().count("dcb eth7"), 1U);
  EXPECT_EQ(tape.missing().count("sysctl net/core/somaxconn"), 1U);
  EXPECT_TRUE(tape.damaged().empty());
  // A report does not contain the history of applies, so this file is not missing.
  EXPECT_FALSE(host.files.read("/var/lib/rdma-configd/generations.json").value());
  EXPECT_TRUE(host.files.list("/var/lib/rdma-configd/generations").value().empty());
  EXPECT_EQ(tape.missing().count("file /var/lib/rdma-configd/generations.json"), 0U);
}

TEST(TapedHost, ErrorsComeBackAsTheyWere) {
  struct Row {
    const char* answer;
    base::Code code;
    int number;
  };
  for (const auto& row :
       std::vector<Row>{{R"({"error": {"code": "denied", "errno": 13}})", base::Code::kDenied, EACCES},
                        {R"({"error": {"code": "unsupported", "errno": 0}})", base::Code::kUnsupported, 0},
                        {R"({"error": {"code": "timeout", "errno": 0}})", base::Code::kTimeout, 0}}) {
    Tape tape(nlohmann::json::parse(R"({"dcb": {"eth0": )" + std::string(row.answer) + "}}"));
    TapedHost taped(tape, "boot");
    const auto answer = taped.host().dcb.observe_dcb("eth0");
    ASSERT_FALSE(answer) << row.answer;
    EXPECT_EQ(answer.error().code, row.code) << row.answer;
    EXPECT_EQ(answer.error().sys_errno, row.number) << row.answer;
    EXPECT_TRUE(tape.damaged().empty()) << row.answer;
  }
}

TEST(TapedHost, DamagedAnswersAreNoneAndAreNamed) {
  for (const char* answer :
       {R"({"error": 5})", R"({"error": {"code": "denied"}})",
        R"({"error": {"code": "denied", "errno": true}})",
        R"({"error": {"code": "denied", "errno": 4294967309}})", R"({"pfc": "x"})", "7"}) {
    Tape tape(nlohmann::json::parse(R"({"dcb": {"eth0": )" + std::string(answer) + "}}"));
    TapedHost taped(tape, "boot");
    const auto got = taped.host().dcb.observe_dcb("eth0");
    ASSERT_TRUE(got) << answer;
    EXPECT_FALSE(*got) << answer;
    EXPECT_EQ(tape.damaged().count("dcb eth0"), 1U) << answer;
  }
  for (const char* pkey : {"0x10000", "", "none"}) {
    Tape tape(nlohmann::json::parse(R"({"links": {"": [{"name": "ib0", "ipoib": {"pkey": ")" +
                                    std::string(pkey) + R"("}}]}})"));
    TapedHost taped(tape, "boot");
    EXPECT_TRUE(taped.host().links.observe_links().value().empty()) << pkey;
    EXPECT_EQ(tape.damaged().count("links "), 1U) << pkey;
  }
}

TEST(TapedHost, UnitsAreAnsweredWhateverTheSet) {
  fakes::FakeKernel kernel;
  kernel.units.add("slurmd.service", {.running = true});
  auto real = kernel.host();
  Tape records;
  TapedHost recording(records, real);
  const std::vector<std::string> asked{"slurmd.service", "openibd.service"},
      later{"openibd.service", "new.service", "slurmd.service"};
  ASSERT_TRUE(recording.host().units.observe_units(asked).value());
  Tape replays(records.answers());
  TapedHost replayed(replays, "boot");
  const auto units = replayed.host().units.observe_units(later).value();
  ASSERT_TRUE(units);
  ASSERT_EQ(units->size(), 3U);
  EXPECT_EQ(units->at(0).load, "not-found");
  EXPECT_EQ(units->at(1).load, "not-found") << "the host had a systemd, and nobody asked for this unit";
  EXPECT_EQ(units->at(1).name, "new.service");
  EXPECT_EQ(units->at(2).active, "active");

  kernel.units.answers = false;
  Tape of_container;
  TapedHost container(of_container, real);
  EXPECT_FALSE(container.host().units.observe_units(asked).value());
  Tape replays_container(of_container.answers());
  TapedHost again(replays_container, "boot");
  EXPECT_FALSE(again.host().units.observe_units(later).value()) << "no systemd answered";
}

// Port types that the driver has fixed are refused in a document, on the host and in its report.
TEST(TapedHost, FixedPortTypesStayFixed) {
  Tape tape(nlohmann::json::parse(R"({"mlx4_ports": {"": [
    { "pci": "0000:10:00.0", "types": ["eth", "eth"], "fixed": true },
    { "pci": "0000:11:00.0", "types": ["ib", "ib"] }] } })"));
  TapedHost taped(tape, "boot");
  const auto adapters = taped.host().mlx4_ports.observe_mlx4().value();
  ASSERT_EQ(adapters.size(), 2U);
  EXPECT_TRUE(adapters.at(0).fixed);
  EXPECT_FALSE(adapters.at(1).fixed) << "a report that does not say so";

  fakes::FakeKernel kernel;
  kernel.mlx4_ports.adapters["0000:10:00.0"] = {"eth", "eth"};
  kernel.mlx4_ports.fixed.insert("0000:10:00.0");
  auto real = kernel.host();
  Tape records;
  TapedHost recording(records, real);
  ASSERT_TRUE(recording.host().mlx4_ports.observe_mlx4());
  EXPECT_EQ(records.answers().at("mlx4_ports").at("").at(0).at("fixed"), true);
}

}  // namespace
}  // namespace rdmacfg::ctl
