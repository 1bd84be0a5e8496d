// SPDX-License-Identifier: Apache-2.0
// Answers of hosts, summed up; and the groups that they are shown by.
#include "fleet/fleet_report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fleet_site.hpp"
#include "fleet/groups.hpp"

namespace rdmacfg::fleet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> hosts_named(int count) {
  std::vector<std::string> out;
  for (int number = 1; number <= count; ++number) out.push_back(fmt::format("gpu{:05}", number));
  return out;
}

std::vector<std::string> lines_of(const HostAnswers& answers) {
  std::vector<std::string> out;
  for (const auto& finding : sum_up(answers))
    out.push_back(fmt::format("{} {} {}: {}", text_of(finding.difference.status), finding.check,
                              fold_hosts(answers.hosts(), finding.difference.hosts), finding.message));
  return out;
}

/// Of hosts 1, 11, 21 … every second one drifts in the first way, of 2, 12 … every third one in the second.
void drift(HostAnswers& answers) {
  for (HostId host = 0; host < answers.hosts().size(); ++host) {
    const int number = static_cast<int>(host) + 1, sort = number % 10 - 1;
    const int how = sort >= 0 && sort < 5 && number / 10 % (sort + 2) == 0 ? sort : -1;
    EXPECT_FALSE(answers.add(host, {"show.json", fakes::show_of_host(number, how)}));
    EXPECT_FALSE(answers.add(host, {"diff.json", fakes::diff_of_host(number, how)}));
  }
}

TEST(FleetReport, HostsThatAreAsTheyShouldBeSayNothing) {
  HostAnswers answers(hosts_named(20));
  for (HostId host = 0; host < 20; ++host) {
    const auto number = static_cast<int>(host) + 1;
    ASSERT_FALSE(answers.add(host, {"show.json", fakes::show_of_host(number)}));
    ASSERT_FALSE(answers.add(host, {"diff.json", fakes::diff_of_host(number)}));
  }
  EXPECT_THAT(lines_of(answers), IsEmpty());
}

TEST(FleetReport, FiveSortsOfDriftAreFiveFindings) {
  HostAnswers answers(hosts_named(300));
  drift(answers);
  const auto lines = lines_of(answers);
  ASSERT_EQ(lines.size(), 5U) << testing::PrintToString(lines);
  std::string all;
  for (const auto& line : lines) all += line + '\n';
  EXPECT_THAT(all, HasSubstr("ipoib rail0: mtu is 1500, must be 2044"));
  EXPECT_THAT(all, HasSubstr("pkey rail0.8002 is missing"));
  EXPECT_THAT(all, HasSubstr("service rdma-ndd.service: running is no, must be yes"));
  EXPECT_THAT(all, HasSubstr("firmware of MT_0000000838: 28.33.1000, on most hosts 28.39.2048"));
  EXPECT_THAT(all,
              HasSubstr("rate of port mlx5_5/1: 100 Gb/sec (4X EDR), on most hosts 400 Gb/sec (4X NDR)"));
  EXPECT_THAT(lines[0], HasSubstr("differs"));
  EXPECT_THAT(lines[4], HasSubstr("unlike"));
}

std::string head_of(const std::string& schema, const std::string& exit) {
  return fmt::format(
      R"({{"schema": "org.rdmaconfigd.{}/1", "command": "show", "exit": {{"status": 1, "name": "{}"}}, "error": null)",
      schema, exit);
}

TEST(FleetReport, WorstFirstAndEqualOnesTogether) {
  HostAnswers answers({"a1", "a2", "a3"});
  const auto pending = [](const std::string& host, const std::string& address) {
    return head_of("show", "partly") +
           R"(, "resources": [{"kind": "address", "label": "ib0", "status": "pending",
      "reason": ")" +
           address + " of " + host + R"( waits for ib0", "attributes": []}]})";
  };
  EXPECT_FALSE(answers.add(0, {"x", pending("a1", "10.0.0.1/24")}));
  EXPECT_FALSE(answers.add(1, {"x", pending("a2", "10.0.0.2/24")}));
  EXPECT_FALSE(
      answers.add(2, {"x", head_of("report", "error") +
                               R"(, "diagnostics": [{"severity": "error", "where": {"file": "/c", "line": 3},
      "message": "is wrong"}]})"}));
  EXPECT_THAT(lines_of(answers),
              ElementsAre("error host a3: /c:3: is wrong",
                          "pending resource a[1,2]: address ib0: 10.0.0.1/24 of a1 waits for ib0"));
  EXPECT_TRUE(answers.differences()[0].varies);
}

TEST(FleetReport, AnExpectationThatManyHostsDoNotMeetIsOneFinding) {
  HostAnswers answers({"a1", "a2", "a3"});
  const auto unmet = [](const std::string& reason) {
    return head_of("show", "partly") +
           R"(, "resources": [{"kind": "expect", "label": "fabric of m/1", "status": "unmet", "reason": ")" +
           reason + R"(", "attributes": []}]})";
  };
  EXPECT_FALSE(answers.add(0, {"x", unmet("symbol_error is 105, expected at most 100")}));
  EXPECT_FALSE(answers.add(1, {"x", unmet("symbol_error is 65535, expected at most 100")}));
  EXPECT_FALSE(answers.add(2, {"x", unmet("link_downed is 105, expected at most 100")}));
  EXPECT_THAT(
      lines_of(answers),
      ElementsAre("unmet resource a[1,2]: expect fabric of m/1: symbol_error is 105, expected at most 100",
                  "unmet resource a3: expect fabric of m/1: link_downed is 105, expected at most 100"));
  EXPECT_TRUE(answers.differences()[0].varies);
}

/// As ssh says of hosts that are down, by the names that it knows them by.
TEST(FleetReport, TheNameOfAHostMayHaveADomain) {
  HostAnswers answers({"a1", "a2", "login.x.net"});
  HostId host = 0;
  for (const auto* name : {"a1.x.net", "a2.x.net", "login"}) {
    EXPECT_FALSE(
        answers.add(host++, {"x", head_of("report", "error") + R"(, "diagnostics": [{"severity": "error",
      "where": {"file": "ssh", "line": 1}, "message": "connect to host )" +
                                      name + R"( port 22: timed out"}]})"}));
  }
  EXPECT_THAT(
      lines_of(answers),
      ElementsAre("error host a[1,2],login.x.net: ssh:1: connect to host a1.x.net port 22: timed out"));
  HostAnswers others({"a1", "a2"});
  others.add_silent(0, "no route to a1");
  others.add_silent(1, "no route to a3.x.net");
  EXPECT_EQ(sum_up(others).size(), 2U) << "another host's name is not one's own";
}

