// SPDX-License-Identifier: Apache-2.0
// The documents of a site: every mistake is found, once, with its hosts and lines, and nothing else is.
#include "fleet/site_check.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "fakes/fleet_site.hpp"
#include "fleet/host_list.hpp"

namespace rdmacfg::fleet {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAreArray;

using Mistake = std::pair<std::string, std::string>;

std::vector<Mistake> mistakes_in(const SiteReport& site) {
  std::vector<Mistake> out;
  for (const auto& finding : site.findings)
    out.emplace_back(finding.rule, fold_hosts(site.hosts, finding.hosts));
  return out;
}

std::string text_of(const SiteReport& site) {
  std::string out;
  for (const auto& finding : site.findings) {
    out += fmt::format("{} {}: {}\n", finding.rule, fold_hosts(site.hosts, finding.hosts), finding.message);
    for (const auto& place : finding.places) out += fmt::format("  {} {}\n", place.where.text(), place.note);
  }
  return out;
}

SiteReport site_of(const std::string& hosts, const std::string& toml, std::vector<config::Text> more = {}) {
  std::vector<config::Text> texts{{"/s/config.toml", "version = 1\n" + toml}};
  for (auto& text : more) texts.push_back(std::move(text));
  return check_site(std::move(texts), parse_hosts({"--hosts", hosts}).names);
}

TEST(SiteCheck, ASoundSiteIsSound) {
  auto site = fakes::fleet_site(300, fakes::Mistakes::kNone);
  const auto report = check_site(std::move(site.texts), parse_hosts({"--hosts", site.hosts}).names);
  EXPECT_EQ(text_of(report), "");
  EXPECT_EQ(report.hosts.size(), 302U);
}

TEST(SiteCheck, FortyMistakesAreFortyFindings) {
  auto site = fakes::fleet_site(300, fakes::Mistakes::kForty);
  ASSERT_EQ(site.mistakes.size(), 40U);
  auto list = parse_hosts({"--hosts", site.hosts});
  ASSERT_EQ(list.diagnostics.size(), 1U);
  const auto report = check_site(std::move(site.texts), std::move(list.names));
  auto found = mistakes_in(report);
  found.emplace_back("list", "gpu00007");
  EXPECT_THAT(found, UnorderedElementsAreArray(site.mistakes)) << text_of(report);
  std::set<std::string> sorts;
  for (const auto& [rule, hosts] : site.mistakes) sorts.insert(rule);
  for (const auto& rule : rules()) {
    if (rule.name == "sm-none") continue;  // in a site without the others
    EXPECT_TRUE(sorts.contains(std::string(rule.name))) << rule.name << " is not tried";
  }
}

constexpr const char* kCounted =
    "[host.address]\nib0 = { network = \"10.1.0.0/24\" }\n[[ipoib]]\ndevice = \"mlx5_0\"\nport = 1\n"
    "ipv4 = { addresses = [\"{host.ib0}\"] }\n";

TEST(SiteCheck, TheMistakeOfManyHostsIsOneFinding) {
  const auto report = site_of("gpu[250-260],login", kCounted);
  ASSERT_EQ(report.findings.size(), 4U) << text_of(report);
  EXPECT_EQ(report.findings[0].rule, "document");
  EXPECT_THAT(mistakes_in(report),
              ElementsAre(Mistake("document", "gpu255"), Mistake("document", "gpu[256-260]"),
                          Mistake("document", "login"), Mistake("sm-none", "gpu[250-260],login")));
  EXPECT_EQ(report.findings[3].places.at(0).where.text(), "/s/config.toml:4:1");
  EXPECT_EQ(report.findings[0].places[0].where.text(), "/s/config.toml:7:23");
}

TEST(SiteCheck, OneAddressForAllIsOneFinding) {
  const auto report =
      site_of("a[1-50]",
              "[[ipoib]]\ndevice = \"mlx5_0\"\nport = 1\n"
              "ipv4 = { addresses = [\"10.0.0.1/24\"] }\n[[opensm]]\nguid = \"{host.g}\"\n[host]\n"
              "table = \"t.csv\"\n",
              {});
  EXPECT_THAT(text_of(report), HasSubstr("address a[1-50]: address 10.0.0.1 is given to 50 hosts\n"));
}

TEST(SiteCheck, AFileWithoutAVersionIsThatOfEachHost) {
  const auto report = check_site({{"/s/config.toml", "[[module]]\nname = \"ib_ipoib\"\n"}},
                                 parse_hosts({"--hosts", "a[1-3]"}).names);
  EXPECT_THAT(mistakes_in(report), ElementsAre(Mistake("document", "a[1-3]"))) << text_of(report);
  EXPECT_THAT(text_of(report), HasSubstr("version is missing"));
  EXPECT_FALSE(report.compared);
}

TEST(SiteCheck, AnAddressOfAListHasThePlaceOfItsOwnValue) {
  const auto report =
      site_of("a[1-2]",
              "[host]\ntable = \"t.csv\"\n[host.address]\nib0 = { network = \"10.1.0.0/16\" }\n"
              "[[ipoib]]\ndevice = \"mlx5_0\"\nport = 1\n"
              "ipv4 = { addresses = [\"{host.ib0}\", \"{host.ip}\", \"10.3.0.9/16\"] }\n",
              {{"/s/t.csv", "host,ip\na1,10.2.0.9/16\na2,10.2.0.9/16\n"}});
  EXPECT_THAT(text_of(report), HasSubstr("address 10.2.0.9 is given to 2 hosts\n  /s/t.csv:2:4 "));
  EXPECT_THAT(text_of(report), HasSubstr("address 10.3.0.9 is given to 2 hosts\n  /s/config.toml:9:22 "));
}

/// The check of a host's document tells of an address that two interfaces of the host have.
TEST(SiteCheck, AnAddressThatAHostHasTwiceIsOneFinding) {
  const auto port = [](const std::string& name, const std::string& address) {
    return "[[ipoib]]\nname = \"" + name + "\"\nguid = \"00:02:c9:03:00:31:78:{host.number}" + name.back() +
           "\"\nipv4 = { addresses = [\"" + address + "\"] }\n";
  };
  const auto document = port("rail0", "10.0.0.{host.number}/24") + port("rail1", "10.0.0.{host.number}/24");
  const auto report = text_of(site_of("a[1-2]", document));
  EXPECT_THAT(report, HasSubstr("document a[1,2]: "));
  EXPECT_THAT(report, Not(HasSubstr("\naddress "))) << report;
  const auto shared = port("rail0", "10.0.0.9/24") + port("rail1", "10.0.0.9/24");
  EXPECT_THAT(text_of(site_of("a[1-2]", shared)),
              HasSubstr("address a[1,2]: address 10.0.0.9 is given to 2 hosts\n"));
}

TEST(SiteCheck, ManyDuplicatesOfALineAreOneFinding) {
  const auto report = site_of("a[1-25],b[1-25]",
                              "[host.address]\nib0 = { network = \"10.1.0.0/16\" }\n[[opensm]]\nguid = "
                              "\"00:02:c9:03:00:31:78:f2\"\n[[ipoib]]\ndevice = \"mlx5_0\"\nport = 1\n"
                              "ipv4 = { addresses = [\"{host.ib0}\"] }\n");
  EXPECT_THAT(
      text_of(report),
      HasSubstr("address a[1-25],b[1-25]: 25 addresses are given more than once, such as 10.1.0.1\n"));
}

TEST(SiteCheck, APartitionWithoutAClearNetworkIsAWarning) {
  const auto report =
      site_of("r[1-3]n[1-2]",
              "[host.address]\nib0 = { network = \"10.0.0.0/8\", step = [256, 1] }\n"
              "[host.values.\"r1*\"]\nlength = 24\n[host.values.\"r2*\"]\nlength = 25\n"
              "[host.values.\"r3*\"]\nlength = 26\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n"
              "[[ipoib]]\ndevice = \"mlx5_0\"\nport = 1\n"
              "ipv4 = { addresses = [\"{host.ib0.address}/{host.length}\"] }\n");
  ASSERT_THAT(text_of(report),
              HasSubstr("partition-subnet r[1-3]n[1,2]: partition 0xffff on mlx5_0/1 is in 3 IPv4 "
                        "networks"));
  for (const auto& finding : report.findings) {
    if (finding.rule != "partition-subnet") continue;
    EXPECT_EQ(finding.severity, model::Severity::kWarning);
  }
}

/// A site of hosts a1, a2, … with one port each, which has these keys; a1 runs the subnet manager.
std::string findings_of_ports(const std::vector<std::string>& ports) {
  std::vector<config::Text> files;
  for (std::size_t at = 0; at < ports.size(); ++at) {
    const auto host = fmt::format("a{}", at + 1);
    files.push_back(
        {fmt::format("/s/{}.toml", host),
         fmt::format("[match]\nhost = [\"{}\"]\n{}[[ipoib]]\ndevice = \"mlx5_0\"\nport = 1\n{}\n", host,
                     at == 0 ? "[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n" : "", ports[at])});
  }
  return text_of(site_of(fmt::format("a[1-{}]", ports.size()), "", std::move(files)));
}

/// Keys of a port with addresses such as 10.1.0.4/16.
std::string addresses_of(const std::string& list, const std::string& more = "") {
  return fmt::format("ipv4 = {{ addresses = [{}] }}\n{}", list, more);
}

TEST(SiteCheck, APortWithASecondNetworkReachesTheOthers) {
  const auto first = addresses_of("\"10.1.0.1/16\""), second = addresses_of("\"10.1.0.2/16\""),
             third = addresses_of("\"10.1.0.3/16\"");
  // A gateway, and a second address in the same network.
  EXPECT_EQ(findings_of_ports({first, second, third, addresses_of("\"10.1.0.4/16\", \"10.9.0.4/24\"")}), "");
  EXPECT_EQ(findings_of_ports({first, second, third, addresses_of("\"10.1.0.4/16\", \"10.1.0.5/16\"")}), "");
  // As many with the second network as without.
  EXPECT_EQ(findings_of_ports({first, addresses_of("\"10.1.0.4/16\", \"10.9.0.4/24\"")}), "");
  EXPECT_THAT(findings_of_ports({first, second, third, addresses_of("\"10.9.0.4/24\"")}),
              HasSubstr("partition-subnet a4: partition 0xffff on mlx5_0/1 is in network 10.9.0.0/24, but in "
                        "10.1.0.0/16 on 3 hosts\n"));
  // One that lacks the second network of the others does not reach them there.
  EXPECT_THAT(findings_of_ports({addresses_of("\"10.1.0.1/16\", \"10.9.0.1/24\""),
                                 addresses_of("\"10.1.0.2/16\", \"10.9.0.2/24\""), third}),
              HasSubstr("partition-subnet a3: partition 0xffff on mlx5_0/1 is in network 10.1.0.0/16, but in "
                        "10.1.0.0/16 and 10.9.0.0/24 on 2 hosts\n"));
}

TEST(SiteCheck, MtusAreComparedWithinTheCommonNetwork) {
  const auto usual = [](int host) {
    return addresses_of(fmt::format("\"10.1.0.{}/16\"", host), "mtu = 2044\n");
  };
  for (const auto* list : {"\"10.1.0.4/16\", \"10.9.0.4/24\"", "\"10.1.0.4/16\", \"10.0.0.4/24\""})
    EXPECT_THAT(findings_of_ports({usual(1), usual(2), usual(3), addresses_of(list, "mtu = 1500\n")}),
                HasSubstr("partition-mtu a4: network 10.1.0.0/16 has MTU 1500, but 2044 on 3 hosts\n"))
        << list;
}

TEST(SiteCheck, ValuesOfUnknownHostsAreOneFindingForEachFile) {
  const auto report = site_of("a[1-3].x.net,b1",
                              "[[module]]\nname = \"ib_umad\"\n[host.values]\n"
                              "c2 = { m = 1 }\nC1 = { m = 1 }\nA1 = { m = 1 }\n\"a2.x.net\" = { m = 1 }\n"
                              "\"b1.x.net\" = { m = 1 }\n\"a3.y.net\" = { m = 1 }\n");
  EXPECT_THAT(text_of(report),
              HasSubstr("unknown-host : [host.values] has values for 3 hosts that are not in the list: "
                        "a3.y.net,c[1,2]\n  /s/config.toml:5:12 \n"));
  EXPECT_THAT(mistakes_in(report), ElementsAre(Mistake("unknown-host", "")));
}

TEST(SiteCheck, LinesOfUnknownHostsFoldInWhateverCaseTheyAre) {
  const auto report = site_of("gpu1", "[[module]]\nname = \"{host.m}\"\n[host]\ntable = \"nodes.csv\"\n",
                              {{"/s/nodes.csv",
                                "host,m\ngpu1,ib_umad\ngpu003.x.net,a\nGPU004.x.net,a\ngpu005.X.net,a\n"
                                "gpu9.x.net,a\ngpu2,a\nGPU2.x.net,a\n"}});
  EXPECT_THAT(text_of(report),
              HasSubstr("unknown-host : /s/nodes.csv has values for 6 hosts that are not in the list: "
                        "gpu2,gpu[2,003-005,9].x.net\n  /s/nodes.csv:3:1 \n"));
}

/// A host that calls itself by the full name would have other values than those that were checked.
TEST(SiteCheck, ALineOfAFullNameBesideThatOfTheShortOneIsOfAnotherHost) {
  const std::string toml = "[[module]]\nname = \"{host.m}\"\n[host]\ntable = \"nodes.csv\"\n";
  const config::Text both{"/s/nodes.csv", "host,m\ngpu1,ib_umad\ngpu1.x.net,ib_ucm\n"};
  EXPECT_THAT(text_of(site_of("gpu1", toml, {both})),
              HasSubstr("has values for 1 host that is not in the list: gpu1.x.net\n  /s/nodes.csv:3:1"));
  EXPECT_EQ(text_of(site_of("gpu1.x.net", toml, {{"/s/nodes.csv", "host,m\ngpu1,ib_umad\n"}})), "");
  EXPECT_EQ(text_of(site_of("gpu1.x.net,gpu2", toml,
                            {{"/s/nodes.csv", "host,m\ngpu1.x.net,ib_umad\ngpu2,ib_umad\n"}})),
            "");
}

TEST(SiteCheck, OneNameInTwoDomainsIsAWarning) {
  const auto severity = [](const std::string& hosts) {
    const auto report = site_of(hosts, "[[module]]\nname = \"ib_umad\"\n");
    EXPECT_THAT(text_of(report), HasSubstr(": 2 hosts are called gpu1 without their domains\n"));
    return report.findings.empty() ? std::nullopt : std::optional(report.findings.front().severity);
  };
  EXPECT_EQ(severity("gpu1.r1.example.net,gpu1.r2.example.net"), model::Severity::kWarning);
  EXPECT_EQ(severity("gpu1,gpu1.r2.example.net"), model::Severity::kError);
}

TEST(SiteCheck, HostsListedByTheirAddressesAreOneFinding) {
  const auto report = site_of("10.0.0.[1-3],gpu1,a.1.2.3", "[[module]]\nname = \"ib_umad\"\n");
  EXPECT_EQ(text_of(report), "host-name 10.0.0.[1-3]: 3 hosts are listed by address, such as 10.0.0.1\n");
  const auto single = site_of("10.0.0.7", "[[module]]\nname = \"ib_umad\"\n");
  EXPECT_EQ(text_of(single), "host-name 10.0.0.7: 1 host is listed by address, such as 10.0.0.7\n");
}

TEST(SiteCheck, MapsOfDscpsAreCompared) {
  const auto pfc = [](const std::string& host, const std::string& map) {
    return config::Text{"/s/" + host + ".toml",
                        "[match]\nhost = [\"" + host +
                            "\"]\n[[pfc]]\ninterface = \"ens1\"\npriorities = [3]\ndscp = "
                            "[\"" +
                            map + "\"]\n"};
  };
  const auto report = site_of("a,b,c", "", {pfc("a", "26:3"), pfc("b", "26:3"), pfc("c", "24:3")});
  EXPECT_THAT(text_of(report),
              HasSubstr("pfc-dscp c: ens1: priorities of DSCPs 24:3, but 26:3 on 2 hosts\n"));
}

TEST(SiteCheck, PortsWithOtherNamesOnOtherHostsMayBeOneNetwork) {
  const auto file = [](const std::string& hosts, const std::string& interface, int dscp) {
    return config::Text{
        fmt::format("/s/{}-{}.toml", hosts, interface),
        fmt::format("[match]\nhost = [\"{}*\"]\n[[lossless]]\ninterface = \"{}\"\ndscp = {}\n", hosts,
                    interface, dscp)};
  };
  const auto apart =
      site_of("a[1-3],b[1-2]", "", {file("a", "ens1", 26), file("a", "ens2", 46), file("b", "enp65s0", 24)});
  EXPECT_THAT(text_of(apart), HasSubstr("roce-dscp b[1,2]: enp65s0: DSCP 24, but 26 on 3 hosts with ens1\n"));
  for (const auto& finding : apart.findings) {
    if (finding.rule != "roce-dscp") continue;
    EXPECT_EQ(finding.severity, model::Severity::kWarning);
    EXPECT_EQ(fold_hosts(apart.hosts, finding.hosts), "b[1,2]")
        << "ens2 is another network of the same hosts";
  }
  EXPECT_THAT(text_of(site_of("a[1-2],b[1-2]", "", {file("a", "ens1", 26), file("b", "enp65s0", 26)})),
              Not(HasSubstr("roce-dscp")));
  EXPECT_THAT(text_of(site_of("a[1-3],b[1-2]", "",
                              {file("a", "ens1", 26), file("a", "ens2", 46), file("b", "enp65s0", 46)})),
              Not(HasSubstr("roce-dscp")))
      << "enp65s0 is in the network of ens2";
}

/// Two hosts with one P_Key interface each, on ports …:01 and …:02; host a1 runs the subnet manager.
SiteReport partition_site(const std::string& members) {
  return site_of("a[1-2]",
                 "[host.address]\nst = { network = \"10.3.0.0/16\" }\n[[ipoib]]\nguid = "
                 "\"00:02:c9:03:00:31:78:0{host.number}\"\nname = \"rail0\"\n[[ipoib.pkey]]\npkey = "
                 "0x8002\nipv4 = { addresses = [\"{host.st}\"] }\n",
                 {{"/s/sm.toml",
                   "[match]\nhost = [\"a1\"]\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:01"
                   "\"\n[[partition]]\npkey = 0x7fff\n[[partition]]\npkey = "
                   "0x8002\nmembers = [" +
                       members + "]\n"}});
}

TEST(SiteCheck, LimitedMembersNeedAFullOneThatTheyReach) {
  const auto limited = HasSubstr(
      "pkey-limited a[1,2]: all interfaces in partition 0x8002 are limited members: none of them can reach "
      "another\n");
  EXPECT_THAT(text_of(partition_site("\"ALL=limited\"")), limited);
  EXPECT_EQ(text_of(partition_site("\"ALL=limited\", \"SELF=full\"")), "");
  EXPECT_EQ(text_of(partition_site("\"ALL=limited\", \"00:02:c9:03:00:31:78:02=full\"")), "");
  // A server outside of the list.
  EXPECT_EQ(text_of(partition_site("\"ALL=limited\", \"00:02:c9:03:00:99:99:99=full\"")), "");
  EXPECT_THAT(text_of(partition_site("\"ALL=limited\", \"00:02:c9:03:00:99:99:99=limited\"")), limited);
  // A later member replaces an earlier one of the same port.
  EXPECT_THAT(text_of(partition_site("\"00:02:c9:03:00:31:78:02=full\", \"ALL=limited\"")), limited);
  const auto replaced = text_of(partition_site("\"SELF=full\", \"ALL=limited\""));
  EXPECT_THAT(replaced, limited);
  EXPECT_THAT(replaced,
              HasSubstr("document a1: [[partition]] members: SELF=full has no effect, because ALL=limited "
                        "follows with another membership\n"));
  EXPECT_THAT(replaced, HasSubstr("document a1: [[partition]] members: every host is a limited member"));
  // All ports but those of the list are full members.
  EXPECT_EQ(text_of(partition_site("\"ALL=full\", \"00:02:c9:03:00:31:78:01=limited\", "
                                   "\"00:02:c9:03:00:31:78:02=limited\"")),
            "");
}

TEST(SiteCheck, AnMtuNeedsMulticastGroupsThatCarryIt) {
  const auto mistakes = [](const std::string& interface, const std::string& partition) {
    return text_of(site_of("a[1-2]",
                           "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:0{host.number}\"\nname = "
                           "\"rail0\"\n[[ipoib.pkey]]\npkey = 0x8002\n" +
                               interface,
                           {{"/s/sm.toml",
                             "[match]\nhost = [\"a1\"]\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:01\"\n"
                             "[[partition]]\npkey = 0x7fff\n[[partition]]\npkey = 0x8002\n" +
                                 partition}}));
  };
  const auto found = HasSubstr(
      "partition-mtu a[1,2]: partition 0x8002 has MTU 4092, but its multicast groups carry 2044\n"
      "  /s/config.toml:7:7 of host a1\n");
  EXPECT_THAT(mistakes("mtu = 4092\nmode = \"datagram\"\n", ""), found);
  EXPECT_THAT(mistakes("mtu = 4092\n", "mtu = 4\n"), found);
  for (const auto* enough : {"mtu = 4096\n", "mtu = 5\n"})
    EXPECT_EQ(mistakes("mtu = 4092\n", enough), "") << enough;
  EXPECT_THAT(mistakes("mtu = 4092\n", "ipoib = false\n"), Not(HasSubstr("partition-mtu")));
  EXPECT_EQ(
      mistakes("mtu = \"{host.m}\"\n[host.values.a1]\nm = 2044\n[host.values.a2]\nm = 4092\n", ""),
      "partition-mtu a2: partition 0x8002 has MTU 4092, but 2044 on 1 host\n  /s/config.toml:11:5 of host "
      "a2\n  /s/config.toml:9:5 of most hosts\n")
      << "one mistake, one finding";
  EXPECT_EQ(mistakes("mtu = 2044\n", ""), "");
  EXPECT_EQ(mistakes("mtu = 65520\nmode = \"connected\"\n", ""), "");
}

TEST(SiteCheck, AnInterfaceNeedsABroadcastGroup) {
  // Of a1 to a4; a1 runs the subnet manager, and `standby` is the document of a2.
  const auto findings = [](const std::string& interface, const std::string& partitions,
                           const std::string& standby = "") {
    const auto file = [](const std::string& number, const std::string& rules) {
      return config::Text{"/s/sm" + number + ".toml", "[match]\nhost = [\"a" + number +
                                                          "\"]\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:0" +
                                                          number + "\"\npriority = " + number + "\n" + rules};
    };
    std::vector<config::Text> files{file("1", partitions)};
    if (!standby.empty()) files.push_back(file("2", standby));
    return text_of(site_of("a[1-4]",
                           "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:0{host.number}\"\nname = "
                           "\"rail0\"\n" +
                               interface,
                           std::move(files)));
  };
  const std::string pkey = "[[ipoib.pkey]]\npkey = 0x8002\n";
  const std::string usual = "[[partition]]\npkey = 0x7fff\nmembers = [\"ALL=full\"]\n";
  const std::string partition = "[[partition]]\npkey = 0x8002\nmembers = [\"ALL=full\"]\n";
  const auto with = partition + usual, without = partition + "ipoib = false\n" + usual;
  const auto found = findings(pkey, without);
  EXPECT_THAT(found, HasSubstr("pkey-ipoib a[2-4]: partition 0x8002 has ipoib = false\n  /s/config.toml:5:"));
  EXPECT_THAT(found, ContainsRegex("pkey-ipoib [^\n]*\n[^\n]*\n  /s/sm1.toml:6:[0-9]+ the partition\n"));
  EXPECT_THAT(found, HasSubstr("document a1: [[ipoib.pkey]] pkey: [[partition]] 0x8002 has ipoib = false\n"))
      << "its own document tells it";
  EXPECT_THAT(findings(pkey, with), Not(HasSubstr("ipoib = false")));
  EXPECT_THAT(findings(pkey + "state = \"absent\"\n", without), Not(HasSubstr("pkey-ipoib")));
  EXPECT_THAT(findings(pkey, without, without), HasSubstr("pkey-ipoib a[3,4]: "));
  EXPECT_THAT(findings(pkey, without, with), Not(HasSubstr("pkey-ipoib"))) << "sm-partition tells of it";
  // A port is in the default partition, which it uses only with an address of its own.
  const auto default_without = usual + "ipoib = false\n";
  EXPECT_THAT(findings("", default_without), Not(HasSubstr("pkey-ipoib")));
  EXPECT_THAT(findings("ipv4 = { addresses = [\"10.1.0.{host.number}/24\"] }\n", default_without),
              HasSubstr("pkey-ipoib a[1-4]: partition 0xffff has ipoib = false\n"));
}

/// A rail may have another MTU than most: that is not a difference between hosts.
TEST(SiteCheck, TheMtuOfEachRailNeedsMulticastGroupsThatCarryIt) {
  std::string rails;
  for (int rail = 1; rail <= 3; ++rail)
    rails += fmt::format(
        "[[ipoib]]\nguid = \"00:02:c9:03:00:31:7{0}:0{{host.number}}\"\nname = \"rail{0}\"\n"
        "mode = \"datagram\"\nmtu = {1}\n",
        rail, rail == 3 ? 4092 : 2044);
  const auto found =
      text_of(site_of("a[1-2]", rails,
                      {{"/s/sm.toml",
                        "[match]\nhost = [\"a1\"]\n[[opensm]]\nguid = \"00:02:c9:03:00:31:71:01\"\n"
                        "[[partition]]\npkey = 0x7fff\nmembers = [\"ALL=full\"]\n"}}));
  EXPECT_THAT(found,
              HasSubstr("partition-mtu a[1,2]: partition 0xffff has MTU 4092, but its multicast groups "
                        "carry 2044\n"));
}

TEST(SiteCheck, AManagerWithoutAPriorityHasThatOfOpensm) {
  const auto managers = [](const std::string& first, const std::string& second) {
    const auto file = [](const std::string& host, const std::string& priority) {
      return config::Text{"/s/" + host + ".toml", "[match]\nhost = [\"" + host +
                                                      "\"]\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:0" +
                                                      host.substr(1) + "\"\n" + priority};
    };
    return text_of(site_of("a[1-2]", "", {file("a1", first), file("a2", second)}));
  };
  EXPECT_THAT(managers("priority = 0\n", ""),
              HasSubstr("sm-priority a[1,2]: 2 subnet managers have the highest priority 0\n"));
  EXPECT_THAT(managers("", ""), HasSubstr("sm-priority a[1,2]: 2 subnet managers have no priority\n"));
  EXPECT_EQ(managers("priority = 1\n", ""), "");
}

TEST(SiteCheck, APriorityAndAPkeyHaveThePlacesOfTheirValues) {
  const auto report =
      site_of("a[1-2]",
              "[host]\ntable = \"t.csv\"\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:0{host.number}\"\n"
              "priority = \"{host.prio}\"\n[[partition]]\npkey = 0x7fff\n[[ipoib]]\n"
              "guid = \"00:02:c9:03:00:31:78:0{host.number}\"\n[[ipoib.pkey]]\npkey = \"{host.pkey}\"\n",
              {{"/s/t.csv", "host,prio,pkey\na1,3,0x8004\na2,3,0x8004\n"}});
  EXPECT_THAT(text_of(report), HasSubstr("2 subnet managers have the highest priority 3\n"
                                         "  /s/t.csv:2:4 of host a1\n  /s/t.csv:3:4 of host a2\n"));
  EXPECT_THAT(text_of(report), HasSubstr("no [[partition]] defines P_Key 0x8004\n  /s/t.csv:2:6 \n"));
}

/// The check of the subnet manager's own document knows its own partitions alone.
TEST(SiteCheck, APkeyOfASubnetManagersHostIsSaidOnce) {
  const std::string site =
      "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:0{host.number}\"\n[[ipoib.pkey]]\npkey = 0x8004\n";
  const auto manager = [](const std::string& host, const std::string& partition) {
    return config::Text{"/s/" + host + ".toml",
                        fmt::format("[match]\nhost = [\"{0}\"]\n[[opensm]]\n"
                                    "guid = \"00:02:c9:03:00:31:78:0{1}\"\npriority = {1}\n"
                                    "[[partition]]\npkey = 0x7fff\nmembers = [\"ALL=full\"]\n{2}",
                                    host, host.substr(1), partition)};
  };
  const auto unlisted = text_of(site_of("a[1-3]", site, {manager("a1", "")}));
  EXPECT_THAT(unlisted, HasSubstr("pkey-unknown a[1-3]: no [[partition]] defines P_Key 0x8004\n"));
  EXPECT_THAT(unlisted, Not(HasSubstr("document a1: [[ipoib.pkey]] pkey:")));
  const std::string listed = "[[partition]]\npkey = 0x8004\nmembers = [\"00:02:c9:03:00:31:78:02=full\"]\n";
  const auto outside = text_of(site_of("a[1-3]", site, {manager("a1", listed)}));
  EXPECT_THAT(outside, HasSubstr("pkey-member a[1,3]: the port is not a member of partition 0x8004\n"));
  EXPECT_THAT(outside, Not(HasSubstr("document a1: [[ipoib.pkey]] pkey:")));
}

/// Each rail of a site may be a fabric with a subnet manager of its own.
TEST(SiteCheck, ManagersOfDifferentRailsMayHaveOnePriority) {
  const auto managers = [](const std::string& first, const std::string& second) {
    const auto file = [](const std::string& host, const std::string& port) {
      return config::Text{
          "/s/" + host + ".toml",
          "[match]\nhost = [\"" + host + "\"]\n[[opensm]]\nguid = \"00:02:c9:03:00:31:" + port + "\"\n"};
    };
    const auto report =
        site_of("a[1-3]",
                "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:0{host.number}\"\nname = \"rail0\"\n"
                "[[ipoib]]\nguid = \"00:02:c9:03:00:31:79:0{host.number}\"\nname = \"rail1\"\n",
                {file("a1", first), file("a2", second)});
    EXPECT_THAT(text_of(report), HasSubstr("sm-priority a[1,2]: 2 subnet managers have no priority\n"));
    return report.findings.size() == 1 && report.findings.front().severity == model::Severity::kWarning;
  };
  EXPECT_TRUE(managers("78:01", "79:02"));
  EXPECT_FALSE(managers("78:01", "78:02")) << "one rail is one fabric";
  EXPECT_FALSE(managers("78:01", "80:02")) << "a port that no entry names";
}

TEST(SiteCheck, AStandbyNeedsThePartitionsOfItsMaster) {
  // Subnet managers of a1 and a2 with these partitions, on rails of these numbers.
  const auto site = [](const std::string& first, const std::string& second, int rail = 8) {
    const auto file = [](const std::string& host, int port, const std::string& partitions) {
      return config::Text{
          "/s/" + host + ".toml",
          fmt::format("[match]\nhost = [\"{0}\"]\n[[opensm]]\nguid = \"00:02:c9:03:00:31:7{1}:0{2}\"\n"
                      "priority = {2}\n[[partition]]\npkey = 0x7fff\nmembers = [\"ALL=full\"]\n{3}",
                      host, port, host.substr(1), partitions)};
    };
    return text_of(site_of("a[1-3]",
                           "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:0{host.number}\"\nname = \"rail0\"\n"
                           "[[ipoib]]\nguid = \"00:02:c9:03:00:31:79:0{host.number}\"\nname = \"rail1\"\n",
                           {file("a1", 8, first), file("a2", rail, second)}));
  };
  const std::string full = "[[partition]]\npkey = 0x8002\nmembers = [\"ALL=full\"]\n";
  const std::string limited = "[[partition]]\npkey = 0x8002\nmembers = [\"ALL=limited\", \"SELF=full\"]\n";
  EXPECT_THAT(site(full, full), Not(HasSubstr("sm-partition")));
  EXPECT_THAT(site(full, ""), HasSubstr("sm-partition a2: partition 0x8002 is missing, which a1 has\n"));
  EXPECT_THAT(site("", full), HasSubstr("sm-partition a1: partition 0x8002 is missing, which a2 has\n"));
  EXPECT_THAT(site(full, limited),
              HasSubstr("sm-partition a2: partition 0x8002 has other members or another MTU than on a1\n"));
  EXPECT_THAT(site(full, full + "mtu = 4096\n"), HasSubstr("sm-partition a2: "));
  EXPECT_THAT(site(full, "", 9), Not(HasSubstr("sm-partition"))) << "a fabric of its own";
}

/// Hosts a[1-3] with two rails and a subnet manager of each, in a1 and a2, with these partitions.
std::string rails_site(const std::string& first, const std::string& second, int rail_of_second = 9,
                       const std::string& child = {}) {
  const auto file = [](const std::string& host, int rail, const std::string& partitions) {
    return config::Text{
        "/s/" + host + ".toml",
        fmt::format("[match]\nhost = [\"{0}\"]\n[[opensm]]\nguid = \"00:02:c9:03:00:31:7{1}:0{2}\"\n"
                    "priority = {2}\n[[partition]]\npkey = 0x7fff\nmembers = [\"ALL=full\"]\n{3}",
                    host, rail, host.substr(1), partitions)};
  };
  return text_of(site_of("a[1-3]",
                         "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:0{host.number}\"\nname = \"rail0\"\n"
                         "[[ipoib]]\nguid = \"00:02:c9:03:00:31:79:0{host.number}\"\nname = \"rail1\"\n"
                         "[[ipoib.pkey]]\npkey = 0x8002\n" +
                             child,
                         {file("a1", 8, first), file("a2", rail_of_second, second)}));
}

TEST(SiteCheck, AMembershipIsThatOfTheManagersOfTheRail) {
  const std::string all = "[[partition]]\npkey = 0x8002\nmembers = [\"ALL=full\"]\n";
  const auto other = HasSubstr(
      "pkey-member a[1-3]: only a subnet manager of another rail makes the port a member of "
      "partition 0x8002\n");
  EXPECT_EQ(rails_site(all, all), "");
  EXPECT_EQ(rails_site("", all), "") << "nobody uses it on rail0";
  EXPECT_THAT(rails_site(all, ""), other);
  // The other manager names ports, but not those of its rail.
  EXPECT_THAT(rails_site(all, "[[partition]]\npkey = 0x8002\nmembers = [\"00:02:c9:03:00:31:78:01=full\"]\n"),
              other);
  // Of two managers of one rail the standby has to have the same partitions, and rail1 has none.
  EXPECT_THAT(rails_site(all, all, 8), Not(HasSubstr("another rail")));
}

// The subnet manager of another rail cannot help where each rail is a fabric of its own.
TEST(SiteCheck, LimitedMembersAndMtusAreThoseOfTheRail) {
  const std::string pkey = "[[partition]]\npkey = 0x8002\n", all = pkey + "members = [\"ALL=full\"]\n",
                    limited = pkey + "members = [\"ALL=limited\"]\n";
  EXPECT_THAT(rails_site(all, limited), HasSubstr("pkey-limited a[1-3]: "));
  EXPECT_THAT(rails_site(limited, all), Not(HasSubstr("pkey-limited"))) << "nobody uses it on rail0";
  const std::string large = "mtu = 4096\n", child = "mtu = 4092\n";
  EXPECT_THAT(rails_site(all + large, all, 9, child),
              HasSubstr("partition-mtu a[1-3]: partition 0x8002 has MTU 4092, but its multicast groups carry "
                        "2044\n"));
  EXPECT_THAT(rails_site(all, all + large, 9, child), Not(HasSubstr("partition-mtu")));
}

TEST(SiteCheck, OnlyThePortOfTheSubnetManagerIsItself) {
  const std::string self = "[[partition]]\npkey = 0x8002\nmembers = [\"SELF=full\"]\n";
  EXPECT_THAT(rails_site(self, self),
              HasSubstr("pkey-member a[1,3]: the port is not a member of partition 0x8002\n"))
      << "a1 manages rail0 alone";
}

TEST(SiteCheck, RulesOfManySubnetManagersAddUp) {
  const auto site = [](const std::vector<std::string>& members) {
    std::vector<config::Text> files;
    for (std::size_t at = 0; at < members.size(); ++at)
      files.push_back(
          {fmt::format("/s/a{}.toml", at + 1),
           fmt::format("[match]\nhost = [\"a{0}\"]\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:0{0}\""
                       "\n[[partition]]\npkey = 0x8002\nmembers = [{1}]\n",
                       at + 1, members[at])});
    return text_of(site_of("a[1-3]",
                           "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:0{host.number}\"\nname = \"rail0\"\n"
                           "[[ipoib.pkey]]\npkey = 0x8002\n",
                           std::move(files)));
  };
  const std::string full_1 = "\"00:02:c9:03:00:31:78:01=full\"", full_2 = "\"00:02:c9:03:00:31:78:02=full\"",
                    all = "\"ALL=limited\"";
  EXPECT_THAT(site({full_1, full_2, full_1}),
              HasSubstr("pkey-member a3: the port is not a member of partition 0x8002\n"));
  EXPECT_THAT(site({full_1, full_2, "\"SELF=limited\""}), Not(HasSubstr("pkey-")));
  EXPECT_THAT(site({all, all, all}), HasSubstr("pkey-limited a[1-3]: "));
  EXPECT_THAT(site({all, full_2, all}), Not(HasSubstr("pkey-")));
  // A rule for all ports reaches those that another rule names with less.
  EXPECT_THAT(site({all, "\"ALL=full\", \"00:02:c9:03:00:31:78:03=limited\"", all}), Not(HasSubstr("pkey-")));
}

TEST(SiteCheck, EachPortIsAMemberOfTheDefaultPartition) {
  const auto site = [](const std::string& members) {
    return text_of(site_of("a[1-2]",
                           "[host.address]\nst = { network = \"10.3.0.0/16\" }\n[[ipoib]]\nguid = "
                           "\"00:02:c9:03:00:31:78:0{host.number}\"\nname = \"rail0\"\nipv4 = { addresses = "
                           "[\"{host.st}\"] }\n",
                           {{"/s/sm.toml",
                             "[match]\nhost = [\"a1\"]\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:01\"\n"
                             "[[partition]]\npkey = 0x7fff\nmembers = [" +
                                 members + "]\n"}}));
  };
  // a2 is a limited member before any rule, and reaches the subnet manager's port.
  EXPECT_THAT(site("\"00:02:c9:03:00:31:78:01=full\""), Not(HasSubstr("pkey-")));
  EXPECT_THAT(site("\"00:02:c9:03:00:31:78:02=limited\""), Not(HasSubstr("pkey-")));
  EXPECT_THAT(site("\"ALL=limited\""), HasSubstr("pkey-limited a[1,2]: "));
}

TEST(SiteCheck, AStandbyNeedsTheServiceLevelsOfItsMaster) {
  const std::string all = "[[partition]]\npkey = 0x8002\nmembers = [\"ALL=full\"]\n";
  const auto other = HasSubstr(
      "sm-partition a2: partition 0x8002 has another sl, rate, q_key, tclass, flow_label or indx0 than on "
      "a1\n");
  EXPECT_THAT(rails_site(all + "sl = 2\n", all + "sl = 2\n", 8), Not(HasSubstr("sm-partition")));
  EXPECT_THAT(rails_site(all, all + "sl = 2\n", 8), other);
  EXPECT_THAT(rails_site(all, all + "rate = 7\n", 8), other);
  EXPECT_THAT(rails_site(all, all + "q_key = 0x0b1c\n", 8), other);
  // These are OpenSM's own.
  const std::string usual = "sl = 0\nrate = 3\nq_key = 0x0b1b\ntclass = 0\nflow_label = 0\nindx0 = false\n";
  EXPECT_THAT(rails_site(all, all + usual, 8), Not(HasSubstr("sm-partition")));
  EXPECT_THAT(rails_site(all, all + "name = \"other\"\n", 8), Not(HasSubstr("sm-partition")));
}

TEST(SiteCheck, TheValueOfALosslessEntryHasItsOwnPlace) {
  const auto report = site_of("a[1-3]",
                              "[host]\ntable = \"t.csv\"\n[[lossless]]\ninterface = \"ens1\"\npriority = "
                              "\"{host.p}\"\n",
                              {{"/s/t.csv", "host,p\na1,3\na2,3\na3,4\n"}});
  EXPECT_THAT(text_of(report),
              HasSubstr("pfc-priority a3: ens1: lossless priorities 4, but 3 on 2 hosts\n  /s/t.csv:4:4 "));
}

TEST(SiteCheck, DoubtsAboutTheLayoutAreThoseOfValidate) {
  const std::string entry = "[[ipoib]]\ndevice = \"mlx5_0\"\nport = 1\n[[ipoib.pkey]]\npkey = 0x8002\n";
  EXPECT_THAT(text_of(site_of("n[1-3]", entry + "mtu = 2044\n")),
              Not(HasSubstr("belongs to this P_Key interface")));
  EXPECT_THAT(text_of(site_of("n[1-3]", entry + "\nmtu = 2044\n")),
              HasSubstr("n[1-3]: [[ipoib.pkey]] mtu: belongs to this P_Key interface"));
}

TEST(SiteCheck, NothingIsComparedWhenAFileCannotBeRead) {
  const auto report = site_of("a[1-3]", "[[ipoib]]\nguid = \n");
  EXPECT_FALSE(report.compared);
  EXPECT_THAT(mistakes_in(report), ElementsAre(Mistake("document", "a[1-3]")));
}

/// They are of the fabric, and the same on every host.
TEST(SiteCheck, CablesMayBeInTheDocumentsOfAllHosts) {
  const std::string cable = "[[cable]]\nfrom = \"leaf1/1\"\nto = \"node001/1\"\n";
  EXPECT_THAT(text_of(site_of("n[1-3]", cable)), Not(HasSubstr("leaf1/1")));
  EXPECT_THAT(text_of(site_of("n[1-3]", cable + "[[cable]]\nfrom = \"leaf1/2\"\nto = \"node001/1\"\n")),
              HasSubstr("n[1-3]: [[cable]] to: node001/1 already has a cable, to leaf1/1\n"));
}

TEST(SiteCheck, AnEmptyFileIsAnErrorOfAllHosts) {
  const auto report = check_site({{"/s/config.toml", ""}}, {"a1", "a2"});
  EXPECT_FALSE(report.compared);
  EXPECT_THAT(text_of(report), HasSubstr("the file is empty"));
}

}  // namespace
}  // namespace rdmacfg::fleet
