// SPDX-License-Identifier: Apache-2.0
// The permanent configuration of firewalld, and files of nftables: firewalld.zone(5), firewalld.policy(5),
// nft(8).
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fakes/memory_files.hpp"
#include "formats/firewall/firewalld_zones.hpp"
#include "formats/firewall/nftables_conf.hpp"
#include "formats/firewall/ufw_rules.hpp"

namespace rdmacfg::kinds {
namespace {

constexpr FirewallPort kRoceUdp{"udp", 4791};

TEST(FirewallPorts, AreInPortsAndRanges) {
  const std::vector<std::pair<std::string, bool>> cases{
      {"4791", true},       {"4790", false}, {"4000-5000", true}, {"4791-4791", true}, {"4792-5000", false},
      {"1025-65535", true}, {"", false},     {"-4791", false},    {"4791-", false},    {"roce", false},
  };
  for (const auto& [range, expected] : cases) EXPECT_EQ(kRoceUdp.in(range), expected) << range;
  EXPECT_EQ(kRoceUdp.text(), "4791/udp");
}

/// A host whose default zone is "work", which lets SSH in; eth1 has no zone of its own.
class Firewalld : public testing::Test {
 protected:
  Firewalld() {
    at("/etc/firewalld/firewalld.conf") = "# DefaultZone=drop\nDefaultZone=work\nCleanupOnExit=yes\n";
    at("/usr/lib/firewalld/zones/work.xml") = zone("<service name=\"ssh\"/>");
    at("/usr/lib/firewalld/services/ssh.xml") = "<service><port protocol=\"tcp\" port=\"22\"/></service>\n";
  }
  std::string& at(const std::string& path) { return files.content[path]; }
  static std::string zone(const std::string& content, const std::string& attributes = "") {
    return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<zone" + attributes + ">\n  <short>Work</short>\n  " +
           content + "\n</zone>\n";
  }
  /// The zone that keeps RoCE out of eth1; "-" for none.
  std::string refuses() { return firewalld_refuses(files, "eth1", kRoceUdp).value_or("-"); }

  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
};

TEST_F(Firewalld, TheZoneIsThatOfTheInterfaceOfItsProfileOrTheDefault) {
  EXPECT_EQ(refuses(), "work");
  at("/etc/firewalld/zones/dmz.xml") = zone("<interface name='eth1'/>");
  at("/etc/firewalld/zones/home.xml") =
      zone("<!-- <interface name=\"eth1\"/> --><interface name=\"eth10\"/>");
  EXPECT_EQ(refuses(), "dmz");
  files.content.erase("/etc/firewalld/zones/dmz.xml");
  at("/etc/NetworkManager/system-connections/a.nmconnection") =
      "[connection]\ninterface-name=eth1\nzone=home\n";
  EXPECT_EQ(refuses(), "home");
  at("/etc/NetworkManager/system-connections/a.nmconnection") =
      "[connection]\ninterface-name=eth2\nzone=home\n";
  EXPECT_EQ(refuses(), "work");
}

TEST_F(Firewalld, ZonesThatAcceptThePort) {
  at("/usr/lib/firewalld/services/fabric.xml") =
      "<service><port port=\"4791\" protocol=\"udp\"/></service>\n";
  at("/etc/firewalld/services/all.xml") = "<service><include service=\"fabric\"/></service>\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"<port port=\"4791\" protocol=\"udp\"/>", "-"},
      {"<port protocol=\"udp\" port=\"4000-5000\"/>", "-"},
      {"<port port=\"4791\" protocol=\"tcp\"/>", "work"},
      {"<source-port port=\"4791\" protocol=\"udp\"/>", "work"},
      {"<protocol value=\"udp\"/>", "-"},
      {"<service name=\"fabric\"/>", "-"},
      {"<service name=\"all\"/>", "-"},
      {"<service name=\"unknown\"/>", "-"},
      {"<rule family=\"ipv4\"><source address=\"192.0.2.0/24\"/><accept/></rule>", "-"},
      {"<rule><source address=\"192.0.2.0/24\"/><port port=\"4791\" protocol=\"udp\"/><accept/></rule>", "-"},
      {"<rule><source address=\"192.0.2.0/24\"/><port port=\"22\" protocol=\"tcp\"/><accept/></rule>",
       "work"},
      {"<rule><source address=\"192.0.2.0/24\"/><drop/></rule>", "work"},
      {"<rule><icmp-type name=\"echo-request\"/><accept/></rule>", "work"},
      {"<!-- <port port=\"4791\" protocol=\"udp\"/> -->", "work"},
  };
  for (const auto& [content, expected] : cases) {
    at("/etc/firewalld/zones/work.xml") = zone(content);
    EXPECT_EQ(refuses(), expected) << content;
  }
  at("/etc/firewalld/zones/work.xml") = zone("", " target=\"ACCEPT\"");
  EXPECT_EQ(refuses(), "-");
  at("/etc/firewalld/zones/work.xml") = zone("", " target=\"DROP\"");
  EXPECT_EQ(refuses(), "work");
}