TEST(FleetReport, AHostThatCouldNotSayIsNotUnlikeTheOthers) {
  HostAnswers answers({"a1", "a2", "a3"});
  for (HostId host = 0; host < 2; ++host)
    EXPECT_FALSE(answers.add(host, {"x", fakes::show_of_host(static_cast<int>(host) + 1)}));
  EXPECT_FALSE(answers.add(2, {"x", head_of("show", "error") + R"(, "devices": [], "diagnostics": [
      {"severity": "error", "where": {"file": "/c", "line": 3}, "message": "is wrong"}]})"}));
  EXPECT_THAT(lines_of(answers), ElementsAre("error host a3: /c:3: is wrong"));
}

std::string port_of(const std::string& pkeys, int mtu) {
  return head_of("show", "ok") +
         fmt::format(
             R"(, "devices": [{{"board_id": "b", "firmware": "1", "ports": [{{"device": "m", "port": 1, "state": "ACTIVE",
      "rate": "r", "mtu_active": 2048, "pkeys": [{}]}}]}}], "interfaces": [{{"name": "ib0", "device": "m", "port": 1,
      "mode": "datagram", "mtu": {}}}]}})",
             pkeys, mtu);
}

TEST(FleetReport, HostsAreComparedWithMostOthers) {
  HostAnswers answers({"a1", "a2", "a3", "a4", "a5"});
  const std::string full = R"({"pkey": "0x8002", "membership": "full"})",
                    limited = R"({"pkey": "0x0002", "membership": "limited"})";
  for (HostId host = 0; host < 3; ++host) EXPECT_FALSE(answers.add(host, {"x", port_of(full, 2044)}));
  EXPECT_FALSE(answers.add(3, {"x", port_of(full, 4092)}));
  EXPECT_FALSE(answers.add(4, {"x", port_of("", 2044)}));
  EXPECT_THAT(
      lines_of(answers),
      ElementsAre(
          "unlike interface-mtu a4: MTU of ib0: 4092, on most hosts 2044",
          "unlike link-mtu a4: ib0 has MTU 4092, but its link carries 2044",
          "unlike pkey-table a5: membership of m/1 in partition 0x8002: missing, on most hosts full"));
  HostAnswers design({"a1", "a2", "a3", "a4"});
  for (HostId host = 0; host < 4; ++host)
    EXPECT_FALSE(design.add(host, {"x", port_of(host < 2 ? full : limited, 2044)}));
  EXPECT_THAT(lines_of(design), IsEmpty()) << "two halves are a design";
}

/// A site has hosts of several sorts, of which none has two thirds.
TEST(FleetReport, RatesAreComparedByBoardWhereHostsDiffer) {
  const auto lines = [](const std::string& other_board) {
    HostAnswers answers({"a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4"});
    for (HostId host = 0; host < 8; ++host) {
      const auto* rate = host == 3 ? "200" : host < 4 ? "400" : "100";
      EXPECT_FALSE(answers.add(
          host, {"x", head_of("show", "ok") +
                          fmt::format(
                              R"(, "devices": [{{"board_id": "{}", "firmware": "1", "ports": [{{"device": "m",
      "port": 1, "state": "ACTIVE", "rate": "{}"}}]}}]}})",
                              host < 4 ? "g" : other_board, rate)}));
    }
    return lines_of(answers);
  };
  EXPECT_THAT(lines("s"), ElementsAre("unlike rate a4: rate of port m/1 of g: 200, on most hosts 400"));
  EXPECT_THAT(lines("g"), IsEmpty());
}

TEST(FleetReport, NamesFromHostsAreNoPlaceholders) {
  HostAnswers answers({"a1", "a2", "a3", "a4"});
  for (HostId host = 0; host < 4; ++host) {
    EXPECT_FALSE(answers.add(
        host, {"x", head_of("show", "ok") +
                        fmt::format(
                            R"(, "devices": [{{"board_id": "{{}}", "firmware": "{}", "ports": []}}],
      "interfaces": [{{"name": "{{}}", "mode": "{}"}}]}})",
                            host == 3 ? "{}" : "1", host == 3 ? "connected" : "datagram")}));
  }
  EXPECT_THAT(lines_of(answers),
              ElementsAre("unlike firmware a4: firmware of {}: {}, on most hosts 1",
                          "unlike interface-mode a4: mode of {}: connected, on most hosts datagram"));
}

/// RoCE takes the MTU of the Ethernet interface, so that one with 1500 bytes is left with 1024.
TEST(FleetReport, APortWithAnotherMtuIsUnlikeTheOthers) {
  HostAnswers answers({"a1", "a2", "a3", "a4"});
  const auto add = [&](HostId host, const std::string& state, int mtu) {
    EXPECT_FALSE(answers.add(
        host, {"x", head_of("show", "ok") +
                        fmt::format(R"(, "devices": [{{"ports": [{{"device": "m", "port": 1, "state": "{}",
      "link_layer": "Ethernet", "mtu_active": {}}}]}}]}})",
                                    state, mtu)}));
  };
  add(0, "ACTIVE", 4096);
  add(1, "ACTIVE", 1024);
  add(2, "ACTIVE", 4096);
  add(3, "DOWN", 1024);
  EXPECT_THAT(lines_of(answers),
              ElementsAre("unlike port-mtu a2: active MTU of port m/1: 1024, on most hosts 4096",
                          "unlike port-state a4: state of port m/1: DOWN, on most hosts ACTIVE"));
}

