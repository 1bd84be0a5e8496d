// SPDX-License-Identifier: Apache-2.0
// Interfaces in VRFs: their routes are in the table of that. Tables of routes, and interfaces by their
// address.
#include <gmock/gmock.h>

#include <map>
#include <string>

#include "foreign/stage.hpp"

namespace rdmacfg::foreign {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ImportVrf, OfNetplanLeavesOutTheRoutes) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/netplan/50.yaml"] =
      "network:\n"
      "  version: 2\n"
      "  ethernets:\n"
      "    storage:\n"
      "      match: {macaddress: \"80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2\"}\n"
      "      addresses: [192.0.2.1/24]\n"
      "      routes:\n"
      "        - {to: default, via: 192.0.2.254}\n"
      "        - {to: 198.51.100.0/24, via: 192.0.2.9}\n"
      "        - {to: 203.0.113.0/24, via: 192.0.2.9, table: 100}\n"
      "    other:\n"
      "      match: {macaddress: \"80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f3\"}\n"
      "      addresses: [192.0.3.1/24]\n"
      "      routes: [{to: default, via: 192.0.3.254}]\n"
      "  vrfs:\n"
      "    blue: {table: 100, interfaces: [eth0, storage]}\n";
  const auto made = import_all(files, "netplan");
  EXPECT_THAT(made.document, HasSubstr("addresses = [\"192.0.2.1/24\"]"));
  EXPECT_THAT(made.document, HasSubstr("to = \"203.0.113.0/24\""));
  EXPECT_THAT(made.document, Not(HasSubstr("192.0.2.254")));
  EXPECT_THAT(made.document, Not(HasSubstr("198.51.100.0/24")));
  EXPECT_THAT(made.document, HasSubstr("gateway = \"192.0.3.254\"")) << "of an interface without a VRF";
  EXPECT_THAT(report_of(made.claims), HasSubstr("/etc/netplan/50.yaml:16: not understood: vrfs: storage: "));
}

TEST(ImportVrf, OfIfupdownLeavesOutTheGateway) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/network/interfaces"] =
      "auto ib0\n"
      "iface ib0 inet static\n"
      "  hwaddress 80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2\n"
      "  address 192.0.2.1/24\n"
      "  gateway 192.0.2.254\n"
      "  vrf blue\n"
      "  up ip route add 198.51.100.0/24 via 192.0.2.9 dev ib0\n";
  const auto made = import_all(files, "ifupdown");
  EXPECT_THAT(made.document, HasSubstr("addresses = [\"192.0.2.1/24\"]"));
  EXPECT_THAT(made.document, HasSubstr("to = \"198.51.100.0/24\"")) << "by a command that names no VRF";
  EXPECT_THAT(made.document, Not(HasSubstr("192.0.2.254")));
  EXPECT_THAT(report_of(made.claims), HasSubstr("/etc/network/interfaces:6: not understood: vrf: blue: "));
}

// A table that is written counts in a VRF, too: 254 is the main one (networkd-route.c).
TEST(ImportVrf, OfNetworkdKeepsTheRoutesWhoseTableIsWritten) {
  for (const std::string table : {"main", "254"}) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    files.content["/etc/systemd/network/10-ib.network"] =
        "[Match]\n"
        "MACAddress=80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2\n"
        "[Network]\n"
        "Address=192.0.2.1/24\n"
        "Gateway=192.0.2.254\n"
        "VRF=storage\n"
        "[Route]\n"
        "Destination=198.51.100.0/24\n"
        "Gateway=192.0.2.9\n"
        "Table=" +
        table +
        "\n"
        "[Route]\n"
        "Gateway=192.0.2.8\n"
        "Table=" +
        table +
        "\n"
        "[Route]\n"
        "Destination=203.0.113.0/24\n"
        "Gateway=192.0.2.9\n";
    const auto made = import_all(files, "networkd");
    EXPECT_THAT(made.document, HasSubstr("to = \"198.51.100.0/24\""));
    EXPECT_THAT(made.document, HasSubstr("gateway = \"192.0.2.8\"")) << "the default route of the main table";
    EXPECT_THAT(made.document, Not(HasSubstr("192.0.2.254")));
    EXPECT_THAT(made.document, Not(HasSubstr("203.0.113.0/24"))) << "in the table of the VRF";
    EXPECT_THAT(report_of(made.claims),
                HasSubstr("/etc/systemd/network/10-ib.network:6: not understood: VRF: the routes are in"));
  }
}

std::string keyfile_with_route(const std::string& port, const std::string& options) {
  return "[connection]\nid=storage\ntype=infiniband\ninterface-name=ib0\n" + port +
         "[infiniband]\n"
         "mac-address=80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2\n"
         "transport-mode=datagram\n"
         "[ipv4]\n"
         "method=manual\n"
         "address1=192.0.2.1/24,192.0.2.254\n"
         "route1=198.51.100.0/24,192.0.2.9\n"
         "route1_options=" +
         options + "\n";
}

TEST(ImportVrf, OfNetworkManagerKeepsTheRoutesWhoseTableIsWritten) {
  const std::string path = "/etc/NetworkManager/system-connections/a.nmconnection";
  for (const auto& [options, kept] :
       std::map<std::string, bool>{{"table=254", true}, {"table=0", false}, {"table=100", true}}) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    files.content[path] = keyfile_with_route("controller=vrf0\nport-type=vrf\n", options);
    const auto made = import_all(files, "nm");
    EXPECT_EQ(made.document.find("to = \"198.51.100.0/24\"") != std::string::npos, kept) << options;
    EXPECT_THAT(made.document, Not(HasSubstr("192.0.2.254"))) << options;
  }
}

// Without a VRF 0 is the main table, as if nothing was written.
TEST(ImportVrf, NetworkManagersTableOfNothingIsTheMainOne) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  const std::string path = "/etc/NetworkManager/system-connections/a.nmconnection";
  files.content[path] = keyfile_with_route("", "table=0");
  const auto made = import_all(files, "nm");
  EXPECT_THAT(made.document, HasSubstr("    to = \"198.51.100.0/24\"\n    via = \"192.0.2.9\"\n"));
  EXPECT_THAT(made.document, Not(HasSubstr("table")));
  EXPECT_TRUE(made.claims.missed.empty()) << report_of(made.claims);
}

TEST(ImportIfupdown, KnowsAnInterfaceByItsAddressAlone) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/network/interfaces"] =
      "auto storage eth0\n"
      "iface storage inet static\n"
      "  hwaddress 80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2\n"
      "  address 192.0.2.1/24\n"
      "iface storage.8002 inet manual\n"
      "iface eth0 inet static\n"
      "  hwaddress ether 02:00:00:00:00:01\n"
      "  address 192.0.3.1/24\n";
  const auto made = import_all(files, "ifupdown");
  EXPECT_THAT(made.document, HasSubstr("guid = \"00:02:c9:03:00:31:78:f2\""));
  EXPECT_THAT(made.document, HasSubstr("addresses = [\"192.0.2.1/24\"]"));
  EXPECT_THAT(made.document, HasSubstr("pkey = 0x8002"));
  EXPECT_THAT(made.document, Not(HasSubstr("192.0.3.1")));
  EXPECT_THAT(report_of(made.claims), HasSubstr(":6: skipped: eth0 is not for InfiniBand"));
}

}  // namespace
}  // namespace rdmacfg::foreign
