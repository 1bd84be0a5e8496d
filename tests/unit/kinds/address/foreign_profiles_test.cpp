// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/profiles/foreign_profiles.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fakes/fake_kernel.hpp"
#include "kinds/address/network_match.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"

namespace rdmacfg::kinds {
namespace {

constexpr const char* kPort = "00:02:c9:03:00:31:78:f2";
constexpr const char* kUuid = "0d3a9e5e-1111-4222-8333-444455556666";

std::string profile(const std::string& infiniband, const std::string& connection = "") {
  return "[connection]\nid=part\ntype=infiniband\n" + connection + "\n[infiniband]\n" + infiniband;
}

bool is_for_child(const std::string& text) {
  return profile_is_for(text, std::string(kPort) + "/0x800a", "ib0.800a", {"ib0", kUuid});
}

TEST(ForeignProfiles, OfAChildMayNameItsParentAlone) {
  for (const auto* pkey : {"10", "0x000a", "0x800a", "32778"})
    EXPECT_TRUE(is_for_child(profile("parent=ib0\np-key=" + std::string(pkey) + "\n"))) << pkey;
  EXPECT_TRUE(is_for_child(profile("parent=" + std::string(kUuid) + "\np-key=10\n")));
  // NetworkManager 1.44 and newer name the interface after parent and P_Key, whatever the profile says.
  EXPECT_TRUE(is_for_child(profile("parent=ib0\np-key=10\n", "interface-name=storage\n")));
}

TEST(ForeignProfiles, OfAnotherPartitionOrPortAreNotForTheChild) {
  EXPECT_FALSE(is_for_child(profile("parent=ib0\np-key=0x800b\n")));
  EXPECT_FALSE(is_for_child(profile("parent=ib1\np-key=10\n")));
  EXPECT_FALSE(is_for_child(profile("p-key=10\n")));
  EXPECT_FALSE(is_for_child(profile("parent=ib0\np-key=-1\n")));
  EXPECT_FALSE(is_for_child(profile("parent=ib0\np-key=10\n", "autoconnect=false\n")));
}

TEST(ForeignProfiles, OfAChildAreNotForThePort) {
  const std::string address = "mac-address=80:00:00:00:FE:80:00:00:00:00:00:00:00:02:C9:03:00:31:78:F2\n";
  EXPECT_FALSE(profile_is_for(profile(address + "p-key=10\n"), kPort, "ib0"));
  EXPECT_TRUE(profile_is_for(profile(address), kPort, "ib0"));
  EXPECT_TRUE(profile_is_for(profile(address + "p-key=-1\n"), kPort, "ib0"));
}

TEST(ForeignProfiles, AFileForAChildIsNotOneForItsParent) {
  for (const auto* text :
       {"DEVICE=ib0.8002\nPKEY=yes\nPHYSDEV=ib0\n", "IPOIB_DEVICE = ib0\nIPOIB_PKEY=8002\n", "# was ib0\n",
        "iface ib0.8002 inet dhcp\n  pre-up echo 0x8002 > /sys/class/net/ib0/create_child\n", "  link: ib0\n",
        "DEVICE=ib01\n"})
    EXPECT_FALSE(is_about(text, "ib0")) << text;
  for (const auto* text : {"DEVICE=ib0\n", "iface ib0 inet dhcp\n", "    ib0:\n", "[Match]\nName=ib0\n"})
    EXPECT_TRUE(is_about(text, "ib0")) << text;
  EXPECT_TRUE(is_about("DEVICE=ib0.8002\nPHYSDEV=ib0\n", "ib0.8002"));
}

struct NetworkFileCase {
  const char* name;
  const char* match;
  bool first;
};

// systemd.network(5): of all files that fit, the first by name counts, in whatever folder; a list with "!"
// says what does not fit. Ours begin with 09-rdma-configd-.
TEST(ForeignProfiles, OfNetworkFilesTheFirstThatFitsCounts) {
  for (const auto& [name, match, first] :
       {NetworkFileCase{"05-ib.network", "Name=ib*", true}, NetworkFileCase{"09-all.network", "Name=*", true},
        NetworkFileCase{"08-all.network", "Name=e* ib*", true},
        NetworkFileCase{"10-cloud-init-all.network", "Name=*", false},
        NetworkFileCase{"10-netplan-all.network", "Name=e* ib*", false},
        NetworkFileCase{"05-all.network", "Type=infiniband", true},
        NetworkFileCase{"05-all.network", "Name=ib*\nType=!ether loopback", true},
        NetworkFileCase{"05-all.network", "Name=!e* lo", true},
        NetworkFileCase{"05-all.network", "Name=e*\nName=\nName=ib?", true},
        NetworkFileCase{"20-ib.network", "Name=ib*", false},
        NetworkFileCase{"05-all.network", "Name=e*", false},
        NetworkFileCase{"05-all.network", "Name=!lo ib*", false},
        NetworkFileCase{"05-all.network", "Name=*\nType=ether", false},
        NetworkFileCase{"05-all.network", "Type=!infiniband", false},
        NetworkFileCase{"05-all.network", "Name=*\nDriver=virtio_net", false},
        NetworkFileCase{"05-all.network", "", false}}) {
    const auto text = "[Match]\n" + std::string(match) + "\n\n[Network]\nName=ib0\nDHCP=yes\n";
    EXPECT_EQ(network_file_is_first("/run/systemd/network/" + std::string(name), text, "ib0"), first)
        << name << ": " << match;
  }
  EXPECT_FALSE(network_file_is_first("/etc/netplan/05-all.network", "[Match]\nName=*\n", "ib0"));
}

// ifcfg(5) of wicked: the file's name has the interface. Where NetworkManager replaced wicked, its files
// stay.
TEST(ForeignProfiles, FilesOfWickedCountWhereItIsInstalled) {
  const auto kernel = fakes::FakeKernel::parse(
      R"({ "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "interface": { "name": "ib0", "up": true } }] }] })");
  auto& files = kernel->files.content;
  files["/etc/sysconfig/network/ifcfg-ib0"] = "STARTMODE='auto'\nBOOTPROTO='static'\nIPADDR='192.0.2.7/24'\n";
  files["/etc/sysconfig/network/ifcfg-ib1"] = "STARTMODE='auto'\n";
  model::Desired desired;
  desired.key = {"backend", kPort};
  desired.settings.emplace("backend", std::string("direct"));
  const auto warnings = [&] {
    auto host = kernel->host();
    auto world = World::observe(host);
    EXPECT_TRUE(world);
    model::Diagnostics diagnostics;
    warn_of_other_configurations({desired}, *world, diagnostics);
    return diagnostics;
  };
  const std::string units = "/usr/lib/systemd/system/";
  for (const auto* unit : {"other.service", "wicked.service", "NetworkManager.service"}) {
    files[units + unit] = "";
    const auto found = warnings();
    ASSERT_EQ(found.size(), 1U) << unit;
    EXPECT_EQ(found.front().message, "/etc/sysconfig/network/ifcfg-ib0 (a wicked file) configures ib0 too");
  }
  files.erase(units + "wicked.service");
  EXPECT_TRUE(warnings().empty());
}