/// A P_Key table as JSON: P_Keys as they are in it.
std::string table_of(const std::vector<int>& pkeys) {
  std::string out;
  for (const auto pkey : pkeys)
    out += fmt::format(R"({}{{"pkey": "{:#06x}", "membership": "{}"}})", out.empty() ? "" : ", ", pkey,
                       (pkey & 0x8000) != 0 ? "full" : "limited");
  return out;
}

std::vector<int> row(int first, int last) {
  std::vector<int> out;
  for (int pkey = first; pkey <= last; ++pkey) out.push_back(pkey);
  return out;
}

/// Answers of hosts a1, a2, … with these tables; `more` goes behind the first one.
HostAnswers tables_of(const std::vector<std::vector<int>>& tables, const std::string& more = "") {
  std::vector<std::string> names;
  for (std::size_t host = 1; host <= tables.size(); ++host) names.push_back(fmt::format("a{}", host));
  HostAnswers out(names);
  for (HostId host = 0; host < tables.size(); ++host) {
    auto answer = port_of(table_of(tables[host]), 2044);
    if (host == 0) answer.insert(answer.size() - 1, more);
    EXPECT_FALSE(out.add(host, {"x", answer}));
  }
  return out;
}

TEST(FleetReport, PkeysInARowAreOneFinding) {
  auto usual = row(0x8001, 0x807f);
  usual.push_back(0xffff);
  EXPECT_THAT(lines_of(tables_of({{0x8002, 0x8003, 0xffff}, usual, usual})),
              ElementsAre("unlike pkey-table a1: membership of m/1 in partitions 0x8001, 0x8004-0x807f: "
                          "missing, on most hosts full"));
  EXPECT_EQ(sum_up(tables_of({{0x8002, 0x8003, 0xffff}, usual, usual})).front().pkeys,
            (std::vector<std::string>{"0x8001", "0x8004-0x807f"}));
  // Two in a row are two, and the default partition is the last one.
  EXPECT_THAT(
      lines_of(tables_of({{0x8003}, {0x8001, 0x8002, 0x8003, 0xffff}, {0x8001, 0x8002, 0x8003, 0xffff}})),
      ElementsAre("unlike pkey-table a1: membership of m/1 in partitions 0x8001, 0x8002, 0xffff: "
                  "missing, on most hosts full"));
  EXPECT_THAT(lines_of(tables_of({{}, {0x8001}, {0x8001}})),
              ElementsAre("unlike pkey-table a1: membership of m/1 in partition 0x8001: missing, on most "
                          "hosts full"));
}

TEST(FleetReport, PkeysFoldOnlyWhereHostsAndMembershipAreTheSame) {
  const auto usual = row(0x8001, 0x8009);
  auto mixed = row(0x0001, 0x0003);  // limited member of three, full of two, and not in the others
  for (const auto pkey : {0x8004, 0x8005}) mixed.push_back(pkey);
  EXPECT_THAT(
      lines_of(tables_of({mixed, usual, usual, row(0x8001, 0x8007), usual, usual, usual})),
      ElementsAre("unlike pkey-table a[1,4]: membership of m/1 in partitions 0x8008, 0x8009: missing, "
                  "on most hosts full",
                  "unlike pkey-table a1: membership of m/1 in partitions 0x8001-0x8003: limited, on "
                  "most hosts full",
                  "unlike pkey-table a1: membership of m/1 in partitions 0x8006, 0x8007: missing, on "
                  "most hosts full"));
  // Of an entry with both keys the better one counts, and an empty place is none.
  EXPECT_THAT(lines_of(tables_of({{0x0001, 0x8001, 0}, {0x8001}, {0x8001}})), IsEmpty());
}

TEST(FleetReport, ALongListOfPkeysIsCutForPeople) {
  std::vector<int> usual{0x8001}, even;
  for (int pkey = 0x8002; pkey < 0x8042; pkey += 2) even.push_back(pkey);
  usual.insert(usual.end(), even.begin(), even.end());
  const auto found = sum_up(tables_of({{0x8001}, usual, usual}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message,
            "membership of m/1 in partitions 0x8002, 0x8004, 0x8006, 0x8008, 0x800a, 0x800c, 0x800e, 0x8010 "
            "and 24 more: missing, on most hosts full");
  EXPECT_EQ(found[0].pkeys.size(), 32U);
  // Ports are one finding only where all partitions are the same.
  const auto port = [](int number, const std::vector<int>& table) {
    return fmt::format(R"({{"device": "m", "port": {}, "state": "ACTIVE", "pkeys": [{}]}})", number,
                       table_of(table));
  };
  const auto answer = [&](const std::vector<int>& first, const std::vector<int>& second) {
    return head_of("show", "ok") + R"(, "devices": [{"board_id": "b", "ports": [)" + port(1, first) + ", " +
           port(2, second) + "]}]}";
  };
  const auto findings = [&](const std::vector<int>& first, const std::vector<int>& second) {
    HostAnswers answers({"a1", "a2", "a3"});
    EXPECT_FALSE(answers.add(0, {"x", answer(first, second)}));
    for (HostId host = 1; host < 3; ++host) EXPECT_FALSE(answers.add(host, {"x", answer(usual, usual)}));
    return sum_up(answers);
  };
  ASSERT_EQ(findings({0x8001}, {0x8001}).size(), 1U);
  EXPECT_THAT(findings({0x8001}, {0x8001})[0].message,
              HasSubstr("membership of m/1, m/2 in partitions 0x8002, "));
  EXPECT_EQ(findings({0x8001, 0x803e}, {0x8001, 0x8040}).size(), 2U) << "they differ where the text is cut";
}

TEST(FleetReport, AnInterfaceThatWaitsSpeaksForItsOwnPkeyOnly) {
  const std::string waiting = R"(, "resources": [{"kind": "pkey", "id": "00:02:c9:03:00:31:78:01/0x8002#s",
      "label": "s", "status": "pending", "reason": "no P_Key", "attributes": []}])";
  EXPECT_THAT(
      lines_of(tables_of({{0x8004}, row(0x8002, 0x8004), row(0x8002, 0x8004)}, waiting)),
      ElementsAre("unlike pkey-table a1: membership of m/1 in partition 0x8003: missing, on most hosts "
                  "full",
                  "pending resource a1: pkey s: no P_Key"));
}

/// An answer of a host with one port, which has its number as LID and at the end of its GUID. The subnet
/// manager has LID 1.
std::string fabric_answer(HostId host, const std::string& port, const std::string& resources = "") {
  return head_of("show", "ok") +
         fmt::format(
             R"(, "devices": [{{"ports": [{{"device": "m", "port": 1, "guid": "00:02:c9:03:00:31:78:{0:02x}", "lid": {0},
      {1}}}]}}], "resources": [{2}]}})",
             host + 1, port, resources);
}

std::string active_port(const std::vector<int>& pkeys) {
  return R"("state": "ACTIVE", "link_layer": "InfiniBand", "sm_lid": 1, "pkeys": [)" + table_of(pkeys) + "]";
}

