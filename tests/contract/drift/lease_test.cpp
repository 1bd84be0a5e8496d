// SPDX-License-Identifier: Apache-2.0
// An address of the document that is there as a lease, or as what a router advertised: the kernel would take
// it away (net/ipv4/devinet.c check_lifetime(), net/ipv6/addrconf.c addrconf_verify_rtnl()).
#include <gmock/gmock.h>

#include "contract/apply_text.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kLeased = R"({ "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
  { "guid": "00:02:c9:03:00:31:78:f2", "interface": { "name": "ib0", "up": true,
    "items": ["addr4 192.0.2.1/24 dynamic", "addr6 2001:db8::7/64 dynamic"] } } ] }] })";
constexpr const char* kLeaseDocument =
    "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"direct\"\n"
    "ipv4 = { addresses = [\"192.0.2.1/24\"] }\n";

TEST(Lease, AnAddressOfTheDocumentLosesItsLifetime) {
  const auto kernel = FakeKernel::parse(kLeased);
  const auto report = apply_text(*kernel, kLeaseDocument);
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  const auto& items = kernel->link("ib0").items;
  EXPECT_THAT(items, testing::Contains("addr4 192.0.2.1/24"));
  EXPECT_THAT(items, testing::Contains("addr6 2001:db8::7/64 dynamic")) << "not the document's";
  kernel->faults.clear();
  const auto again = apply_text(*kernel, kLeaseDocument);
  EXPECT_EQ(again.exit, Exit::kOk) << text_of(again);
  EXPECT_EQ(kernel->faults.calls(), 0U);
}

TEST(Lease, DroppedItStaysForGood) {
  const auto kernel = FakeKernel::parse(kLeased);
  ASSERT_EQ(apply_text(*kernel, kLeaseDocument).exit, Exit::kOk);
  const auto report = apply_text(*kernel, "");
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_THAT(kernel->link("ib0").items, testing::Contains("addr4 192.0.2.1/24")) << "it was there before";
}

/// Without promote_secondaries they go with the first address of their network, and are added again.
TEST(Lease, AddressesOfOthersComeBackAsTheyWere) {
  const std::string leased =
      "addr4 192.0.2.2/24 label storage metric 50 proto 4 dynamic valid_lft 60 preferred_lft 30";
  const std::string with_peer = "addr4 198.51.100.1/24 peer 192.0.2.9 noprefixroute";
  const auto kernel = FakeKernel::parse(R"({ "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
  { "guid": "00:02:c9:03:00:31:78:f2", "interface": { "name": "ib0", "up": true } } ] }] })");
  ASSERT_EQ(apply_text(*kernel, kLeaseDocument).exit, Exit::kOk);
  auto& items = kernel->link("ib0").items;
  items.push_back(leased);
  items.push_back(with_peer);
  const auto report = apply_text(*kernel, "");
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_THAT(items, testing::Not(testing::Contains("addr4 192.0.2.1/24")));
  EXPECT_THAT(items, testing::IsSupersetOf({leased, with_peer}));
}

TEST(Ipv6Off, IsToldBeforeAnyWrite) {
  const auto kernel = FakeKernel::parse(kLeased);
  kernel->sysctl.set("net/ipv6/conf/ib0/disable_ipv6", "1");
  const std::string document = std::string(kLeaseDocument) + "ipv6 = { addresses = [\"2001:db8::1/64\"] }\n";
  const auto report = apply_text(*kernel, document);
  EXPECT_EQ(report.exit, Exit::kError) << text_of(report);
  EXPECT_EQ(kernel->faults.calls(), 0U);
  ASSERT_FALSE(report.diagnostics.empty());
  EXPECT_THAT(report.diagnostics.front().message, testing::HasSubstr("IPv6 is off on ib0"));
  kernel->sysctl.set("net/ipv6/conf/ib0/disable_ipv6", "0");
  EXPECT_EQ(apply_text(*kernel, document).exit, Exit::kOk);
}

TEST(Ipv6Off, OnlyAnEntryThatSwitchesItOnThereCounts) {
  const auto is_told = [](const std::string& entry, const std::string& value, const std::string& all = "1") {
    const auto kernel = FakeKernel::parse(kLeased);
    kernel->sysctl.set("net/ipv6/conf/ib0/disable_ipv6", "1");
    kernel->sysctl.set("net/ipv6/conf/ib1/disable_ipv6", "1");
    kernel->sysctl.set("net/ipv6/conf/all/disable_ipv6", all);
    const auto report = apply_text(
        *kernel, std::string(kLeaseDocument) + "ipv6 = { addresses = [\"2001:db8::1/64\"] }\n[[sysctl]]\n" +
                     "key = \"net.ipv6.conf." + entry + ".disable_ipv6\"\nvalue = " + value + "\n");
    for (const auto& diagnostic : report.diagnostics) {
      if (testing::Value(diagnostic.message, testing::HasSubstr("IPv6 is off on ib0"))) return true;
    }
    return false;
  };
  EXPECT_FALSE(is_told("ib0", "0"));
  EXPECT_TRUE(is_told("ib0", "1"));
  EXPECT_TRUE(is_told("ib1", "0"));
  EXPECT_FALSE(is_told("all", "0"));
  EXPECT_TRUE(is_told("all", "0", "0")) << "it is so already, and is not written";
}

}  // namespace
}  // namespace rdmacfg::contract
