// SPDX-License-Identifier: Apache-2.0
// States in which the doctor finds nothing, and remedies that depend on the cause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/all.hpp"
#include "core/pipeline.hpp"
#include "doctor/doctor.hpp"
#include "fakes/fake_kernel.hpp"
#include "unit/doctor/doctor_host.hpp"
#include "withdraw/withdraw.hpp"

namespace rdmacfg::core {
namespace {

using fakes::FakeKernel;
using testing::HasSubstr;

constexpr const char* kPortOfRemedies = "[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\n";
constexpr const char* kLimitsOfSlurmd = "/proc/4242/limits";

fakes::Port& first_port(FakeKernel& kernel, const std::string& device = "mlx4_0") {
  return kernel.machine.device(device)->ports.front();
}

config::Document remedied_document(const std::string& text) {
  auto document = config::parse_texts({{"config.toml", "version = 1\n" + text}}, "node1", kinds::grammar());
  EXPECT_FALSE(model::has_errors(document.diagnostics)) << text;
  return document;
}

/// The findings of one check. `complete`: adds to the context.
std::vector<Finding> found_by(
    std::string_view check, FakeKernel& kernel, const std::string& text,
    const std::function<void(DoctorContext&)>& complete = [](DoctorContext&) {}) {
  auto host = kernel.host();
  auto world = kinds::World::observe(host);
  EXPECT_TRUE(world);
  const auto document = remedied_document(text);
  DoctorContext context{*world, &document};
  complete(context);
  auto findings = examine(context);
  std::erase_if(findings, [&](const Finding& finding) { return finding.check != check; });
  return findings;
}

struct Remedied {
  const char* about;
  std::string_view check;
  std::function<void(FakeKernel&)> arrange;
  std::string document;
  std::string object;  ///< of the one finding; empty: nothing is found
  std::string what{};  ///< part of the sentence
  std::string fix{};   ///< part of the remedy
};

void check_rows(const std::vector<Remedied>& rows) {
  for (const auto& row : rows) {
    SCOPED_TRACE(row.about);
    const auto kernel = FakeKernel::parse(kDoctorHost);
    row.arrange(*kernel);
    const auto findings = found_by(row.check, *kernel, row.document);
    ASSERT_EQ(findings.size(), row.object.empty() ? 0U : 1U);
    if (row.object.empty()) continue;
    EXPECT_EQ(findings.front().object, row.object);
    EXPECT_THAT(findings.front().what, HasSubstr(row.what));
    EXPECT_THAT(findings.front().fix, HasSubstr(row.fix));
  }
}

TEST(DoctorRemedies, OfThePortAndItsFabric) {
  check_rows({
      {"a subnet manager of this host that does not reach its port", "no_subnet_manager",
       [](FakeKernel& kernel) {
         first_port(kernel).state = "ARMED";
         kernel.units.add("opensm@0x0002c903003178f2.service", {.running = true});
       },
       "", "mlx4_0/1", "stays in state ARMED: the subnet manager does not reach it",
       "systemctl restart opensm@0x0002c903003178f2.service"},
      {"one that is stopped is none", "no_subnet_manager",
       [](FakeKernel& kernel) {
         first_port(kernel).state = "INIT";
         kernel.units.add("opensm@0x0002c903003178f2.service", {.enabled = true});
       },
       "", "mlx4_0/1", "no subnet manager has configured it", "start a subnet manager"},
      {"Omni-Path has a fabric manager", "no_subnet_manager",
       [](FakeKernel& kernel) {
         first_port(kernel).state = "INIT";
         first_port(kernel).mtu = 10240;
       },
       "", "mlx4_0/1", "", "opafm.service"},
      {"a table that only root may read says nothing", "pkey_missing",
       [](FakeKernel& kernel) {
         first_port(kernel).pkeys = {0xffff};
         first_port(kernel).pkeys_readable = false;
       },
       "", ""},
      {"without the records the reason is not known", "mtu_capped",
       [](FakeKernel& kernel) {
         kernel.set_mtu("ib0", 2044);
         kernel.files.unreadable.insert("/var/lib/rdma-configd/state.json");
       },
       std::string(kPortOfRemedies) + "mtu = 4092\n", "ib0", "only root can see the reason",
       "rdma-configctl apply"},
      {"an interface without carrier has the MTU that it had", "mtu_capped",
       [](FakeKernel& kernel) {
         kernel.set_mtu("ib0", 2044);
         kernel.set_down("ib0");
       },
       std::string(kPortOfRemedies) + "mtu = 4092\n", ""},
  });
}

TEST(DoctorRemedies, OfAddressesAndGids) {
  const std::string addressed =
      std::string(kPortOfRemedies) + "backend = \"networkd\"\nipv4 = { method = \"auto\" }\n";
  check_rows({
      {"a port without a link needs no GID", "gid_missing",
       [](FakeKernel& kernel) {
         first_port(kernel, "rocep17s0").gid_types.clear();
         first_port(kernel, "rocep17s0").state = "DOWN";
       },
       "", ""},
      {"a large MTU in connected mode, without a list of groups", "connected_multicast",
       [](FakeKernel& kernel) {
         kernel.set_mode("ib0", model::IpoibMode::kConnected);
         kernel.set_mtu("ib0", 65520);
       },
       "", ""},
  });
}

TEST(DoctorRemedies, OfAddressesThatDoNotCome) {
  const std::string addressed =
      std::string(kPortOfRemedies) + "backend = \"networkd\"\nipv4 = { method = \"auto\" }\n";
  check_rows({
      {"nobody has given an address", "no_address", [](FakeKernel& /*kernel*/) {}, addressed, "ib0",
       "no DHCP server", "RFC 4390"},
      {"addresses that cannot be read are not missing", "no_address",
       [](FakeKernel& kernel) { kernel.inet.observe_error = EPERM; }, addressed, ""},
      {"without carrier nobody can be asked", "no_address",
       [](FakeKernel& kernel) { kernel.set_down("ib0"); }, addressed, ""},
      {"an interface that is to be down needs none", "no_address", [](FakeKernel& /*kernel*/) {},
       addressed + "state = \"down\"\n", ""},
  });
}

// A limit that the fabric has set is remedied where the rules of the partition are.
TEST(DoctorRemedies, OfAnMtuAreWhereThePartitionIs) {
  const auto kernel = FakeKernel::parse(kDoctorHost);
  const auto document = std::string(kPortOfRemedies) + "mtu = 4092\n";
  first_port(*kernel).group_mtu = 2048;
  kernel->set_down("ib0");
  kernel->set_up("ib0");  // it learns the group's MTU as it joins
  auto host = kernel->host();
  ASSERT_EQ(apply(remedied_document(document), host).exit, model::Exit::kPartly);
  struct Row {
    const char* partition;
    const char* fix;
  };
  for (const auto& [partition, fix] : std::vector<Row>{
           {"", "at the subnet manager (mtu=5 is 4096 in partitions.conf)"},
           {"[[partition]]\npkey = 0x8002\n", "at the subnet manager (mtu=5 is 4096 in partitions.conf)"},
           {"[[partition]]\npkey = 0x7fff\n", "the document defines the [[partition]]: give it mtu = 4096"},
           {"[[partition]]\npkey = 0xffff\n",
            "the document defines the [[partition]]: give it mtu = 4096"}}) {
    const auto findings = found_by("mtu_capped", *kernel, document + partition);
    ASSERT_EQ(findings.size(), 1U) << partition;
    EXPECT_THAT(findings.front().fix, HasSubstr(fix)) << partition;
  }
}

std::function<void(FakeKernel&)> with_limits(const std::string& unit, const std::string& limits) {
  return [unit, limits](FakeKernel& kernel) {
    kernel.units.add(unit, {.running = true}).pid = 4242;
    kernel.files.content[kLimitsOfSlurmd] = limits;
  };
}

std::string locked(const std::string& soft) {
  return "Limit                     Soft Limit           Hard Limit           Units\n"
         "Max processes             1024                 1024                 processes\n"
         "Max locked memory         " +
         soft + "              unlimited            bytes\n";
}

TEST(DoctorRemedies, OfLockedMemory) {
  const std::string ours =
      "[[memlock]]\ndomain = \"@rdma\"\nlimit = \"unlimited\"\nunits = [\"slurmd.service\"]\n";
  check_rows({
      {"64 MiB are enough", "small_memlock", with_limits("slurmd.service", locked("67108864")), "", ""},
      {"a byte less is not", "small_memlock", with_limits("slurmd.service", locked("67108863")), "",
       "slurmd.service", "65535 KiB", "set LimitMEMLOCK=infinity for slurmd.service"},
      {"of a unit of the document", "small_memlock", with_limits("slurmd.service", locked("65536")), ours,
       "slurmd.service", "64 KiB", "after an apply it needs a restart (systemctl restart slurmd.service)"},
      {"a line that the kernel does not write", "small_memlock",
       with_limits("slurmd.service", locked("many")), "", ""},
      {"no such line", "small_memlock", with_limits("slurmd.service", "Max processes  5  5  processes\n"), "",
       ""},
      {"limits that may not be read", "small_memlock",
       [](FakeKernel& kernel) {
         with_limits("slurmd.service", locked("65536"))(kernel);
         kernel.files.unreadable.insert(kLimitsOfSlurmd);
       },
       "", ""},
      {"a service that does not run", "small_memlock",
       [](FakeKernel& kernel) {
         with_limits("slurmd.service", locked("65536"))(kernel);
         kernel.units.units["slurmd.service"].running = false;
       },
       "", ""},
      {"no systemd", "small_memlock",
       [](FakeKernel& kernel) {
         with_limits("slurmd.service", locked("65536"))(kernel);
         kernel.units.answers = false;
       },
       "", ""},
  });
}

/// A software device over `netdev`, and nftables that drops all input.
std::function<void(FakeKernel&)> behind_nftables(const std::string& type, const std::string& netdev,
                                                 const std::string& file = "/etc/nftables.conf") {
  return [type, netdev, file](FakeKernel& kernel) {
    kernel.add(R"({ "devices": [{ "name": "soft1", "driver": "", "soft": ")" + type +
               R"(", "node_guid": "0002:c903:0031:9001", "ports": [{ "guid": "0002:c903:0031:9002",
         "link_layer": "Ethernet", "netdev": ")" +
               netdev + R"(" }] }] })");
    kernel.units.add("nftables.service", {.running = true});
    kernel.files.content[file] =
        "table inet filter {\n  chain input {\n    type filter hook input priority 0; policy drop;\n  }\n}\n";
  };
}

