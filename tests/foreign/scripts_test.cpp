// SPDX-License-Identifier: Apache-2.0
// Commands of scripts beside other files of the same import, and by tools of other times.
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "foreign/stage.hpp"

namespace rdmacfg::foreign {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kRcLocal = "/etc/rc.local";
const std::string kPortAddress = "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2";

/// "host" reads the script and the others.
Imported import_with_script(const std::string& script,
                            const std::map<std::string, std::string>& others = {}) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  for (const auto& [path, text] : others) files.content[path] = text;
  files.content[kRcLocal] = script;
  return import_all(files, "host", {{"ib0", *model::Guid::parse("00:02:c9:03:00:31:78:f2")}});
}

std::string ifcfg_of_ib0(const std::string& more = "") {
  return "TYPE=InfiniBand\nDEVICE=ib0\nHWADDR=" + kPortAddress + "\nONBOOT=yes\n" + more +
         "BOOTPROTO=none\nIPADDR=192.0.2.1\nPREFIX=24\n";
}

const std::string kRouteOfScript =
    "    [[ipoib.ipv4.routes]]\n    to = \"198.51.100.0/24\"\n    via = \"192.0.2.9\"\n";

struct RouteRow {
  const char* name;
  std::string script;
};

// Whether a file or the script itself gives the interface the address in whose network the gateway is.
TEST(ImportScripts, RoutesJoinAddressesOfOtherFiles) {
  const std::vector<RouteRow> rows{
      {"by its gateway alone", "ip route add 198.51.100.0/24 via 192.0.2.9\n"},
      {"by the interface", "ip route add 198.51.100.0/24 via 192.0.2.9 dev ib0\n"},
      {"of route(8)", "route add -net 198.51.100.0 netmask 255.255.255.0 gw 192.0.2.9\n"},
      {"of route(8) with a length", "route add -net 198.51.100.0/24 gw 192.0.2.9 ib0\n"},
  };
  for (const auto& row : rows) {
    const auto made =
        import_with_script(row.script, {{"/etc/sysconfig/network-scripts/ifcfg-ib0", ifcfg_of_ib0()}});
    EXPECT_THAT(made.document, HasSubstr("addresses = [\"192.0.2.1/24\"]")) << row.name;
    EXPECT_THAT(made.document, HasSubstr(kRouteOfScript)) << row.name;
    EXPECT_TRUE(made.claims.missed.empty()) << row.name << '\n' << report_of(made.claims);
  }
}

TEST(ImportScripts, RoutesJoinAKeyfileWithoutAName) {
  const auto made = import_with_script(
      "ip route add 198.51.100.0/24 via 192.0.2.9\n",
      {{"/etc/NetworkManager/system-connections/a.nmconnection",
        "[connection]\nid=a\ntype=infiniband\n[infiniband]\ntransport-mode=datagram\nmac-address=" +
            kPortAddress + "\n[ipv4]\nmethod=manual\naddress1=192.0.2.1/24\n[ipv6]\nmethod=disabled\n"}});
  EXPECT_THAT(made.document, HasSubstr(kRouteOfScript));
  EXPECT_THAT(made.document, Not(HasSubstr("# [[ipoib]]")));
  EXPECT_TRUE(made.claims.missed.empty()) << report_of(made.claims);
}

TEST(ImportScripts, AScriptThatComesLaterGivesTheAddress) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/NetworkManager/dispatcher.d/10-route"] = "ip route add 198.51.100.0/24 via 192.0.2.9\n";
  files.content[kRcLocal] = "ip addr add 192.0.2.1/24 dev ib0\n";
  const auto made = import_all(files, "scripts", {{"ib0", *model::Guid::parse("00:02:c9:03:00:31:78:f2")}});
  EXPECT_THAT(made.document, HasSubstr(kRouteOfScript));
}

TEST(ImportScripts, RoutesOfOtherInterfacesAreNoneOfOurs) {
  for (const std::string script :
       {"ip route add 198.51.100.0/24 via 203.0.113.9\n", "route add default gw 203.0.113.9\n",
        "ip route add 198.51.100.0/24 via 192.0.2.9 dev eth0\n"}) {
    const auto made =
        import_with_script(script, {{"/etc/sysconfig/network-scripts/ifcfg-ib0", ifcfg_of_ib0()}});
    EXPECT_THAT(made.document, Not(HasSubstr("routes"))) << script;
    EXPECT_THAT(made.document, Not(HasSubstr("gateway"))) << script;
    EXPECT_TRUE(made.claims.missed.empty()) << script << report_of(made.claims);
  }
}

// Two addresses that two files give are told, and so is another gateway.
TEST(ImportScripts, OtherAddressesThanThoseOfAFileAreNamed) {
  for (const std::string script :
       {"ip addr add 192.0.2.7/24 dev ib0\n", "ip route add default via 192.0.2.253\n"}) {
    const auto made = import_with_script(
        script, {{"/etc/sysconfig/network-scripts/ifcfg-ib0", ifcfg_of_ib0("GATEWAY=192.0.2.254\n")}});
    EXPECT_THAT(made.document, HasSubstr("gateway = \"192.0.2.254\"")) << script;
    EXPECT_THAT(report_of(made.claims), HasSubstr("/etc/rc.local:1: not understood: IPv4 addresses: "))
        << script;
  }
}