std::string rule_resource(const std::string& id, const std::string& rule, const std::string& status) {
  return fmt::format(
      R"({{"kind": "partition", "id": "{}", "label": "partition", "status": "{}", "reason": "", "attributes":
      [{{"name": "rule", "now": "{}", "wanted": "{}"}}]}})",
      id, status, rule, rule);
}

std::string by_rule(const std::string& hosts, const std::string& now, const std::string& wanted) {
  return fmt::format(
      "unlike pkey-rule {}: membership of m/1 in partition 0x8002: {}, must be {} by the rule of its subnet "
      "manager",
      hosts, now, wanted);
}

/// Tables are compared with the rules of the subnet manager, on a1, where these are known.
TEST(FleetReport, TablesAreComparedWithTheRulesOfPartitions) {
  const std::vector<int> full{0x8002}, limited{0x0002}, none;
  struct Case {
    const char* rule;
    std::vector<std::vector<int>> tables;
    std::vector<std::string> lines;
  };
  const std::vector<Case> cases{
      {"store=0x8002, ipoib : ALL=full;", {full, full, full}, {}},
      {"store=0x8002, ipoib : ALL=full;", {full, full, none}, {by_rule("a3", "missing", "full")}},
      // A P_Key that no host has is found by no comparison of hosts.
      {"store=0x8002, ipoib : ALL=full;", {none, none, none}, {by_rule("a[1-3]", "missing", "full")}},
      // Nor is a host wrong that is not as most are.
      {"store=0x8002, ipoib : ALL=limited, 0x0002c90300317802=full;", {limited, full, limited}, {}},
      {"store=0x8002, ipoib : ALL=full, 0x0002c90300317803=limited;",
       {full, full, full},
       {by_rule("a3", "full", "limited")}},
      {"store=0x8002, ipoib, defmember=full : 0x0002c90300317801, 0x0002c90300317802;",
       {full, full, full},
       {by_rule("a3", "full", "none")}},
      {"store=0x8002 : 0x0002c90300317801, 0x0002c90300317802, 0x0002c90300317803;",
       {limited, limited, limited},
       {}},
      {R"(store=0x8002, ipoib :\nmgid=ff12:401b::707, scope=2\nALL=full;)",
       {full, none, full},
       {by_rule("a2", "missing", "full")}},
      {"store=0x8002 : ALL=limited, SELF=full;", {full, limited, limited}, {}},
      {"store=0x8002 : ALL=limited, SELF=full;", {limited, limited, limited}, {}},
      // With an option that is not known here a member is both.
      {"store=0x8002 : ALL=both;",
       {full, full, none},
       {"unlike pkey-table a3: membership of m/1 in partition 0x8002: missing, on most hosts full"}},
  };
  for (const auto& [rule, tables, lines] : cases) {
    HostAnswers answers({"a1", "a2", "a3"});
    for (HostId host = 0; host < 3; ++host) {
      const auto resources = host == 0 ? rule_resource("0x8002", rule, "in_sync") : std::string();
      EXPECT_FALSE(answers.add(host, {"x", fabric_answer(host, active_port(tables[host]), resources)}));
    }
    EXPECT_EQ(lines_of(answers), lines) << rule;
  }
}

/// OpenSM gives every port the default partition, and its own port full membership.
TEST(FleetReport, TheDefaultPartitionIsThatOfAllPorts) {
  const auto lines = [](const std::vector<int>& last) {
    HostAnswers answers({"a1", "a2", "a3"});
    const std::vector<std::vector<int>> tables{{0xffff}, {0x7fff}, last};
    for (HostId host = 0; host < 3; ++host) {
      const auto resources = host == 0
                                 ? rule_resource("0xffff", "Default=0x7fff, ipoib : SELF=full;", "in_sync")
                                 : std::string();
      EXPECT_FALSE(answers.add(host, {"x", fabric_answer(host, active_port(tables[host]), resources)}));
    }
    return lines_of(answers);
  };
  EXPECT_THAT(lines({0x7fff}), IsEmpty());
  EXPECT_THAT(
      lines({0xffff}),
      ElementsAre("unlike pkey-rule a3: membership of m/1 in partition 0xffff: full, must be limited by "
                  "the rule of its subnet manager"));
  EXPECT_THAT(
      lines({}),
      ElementsAre("unlike pkey-rule a3: membership of m/1 in partition 0xffff: missing, must be limited "
                  "by the rule of its subnet manager"));
}

/// The subnet manager of each fabric has LID 1; that of the first one is on a1, and only its rules are known.
TEST(FleetReport, ARuleDoesNotCountInAnotherFabricWithTheSameLids) {
  struct Port {
    int lid, sm_lid;
    std::vector<int> pkeys;
  };
  const auto lines = [](const std::vector<Port>& ports, std::size_t managers) {
    HostAnswers answers({"a1", "a2", "a3", "a4"});
    for (HostId host = 0; host < ports.size(); ++host) {
      const auto& [lid, sm_lid, pkeys] = ports[host];
      const auto resources =
          host < managers ? rule_resource("0x8002", "store=0x8002 : ALL=full;", "in_sync") : std::string();
      EXPECT_FALSE(answers.add(
          host, {"x", head_of("show", "ok") + fmt::format(
                                                  R"(, "devices": [{{"ports": [{{"device": "m", "port": 1,
      "guid": "00:02:c9:03:00:31:78:{:02x}", "lid": {}, "sm_lid": {}, "state": "ACTIVE",
      "link_layer": "InfiniBand", "pkeys": [{}]}}]}}], "resources": [{}]}})",
                                                  host + 1, lid, sm_lid, table_of(pkeys), resources)}));
    }
    return lines_of(answers);
  };
  const std::vector<int> full{0x8002}, none;
  EXPECT_THAT(lines({{1, 1, full}, {2, 1, full}, {3, 1, none}}, 1),
              ElementsAre(by_rule("a3", "missing", "full")));
  // a2 and a3 have one LID, so that one of them is in the other fabric.
  EXPECT_THAT(lines({{1, 1, full}, {2, 1, full}, {2, 1, none}, {3, 1, none}}, 1), IsEmpty());
  // Both fabrics have the same rule.
  EXPECT_THAT(lines({{1, 1, full}, {1, 1, full}, {2, 1, full}, {2, 1, none}}, 2),
              ElementsAre(by_rule("a4", "missing", "full")));
  // The port with LID 5 is not that of a subnet manager: its own has LID 1.
  EXPECT_THAT(lines({{5, 1, full}, {2, 5, none}}, 1), IsEmpty());
}

