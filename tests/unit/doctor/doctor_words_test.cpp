// SPDX-License-Identifier: Apache-2.0
// The sentences of the doctor and of the applied state, word for word: the fact with its consequence, and the
// remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "catalog/all.hpp"
#include "doctor/doctor.hpp"
#include "fakes/fake_kernel.hpp"
#include "unit/doctor/doctor_host.hpp"

namespace rdmacfg::core {
namespace {

constexpr const char* kDoctorPort = "[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\n";

fakes::Port& ib_port(fakes::FakeKernel& kernel) { return kernel.machine.device("mlx4_0")->ports.front(); }

/// Fact and remedy of each finding.
std::vector<std::string> sentences(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const auto& finding : findings)
    out.push_back(finding.object + ": " + finding.what + " | " + finding.fix);
  return out;
}

struct HostFinding {
  std::function<void(fakes::FakeKernel&)> arrange;
  std::string document;
  std::string says;
};

std::vector<HostFinding> findings_of_the_fabric() {
  using fakes::FakeKernel;
  return {
      {[](FakeKernel& kernel) { ib_port(kernel).state = "INIT"; }, "",
       "mlx4_0/1: the link is up, but the port stays in state INIT: no subnet manager has configured it, so "
       "it "
       "has no LID and IPoIB has no carrier | start a subnet manager on this subnet (opensm on one host, or "
       "the "
       "one in the switch), or repair the existing one"},
      {[](FakeKernel& kernel) { ib_port(kernel).pkeys = {0xffff}; }, "",
       "ib0.8002: P_Key 0x8002 is not in the table of mlx4_0/1: the subnet manager did not put the port into "
       "this partition, so the interface never gets carrier | add port GUID 00:02:c9:03:00:31:78:f2 to the "
       "partition 0x8002 at the subnet manager (partitions.conf), or remove the interface"},
      {[](FakeKernel& kernel) { kernel.set_mtu("ib0", 2044); }, std::string(kDoctorPort) + "mtu = 4092\n",
       "ib0: the document sets an MTU of 4092, but the interface has 2044: the document is not applied, or "
       "the MTU was changed since | rdma-configctl apply, which reports a limit of the fabric"},
      {[](FakeKernel& kernel) { kernel.link("ib0").capable = false; },
       std::string(kDoctorPort) + "mode = \"connected\"\n",
       "ib0: the document sets connected mode, which this adapter's driver does not support (enhanced "
       "IPoIB) | "
       "use "
       "mode = \"datagram\", or on_unsupported = \"datagram\"; the vendor's drivers have ipoib_enhanced=0"},
      {[](FakeKernel& kernel) { kernel.machine.device("rocep17s0")->ports.front().gid_types.clear(); }, "",
       "rocep17s0/1: the port is active, but its GID table is empty: no RoCE connection can be made | bring "
       "its "
       "Ethernet interface up and give it an address"},
      {[](FakeKernel& kernel) { kernel.machine.device("rocep17s0")->node_guid = 0; }, "",
       "rocep17s0: its node GUID is zero, as on virtual functions without a MAC address: programs "
       "that "
       "identify devices by GUID confuse it with others, and no entry or naming rule can use it | give the "
       "virtual "
       "function a MAC address on the host (ip link set … vf N mac …), from which the GUID is derived, and "
       "bind "
       "its "
       "driver again"},
      {[](FakeKernel& kernel) { kernel.machine.device("mlx4_0")->node_guid = 0; }, "",
       "mlx4_0: its GUID is zero, as on virtual functions without an assigned GUID: the subnet manager "
       "ignores it, and no entry or naming rule can use it | set node and port GUID of the virtual function "
       "on "
       "the "
       "host (ip link set … vf N node_guid …, port_guid …), and bind its driver again"},
      {[](FakeKernel& kernel) { kernel.add(R"({ "rdma_cm": true, "rdma_cm_folders": ["rocep17s0"] })"); }, "",
       "/sys/kernel/config/rdma_cm/rocep17s0: while this folder exists, rdma_cm cannot be unloaded "
       "and "
       "drivers cannot be restarted | rmdir it; values set through it stay"},
      {[](FakeKernel& kernel) {
         kernel.initramfs.command = "update-initramfs -u";
         kernel.files.content["/etc/modprobe.d/rdma-configd-pfc.conf"] = "options mlx4_en pfctx=8 pfcrx=8\n";
       },
       "",
       "initramfs: was built before rdma-configd last changed module options or naming rules: drivers loaded "
       "from it at boot get the old ones | run update-initramfs -u, or `rdma-configctl apply` with "
       "[initramfs] policy = \"rebuild\""},
  };
}

TEST(DoctorWords, OfTheFabricAndTheHost) {
  for (const auto& row : findings_of_the_fabric()) {
    const auto kernel = fakes::FakeKernel::parse(kDoctorHost);
    row.arrange(*kernel);
    auto host = kernel->host();
    auto world = kinds::World::observe(host);
    ASSERT_TRUE(world);
    const auto document =
        config::parse_texts({{"config.toml", "version = 1\n" + row.document}}, "node1", kinds::grammar());
    EXPECT_THAT(sentences(examine({*world, &document})), testing::Contains(row.says));
  }
}

Generation third_generation() {
  Generation out;
  out.number = 3;
  out.when = "2026-11-21T14:03:22Z";
  return out;
}

struct AppliedCase {
  AppliedState state;
  std::string doctor;  ///< a finding
  std::string note;    ///< the same in `show`
};

std::vector<AppliedCase> applied_cases() {
  AppliedState waits, late, rebooted, gone, refused, refused_first, other;
  waits.unconfirmed.emplace().generation = 3;
  late = waits;
  waits.left = std::chrono::seconds(60);
  rebooted = late;
  rebooted.rebooted = true;
  gone.active = third_generation();
  gone.gone = true;
  refused.compared = refused.refused = refused_first.compared = refused_first.refused = other.compared = true;
  refused.active = other.active = third_generation();
  refused.why = "it was not confirmed in time";
  const std::string keep =
      " | `rdma-configctl confirm` keeps it, `rdma-configctl rollback` rolls it back now";
  const std::string again = " | change it, or apply it again with `rdma-configctl apply --confirm 5m`";
  return {
      {waits,
       "generation 3: waits for confirmation; will be rolled back in " + spoken(std::chrono::seconds(60)) +
           keep,
       "generation 3 waits for confirmation for another " + spoken(std::chrono::seconds(60)) +
           ": `rdma-configctl confirm` keeps it, `rdma-configctl rollback` rolls it back now"},
      {late, "generation 3: was not confirmed in time and is about to be rolled back" + keep,
       "generation 3 was not confirmed in time and is about to be rolled back"},
      {rebooted,
       "generation 3: was not confirmed before the host was rebooted and is about to be rolled back" + keep,
       "generation 3 was not confirmed before the host was rebooted and is about to be rolled back"},
      {gone,
       "document: is missing from /etc/rdma-configd, and the daemon enforces generation 3 "
       "(2026-11-21T14:03:22Z) | "
       "`rdma-configctl history show 3` prints it; write it to /etc/rdma-configd/config.toml",
       "the daemon enforces generation 3, which came from elsewhere or whose file has gone: `rdma-configctl "
       "history "
       "show 3` prints it"},
      {refused,
       "document: was rolled back (it was not confirmed in time), so it is not applied at boot or by a "
       "reload; generation 3 stays active instead" +
           again,
       "this document was rolled back (it was not confirmed in time); the daemon enforces generation 3 until "
       "`rdma-configctl apply` applies the document again, or it changes"},
      {refused_first,
       "document: was rolled back, so it is not applied at boot or by a reload; no generation is "
       "enforced" +
           again,
       "this document was rolled back; no generation is enforced until `rdma-configctl apply` applies it "
       "again, or it "
       "changes"},
      {other,
       "document: differs from the one applied last; the daemon enforces generation 3 "
       "(2026-11-21T14:03:22Z) "
       "until it reads the document again, at a reload or at the next boot | `rdma-configctl diff` shows "
       "what it "
       "would change; then `rdma-configctl apply`",
       "this document is not the one applied last; the daemon enforces generation 3 until "
       "`rdma-configctl "
       "apply` or `rdma-configctl reload`"},
  };
}

TEST(DoctorWords, OfTheAppliedState) {
  const auto kernel = fakes::FakeKernel::parse(kDoctorHost);
  auto host = kernel->host();
  auto world = kinds::World::observe(host);
  ASSERT_TRUE(world);
  for (const auto& row : applied_cases()) {
    DoctorContext context{*world};
    context.applied_state = &row.state;
    EXPECT_THAT(sentences(examine(context)), testing::Contains(row.doctor));
    EXPECT_EQ(model::note_texts(notes_of(row.state)), std::vector<std::string>{row.note});
  }
}

TEST(DoctorWords, OfADamagedLedger) {
  const Clock clock{[] { return std::int64_t{1000}; },
                    [](std::chrono::milliseconds /*ahead*/) { return std::string("later"); }};
  LedgerNow now;
  now.damage = base::Error{base::Code::kInvalid, "/var/lib/rdma-configd/generations.json: damaged", 0};
  EXPECT_EQ(model::note_texts(notes_of(applied_state_of(now, nullptr, "boot", clock))),
            std::vector<std::string>{"DEGRADED: /var/lib/rdma-configd/generations.json: damaged; its copy is "
                                     "used until the next apply repairs it"});
  now.lost = true;
  EXPECT_EQ(
      model::note_texts(notes_of(applied_state_of(now, nullptr, "boot", clock))),
      std::vector<std::string>{
          "DEGRADED: /var/lib/rdma-configd/generations.json: damaged; the active generation is unknown"});
}

TEST(DoctorWords, OfResources) {
  const auto resource = [](model::Status status, const std::string& kind, const std::string& reason) {
    model::ResourceReport out;
    out.key = {kind, "id"};
    out.label = "ib0";
    out.status = status;
    out.reason = reason;
    return out;
  };
  model::Report report;
  report.resources = {resource(model::Status::kUnmet, "expect", "2 devices are expected, and there is 1"),
                      resource(model::Status::kFailed, "pkey", "EBUSY"),
                      resource(model::Status::kPending, "link_name", "no such port"),
                      resource(model::Status::kLimited, "ipoib", "mtu is 2044, not 4092")};
  const auto kernel = fakes::FakeKernel::parse(kDoctorHost);
  auto host = kernel->host();
  auto world = kinds::World::observe(host);
  ASSERT_TRUE(world);
  DoctorContext context{*world};
  context.report = &report;
  context.contended.emplace(model::Key{"sysctl", "net/core/somaxconn"}, "3 times in a minute");
  EXPECT_EQ(
      sentences(examine(context)),
      (std::vector<std::string>{
          "sysctl net/core/somaxconn: another program keeps changing it: 3 times in a minute; the daemon "
          "leaves it "
          "alone "
          "until the next apply | find the program that sets it (`journalctl -u rdma-configd` names the "
          "suspect), "
          "stop "
          "it or remove the setting from the document, then `rdma-configctl apply`",
          "ib0: 2 devices are expected, and there is 1 | rdma-configd only checks it: repair the host, or "
          "change the expectation",
          "ib0: pkey: EBUSY | remove the cause, then `rdma-configctl apply`",
          "ib0: link_name waits: no such port | it is applied when that condition is met; otherwise remove "
          "the "
          "entry "
          "from the document",
          "ib0: ipoib is limited by the fabric: mtu is 2044, not 4092 | change the fabric and then "
          "`rdma-configctl apply --retry`, or lower the value in the document"}));
}

}  // namespace
}  // namespace rdmacfg::core