TEST(ImportScripts, RouteCommandsOfNetTools) {
  struct Row {
    std::string command, part;
  };
  const std::string address = "ip addr add 192.0.2.1/24 dev ib0\n";
  const std::vector<Row> taken{
      {"route add default gw 192.0.2.254 ib0", "  gateway = \"192.0.2.254\"\n"},
      {"route add default gw 192.0.2.254", "  gateway = \"192.0.2.254\"\n"},
      {"route add -host 198.51.100.7 dev ib0", "    to = \"198.51.100.7/32\"\n"},
      {"route add -net 198.51.100.0 netmask 255.255.255.0 metric 5 dev ib0",
       "    to = \"198.51.100.0/24\"\n    metric = 5\n"},
  };
  for (const auto& row : taken) {
    const auto made = import_with_script(address + row.command + "\n");
    EXPECT_THAT(made.document, HasSubstr(row.part)) << row.command;
    EXPECT_TRUE(made.claims.missed.empty()) << row.command << report_of(made.claims);
  }
  for (const std::string command :
       {"route add 198.51.100.0 dev ib0", "route add -net 198.51.100.0/24 reject ib0 x",
        "route add -net 198.51.100.0 netmask 255.0.255.0 dev ib0", "route del default gw 192.0.2.254 ib0"}) {
    const auto made = import_with_script(address + command + "\n");
    EXPECT_THAT(made.document, Not(HasSubstr("198.51.100"))) << command;
    EXPECT_THAT(made.document, Not(HasSubstr("gateway"))) << command;
  }
  EXPECT_THAT(
      report_of(import_with_script(address + "route add 198.51.100.0 dev ib0\n").claims),
      HasSubstr("/etc/rc.local:2: not understood: route add 198.51.100.0 dev ib0: the command is not"));
}

// "ib0:1" is what old tools call a further address of ib0.
TEST(ImportScripts, ALabelIsAFurtherAddress) {
  const auto made = import_with_script(
      "ifconfig ib0 192.0.2.1 netmask 255.255.255.0 up\nifconfig ib0:1 203.0.113.1 netmask 255.255.255.0\n");
  EXPECT_THAT(made.document, HasSubstr("addresses = [\"192.0.2.1/24\", \"203.0.113.1/24\"]"));
  EXPECT_TRUE(made.claims.missed.empty()) << report_of(made.claims);
}

TEST(ImportScripts, ArgumentsAndCountsOfLoops) {
  for (const std::string loop : {"set -- ib0\nfor i; do ip link set $i mtu 2044; done\n",
                                 "set -- ib0\nfor i in \"$@\"\ndo\n  ip link set \"$i\" mtu 2044\ndone\n",
                                 "for ((i=0;i<1;i++)); do ip link set ib$i mtu 2044; done\n"}) {
    const auto made = import_with_script(loop);
    EXPECT_THAT(made.document, HasSubstr("mtu = 2044\n")) << loop;
    EXPECT_TRUE(made.claims.missed.empty()) << loop << report_of(made.claims);
  }
  // Words that the script changes are told.
  for (const std::string loop :
       {"set -- ib0 ib1\nshift\nfor i; do ip link set $i mtu 2044; done\n",
        "set -- ib0; for i; do ip link set $i mtu 2044; done\n",
        "P=\"ib0 ib1\"\nP=\"$P ib2\"\nfor i in $P; do ip link set $i mtu 2044; done\n"}) {
    const auto made = import_with_script(loop);
    EXPECT_THAT(report_of(made.claims),
                HasSubstr("ip link set $i mtu 2044: the interfaces are known only when the script runs"))
        << loop;
  }
}

// Those that another program lists, or whose output is kept.
TEST(ImportScripts, NothingIsLostInPipesAndSubstitutions) {
  struct Row {
    std::string script, told;
  };
  const std::vector<Row> told{
      {"ls /sys/class/infiniband | xargs -I{} cma_roce_mode -d {} -p 1 -m 2\n", "write [[roce]]"},
      {"ls /sys/class/infiniband | xargs -I {} cma_roce_mode -d {} -p 1 -m 2\n", "write [[roce]]"},
      {"for d in $(ibdev2netdev | awk '{print $5}'); do ip link set $d mtu 2044; done\n",
       "ip link set $d mtu 2044: the interfaces are known only when the script runs"},
      {"ibdev2netdev | while read d p a n s; do ip link set $n mtu 2044; done\n",
       "ip link set $n mtu 2044: the interfaces are known only when the script runs"},
      {"ip link set ens1 vf 0 node_guid 00:11:22:33:44:55:66:77\n",
       "the document does not support virtual functions of RDMA devices; keep this command"},
  };
  for (const auto& row : told)
    EXPECT_THAT(report_of(import_with_script(row.script).claims), HasSubstr(row.told)) << row.script;
  for (const std::string script :
       {"out=$(ip link set ib0 mtu 2044 2>&1)\n", "$(ip link set ib0 mtu 2044)\n"}) {
    const auto made = import_with_script(script);
    EXPECT_THAT(made.document, HasSubstr("mtu = 2044\n")) << script;
  }
  const auto asked = import_with_script("out=$(ip link show ib0)\nip addr add 192.0.2.1/24 dev ib0\n");
  EXPECT_TRUE(asked.claims.missed.empty()) << report_of(asked.claims);
}