TEST(FleetReport, ARuleCountsOnlyForThePortsOfItsSubnetManager) {
  const auto lines = [](const std::string& port, const std::string& status, const std::string& more = "") {
    HostAnswers answers({"a1", "a2"});
    const auto resources = rule_resource("0x8002", "store=0x8002 : ALL=full;", status) + more;
    EXPECT_FALSE(answers.add(0, {"x", fabric_answer(0, active_port({0x8002}), resources)}));
    EXPECT_FALSE(answers.add(1, {"x", fabric_answer(1, port)}));
    std::string out;
    for (const auto& line : lines_of(answers)) out += line + '\n';
    return out;
  };
  const auto found = HasSubstr("pkey-rule a2");
  EXPECT_THAT(lines(active_port({}), "in_sync"), found);
  // A rule that is still to be written.
  EXPECT_THAT(lines(active_port({}), "pending"), Not(found));
  // OpenSM reads another file.
  for (const auto* id : {"partition_config_file", "00:02:c9:03:00:31:78:01/partition_config_file"}) {
    const auto option = fmt::format(R"(, {{"kind": "opensm_option", "id": "{}", "status": "in_sync"}})", id);
    EXPECT_THAT(lines(active_port({}), "in_sync", option), Not(found)) << id;
  }
  for (const auto* other : {R"("state": "ACTIVE", "link_layer": "InfiniBand", "sm_lid": 9, "pkeys": [])",
                            R"("state": "INIT", "link_layer": "InfiniBand", "sm_lid": 1, "pkeys": [])",
                            R"("state": "ACTIVE", "link_layer": "Ethernet", "sm_lid": 1, "pkeys": [])",
                            R"("state": "ACTIVE", "link_layer": "InfiniBand", "sm_lid": 1, "pkeys": null)"})
    EXPECT_THAT(lines(other, "in_sync"), Not(found)) << other;
}

/// An answer of a host with one port, which has its number as LID and at the end of its GUID.
std::string member_answer(HostId host, const std::string& port, const std::string& interfaces) {
  return head_of("show", "ok") +
         fmt::format(
             R"(, "devices": [{{"ports": [{{"device": "m", "port": 1, "link_layer": "InfiniBand", "sm_lid": 1,
      "guid": "00:02:c9:03:00:31:78:{0:02x}", "lid": {0}, {1}}}]}}], "interfaces": [{2}]}})",
             host + 1, port, interfaces);
}

std::string ib0(int mtu, const std::string& more = R"("up": true, "carrier": true)",
                const std::string& pkey = "0xffff", const std::string& mode = "datagram") {
  return fmt::format(
      R"({{"name": "ib0", "device": "m", "port": 1, "pkey": "{}", "mode": "{}", "mtu": {}, {}}})", pkey, mode,
      mtu, more);
}

TEST(FleetReport, AnMtuSaysNothingBeforeTheInterfaceIsUp) {
  const std::string port = R"("state": "ACTIVE", "mtu_active": 2048, "rate": "r")";
  for (const auto* more : {R"("up": false)", R"("up": true, "carrier": true)"}) {
    HostAnswers answers({"a1", "a2", "a3"});
    for (HostId host = 0; host < 3; ++host) {
      const auto interface = host == 2 ? ib0(4092, more) : ib0(2044);
      EXPECT_FALSE(answers.add(host, {"x", member_answer(host, port, interface)}));
    }
    const bool is_up = std::string_view(more).find("true") != std::string_view::npos;
    EXPECT_EQ(sum_up(answers).empty(), !is_up) << more;
  }
}

std::string group_json(const std::string& gid, int mtu, const std::string& rate) {
  return fmt::format(
      R"({{"gid": "{}", "lid": 49152, "pkey": "0xffff", "mtu": {}, "rate_gbps": {}, "sl": 0}})", gid, mtu,
      rate);
}

/// A fabric in which the ports of the first hosts have their LIDs, but for `shift`.
std::string fabric_json(HostId hosts, const std::string& groups, int shift = 0) {
  std::string nodes;
  for (HostId host = 0; host < hosts; ++host)
    nodes += fmt::format(R"({}{{"guid": "00:02:c9:03:00:31:78:f0", "type": "host", "ports": [{{"port": 1,
      "guid": "00:02:c9:03:00:31:78:{:02x}", "lid": {}, "mtu": 4096}}]}})",
                         host > 0 ? ", " : "", host + 1, static_cast<int>(host) + 1 + shift);
  return fmt::format(
      R"({{"schema": "org.rdmaconfigd.fabric/1", "command": "fabric", "exit": {{"status": 0, "name": "ok"}}, "error": null,
      "from": {{"port": "m/1", "guid": "00:02:c9:03:00:31:78:01", "subnet_prefix": "fe80:0000:0000:0000"}},
      "nodes": [{}], "groups": [{}]}})",
      nodes, groups);
}

std::string port_keys(const std::string& state, int mtu, const std::string& rate) {
  return fmt::format(R"("state": "{}", "mtu_active": {}, "rate": "{}")", state, mtu, rate);
}