TEST(DoctorRemedies, OfFirewalls) {
  const std::string target = "[[nvme_target]]\nnqn = \"nqn.2026-01.org.example:a\"\n";
  check_rows({
      {"RHEL's file", "firewall", behind_nftables("rxe", "eth1", "/etc/sysconfig/nftables.conf"), "",
       "/etc/sysconfig/nftables.conf", "4791/udp on eth1", "udp dport 4791 accept"},
      {"NVMe over RDMA has a usual port", "firewall", behind_nftables("siw", "eth1"), target,
       "/etc/nftables.conf", "4420/tcp", "tcp dport 4420 accept"},
      {"or another one", "firewall", behind_nftables("siw", "eth1"), target + "port = 4431\n",
       "/etc/nftables.conf", "4431/tcp", "tcp dport 4431 accept"},
      {"two targets on one port are one hole", "firewall", behind_nftables("siw", "eth1"),
       target + "[[nvme_target]]\nnqn = \"nqn.2026-01.org.example:b\"\nport = 4420\n", "/etc/nftables.conf",
       "4420/tcp", "tcp dport 4420 accept"},
      {"an NFS server without RDMA serves nothing over it", "firewall", behind_nftables("siw", "eth1"),
       "[nfs_server]\n", ""},
      {"the loopback interface is open", "firewall", behind_nftables("rxe", "lo"), "", ""},
      {"a firewall that is stopped", "firewall",
       [](FakeKernel& kernel) {
         behind_nftables("rxe", "eth1")(kernel);
         kernel.units.units["nftables.service"].running = false;
       },
       "", ""},
  });
}