// In a subshell, and behind it, as in the background.
TEST(ImportScripts, SubshellsInTheBackground) {
  for (const std::string script :
       {"(ip link set ib0 mtu 2044; sleep 1) &\n", "( sleep 5 && ip link set ib0 mtu 2044 & )\n",
        "{ sleep 3; ip link set ib0 mtu 2044; } &\n"}) {
    const auto made = import_with_script(script);
    EXPECT_THAT(made.document, HasSubstr("mtu = 2044\n")) << script;
    EXPECT_TRUE(made.claims.missed.empty()) << script << report_of(made.claims);
  }
}

TEST(ImportScripts, WhatTheDocumentCannotSayIsNamed) {
  struct Row {
    std::string command, advice;
  };
  const std::string address = "ip addr add 192.0.2.1/24 dev ib0\n";
  const std::vector<Row> rows{
      {"ip rule add from 192.0.2.1 table 10",
       "the document does not support policy rules; keep this command"},
      {"ip rule add from 192.0.2.0/24 lookup 10",
       "the document does not support policy rules; keep this command"},
      {"sysctl -w net.ipv4.conf.all.arp_announce=2 net.core.rmem_max=1", "write [[sysctl]]"},
      {"echo 1 > /proc/sys/net/ipv4/conf/default/arp_ignore", "write [[sysctl]]"},
      {"echo 8 > /sys/class/infiniband/mlx5_0/device/sriov_numvfs",
       "the document does not support virtual functions of RDMA devices; keep this command"},
      {"mlxconfig -y -d /dev/mst/mt4119_pciconf0 set LINK_TYPE_P1=2",
       "the document does not support settings of a device's firmware; keep this command"},
      {"mlnx_tune -p HIGH_THROUGHPUT", "the document does not support tuning profiles; keep this command"},
      {"devlink dev eswitch set pci/0000:3b:00.0 mode switchdev",
       "the document does not support settings of devlink(8); keep this command"},
      {"devlink port add pci/0000:3b:00.0 flavour pcisf pfnum 0 sfnum 1",
       "the document does not support functions that devlink(8) adds; keep this command"},
      {"setpci -s 3b:00.0 68.w=5936",
       "the document does not support registers of PCI devices; keep this command"},
      {"ibportstate 3 1 disable",
       "the document does not support states and speeds of ports of the fabric; keep this command"},
      {"ibportstate -D 0,1 7 speed 4",
       "the document does not support states and speeds of ports of the fabric; keep this command"},
      {"smc_pnet -a RAIL1 -I eth0", "the document does not support PNET tables of SMC; keep this command"},
      {"smcr ueid add SITE1",
       "the document does not support user-defined identifiers of SMC; keep this command"},
      {"devlink dev reload pci/0000:10:00.0",
       "the document does not support reloads by devlink(8); keep this command"},
      {"ethtool -A ens1 rx on tx on",
       "the document does not support pause frames of links; keep this command"},
      {"nvmetcli restore /etc/nvmet/config.json", "write [[nvme_target]]"},
      {"mount.nfs -o rdma,port=20049 192.0.2.1:/x /mnt", "write [[nfs_mount]]"},
      {"nfsdctl listener +rdma:0.0.0.0:20049", "write [nfs_server]"},
  };
  for (const auto& row : rows) {
    const auto made = import_with_script(address + row.command + "\n");
    EXPECT_THAT(report_of(made.claims),
                HasSubstr("/etc/rc.local:2: not understood: " + row.command + ": " + row.advice + "\n"));
  }
  for (const std::string command :
       {"ip rule add from 203.0.113.1 table 10", "ip rule show", "mlxconfig -d /dev/mst/a query",
        "sysctl -w net.ipv4.conf.all.forwarding=1", "sysctl net.ipv4.conf.all.arp_ignore", "devlink dev show",
        "ethtool -a ens1", "setpci -s 3b:00.0 68.w", "ibportstate 3 1", "ibportstate -C mlx4_0 3 1 query",
        "smc_pnet -s", "smcr ueid show", "nvmetcli ls", "mount.nfs 192.0.2.1:/x /mnt",
        "nfsdctl listener +tcp:0.0.0.0:2049", "cat /sys/class/infiniband/mlx5_0/device/sriov_numvfs"}) {
    const auto made = import_with_script(address + command + "\n");
    EXPECT_TRUE(made.claims.missed.empty()) << command << report_of(made.claims);
  }
}

}  // namespace
}  // namespace rdmacfg::foreign
