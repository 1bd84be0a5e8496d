// SPDX-License-Identifier: Apache-2.0
// Every check of the doctor, provoked on a fake host.
#include "doctor/doctor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/all.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "fakes/proc_tcp.hpp"
#include "store/damage.hpp"
#include "unit/doctor/doctor_host.hpp"

namespace rdmacfg::core {
namespace {

using fakes::FakeKernel;

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
    for (const auto& finding : findings) {
      EXPECT_FALSE(finding.what.empty() || finding.fix.empty() || finding.object.empty()) << finding.check;
      names.push_back(finding.check + " " + finding.object);
    }
    return names;
  }

  /// The multicast group's MTU is learnt when an interface joins it.
  void rejoin(const std::string& name) {
    kernel->set_down(name);
    kernel->set_up(name);
  }
  void give(const std::string& name, const char* address) {
    auto host = kernel->host();
    const system::InetRequest request =
        system::AddAddress{kernel->link(name).index, name, *model::IpPrefix::parse(address)};
    EXPECT_TRUE(host.inet.execute(std::span(&request, 1)));
  }
  fakes::Port& port() { return kernel->machine.device("mlx4_0")->ports.front(); }
  using Names = std::vector<std::string>;

  std::unique_ptr<FakeKernel> kernel = FakeKernel::parse(kDoctorHost);
  std::vector<Finding> findings;
};

TEST_F(Doctor, FindsNothingOnAHealthyHost) {
  EXPECT_EQ(found(), Names{});
  EXPECT_EQ(kernel->faults.calls(), 0U) << "it changes nothing";
}