TEST(DoctorRemedies, CloudInitThatIsOffIsNoRival) {
  const auto rewritten = [](FakeKernel& kernel) {
    kernel.files.content["/etc/netplan/50-cloud-init.yaml"] = "network: {}\n";
  };
  check_rows({
      {"it runs", "rivals", rewritten, "", "/etc/netplan/50-cloud-init.yaml", "at every boot",
       "network: {config: disabled}"},
      {"it is off", "rivals",
       [&](FakeKernel& kernel) {
         rewritten(kernel);
         kernel.files.content["/etc/cloud/cloud-init.disabled"] = "";
       },
       "", ""},
      {"its own configuration says so", "rivals",
       [&](FakeKernel& kernel) {
         rewritten(kernel);
         kernel.files.content["/etc/cloud/cloud.cfg"] = "users:\n  - default\nnetwork:\n  config: disabled\n";
       },
       "", ""},
  });
}

TEST(DoctorRemedies, OfADaemonThatDoesNotRun) {
  struct Row {
    const char* about;
    std::optional<fakes::FakeUnit> unit;
    std::string what, fix;  ///< empty: nothing is found
    bool applied = true, withdrawn = false, systemd = true;
  };
  const std::string start = "systemctl start rdma-configd";
  for (const auto& row : std::vector<Row>{
           {"runs", fakes::FakeUnit{.running = true}, "", ""},
           {"is restarted by systemd", fakes::FakeUnit{.restarting = true}, "", ""},
           {"was stopped", fakes::FakeUnit{.enabled = true}, "is inactive: changes by others", start},
           {"has failed", fakes::FakeUnit{.failed = true}, "is failed: changes by others",
            "`journalctl -u rdma-configd` says why"},
           {"is masked", fakes::FakeUnit{.masked = true}, "is masked: changes by others",
            "systemctl unmask rdma-configd, then systemctl start rdma-configd"},
           {"is not installed", std::nullopt, "", ""},
           {"was stopped, and nothing is applied", fakes::FakeUnit{}, "", "", false},
           {"was stopped by withdraw", fakes::FakeUnit{}, "", "", true, true},
           {"no systemd answers", fakes::FakeUnit{}, "", "", true, false, false}}) {
    SCOPED_TRACE(row.about);
    const auto kernel = FakeKernel::parse(kDoctorHost);
    if (row.unit) kernel->units.add(kDaemonUnit, *row.unit);
    if (row.withdrawn) kernel->files.content[kWithdrawnMark] = "";
    kernel->units.answers = row.systemd;
    AppliedState applied;
    if (row.applied) applied.active.emplace().number = 1;
    const auto findings = found_by("daemon_down", *kernel, "",
                                   [&](DoctorContext& context) { context.applied_state = &applied; });
    ASSERT_EQ(findings.size(), row.what.empty() ? 0U : 1U);
    if (row.what.empty()) continue;
    EXPECT_THAT(findings.front().what, HasSubstr(row.what));
    EXPECT_THAT(findings.front().fix, HasSubstr(row.fix));
  }
}