TEST_F(Firewalld, ZonesForSourcesPoliciesAndDirectRulesMayAccept) {
  const std::string open = "<port port=\"4791\" protocol=\"udp\"/>";
  at("/etc/firewalld/zones/storage.xml") = zone(open);
  EXPECT_EQ(refuses(), "work") << "a zone of other interfaces";
  at("/etc/firewalld/zones/storage.xml") = zone("<source address=\"192.0.2.0/24\"/>" + open);
  EXPECT_EQ(refuses(), "-");
  files.content.erase("/etc/firewalld/zones/storage.xml");

  const auto policy = [](const std::string& from, const std::string& to) {
    return "<policy target=\"ACCEPT\"><ingress-zone name=\"" + from + "\"/><egress-zone name=\"" + to +
           "\"/></policy>\n";
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {policy("work", "HOST"), "-"},
      {policy("ANY", "HOST"), "-"},
      {policy("libvirt", "HOST"), "work"},
      {policy("ANY", "libvirt"), "work"},
  };
  for (const auto& [text, expected] : cases) {
    at("/usr/lib/firewalld/policies/p.xml") = text;
    EXPECT_EQ(refuses(), expected) << text;
  }
  at("/etc/firewalld/direct.xml") = "<direct></direct>\n";
  EXPECT_EQ(refuses(), "work");
  at("/etc/firewalld/direct.xml") =
      "<direct><rule ipv=\"ipv4\" table=\"filter\" chain=\"INPUT\" priority=\"0\">-j "
      "ACCEPT</rule></direct>\n";
  EXPECT_EQ(refuses(), "-");
}

TEST_F(Firewalld, NothingIsSaidOfZonesThatCannotBeRead) {
  at("/etc/firewalld/firewalld.conf") = "DefaultZone=mine\n";
  EXPECT_EQ(refuses(), "-");
  at("/etc/firewalld/zones/mine.xml") = zone("");
  EXPECT_EQ(refuses(), "mine");
  files.unreadable.insert("/etc/firewalld/zones/mine.xml");
  EXPECT_EQ(refuses(), "-");
}

struct NftCase {
  std::string rules;  ///< of the input chain
  bool refuses;
};

TEST(Nftables, RefusesWhatNoRuleAccepts) {
  const std::vector<NftCase> cases{
      {"", true},
      {"ct state established,related accept", true},
      {"ct state vmap { established : accept, related : accept, invalid : drop }", true},
      {"iifname \"lo\" accept", true},
      {"icmpv6 type { echo-request, nd-neighbor-solicit } accept", true},
      {"tcp dport { 22, 443 } accept # 4791", true},
      {"udp dport 4791 accept", false},
      {"udp dport { 53, 4000-5000 } accept", false},
      {"udp dport roce accept", false},
      {"udp dport @open accept", false},
      {"udp dport $ports accept", false},
      {"tcp dport != 22 accept", false},
      {"iifname \"eth1\" accept", false},
      {"ip saddr 192.0.2.0/24 accept", false},
      {"ct state new accept", false},
      {"ct state new tcp dport 22 accept", true},
  };
  for (const auto& [rules, refuses] : cases) {
    const auto text =
        "flush ruleset\ntable inet filter {\n  chain input {\n    type filter hook input priority filter; "
        "policy drop;\n    " +
        rules +
        "\n  }\n  chain output {\n    type filter hook output priority filter; policy accept;\n  }\n}\n";
    EXPECT_EQ(nftables_refuses(text, kRoceUdp), refuses) << rules;
  }
}

TEST(Nftables, OnlyAChainForPacketsToTheHostRefuses) {
  const auto chain = [](const std::string& table, const std::string& head) {
    return "table " + table + " {\n chain c {\n  type filter hook " + head + "\n }\n}\n";
  };
  EXPECT_TRUE(nftables_refuses(chain("inet filter", "input priority 0; policy drop;"), kRoceUdp));
  EXPECT_TRUE(nftables_refuses(chain("ip filter", "input priority 0; policy drop;"), kRoceUdp));
  EXPECT_FALSE(nftables_refuses(chain("inet filter", "input priority 0; policy accept;"), kRoceUdp));
  EXPECT_FALSE(nftables_refuses(chain("inet filter", "input priority 0;"), kRoceUdp))
      << "accept is the default";
  EXPECT_FALSE(nftables_refuses(chain("inet filter", "forward priority 0; policy drop;"), kRoceUdp));
  EXPECT_FALSE(nftables_refuses(chain("bridge filter", "input priority 0; policy drop;"), kRoceUdp));
  EXPECT_FALSE(nftables_refuses(
      "include \"/etc/nftables/*.nft\"\n" + chain("inet filter", "input priority 0; policy drop;"),
      kRoceUdp));
  EXPECT_FALSE(nftables_refuses("", kRoceUdp));
}