TEST_F(Doctor, NoSubnetManager) {
  port().state = "INIT";
  EXPECT_EQ(found(), Names{"no_subnet_manager mlx4_0/1"});
  port().state = "DOWN";  // an unplugged cable is not the subnet manager's fault
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

TEST_F(Doctor, AnotherSubnetManagerIsMaster) {
  const std::string guid = "[[opensm]]\nguid = \"" + model::Guid{port().guid}.text() + "\"\n";
  kernel->add(
      R"({ "units": { "opensm.service": { "running": true }, "opensm@.service": { "installable": false } } })");
  port().sm_lid = 7;
  EXPECT_EQ(found("version = 1\n" + guid), Names{"not_master mlx4_0/1"});
  EXPECT_EQ(found("version = 1\n" + guid + "beside_other = true\n"), Names{});
  EXPECT_EQ(found("version = 1\n" + guid + "beside_other = true\npriority = 15\n"),
            Names{"not_master mlx4_0/1"});
  port().sm_lid = port().number;  // which is the LID of such a port
  EXPECT_EQ(found("version = 1\n" + guid), Names{});
}

TEST_F(Doctor, DamagedRecords) {
  auto host = kernel->host();
  (void)degrade(host.files, {"state.json: damaged"});
  EXPECT_EQ(found(), Names{"damaged_records /var/lib/rdma-configd"});
  ASSERT_TRUE(clear_degraded(host.files));
  EXPECT_EQ(found(), Names{});
}

TEST_F(Doctor, RecordsThatWaitForVar) {
  auto host = kernel->host();
  model::Report report;
  tell_unwritten(host.files, "state.json: full", report);
  EXPECT_EQ(found(), Names{"damaged_records /run/rdma-configd"}) << "nothing is damaged";
  ASSERT_TRUE(clear_unwritten(host.files));
  EXPECT_EQ(found(), Names{});
}

TEST_F(Doctor, RecordsThatWillBeSetAside) {
  const std::string folder = "/var/lib/rdma-configd/";
  for (const auto* name : {"state.json", "journal.json", "generations.json", "unconfirmed.json"}) {
    kernel->files.content[folder + name] = "{\"schema\": 1";
    EXPECT_EQ(found(), Names{"damaged_records " + folder + name});
    kernel->files.content.erase(folder + name);
  }
  kernel->files.content[Paths().held] = "{\"schema\": 1";
  EXPECT_EQ(found(), Names{"damaged_records " + Paths().held});
}

TEST_F(Doctor, StaleInitramfs) {
  kernel->initramfs.command = "update-initramfs -u";
  EXPECT_EQ(found(), Names{});
  kernel->files.content["/etc/modprobe.d/rdma-configd-pfc.conf"] = "options mlx4_en pfctx=8 pfcrx=8\n";
  EXPECT_EQ(found(), Names{"stale_initramfs initramfs"});
  EXPECT_NE(findings.front().fix.find("update-initramfs -u"), std::string::npos);
  EXPECT_NE(findings.front().fix.find("[initramfs] policy"), std::string::npos);
  kernel->initramfs.reason = "this system's initramfs comes with its container image";
  EXPECT_EQ(found(), Names{"stale_initramfs initramfs"});
  EXPECT_EQ(findings.front().fix,
            "run update-initramfs -u (this system's initramfs comes with its container image)")
      << "an apply rebuilds nothing there";
  kernel->initramfs.reason.clear();
  kernel->initramfs.newer = true;  // made by hand since
  EXPECT_EQ(found(), Names{});
  kernel->initramfs.newer = false;
  kernel->initramfs.there = false;  // boots without one
  EXPECT_EQ(found(), Names{});
}

// Below an automount that systemd unmounts when idle, as of an EFI partition: an apply warns of it.
TEST_F(Doctor, AnInitramfsThatNobodySees) {
  kernel->initramfs.command = "update-initramfs -u";
  kernel->initramfs.awaits = "/boot";
  kernel->files.content["/etc/modprobe.d/rdma-configd-pfc.conf"] = "options mlx4_en pfctx=8 pfcrx=8\n";
  EXPECT_EQ(found(), Names{});
}

TEST_F(Doctor, ZeroGuid) {
  kernel->machine.device("rocep17s0")->node_guid = 0;
  EXPECT_EQ(found(), Names{"zero_guid rocep17s0"});
  EXPECT_EQ(findings.front().what.find("subnet manager"), std::string::npos) << "Ethernet has none";
  EXPECT_NE(findings.front().fix.find("mac"), std::string::npos);
  kernel->machine.device("rocep17s0")->node_guid = 1;
  kernel->machine.device("mlx4_0")->node_guid = 0;
  EXPECT_EQ(found(), Names{"zero_guid mlx4_0"});
  EXPECT_NE(findings.front().what.find("subnet manager"), std::string::npos);
  kernel->machine.device("mlx4_0")->node_guid = 1;
  EXPECT_EQ(found(), Names{});
}

TEST_F(Doctor, ZeroGuidOfAPort) {
  kernel->machine.device("rocep17s0")->ports.front().guid = 0;
  EXPECT_EQ(found(), Names{}) << "an Ethernet port has none";
  port().guid = 0;
  EXPECT_EQ(found(), Names{"zero_guid mlx4_0"});
  EXPECT_NE(findings.front().fix.find("port_guid"), std::string::npos);
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
  const auto not_applied = [&] { return findings.front().fix.find("apply") != std::string::npos; };
  EXPECT_EQ(found(document), Names{"mtu_capped ib0"});
  EXPECT_TRUE(not_applied()) << "written and not applied";
  EXPECT_EQ(found(), Names{}) << "nobody wants more";
  auto host = kernel->host();
  port().group_mtu = 2048;
  rejoin("ib0");
  const auto applied =
      apply(config::parse_texts({{"config.toml", document}}, "node1", kinds::grammar()), host);
  ASSERT_EQ(applied.exit, model::Exit::kPartly);
  EXPECT_EQ(found(document), Names{"mtu_capped ib0"});
  EXPECT_FALSE(not_applied()) << findings.front().fix;
  EXPECT_NE(findings.front().what.find("multicast group"), std::string::npos);
  const std::string edited = "version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\nmtu = 4000\n";
  EXPECT_EQ(found(edited), Names{"mtu_capped ib0"});
  EXPECT_TRUE(not_applied()) << "the fabric was not asked for this one";
}

TEST_F(Doctor, MtuCappedOfAPkeyInterface) {
  port().group_mtus[0x0002] = 2048;
  const std::string document =
      "version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\n[[ipoib.pkey]]\npkey = 0x8002\nmtu = 4092\n";
  rejoin("ib0.8002");
  auto host = kernel->host();
  (void)apply(config::parse_texts({{"config.toml", document}}, "node1", kinds::grammar()), host);
  EXPECT_EQ(found(document), Names{"mtu_capped ib0.8002"});
  EXPECT_NE(findings.front().what.find("partition 0x8002"), std::string::npos) << findings.front().what;
}

TEST_F(Doctor, NoAddress) {
  const std::string document =
      "version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\nbackend = \"networkd\"\n"
      "ipv4 = { method = \"auto\", addresses = [\"198.51.100.1/24\"] }\nipv6 = { method = \"auto\" }\n";
  const Names both{"no_address ib0", "no_address ib0"};
  EXPECT_EQ(found(), Names{});
  EXPECT_EQ(found(document), both);
  EXPECT_NE(findings.front().what.find("DHCP"), std::string::npos);
  give("ib0", "198.51.100.1/24");
  EXPECT_EQ(found(document), both) << "its own is none of theirs";
  give("ib0", "192.0.2.7/24");
  EXPECT_EQ(found(document), Names{"no_address ib0"});
  give("ib0", "2001:db8::7/64");
  EXPECT_EQ(found(document), Names{});
}

TEST_F(Doctor, NoConnectedMode) {
  const std::string document =
      "version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\nmode = \"connected\"\n";
  EXPECT_EQ(found(document), Names{});
  kernel->link("ib0").capable = false;
  EXPECT_EQ(found(document), Names{"no_connected_mode ib0"});
}

TEST_F(Doctor, ConnectedMulticast) {
  // igmp_mc_seq_show(): a group is a number in the byte order of the machine.
  const auto line = [](std::string_view group) {
    const auto end = fakes::proc_tcp_end(group, 0);
    return "\t\t\t\t" + end.substr(0, end.find(':')) + "     1 0:00000000\t\t0\n";
  };
  const std::string heading = "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n";
  const auto loopback = "1\tlo        :     1      V3\n" + line("224.0.0.1");
  kernel->set_mode("ib0", model::IpoibMode::kConnected);
  kernel->set_mtu("ib0", 65520);
  kernel->files.content["/proc/net/igmp"] =
      heading + loopback + "3\tib0       :     1      V3\n" + line("224.0.0.1");
  EXPECT_EQ(found(), Names{}) << "every interface has this group";
  kernel->files.content["/proc/net/igmp"] =
      heading + loopback + "3\tib0       :     2      V3\n" + line("224.0.0.251") + line("224.0.0.1");
  EXPECT_EQ(found(), Names{"connected_multicast ib0"});
  kernel->set_mtu("ib0", 2044);
  kernel->set_mode("ib0", model::IpoibMode::kDatagram);
  EXPECT_EQ(found(), Names{});
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
  EXPECT_NE(findings.front().what.find("is stale"), std::string::npos);
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

TEST_F(Doctor, SmallMemlockOfUnitsAsTheDocumentWritesThem) {
  const auto& unit = kernel->units.add("mpid.service", {.running = true});
  kernel->files.content["/proc/" + std::to_string(unit.pid) + "/limits"] =
      "Max locked memory         8388608              8388608              bytes\n";
  const std::string document =
      "version = 1\n[[memlock]]\ndomain = \"@rdma\"\nlimit = \"unlimited\"\nunits = ";
  EXPECT_EQ(found(document + "[\"mpid\"]\n"), Names{"small_memlock mpid.service"});
  EXPECT_EQ(found(document + "[\"worker@.service\", \"mpid.service\"]\n"),
            Names{"small_memlock mpid.service"});
}

TEST_F(Doctor, RivalServices) {
  kernel->units.add("lldpad.service", {.running = true});
  kernel->units.add("openibd.service", {.enabled = true});
  EXPECT_EQ(found(), (Names{"rivals lldpad.service", "rivals openibd.service"}));
  kernel->units.units["lldpad.service"].running = false;
  kernel->units.units["openibd.service"].enabled = false;
  EXPECT_EQ(found(), Names{});
}

TEST_F(Doctor, RivalsThatRestoreTargets) {
  struct Row {
    const char *unit, *file, *document, *saved;
  };
  constexpr const char* kIser = "version = 1\n[[lio_target]]\nwwn = \"iqn.2026-01.org.example:a\"\n";
  constexpr const char* kSrp = "version = 1\n[[lio_target]]\nwwn = \"0002:c903:0031:78f2\"\n";
  for (const auto& row :
       std::vector<Row>{{"rtslib-fb-targetctl.service", "/etc/rtslib-fb-target/saveconfig.json", kIser,
                         R"({"wwn": "iqn.2026-01.org.example:a"})"},
                        {"target.service", "/etc/target/saveconfig.json", kIser,
                         R"({"wwn": "iqn.2026-01.org.example:a"})"},
                        {"target.service", "/etc/target/saveconfig.json", kSrp,
                         R"({"wwn": "ib.fe800000000000000002c903003178f2"})"},
                        {"nvmet.service", "/etc/nvmet/config.json",
                         "version = 1\n[[nvme_target]]\nnqn = \"nqn.x:a\"\n", R"({"nqn": "nqn.x:a"})"}}) {
    kernel = FakeKernel::parse(kDoctorHost);
    const Names rival{"rivals " + std::string(row.unit)};
    kernel->units.add(row.unit, {.enabled = true});
    EXPECT_EQ(found(row.document), Names{}) << row.unit << ": without a file it removes nothing at its start";
    kernel->files.content[row.file] = R"({"wwn": "iqn.2026-01.org.example:ab", "nqn": "nqn.x:ab"})";
    EXPECT_EQ(found(), Names{}) << row.unit << ": the document has no target";
    EXPECT_EQ(found(row.document), rival);
    kernel->units.units[row.unit].enabled = false;
    EXPECT_EQ(found(row.document), Names{}) << row.unit << " is disabled";
    kernel->units.units[row.unit].running = true;
    EXPECT_EQ(found(row.document), rival);
    kernel->files.content[row.file] = row.saved;
    EXPECT_EQ(found(row.document), Names{}) << row.unit << ": it makes the same";
  }
}

TEST_F(Doctor, OpenibConfOfARemovedPackageIsNoRival) {
  kernel->files.content["/etc/infiniband/openib.conf"] = "SET_IPOIB_CM=yes\n";
  EXPECT_EQ(found(), Names{});
  kernel->units.add("openibd.service", {.enabled = false});
  EXPECT_EQ(found(), Names{"rivals /etc/infiniband/openib.conf"});
}

TEST_F(Doctor, RivalFiles) {
  kernel->units.add("openibd.service", {.enabled = false});
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

TEST_F(Doctor, RivalNamingRules) {
  auto& files = kernel->files.content;
  const std::string mlnx = "/usr/lib/udev/rules.d/83-mlnx-sf-name.rules",
                    ipoib = "/etc/udev/rules.d/70-persistent-ipoib.rules";
  files[mlnx] = "# NAME\nSUBSYSTEM==\"net\", IMPORT{program}=\"/etc/infiniband/vf-net-link-name.sh\"\n";
  files[ipoib] = "# ACTION==\"add\", SUBSYSTEM==\"net\", ATTR{type}==\"32\", NAME=\"mlx4_ib0\"\n";
  EXPECT_EQ(found(), Names{}) << "comments name nothing";
  files[mlnx] += "SUBSYSTEM==\"net\", NAME=\"$env{NAME}\"\n";
  EXPECT_EQ(found(), Names{"rivals " + mlnx});
  files[ipoib] = files[ipoib].substr(2);
  const std::string port = "version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\n";
  const Names both{"rivals " + ipoib, "rivals " + mlnx};
  EXPECT_EQ(found(port + "name = \"fab0\"\n"), both);
  EXPECT_EQ(found(port), Names{"rivals " + mlnx}) << "without the rule the port would lose its name";
  files[ipoib] = R"(SUBSYSTEM=="net", ATTR{address}=="?*00:02:c9:03:00:31:78:F2", NAME="mlx4_ib0")";
  EXPECT_EQ(found(port + "name = \"fab0\"\n"), both);
  files[ipoib] = R"(SUBSYSTEM=="net", ATTR{address}=="?*00:02:c9:03:00:31:78:f9", NAME="mlx4_ib0")";
  EXPECT_EQ(found(port + "name = \"fab0\"\n"), Names{"rivals " + mlnx}) << "a rule for another port";
}

// udev(7): of files of one name that in /etc counts, then those in /run, /usr/local/lib and /usr/lib.
// netplan's write_rules_file(): set-name of an interface that is matched by its address.
TEST_F(Doctor, RulesReadAfterOursThatNameAPortOfTheDocument) {
  auto& files = kernel->files.content;
  const std::string rule = R"(SUBSYSTEM=="net", ATTR{address}=="80:00:02:08:fe:80:00:00:00:00:00:00:)"
                           R"(00:02:c9:03:00:31:78:f2", NAME="ib9")";
  const std::string netplan = "/run/udev/rules.d/99-netplan-ib9.rules",
                    site = "/etc/udev/rules.d/75-site.rules";
  const std::string port = "version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\n",
                    named = port + "name = \"fab0\"\n";
  files["/usr/lib/udev/rules.d/80-net-setup-link.rules"] =
      "NAME==\"\", ENV{ID_NET_NAME}!=\"\", NAME=\"$env{ID_NET_NAME}\"\n";
  files["/etc/udev/rules.d/60-site.rules"] = rule;
  EXPECT_EQ(found(named), Names{}) << "ours are read later, and the last one names only what has no name";
  files[netplan] = rule;
  files[site] = rule;
  EXPECT_EQ(found(named), (Names{"rivals " + site, "rivals " + netplan}));
  EXPECT_NE(findings.front().fix.find("remove the lines for fab0"), std::string::npos)
      << findings.front().fix;
  EXPECT_NE(findings.back().fix.find("/etc/netplan"), std::string::npos) << findings.back().fix;
  EXPECT_EQ(found(port), Names{}) << "the document gives no name";
  files.erase(netplan);
  files[site] = "# " + rule;
  EXPECT_EQ(found(named), Names{});
}

TEST_F(Doctor, RivalAgentsOfAzure) {
  kernel->units.add("azure_persistent_rdma_naming.service", {.enabled = true});
  kernel->units.add("walinuxagent.service", {.running = true});
  const std::string agent = "/etc/waagent.conf";
  kernel->files.content[agent] = "# OS.EnableRDMA=n\nOS.EnableRDMA=y\n";
  EXPECT_EQ(found("version = 1\n"), Names{}) << "the document sets neither";
  const std::string device =
      "version = 1\n[[rdma_device]]\nnode_guid = \"0002:c903:0031:78f1\"\nname = \"rail0\"\n";
  const auto contains = [&](const std::string& document, const std::string& object) {
    const auto names = found(document);
    return std::find(names.begin(), names.end(), "rivals " + object) != names.end();
  };
  EXPECT_TRUE(contains(device, "azure_persistent_rdma_naming.service"));
  EXPECT_FALSE(contains(device, agent));
  const std::string address =
      "version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\nipv4 = { addresses = [\"192.0.2.1/24\"] }\n";
  EXPECT_TRUE(contains(address, agent));
  EXPECT_FALSE(contains(address, "azure_persistent_rdma_naming.service"));
  kernel->files.content[agent] = "OS.EnableRDMA=n\n";
  EXPECT_FALSE(contains(address, agent));
}

TEST_F(Doctor, DhcpcdOnAllInterfacesIsARival) {
  kernel->units.add("dhcpcd.service", {.running = true});
  const std::string document =
      "version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\nipv4 = { addresses = [\"192.0.2.1/24\"] }\n";
  const auto is_rival = [&] {
    const auto names = found(document);
    return std::find(names.begin(), names.end(), "rivals dhcpcd.service") != names.end();
  };
  EXPECT_TRUE(is_rival());
  kernel->files.content["/etc/dhcpcd.conf"] = "hostname\n# denyinterfaces ib*\n";
  EXPECT_TRUE(is_rival());
  kernel->files.content["/etc/dhcpcd.conf"] = "hostname\ndenyinterfaces ib*\n";
  EXPECT_FALSE(is_rival());
}

TEST_F(Doctor, RivalNamingRulesAreThoseThatUdevReads) {
  auto& files = kernel->files.content;
  const std::string name = "/83-mlnx-sf-name.rules", rule = "SUBSYSTEM==\"net\", NAME=\"$env{NAME}\"\n";
  const std::string folders[] = {"/usr/lib/udev/rules.d", "/usr/local/lib/udev/rules.d", "/run/udev/rules.d",
                                 "/etc/udev/rules.d"};
  for (const auto& folder : folders) {
    files[folder + name] = rule;
    EXPECT_EQ(found(), Names{"rivals " + folder + name});
  }
  files["/etc/udev/rules.d" + name] = "# switched off\n";
  EXPECT_EQ(found(), Names{});
}

TEST_F(Doctor, CloudInitThatKeepsOffIsNoRival) {
  auto& files = kernel->files.content;
  files["/etc/network/interfaces.d/50-cloud-init"] = "auto lo\n";
  const Names rival{"rivals /etc/network/interfaces.d/50-cloud-init"};
  files["/etc/cloud/cloud.cfg.d/99-x.cfg"] = "# network: {config: disabled}\nnetwork:\n  version: 1\n";
  EXPECT_EQ(found(), rival);
  files["/etc/cloud/cloud.cfg.d/99-x.cfg"] = "users:\n  config: disabled\n";
  EXPECT_EQ(found(), rival);
  for (const auto* text :
       {"network: {config: disabled}\n", "# x\nnetwork:\n  config: \"disabled\"  # off\n"}) {
    files["/etc/cloud/cloud.cfg.d/99-x.cfg"] = text;
    EXPECT_EQ(found(), Names{}) << text;
  }
  files.erase("/etc/cloud/cloud.cfg.d/99-x.cfg");
  files["/etc/cloud/cloud.cfg.d/99-x.bak"] = "network: {config: disabled}\n";
  EXPECT_EQ(found(), rival) << "cloud-init reads *.cfg only";
}

TEST_F(Doctor, OpenibConfThatSetsNothingIsNoRival) {
  kernel->units.add("openibd.service", {.enabled = false});
  auto& text = kernel->files.content["/etc/infiniband/openib.conf"];
  const Names rival{"rivals /etc/infiniband/openib.conf"};
  for (const auto* quiet : {"SET_IPOIB_CM=\"no\"\nIPOIB_MTU=\"\"\n", "IPOIB_MTU=\n", "IPOIB_MTU=''  # none\n",
                            "# IPOIB_MTU=65520\n", "SET_IPOIB_CM=yes\nSET_IPOIB_CM=no\n"}) {
    text = quiet;
    EXPECT_EQ(found(), Names{}) << quiet;
  }
  for (const auto* loud : {"IPOIB_MTU=65520\n", "IPOIB_MTU=\"2044\"\n", "SET_IPOIB_CM='auto' # x\n"}) {
    text = loud;
    EXPECT_EQ(found(), rival) << loud;
  }
}

TEST_F(Doctor, RivalProfiles) {
  kernel->units.add("NetworkManager.service", {.running = true});
  const std::string file = "/etc/NetworkManager/system-connections/ib.nmconnection";
  auto& text = kernel->files.content[file];
  const std::string profile =
      "[connection]\ntype=infiniband\ninterface-name=ib0\n[infiniband]\ntransport-mode=connected\n";
  const std::string document =
      "version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\nmode = \"datagram\"\nmtu = 2044\n";
  const Names rival{"rivals " + file};
  text = profile;
  EXPECT_EQ(found(), Names{}) << "the document has no such interface";
  EXPECT_EQ(found(document), rival);
  text = profile + "mtu=65520\n";
  EXPECT_EQ(found("version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\nmtu = 2044\n"), rival);
  // Each of the ways out.
  text =
      "[connection]\ntype=infiniband\ninterface-name=ib0\n[infiniband]\ntransport-mode=datagram\nmtu=2044\n";
  EXPECT_EQ(found(document), Names{});
  text = profile + "[connection]\nautoconnect=false\n";
  EXPECT_EQ(found(document), Names{});
  // Others' interfaces are others' matter, and our own profiles are the document.
  text = "[connection]\ntype=infiniband\ninterface-name=ib7\n[infiniband]\ntransport-mode=connected\n";
  EXPECT_EQ(found(document), Names{});
  kernel->files.content.erase(file);
  kernel->files.content
      ["/etc/NetworkManager/system-connections/"
       "rdma-configd-0002c903003178f2.nmconnection"] = profile;
  EXPECT_EQ(found(document), Names{});
}

// Folders of NetworkManager.conf(5), "keyfile plugin": only the files in /etc are there to be edited.
TEST_F(Doctor, RivalProfilesInAllFoldersOfNetworkManager) {
  kernel->units.add("NetworkManager.service", {.running = true});
  const std::string profile =
      "[connection]\nid=Lab\ntype=infiniband\nuuid=0d3a9e5e-1111-4222-8333-444455556664\n"
      "interface-name=ib0\n[infiniband]\ntransport-mode=connected\n";
  const std::string document =
      "version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\nmode = \"datagram\"\nmtu = 2044\n";
  const std::pair<std::string, std::string> rows[] = {
      {"/run/NetworkManager/system-connections/netplan-ib0.nmconnection", "/etc/netplan"},
      {"/run/NetworkManager/system-connections/Lab.nmconnection",
       "nmcli connection modify Lab autoconnect no"},
      {"/usr/lib/NetworkManager/system-connections/Lab.nmconnection",
       "nmcli connection modify Lab autoconnect no"}};
  for (const auto& [file, fix] : rows) {
    kernel->files.content[file] = profile;
    EXPECT_EQ(found(document), Names{"rivals " + file});
    ASSERT_EQ(findings.size(), 1U) << file;
    EXPECT_NE(findings.front().fix.find(fix), std::string::npos) << findings.front().fix;
    kernel->files.content.erase(file);
  }
  kernel->files.content[rows[2].first] = profile;
  kernel->files
      .content["/etc/NetworkManager/system-connections/0d3a9e5e-1111-4222-8333-444455556664.nmmeta"] =
      "[nmmeta]\nuuid=0d3a9e5e-1111-4222-8333-444455556664\nloaded-path=/dev/null\n";
  EXPECT_EQ(found(document), Names{}) << "it was deleted";
}

TEST_F(Doctor, RivalProfilesOfPkeyInterfacesMayNameTheParentAlone) {
  kernel->units.add("NetworkManager.service", {.running = true});
  const std::string folder = "/etc/NetworkManager/system-connections/";
  const std::string document =
      "version = 1\n[[ipoib]]\nguid = \"0002:c903:0031:78f2\"\n[[ipoib.pkey]]\npkey = 2\nmode = "
      "\"datagram\"\n";
  const std::string profile = "[connection]\ntype=infiniband\n[infiniband]\ntransport-mode=connected\n";
  auto& text = kernel->files.content[folder + "part.nmconnection"];
  const auto without = found(document);
  for (const auto* pkey : {"2", "0x0002", "0x8002", "32770"}) {
    text = profile + "parent=ib0\np-key=" + pkey + "\n";
    EXPECT_EQ(found(document), (Names{"rivals " + folder + "part.nmconnection"})) << pkey;
  }
  text = profile + "parent=0d3a9e5e-1111-4222-8333-444455556664\np-key=2\n";
  EXPECT_EQ(found(document), without) << "nothing says whose UUID that is";
  kernel->files.content[folder + "port.nmconnection"] =
      "[connection]\ntype=infiniband\nuuid=0d3a9e5e-1111-4222-8333-444455556664\ninterface-name=ib0\n";
  EXPECT_EQ(found(document), (Names{"rivals " + folder + "part.nmconnection"}));
}

/// Soft-RoCE or Soft-iWARP over eth1.
std::string soft_device(const std::string& type) {
  return R"({ "devices": [{ "name": "soft0", "driver": "", "soft": ")" + type +
         R"(", "node_guid": "0002:c903:0031:9001", "ports": [{ "guid": "0002:c903:0031:9002", "link_layer": "Ethernet",
       "netdev": "eth1" }] }] })";
}