/// The default partition's group takes 2048 bytes, 4 of which are IPoIB's (RFC 4391), and demands 56 Gbit/s.
/// A port below the group's rate or MTU is not let in (validate_port_caps() of OpenSM).
TEST(FleetReport, InterfacesAreComparedWithTheirMulticastGroup) {
  const std::string up = R"("up": true, "carrier": true)";
  const auto groups = group_json("ff12:401b:ffff::ffff:ffff", 2048, "56.0") + ", " +
                      group_json("ff12:401b:8002::ffff:ffff", 4096, "2.5") + ", " +
                      group_json("ff12:401b:ffff::1", 256, "300") + ", " +
                      group_json("ff15:401b:ffff::ffff:ffff", 256, "300") + ", " +
                      group_json("ff12:601b:ffff::ffff:ffff", 256, "300");
  const auto mtu = [](int now, const std::string& partition, int most) {
    return fmt::format(
        "unlike group-mtu a1: MTU of ib0 in partition {}: {}, must be at most {} by its multicast group",
        partition, now, most);
  };
  struct Case {
    std::string port, interfaces;
    std::vector<std::string> lines;
  };
  const auto port_4k = port_keys("ACTIVE", 4096, "56 Gb/sec (4X FDR)");
  const std::vector<Case> cases{
      {port_4k, ib0(2044), {}},
      {port_4k, ib0(1500), {}},
      {port_4k, ib0(2045), {mtu(2045, "0xffff", 2044)}},
      {port_4k, ib0(4092), {mtu(4092, "0xffff", 2044)}},
      // The group is that of full members, whatever the interface is.
      {port_4k, ib0(4092, up, "0x7fff"), {mtu(4092, "0xffff", 2044)}},
      {port_4k, ib0(4092, up, "0x8002"), {}},
      {port_4k, ib0(4092, up, "0x8003"), {}},
      // Connected mode sends larger packets beside the group.
      {port_4k, ib0(65520, up, "0xffff", "connected"), {}},
      // The kernel sets the MTU as the interface joins.
      {port_4k, ib0(4092, R"("up": false, "carrier": false)"), {}},
      {port_4k, ib0(4092, R"("up": true, "carrier": false)"), {}},
      // Its link is what is wrong then.
      {port_keys("ACTIVE", 2048, "56 Gb/sec (4X FDR)"),
       ib0(4092),
       {"unlike link-mtu a1: ib0 has MTU 4092, but its link carries 2044"}},
      {port_keys("INIT", 4096, "10 Gb/sec (4X SDR)"), ib0(4092), {}},
      {port_keys("ACTIVE", 2048, "2.5 Gb/sec (1X SDR)"),
       ib0(2044, up, "0x8002"),
       {"unlike group-link-mtu a1: active MTU of port m/1 in partition 0x8002: 2048, must be at least 4096 "
        "to "
        "join its multicast group"}},
      {port_keys("ACTIVE", 4096, "40 Gb/sec (4X QDR)"),
       ib0(2044, R"("up": true, "carrier": false)"),
       {"unlike group-rate a1: rate of port m/1 in partition 0xffff: 40 Gbit/s, must be at least 56 Gbit/s "
        "to "
        "join its multicast group"}},
      {port_keys("ACTIVE", 4096, "100 Gb/sec (4X EDR)"), ib0(2044), {}},
      {port_keys("ACTIVE", 4096, "40 Gb/sec (4X QDR)"), ib0(2044, R"("up": false, "carrier": false)"), {}},
      {port_keys("ACTIVE", 4096, "40 Gb/sec (4X QDR)"), "", {}},
  };
  for (const auto& [port, interfaces, lines] : cases) {
    HostAnswers answers({"a1"});
    EXPECT_FALSE(answers.add(0, {"x", member_answer(0, port, interfaces)}));
    EXPECT_THAT(lines_of(answers), Not(testing::Contains(HasSubstr("group-")))) << "no group is known yet";
    EXPECT_FALSE(answers.add_fabric({"f", fabric_json(1, groups)}));
    EXPECT_EQ(lines_of(answers), lines) << port << '\n' << interfaces;
  }
}

/// Groups are those of the fabric that has the port, and of another fabric with the same LIDs no port
/// counts.
TEST(FleetReport, GroupsAreThoseOfTheFabricOfAPort) {
  const auto group = [](int mtu, const std::string& rate = "10") {
    return group_json("ff12:401b:ffff::ffff:ffff", mtu, rate);
  };
  const auto lines = [](const std::vector<std::string>& fabrics) {
    HostAnswers answers({"a1", "a2", "a3"});
    for (HostId host = 0; host < 3; ++host)
      EXPECT_FALSE(answers.add(
          host, {"x", member_answer(host, port_keys("ACTIVE", 4096, "56 Gb/sec (4X FDR)"), ib0(4092))}));
    for (const auto& fabric : fabrics) EXPECT_FALSE(answers.add_fabric({"f", fabric}));
    return lines_of(answers);
  };
  const auto found = [](const std::string& hosts) {
    return "unlike group-mtu " + hosts +
           ": MTU of ib0 in partition 0xffff: 4092, must be at most 2044 by its multicast group";
  };
  EXPECT_THAT(lines({fabric_json(3, group(2048))}), ElementsAre(found("a[1-3]")));
  EXPECT_THAT(lines({fabric_json(2, group(2048))}), ElementsAre(found("a[1,2]")));
  EXPECT_THAT(lines({fabric_json(3, group(2048), 100)}), IsEmpty()) << "the ports have other LIDs now";
  // Two answers of one fabric, between which the group was deleted and made again.
  EXPECT_THAT(lines({fabric_json(2, group(2048, "100")), fabric_json(3, group(4096))}), IsEmpty());
  EXPECT_THAT(lines({fabric_json(2, group(4096, "100")), fabric_json(1, group(2048, "10"))}),
              ElementsAre("unlike group-rate a2: rate of port m/1 in partition 0xffff: 56 Gbit/s, must be at "
                          "least 100 Gbit/s to join its multicast group"));
  // A code that is not known says nothing.
  EXPECT_THAT(lines({fabric_json(3, group(0, "0"))}), IsEmpty());
  EXPECT_THAT(lines({fabric_json(3, "")}), IsEmpty());
}

TEST(FleetReport, ADifferenceFromTheDocumentIsNotRepeatedForTheGroup) {
  HostAnswers answers({"a1"});
  auto answer = member_answer(0, port_keys("ACTIVE", 4096, "56 Gb/sec (4X FDR)"), ib0(4092));
  answer.insert(answer.size() - 1,
                R"(, "resources": [{"kind": "ipoib", "label": "ib0", "status": "differs",
      "reason": "", "attributes": [{"name": "mtu", "now": 4092, "wanted": 2044}]}])");
  EXPECT_FALSE(answers.add(0, {"x", answer}));
  EXPECT_FALSE(
      answers.add_fabric({"f", fabric_json(1, group_json("ff12:401b:ffff::ffff:ffff", 2048, "10"))}));
  EXPECT_THAT(lines_of(answers), ElementsAre("differs resource a1: ipoib ib0: mtu is 4092, must be 2044"));
}