TEST(DoctorRemedies, OfAPortWithoutALink) {
  using model::Status;
  struct Row {
    std::string id;
    Status status;
    std::string object, fix;  ///< empty: nothing is found
    std::string physical_state{};
  };
  const std::string guid = "00:02:c9:03:00:31:78:f2", cable = "check the cable";
  for (const auto& row :
       std::vector<Row>{{guid, Status::kDiffers, "mlx4_0/1", cable},
                        {guid, Status::kInSync, "mlx4_0/1", cable},
                        {guid + "/0x8002", Status::kLimited, "mlx4_0/1", cable},
                        {"rocep17s0/1", Status::kPending, "rocep17s0/1", cable},
                        {guid, Status::kDiffers, "mlx4_0/1", "the port is disabled: enable it", "Disabled"},
                        {guid, Status::kForeign, "", ""},
                        {guid, Status::kIgnored, "", ""},
                        {guid, Status::kReleased, "", ""},
                        {"00:02:c9:03:00:31:78:f9", Status::kDiffers, "", ""},
                        {"rocep17s0/2", Status::kDiffers, "", ""}}) {
    SCOPED_TRACE(row.id);
    const auto kernel = FakeKernel::parse(kDoctorHost);
    for (const auto* device : {"mlx4_0", "rocep17s0"}) {
      first_port(*kernel, device).state = "DOWN";
      first_port(*kernel, device).physical_state = row.physical_state;
    }
    model::Report report;
    report.resources.emplace_back().key = {"ipoib", row.id};
    report.resources.back().status = row.status;
    const auto findings =
        found_by("port_down", *kernel, "", [&](DoctorContext& context) { context.report = &report; });
    ASSERT_EQ(findings.size(), row.object.empty() ? 0U : 1U);
    if (row.object.empty()) continue;
    EXPECT_EQ(findings.front().object, row.object);
    EXPECT_THAT(findings.front().what,
                HasSubstr("physical state " + (row.physical_state.empty() ? "Polling" : row.physical_state)));
    EXPECT_THAT(findings.front().fix, HasSubstr(row.fix));
  }
}

// The report's name of an object is the one that an administrator knows.
TEST(DoctorRemedies, AContendedSettingHasTheNameOfTheReport) {
  const auto kernel = FakeKernel::parse(kDoctorHost);
  const model::Key key{"ipoib", "00:02:c9:03:00:31:78:f2"};
  model::Report report;
  report.resources.emplace_back().key = {"ipoib", "another"};
  report.resources.back().label = "ib7";
  report.resources.emplace_back().key = key;
  for (const std::string label : {"", "ib0"}) {
    report.resources.back().label = label;
    const auto findings = found_by("contended", *kernel, "", [&](DoctorContext& context) {
      context.report = &report;
      context.contended.emplace(key, "3 times in a minute");
    });
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings.front().object, label.empty() ? key.text() : label);
  }
}

}  // namespace
}  // namespace rdmacfg::core