TEST_F(Doctor, FirewalldKeepsPeersFromSoftwareDevicesOnly) {
  kernel->units.add("firewalld.service", {.running = true});
  auto& files = kernel->files.content;
  files["/usr/lib/firewalld/zones/public.xml"] = "<zone><service name=\"ssh\"/></zone>\n";
  files["/usr/lib/firewalld/services/ssh.xml"] = "<service><port protocol=\"tcp\" port=\"22\"/></service>\n";
  EXPECT_EQ(found(), Names{}) << "adapters do not pass the firewall";
  kernel->add(soft_device("rxe"));
  EXPECT_EQ(found(), Names{"firewall firewalld.service"});
  EXPECT_NE(findings.front().fix.find("--zone=public --add-port=4791/udp"), std::string::npos)
      << findings.front().fix;
  EXPECT_EQ(
      findings.front().what,
      "zone public of its permanent configuration does not accept 4791/udp on eth1: peers cannot reach the "
      "software RDMA device soft0");
  files["/etc/firewalld/zones/public.xml"] = "<zone><port port=\"4791\" protocol=\"udp\"/></zone>\n";
  EXPECT_EQ(found(), Names{});
  files.erase("/etc/firewalld/zones/public.xml");
  kernel->units.units["firewalld.service"].running = false;
  EXPECT_EQ(found(), Names{});
}

