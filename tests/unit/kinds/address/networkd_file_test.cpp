// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/profiles/networkd_file.hpp"

#include <gtest/gtest.h>

#include "kinds/address/profiles/networkd_older.hpp"
#include "kinds/address/route.hpp"
#include "kinds/managers/networkd.hpp"

namespace rdmacfg::kinds {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* kNetworkdFilePort = "00:02:c9:03:00:31:78:f2";
constexpr const char* kChild = "00:02:c9:03:00:31:78:f2/0x8002";

NetworkdFile whole() {
  NetworkdFile file;
  file.addresses = Lines{"192.0.2.1/24", "2001:db8::1/64"};
  file.routes = Lines{"default via 192.0.2.254 metric 150", "ipv6 default via fe80::1 metric 0",
                      "10.0.0.0/8 metric 5 table 7"};
  file.dns = Lines{"192.0.2.53", "2001:db8::53"};
  file.search = Lines{"example.net", "~example.org"};
  file.link_local = true;
  return file;
}

TEST(NetworkdFile, WhatIsWrittenIsRead) {
  const auto file = whole();
  EXPECT_EQ(model::to_attributes(parse_network(kNetworkdFilePort, render_network(kNetworkdFilePort, file))),
            model::to_attributes(file));
  NetworkdFile other;
  other.dhcp = other.router_advertisements = true;
  other.link_local = false;
  EXPECT_EQ(model::to_attributes(parse_network(kChild, render_network(kChild, other))),
            model::to_attributes(other));
  NetworkdFile down;
  down.unmanaged = true;
  EXPECT_EQ(model::to_attributes(parse_network(kNetworkdFilePort, render_network(kNetworkdFilePort, down))),
            model::to_attributes(down));
}

TEST(NetworkdFile, AnInterfaceIsMatchedByGuidAndPkeyNotByName) {
  const auto port = render_network(kNetworkdFilePort, whole()), child = render_network(kChild, whole());
  EXPECT_NE(port.find("Property=RDMA_CONFIGD_PORT=00:02:c9:03:00:31:78:f2 RDMA_CONFIGD_OF_PORT=1\n"),
            std::string::npos);
  EXPECT_NE(
      child.find("RDMA_CONFIGD_BROADCAST=00:ff:ff:ff:ff:12:40:1b:80:02:00:00:00:00:00:00:ff:ff:ff:ff\n"),
      std::string::npos);
  EXPECT_EQ((port + child).find("Name="), std::string::npos);
}

TEST(NetworkdFile, WhatSomebodyElseChangedIsSeen) {
  auto text = render_network(kNetworkdFilePort, whole());
  EXPECT_FALSE(parse_network(kNetworkdFilePort, text).edited);
  text.erase(text.find("KeepConfiguration"), std::string("KeepConfiguration=static\n").size());
  text += "\n[Link]\nMTUBytes=9000\n";
  EXPECT_EQ(parse_network(kNetworkdFilePort, text).edited,
            (Lines{"+ MTUBytes=9000", "+ [Link]", "- KeepConfiguration=static"}));
  // One of another interface is all edited.
  EXPECT_TRUE(parse_network(kChild, render_network(kNetworkdFilePort, whole())).edited);
}

TEST(NetworkdFile, ANumberBeyondItsRangeIsNotReadAsAnotherOne) {
  auto text = render_network(kNetworkdFilePort, whole());
  const std::string table = "Table=7\n";
  const auto at = text.find(table);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(parse_network(kNetworkdFilePort, text).routes, whole().routes);
  text.replace(at, table.size(), "Table=4294967303\n");
  EXPECT_NE(parse_network(kNetworkdFilePort, text).routes, whole().routes);
  const auto key = [](const char* number) {
    return model::Key{"route", std::string(kNetworkdFilePort) + " 10.0.0.0/8 metric 5 table " + number};
  };
  EXPECT_TRUE(route_of(key("7")));
  EXPECT_FALSE(route_of(key("4294967303")));
}

TEST(NetworkdFile, HostileTextsAreRead) {
  for (const auto* text :
       {"", "[", "[]", "[Route]\nDestination=\nMetric=99999999999999999999\n", "Address=x\n",
        "[Address]\nAddress=not/an/address\n", "[Route]\nDestination=10.0.0.1/8\n"}) {
    const auto file = parse_network(kNetworkdFilePort, text);
    EXPECT_TRUE(addresses_in(file).empty()) << text;
    (void)routes_in(file);
    (void)render_network(kNetworkdFilePort, file);
  }
}

TEST(NetworkdFile, FileNamesAreIds) {
  for (const std::string id : {kNetworkdFilePort, kChild}) {
    const auto path = networkd_file(id);
    EXPECT_EQ(networkd_id(path.substr(path.rfind('/') + 1)), id);
  }
  EXPECT_FALSE(networkd_id("09-rdma-configd-unmanaged.network"));
  EXPECT_FALSE(networkd_id("20-wired.network"));
}

TEST(NetworkdFile, OfAnOlderVersionHasAnotherName) {
  for (const auto* id : {kNetworkdFilePort, kChild}) {
    const auto path = older_networkd_file(id);
    const auto name = path.substr(path.rfind('/') + 1);
    EXPECT_EQ(older_networkd_id(name), id);
    EXPECT_FALSE(networkd_id(name));
    EXPECT_NE(path, networkd_file(id));
  }
  EXPECT_FALSE(older_networkd_id("10-rdma-configd-unmanaged.network"));
}

TEST(NetworkdFile, ARouteIsInEffectWithItsMetricAndTable) {
  NetworkdFile file;
  file.routes = Lines{"10.0.0.0/8 metric 5 table 7"};
  detail::InetState now{.addresses = {}, .routes = routes_in(file)};
  ASSERT_EQ(now.routes.size(), 1U);
  EXPECT_TRUE(detail::missing_of(file, now).empty());
  EXPECT_EQ(detail::missing_of(file, {}), *file.routes);
  now.routes[0].table = 8;
  EXPECT_EQ(detail::missing_of(file, now), *file.routes);
}

TEST(NetworkdFile, EachInterfaceHasItsOwnRoutes) {
  NetworkdFile file;
  file.routes = Lines{"10.0.0.0/8 metric 5 table 7"};
  detail::InetStates all;
  all.by_index[3] = {.addresses = {}, .routes = routes_in(file)};
  EXPECT_TRUE(detail::missing_of(file, all.of(3)).empty());
  EXPECT_FALSE(detail::missing_of(file, all.of(4)).empty());
}

}  // namespace
}  // namespace rdmacfg::kinds