TEST(FleetReport, PartitionsWithTheSameFaultAreOneFinding) {
  HostAnswers answers({"a1"});
  const std::string up = R"("up": true, "carrier": true)";
  EXPECT_FALSE(
      answers.add(0, {"x", member_answer(0, port_keys("ACTIVE", 2048, "40 Gb/sec (4X QDR)"),
                                         ib0(2044) + ", " + ib0(2044, up, "0x8001") + ", " +
                                             ib0(2044, up, "0x8002") + ", " + ib0(2044, up, "0x8003"))}));
  std::string groups;
  for (const auto* pkey : {"8001", "8002", "8003", "ffff"})
    groups +=
        (groups.empty() ? "" : ", ") + group_json(fmt::format("ff12:401b:{}::ffff:ffff", pkey), 2048, "100");
  EXPECT_FALSE(answers.add_fabric({"f", fabric_json(1, groups)}));
  const auto findings = sum_up(answers);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message,
            "rate of port m/1 in partitions 0x8001-0x8003, 0xffff: 40 Gbit/s, must be at least 100 Gbit/s to "
            "join its multicast group");
  EXPECT_EQ(findings[0].pkeys, (std::vector<std::string>{"0x8001-0x8003", "0xffff"}));
  EXPECT_EQ(findings[0].difference.label, "m/1");
  EXPECT_EQ(findings[0].difference.wanted, "100 Gbit/s");
}

TEST(FleetReport, AFaultyFabricHasItsPlace) {
  HostAnswers answers({"a1"});
  const auto complaint = [&](const std::string& text) {
    const auto wrong = answers.add_fabric({"sm1.fabric.json", text});
    return wrong ? wrong->where.text() + ": " + wrong->message : std::string("none");
  };
  EXPECT_EQ(complaint(" \n"), "sm1.fabric.json:1:1: is empty");
  EXPECT_EQ(complaint("{\n \"schema\": \"org"), "sm1.fabric.json:2:16: the JSON is cut off here");
  EXPECT_EQ(complaint("[1]"), "sm1.fabric.json:1:1: is not the output of rdma-configctl");
  EXPECT_EQ(complaint(head_of("show", "ok") + "}"),
            "sm1.fabric.json:1:1: is org.rdmaconfigd.show/1, not the output of fabric");
  EXPECT_EQ(complaint(R"({"schema": "org.rdmaconfigd.fabric/2"})"),
            "sm1.fabric.json:1:1: is of another version: org.rdmaconfigd.fabric/2, but this program reads "
            "org.rdmaconfigd.fabric/1");
  EXPECT_EQ(complaint(R"({"schema": "org.rdmaconfigd.report/1", "command": "fabric",
      "error": {"message": "there is no active port"}})"),
            "sm1.fabric.json:1:1: the fabric could not be read: there is no active port");
  EXPECT_EQ(complaint(R"({"schema": "org.rdmaconfigd.fabric/1", "nodes": [], "groups": null})"),
            "sm1.fabric.json:1:1: has no multicast groups, as the subnet administrator did not answer");
  EXPECT_EQ(complaint(
                R"({"schema": "org.rdmaconfigd.fabric/1", "nodes": [7, {"ports": 3}, {"ports": [null]}],
      "groups": [3, {"gid": 4}, {"gid": "ff12:401b:ffff::ffff:ffff", "mtu": "x", "rate_gbps": 1e300}]})"),
            "none");
}

TEST(FleetReport, NumbersAreShownAsTheyAre) {
  HostAnswers answers({"a1"});
  EXPECT_FALSE(answers.add(
      0, {"x", head_of("show", "ok") + R"(, "resources": [{"kind": "k", "label": "l", "status": "differs",
      "attributes": [{"name": "n", "now": 18446744073709551615, "wanted": 1.5}]}]})"}));
  EXPECT_THAT(lines_of(answers),
              ElementsAre("differs resource a1: k l: n is 18446744073709551615, must be 1.5"));
}

TEST(FleetReport, LineEndsInValuesKeepDifferencesApart) {
  HostAnswers answers({"a1", "a2"});
  const auto add = [&](HostId host, const std::string& now, const std::string& wanted) {
    ASSERT_FALSE(answers.add(
        host,
        {"x", head_of("show", "ok") + R"(, "resources": [{"kind": "k", "label": "l", "status": "differs",
                "attributes": [{"name": "n", "now": ")" +
                  now + R"(", "wanted": ")" + wanted + R"("}]}]})"}));
  };
  add(0, R"(a\nb)", "c");
  add(1, "a", R"(b\nc)");
  EXPECT_EQ(lines_of(answers).size(), 2U);
}

/// Profiles have an attribute of that name, which lists addresses.
TEST(FleetReport, AnAttributeThatIsCalledMissingIsNotAResourceThatIs) {
  HostAnswers answers({"a1"});
  EXPECT_FALSE(answers.add(
      0, {"x",
          head_of("show", "ok") + R"(, "resources": [{"kind": "nm_profile", "label": "l", "status": "differs",
      "attributes": [{"name": "missing", "now": "192.0.2.1/24", "wanted": "none"}]}]})"}));
  EXPECT_THAT(lines_of(answers),
              ElementsAre("differs resource a1: nm_profile l: missing is 192.0.2.1/24, must be none"));
}

TEST(FleetReport, FaultyJsonHasItsPlace) {
  HostAnswers answers({"a1"});
  const auto complaint = [&](const std::string& text) {
    const auto wrong = answers.add(0, {"a1.show.json", text});
    return wrong ? wrong->where.text() + ": " + wrong->message : std::string("none");
  };
  EXPECT_EQ(complaint("{\n \"schema\": \"org"), "a1.show.json:2:16: the JSON is cut off here");
  EXPECT_EQ(complaint("{\n \"a\": x}"), "a1.show.json:2:7: is not valid JSON here");
  EXPECT_EQ(complaint(""), "a1.show.json:1:1: the JSON is cut off here");
  EXPECT_EQ(complaint("[1]"), "a1.show.json:1:1: is not the output of rdma-configctl");
  EXPECT_EQ(complaint(R"({"schema": "org.rdmaconfigd.doctor/1"})"),
            "a1.show.json:1:1: is org.rdmaconfigd.doctor/1, not the output of show or diff");
  EXPECT_EQ(complaint(R"({"schema": "org.rdmaconfigd.show/2"})"),
            "a1.show.json:1:1: is of another version: org.rdmaconfigd.show/2, but this program reads "
            "org.rdmaconfigd.show/1");
  EXPECT_EQ(complaint(R"({"schema": "org.rdmaconfigd.report/12", "command": "diff"})"),
            "a1.show.json:1:1: is of another version: org.rdmaconfigd.report/12, but this program reads "
            "org.rdmaconfigd.report/1");
  EXPECT_EQ(complaint(R"({"schema": "org.rdmaconfigd.report/1", "command": "apply"})"),
            "a1.show.json:1:1: is the output of \"apply\", not of show or diff");
  for (const auto* exit : {"null", "[]", R"({"status": 0})", R"({"name": 7})"})
    EXPECT_EQ(complaint(fmt::format(R"({{"schema": "org.rdmaconfigd.show/1", "exit": {}}})", exit)),
              "a1.show.json:1:1: \"exit\" has no \"name\"")
        << exit;
  for (const auto* list : {"resources", "devices", "interfaces"})
    EXPECT_EQ(complaint(head_of("show", "ok") + fmt::format(R"(, "{}": {{"a": 1}}}})", list)),
              fmt::format("a1.show.json:1:1: \"{}\" is not a list", list));
  EXPECT_THAT(lines_of(answers), IsEmpty()) << "nothing of them is used";
  EXPECT_EQ(
      complaint(head_of("show", "ok") + R"(, "devices": [], "resources": [7, {}], "interfaces": null})"),
      "none");
}

