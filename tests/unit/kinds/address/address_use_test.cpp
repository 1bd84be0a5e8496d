// SPDX-License-Identifier: Apache-2.0
// Warnings about addresses and routes that an interface has to little use.
#include "kinds/address/address_use.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

/// The warnings about a document with these settings of IPv4, on a host with these interfaces beside ib0.
std::string warnings_of(const std::string& links, const std::string& ipv4) {
  auto kernel = fakes::FakeKernel::parse(
      R"({"devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
          {"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true}}]}], "links": [)" +
      links + "]}");
  auto host = kernel->host();
  const std::string text =
      "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"direct\"\nipv4 = { " + ipv4 +
      " }\n";
  std::string out;
  const auto report = core::diff(config::parse_texts({{"config.toml", text}}, "node1", grammar()), host);
  for (const auto& diagnostic : report.diagnostics) out += diagnostic.message + "\n";
  return out;
}

constexpr const char* kOneAddress = "addresses = [\"192.0.2.1/24\"]";

TEST(AddressUse, ASecondHolderCountsWhereItsRoutesDo) {
  const auto held_by = [](const std::string& eth0) {
    return warnings_of(R"({"name": "eth0", "items": ["addr4 192.0.2.1/24"], )" + eth0, kOneAddress);
  };
  const std::string told = "ib0 192.0.2.1/24: eth0, which is not in the document, has this address too\n";
  EXPECT_EQ(held_by(R"("up": true})"), told);
  EXPECT_EQ(held_by(R"("up": false})"), "") << "down";
  EXPECT_EQ(held_by(R"("up": true}, {"name": "vrf0", "kind": "vrf", "up": true, "over": ["eth0"]})"), "");
  EXPECT_EQ(held_by(R"("up": true}, {"name": "vrf0", "kind": "vrf", "up": true, "over": ["eth0", "ib0"]})"),
            told);
  EXPECT_EQ(held_by(R"("up": true}, {"name": "vrf0", "kind": "vrf", "up": true, "over": ["ib0"]})"), "");
  EXPECT_EQ(warnings_of(R"({"name": "bond0", "kind": "bond", "up": true, "over": ["ib0"],
                            "items": ["addr4 192.0.2.1/24"]})",
                        kOneAddress),
            "")
      << "it belongs to the bond, which is said by the address itself";
  EXPECT_EQ(warnings_of(R"({"name": "tun0", "up": true, "items": ["addr4 192.0.2.1/24 peer 203.0.113.9"]})",
                        kOneAddress),
            "");
}

TEST(AddressUse, ARouteInTheMainTableIsNotOfTheVrf) {
  const auto routed = [](const std::string& kind, const std::string& more) {
    return warnings_of(R"({"name": "over0", "kind": ")" + kind + R"(", "up": true, "over": ["ib0"]})",
                       std::string(kOneAddress) + ", " + more);
  };
  const std::string told =
      "the route is in the main table, but ib0 is in the VRF over0, which has its own table\n";
  EXPECT_EQ(routed("vrf", "gateway = \"192.0.2.254\""), "ib0 default metric 150 table 254: " + told);
  EXPECT_EQ(routed("vrf", R"(routes = [{ to = "198.51.100.0/24", via = "192.0.2.9" }])"),
            "ib0 198.51.100.0/24 metric 150 table 254: " + told);
  EXPECT_EQ(routed("vrf", R"(routes = [{ to = "198.51.100.0/24", via = "192.0.2.9", table = 10 }])"), "");
  EXPECT_EQ(routed("bridge", R"(routes = [{ to = "198.51.100.0/24", via = "192.0.2.9" }])"), "");
}

TEST(AddressUse, AWiderRouteOverTheInterfaceLeadsToItsNetwork) {
  const auto state = [](const std::string& route) {
    auto kernel = fakes::FakeKernel::parse(
        R"({"devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
            {"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true,
             "items": ["addr4 192.0.2.1/24 noprefixroute")" +
        route + R"(]}}]}]})");
    auto host = kernel->host();
    auto world = World::observe(host);
    EXPECT_TRUE(world);
    const auto all = host.inet.observe_addresses();
    EXPECT_TRUE(all);
    const std::map<int, TrackedInterface> interfaces{
        {kernel->link("ib0").index, TrackedInterface{"00:02:c9:03:00:31:78:f2", "ib0"}}};
    return detail::unrouted(*all, interfaces, *world)->size();
  };
  EXPECT_EQ(state(""), 1U);
  EXPECT_EQ(state(R"(, "route 192.0.2.0/24 metric 150")"), 0U);
  EXPECT_EQ(state(R"(, "route 192.0.0.0/16")"), 0U);
  EXPECT_EQ(state(R"(, "route 192.0.2.0/25")"), 1U) << "half of it";
  EXPECT_EQ(state(R"(, "route 192.0.2.0/24 tos 16")"), 1U);
}

}  // namespace
}  // namespace rdmacfg::kinds
