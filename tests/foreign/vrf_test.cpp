// SPDX-License-Identifier: Apache-2.0
// Interfaces in VRFs: their routes are in the table of that.
#include <gmock/gmock.h>

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

}  // namespace
}  // namespace rdmacfg::foreign
