// SPDX-License-Identifier: Apache-2.0
#include "formats/storage/discovery_conf.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmacfg::kinds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kLine = "--transport=rdma --traddr=192.0.2.1";
constexpr std::string_view kTheirs = "# theirs\n-t tcp -a 198.51.100.1\n";

TEST(DiscoveryConf, AddressesAreFoundAsNvmeCliReadsThem) {
  for (const auto* line : {"--transport=rdma --traddr=192.0.2.1 --trsvcid=4420", "-t rdma -a 192.0.2.1",
                           "--traddr 192.0.2.1 -t rdma", "-trdma -a192.0.2.1"})
    EXPECT_EQ(traddr_of(line), "192.0.2.1") << line;
  EXPECT_EQ(traddr_of("--traddr=2001:0db8::1"), "2001:db8::1");
  EXPECT_EQ(traddr_of("--traddr=storage1 -t rdma"), "storage1");
  EXPECT_EQ(traddr_of("-a 192.0.2.1 -t rdma -a 192.0.2.2 # -a 192.0.2.3"), "192.0.2.3")
      << "the last counts, and a comment behind a line is none";
  for (const auto* line : {"", "-t rdma", "--traddr", "--traddr  192.0.2.1", "--host-traddr=192.0.2.9"})
    EXPECT_EQ(traddr_of(line), "") << line;
}

TEST(DiscoveryConf, LinesOfOthersStayAsTheyAre) {
  auto conf = parse_discovery_conf(kTheirs);
  EXPECT_THAT(conf.ours, IsEmpty());
  EXPECT_THAT(conf.others_lead, ElementsAre(Pair("198.51.100.1", 2)));
  conf.ours.emplace("192.0.2.1", "--transport=rdma --traddr=192.0.2.1 --trsvcid=4420");
  const auto text = render_discovery_conf(conf);
  EXPECT_EQ(text, fmt::format("{}{}\n--transport=rdma --traddr=192.0.2.1 --trsvcid=4420\n{}\n", kTheirs,
                              kOpensmMarks.begin, kOpensmMarks.end));
  auto again = parse_discovery_conf(text);
  EXPECT_EQ(again.ours, conf.ours);
  again.ours.clear();
  EXPECT_EQ(render_discovery_conf(again), kTheirs);
}

TEST(DiscoveryConf, ALineWhoseConnectionsAreBeingEndedIsForNobodyElse) {
  const auto going = std::string(kGoingMark) + kLine;
  const auto conf = parse_discovery_conf(
      fmt::format("{}\n# a note\n{}\n{}\n{}\n", going, kOpensmMarks.begin, going, kOpensmMarks.end));
  EXPECT_THAT(conf.ours, ElementsAre(Pair("192.0.2.1", going)));
  EXPECT_TRUE(conf.others_lead.empty());
}

TEST(DiscoveryConf, LinesThatDifferInTheirPortsAreOneConnection) {
  const auto line = [](int port, const std::string& more) {
    return fmt::format("{} --trsvcid={}{}", kLine, port, more);
  };
  const auto both = line(4420, " --queue-size=16") + "\n" + line(4421, " --queue-size=16");
  DiscoveryConf conf;
  conf.ours = {{"192.0.2.1", both}};
  const auto text = render_discovery_conf(conf);
  EXPECT_EQ(parse_discovery_conf(text).ours, conf.ours);
  conf.ours = {{"192.0.2.1",
                std::string(kGoingMark) + line(4420, "") + "\n" + std::string(kGoingMark) + line(4421, "")}};
  EXPECT_EQ(parse_discovery_conf(render_discovery_conf(conf)).ours, conf.ours);
  const auto others = parse_discovery_conf(fmt::format("{}\n{}\n{}\n{}\n", kOpensmMarks.begin, line(4420, ""),
                                                       line(4421, " --queue-size=16"), kOpensmMarks.end));
  EXPECT_THAT(others.ours, UnorderedElementsAre(Pair(line(4420, ""), line(4420, "")),
                                                Pair("192.0.2.1", line(4421, " --queue-size=16"))));
}

TEST(DiscoveryConf, PortsOfLinesAreThoseOfLinesThatGoToo) {
  EXPECT_THAT(services_of_lines(fmt::format("{0} --trsvcid=4420 --queue-size=16\n{1}{0} --trsvcid=4421",
                                            kLine, kGoingMark)),
              ElementsAre("4420", "4421"));
  EXPECT_THAT(services_of_lines(kLine), IsEmpty());
  EXPECT_THAT(services_of_lines(""), IsEmpty());
}

TEST(DiscoveryConf, OneOfSeveralPortsMayGo) {
  DiscoveryConf conf;
  conf.ours = {{"192.0.2.1", fmt::format("{0} --trsvcid=4420\n{1}{0} --trsvcid=4421", kLine, kGoingMark)}};
  EXPECT_EQ(parse_discovery_conf(render_discovery_conf(conf)).ours, conf.ours);
}

TEST(DiscoveryConf, ALineThatWeDidNotWriteIsItsOwnKey) {
  const auto conf = parse_discovery_conf(fmt::format("{}\n{}\n--nqn=x\n{} -Q 9\n-a 192.0.2.1\n{}\n",
                                                     kOpensmMarks.begin, kLine, kLine, kOpensmMarks.end));
  EXPECT_THAT(conf.ours, UnorderedElementsAre(Pair(kLine, kLine), Pair("--nqn=x", "--nqn=x"),
                                              Pair("-a 192.0.2.1", "-a 192.0.2.1"),
                                              Pair("192.0.2.1", std::string(kLine) + " -Q 9")));
  const auto text = render_discovery_conf(conf);
  EXPECT_EQ(render_discovery_conf(parse_discovery_conf(text)), text);
}

}  // namespace
}  // namespace rdmacfg::kinds