/// Answers of somebody who means harm: deep nesting, and numbers that overflow.
TEST(FleetReport, TakesWhateverAnAnswerIs) {
  HostAnswers answers({"a1"});
  const std::string deep(100'000, '['), ends(100'000, ']');
  EXPECT_FALSE(answers.add(
      0, {"x", head_of("show", "ok") +
                   R"(, "resources": [{"status": "differs", "kind": "k", "attributes": [{"name": "n",
      "now": )" + deep +
                   ends + R"(, "wanted": )" + deep + "1" + ends +
                   R"(}]}], "devices": [{"ports": [{"device": "m", "port": 1,
      "mtu_active": -9223372036854775808}]}], "interfaces": [{"name": "ib0", "device": "m", "port": 1,
      "mode": "datagram", "mtu": 18446744073709551615}]})"}));
  EXPECT_TRUE(answers.too_large().empty());
}

TEST(Groups, APatternNamesThePartOfTheName) {
  const std::vector<std::string> hosts{"r1n01", "r12n03.example.net", "sm1"};
  const auto groups = group_by_pattern("{group}n*", hosts);
  EXPECT_THAT(groups.of_host, ElementsAre("r1", "r12", ""));
  ASSERT_EQ(groups.diagnostics.size(), 1U);
  EXPECT_EQ(groups.diagnostics[0].message, "1 host is in no group: sm1");
  EXPECT_THAT(group_by_pattern("r*n{group}", {"r1n2n3"}).of_host, ElementsAre("3"));
  EXPECT_THAT(group_by_pattern("r{group}[1-2]n*", {"rx2n3", "rn1n1"}).of_host, ElementsAre("x", "n"));
  EXPECT_THAT(group_by_pattern("{group}n*", {"R1n1", "r1n2", "R2n1"}).of_host, ElementsAre("R1", "R1", "R2"))
      << "case says nothing in host names";
  EXPECT_THAT(group_by_pattern("racks", hosts).diagnostics[0].message, HasSubstr("needs {group} once"));
}

TEST(Groups, AFileIsATableOrToml) {
  const std::vector<std::string> hosts{"r1n01", "r1n02.example.net", "login"};
  EXPECT_THAT(group_by_file({"racks.csv", "host,rack\nr1n01,a\nR1N02,b\nlogin,c\n"}, hosts).of_host,
              ElementsAre("a", "b", "c"));
  // A table that has more for each host, such as that of a document.
  EXPECT_THAT(
      group_by_file({"nodes.csv", "host,guid,group\nr1n01,1,a\nr1n02,2,b\nlogin,3,a\n"}, hosts).of_host,
      ElementsAre("a", "b", "a"));
  const auto toml =
      group_by_file({"racks.toml", "a = \"r1n[01-02]\"\nb = [\"login\", 7, \"r1n01\"]\n"}, hosts);
  EXPECT_THAT(toml.of_host, ElementsAre("a", "a", "b"));
  ASSERT_EQ(toml.diagnostics.size(), 2U);
  EXPECT_EQ(toml.diagnostics[0].where.text(), "racks.toml:2:15");
  EXPECT_EQ(toml.diagnostics[1].message, "b: host r1n01 is in a already");
  const auto large =
      group_by_file({"racks.toml", "a = \"x[1-100000]\"\nb = \"login\"\nc = \"r1n01\"\n"}, hosts);
  ASSERT_EQ(large.diagnostics.size(), 2U);
  EXPECT_THAT(large.diagnostics[0].message, HasSubstr("b: more than the 100000 hosts"));
  const auto twice = group_by_file({"racks.toml", "a = \"x[1-100]\"\nb = \"x[1-100]\"\n"}, hosts);
  EXPECT_EQ(twice.diagnostics.size(), model::limits::kErrors + 2);
  EXPECT_THAT(group_by_file({"racks.csv", "host\nr1n01\n"}, hosts).diagnostics[0].message,
              HasSubstr("no column with groups"));
  const auto header = group_by_file({"racks.csv", "node,rack\nr1n01,a\n"}, hosts).diagnostics[0];
  EXPECT_THAT(header.hint, HasSubstr("names the columns, separated by commas: host,group"));
  const auto section = group_by_file({"racks.toml", "[rack7]\nhosts = \"r1n01\"\n"}, hosts).diagnostics[0];
  EXPECT_EQ(section.message, "rack7: must be a list of hosts, not a table");
  EXPECT_THAT(section.hint, HasSubstr("outside of any section: rack1 = \"gpu[001-040]\""));
}

TEST(Groups, AShortNameIsInTheGroupOfTheFullOneThatTheFileHas) {
  const std::vector<std::string> hosts{"a1", "a2", "a3.example.net", "a4.example.net"};
  const auto groups = group_by_file({"racks.csv",
                                     "host,group\nA1.example.net,x\na2.example.net,x\na2.example.org,y\n"
                                     "a3,z\na4.example.org,z\n"},
                                    hosts);
  EXPECT_THAT(groups.of_host, ElementsAre("x", "", "z", ""));
  ASSERT_EQ(groups.diagnostics.size(), 1U);
  EXPECT_EQ(groups.diagnostics[0].message, "2 hosts are in no group: a2,a4.example.net");
}

}  // namespace
}  // namespace rdmacfg::fleet