/// An enabled ufw with the rules that it ships, and no others.
class Ufw : public testing::Test {
 protected:
  Ufw() {
    files.content["/etc/ufw/ufw.conf"] = "# ENABLED=no\nENABLED=yes\nLOGLEVEL=low\n";
    files.content["/etc/default/ufw"] =
        "IPV6=yes\nDEFAULT_INPUT_POLICY=\"DROP\"\nDEFAULT_OUTPUT_POLICY=\"ACCEPT\"\n";
    files.content["/etc/ufw/before.rules"] = "*filter\n-A ufw-before-input -i lo -j ACCEPT\nCOMMIT\n";
    files.content["/etc/ufw/after.rules"] = "*filter\nCOMMIT\n";
    files.content["/etc/ufw/user.rules"] = "*filter\n### RULES ###\n### END RULES ###\nCOMMIT\n";
  }
  bool refuses() { return ufw_refuses(files, "eth1", kRoceUdp); }

  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
};

TEST_F(Ufw, RefusesWhatNoRuleAccepts) {
  const std::vector<std::pair<std::string, bool>> cases{
      {"", true},
      {"allow any 22 0.0.0.0/0 any 0.0.0.0/0 in", true},
      {"allow udp 4791 0.0.0.0/0 any 0.0.0.0/0 in", false},
      {"allow any 4791 0.0.0.0/0 any 0.0.0.0/0 in", false},
      {"allow tcp 4791 0.0.0.0/0 any 0.0.0.0/0 in", true},
      {"allow udp 53,4000:5000 0.0.0.0/0 any 0.0.0.0/0 in", false},
      {"allow_log udp 4791 0.0.0.0/0 any 0.0.0.0/0 in", false},
      {"limit udp 4791 0.0.0.0/0 any 0.0.0.0/0 in", false},
      {"deny udp 4791 0.0.0.0/0 any 0.0.0.0/0 in", true},
      {"allow udp 4791 0.0.0.0/0 any 0.0.0.0/0 out", true},
      {"route:allow udp 4791 0.0.0.0/0 any 0.0.0.0/0 in", true},
      {"allow any any 0.0.0.0/0 any 192.0.2.0/24 in", false},
      {"allow any any 0.0.0.0/0 any 0.0.0.0/0 in_eth1", false},
      {"allow any any 0.0.0.0/0 any 0.0.0.0/0 in_eth10", true},
      {"allow udp 4791 0.0.0.0/0 any 0.0.0.0/0 RoCE - in", false},
  };
  for (const auto& [tuple, expected] : cases) {
    files.content["/etc/ufw/user.rules"] = "*filter\n### RULES ###\n\n### tuple ### " + tuple + "\nCOMMIT\n";
    EXPECT_EQ(refuses(), expected) << tuple;
  }
}

TEST_F(Ufw, SaysNothingWhereItIsOffOpenOrCannotBeRead) {
  EXPECT_TRUE(refuses());
  const auto with = [&](const std::string& path, const std::string& text) {
    auto& file = files.content[path];
    const auto former = std::exchange(file, text);
    const bool refused = refuses();
    file = former;
    return refused;
  };
  EXPECT_FALSE(with("/etc/ufw/ufw.conf", "ENABLED=no\n"));
  EXPECT_FALSE(with("/etc/default/ufw", "DEFAULT_INPUT_POLICY=\"ACCEPT\"\n"));
  EXPECT_TRUE(with("/etc/default/ufw", "DEFAULT_INPUT_POLICY=\"REJECT\"\n"));
  EXPECT_FALSE(with("/etc/ufw/before.rules", "-A ufw-before-input -i eth1 -j ACCEPT\n"));
  EXPECT_FALSE(with("/etc/ufw/after.rules", "-A ufw-after-input -p udp --dport 4791 -j ACCEPT\n"));
  files.unreadable.insert("/etc/ufw/user.rules");
  EXPECT_FALSE(refuses());
}

}  // namespace
}  // namespace rdmacfg::kinds