// systemd.network(5): Unmanaged= belongs to [Link] and takes a boolean.
TEST(ForeignProfiles, ANetworkFileMayLeaveAnInterfaceToOthers) {
  for (const auto* text : {"[Match]\nName=ib*\n[Link]\nUnmanaged=yes\n", "[Link]\nUnmanaged = True\n",
                           "[Link]\nUnmanaged=no\nUnmanaged=1\n"})
    EXPECT_TRUE(network_file_leaves_alone(text)) << text;
  for (const auto* text : {"[Match]\nName=ib*\n[Network]\nDHCP=yes\n", "[Link]\nUnmanaged=no\n",
                           "[Link]\n#Unmanaged=yes\n", "[Network]\nUnmanaged=yes\n", ""})
    EXPECT_FALSE(network_file_leaves_alone(text)) << text;
}

// NetworkManager takes what /run has before what /etc has.
TEST(ForeignProfiles, OneInRunTakesThePlaceOfOurs) {
  const auto uuid = nm_uuid(kPort);
  const auto own = nm_file(kPort);
  const std::string run(kNmRunFolder);
  const std::string same = "[connection]\nid=x\nuuid=" + uuid + "\n", other = "[connection]\nid=x\nuuid=1\n";
  struct Row {
    std::string path, text;
    bool named;
  };
  for (const auto& row :
       {Row{run + own.substr(own.rfind('/')), same, true}, Row{run + "/x.nmconnection", same, true},
        Row{run + "/x.nmconnection", other, false},
        Row{std::string(kNmVendorFolder) + "/x.nmconnection", same, false},
        Row{run + "/" + uuid + ".nmmeta", "[nmmeta]\nuuid=" + uuid + "\nloaded-path=/dev/null\n", true},
        Row{run + "/" + uuid + ".nmmeta", "[nmmeta]\nuuid=" + uuid + "\nloaded-path=/etc/x\n", false}}) {
    SCOPED_TRACE(row.path + "\n" + row.text);
    auto kernel = fakes::FakeKernel::parse("{}");
    kernel->files.content[row.path] = row.text;
    auto host = kernel->host();
    auto world = World::observe(host);
    ASSERT_TRUE(world);
    std::vector<model::Desired> desired(1);
    desired.front().key = {"nm_profile", kPort};
    model::Diagnostics diagnostics;
    warn_of_foreign_profiles(desired, *world, diagnostics);
    EXPECT_EQ(diagnostics.size(), row.named ? 1U : 0U);
  }
}

/// The label of an entry without a name describes it.
TEST(ForeignProfiles, PkeyInterfacesAreLookedForByTheirNames) {
  const auto kernel = fakes::FakeKernel::parse(
      R"({ "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "interface": { "name": "ib0", "up": true } }] }] })");
  kernel->files.content["/etc/sysconfig/network/ifcfg-ib1"] = "STARTMODE='auto'\n";
  model::Desired port, child;
  port.key = {"backend", kPort};
  port.settings.emplace("backend", std::string("direct"));
  child.key = {"pkey", std::string(kPort) + "/0x8002"};
  child.label = "ib1";
  const auto count = [&] {
    auto host = kernel->host();
    auto world = World::observe(host);
    EXPECT_TRUE(world);
    model::Diagnostics diagnostics;
    warn_of_other_configurations({port, child}, *world, diagnostics);
    return diagnostics.size();
  };
  EXPECT_EQ(count(), 0U);
  child.netdev = "ib1";
  EXPECT_EQ(count(), 1U);
}

}  // namespace
}  // namespace rdmacfg::kinds