TEST_F(Doctor, FirewallAndPortsOfServersOverSoftIwarp) {
  kernel->units.add("firewalld.service", {.running = true});
  kernel->files.content["/usr/lib/firewalld/zones/public.xml"] = "<zone></zone>\n";
  kernel->add(soft_device("siw"));
  EXPECT_EQ(found(), Names{}) << "nothing is served";
  EXPECT_EQ(found("version = 1\n[nfs_server]\nrdma_port = 20049\n"), Names{"firewall firewalld.service"});
  EXPECT_NE(findings.front().fix.find("20049/tcp"), std::string::npos) << findings.front().fix;
}

TEST_F(Doctor, NftablesKeepsPeersOut) {
  kernel->units.add("nftables.service", {.running = true});
  kernel->add(soft_device("rxe"));
  EXPECT_EQ(found(), Names{});
  auto& text = kernel->files.content["/etc/nftables.conf"];
  text =
      "table inet filter {\n  chain input {\n    type filter hook input priority 0; policy drop;\n  }\n}\n";
  EXPECT_EQ(found(), Names{"firewall /etc/nftables.conf"});
  EXPECT_NE(findings.front().fix.find("udp dport 4791 accept"), std::string::npos) << findings.front().fix;
  text += "table inet rdma { chain input { udp dport 4791 accept; } }\n";
  EXPECT_EQ(found(), Names{});
}

TEST_F(Doctor, UfwKeepsPeersOut) {
  kernel->units.add("ufw.service", {.running = true});
  kernel->add(soft_device("rxe"));
  auto& files = kernel->files.content;
  files["/etc/ufw/ufw.conf"] = "ENABLED=yes\n";
  files["/etc/default/ufw"] = "DEFAULT_INPUT_POLICY=\"DROP\"\n";
  files["/etc/ufw/before.rules"] = files["/etc/ufw/after.rules"] = files["/etc/ufw/user.rules"] = "COMMIT\n";
  EXPECT_EQ(found(), Names{"firewall ufw.service"});
  EXPECT_EQ(findings.front().fix, "ufw allow in on eth1 to any port 4791 proto udp");
  files["/etc/ufw/ufw.conf"] = "ENABLED=no\n";
  EXPECT_EQ(found(), Names{}) << "its service is active all the same";
}

TEST_F(Doctor, EveryCheckHasAName) {
  std::vector<std::string> names;
  for (const auto& check : checks()) names.emplace_back(check.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace rdmacfg::core
