// SPDX-License-Identifier: Apache-2.0
#include "model/types/inet_types.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace rdmacfg::model {
namespace {

IpPrefix prefix(std::string_view text) { return IpPrefix::parse(text).value(); }
IpAddress address(std::string_view text) { return IpAddress::parse(text).value(); }

template <class T>
std::string why(const Value& written) {
  const auto parsed = Codec<T>::parse(written);
  return parsed ? "" : parsed.error().message;
}

TEST(IpAddress, HasOneText) {
  EXPECT_EQ(address("2001:DB8:0:0::1").text(), "2001:db8::1");
  EXPECT_EQ(address("192.0.2.1").text(), "192.0.2.1");
  for (const auto* text : {"", "192.0.2", "192.0.2.1 ", "192.0.2.01", "2001:db8::1::2", "fe80::1%ib0", "ib0"})
    EXPECT_FALSE(IpAddress::parse(text)) << text;
}

/// An address is often copied with what other programs write around it.
TEST(IpAddress, SaysWhatToLeaveOut) {
  const auto of = [](std::string_view text) { return IpAddress::parse(text).error().message; };
  EXPECT_EQ(of("192.0.2.1/24"), "\"192.0.2.1/24\" has a prefix length: write 192.0.2.1 alone");
  EXPECT_EQ(of("2001:db8::1/64"), "\"2001:db8::1/64\" has a prefix length: write 2001:db8::1 alone");
  EXPECT_EQ(of("fe80::1%ib0"), "\"fe80::1%ib0\" has a zone: write fe80::1 alone");
  EXPECT_EQ(of(" 192.0.2.1"), "\" 192.0.2.1\" has leading or trailing blanks: write 192.0.2.1");
  EXPECT_EQ(of("192.0.2.1:4420"), "\"192.0.2.1:4420\" is more than an address: write 192.0.2.1 alone");
  EXPECT_EQ(of("[2001:db8::1]:4420"),
            "\"[2001:db8::1]:4420\" is more than an address: write 2001:db8::1 alone");
  EXPECT_EQ(of("[2001:db8::1]"), "\"[2001:db8::1]\" is more than an address: write 2001:db8::1 alone");
  EXPECT_EQ(of("192.000.02.010"),
            "\"192.000.02.010\" has a leading 0, which some programs read as octal: write 192.0.2.10");
  for (const auto* text : {"", "x", "x/24", "192.0.2.0300", "01.2.3", "x:4420", "[x]:1", "[", "[]",
                           "[2001:db8::1", "192.0.2.300/24"})
    EXPECT_NE(of(text).find("is not an IP address such as"), std::string::npos) << text;
}

TEST(IpAddress, KnowsItsSort) {
  EXPECT_TRUE(address("fe80::1").link_local());
  EXPECT_FALSE(address("fec0::1").link_local());
  EXPECT_TRUE(address("169.254.1.1").link_local());
  EXPECT_TRUE(address("::1").loopback());
  EXPECT_TRUE(address("239.0.0.1").multicast());
  EXPECT_TRUE(address("::").unspecified());
}

TEST(IpPrefix, NetworkAndContent) {
  EXPECT_EQ(prefix("192.0.2.130/25").network().text(), "192.0.2.128/25");
  EXPECT_EQ(prefix("2001:db8:ffff::1/33").network().text(), "2001:db8:8000::/33");
  EXPECT_TRUE(prefix("192.0.2.130/25").contains(address("192.0.2.254")));
  EXPECT_FALSE(prefix("192.0.2.130/25").contains(address("192.0.2.1")));
  EXPECT_FALSE(prefix("0.0.0.0/0").contains(address("::1")));
}

TEST(IpPrefix, BroadcastUpToThirtyBitsOfIpv4) {
  EXPECT_EQ(prefix("192.0.2.130/25").broadcast(), address("192.0.2.255"));
  EXPECT_EQ(prefix("192.0.2.1/30").broadcast(), address("192.0.2.3"));
  EXPECT_FALSE(prefix("192.0.2.1/31").broadcast());
  EXPECT_FALSE(prefix("2001:db8::1/64").broadcast());
}

TEST(IpPrefix, RefusesWithAReason) {
  const auto of = [](std::string_view text) { return IpPrefix::parse(text).error().message; };
  EXPECT_NE(of("192.0.2.1").find("write 192.0.2.1/24"), std::string::npos);
  EXPECT_NE(of("192.0.2.1/33").find("0 to 32"), std::string::npos);
  EXPECT_NE(of("192.0.2.1/024").find("0 to 32"), std::string::npos);
  EXPECT_NE(of("192.0.2.1/255.255.255.0").find("write 192.0.2.1/24"), std::string::npos);
  EXPECT_NE(of("192.0.2.1/255.255.255.254").find("write 192.0.2.1/31"), std::string::npos);
  EXPECT_NE(of("192.0.2.1/255.0.255.0").find("0 to 32"), std::string::npos);
  EXPECT_NE(of("192.0.2.1/0.0.0.0").find("0 to 32"), std::string::npos);
  EXPECT_NE(of("2001:db8::1/255.255.0.0").find("0 to 128"), std::string::npos);
  EXPECT_NE(of("2001:db8::1/129").find("0 to 128"), std::string::npos);
}

TEST(IpPrefix, SaysWhatStandsBesideAnAddress) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"192.0.2.1/", "\"192.0.2.1/\" has no prefix length: write 192.0.2.1/24"},
      {"2001:db8::1/", "\"2001:db8::1/\" has no prefix length: write 2001:db8::1/64"},
      {" 192.0.2.1/24", "\" 192.0.2.1/24\" has leading or trailing blanks: write 192.0.2.1/24"},
      {"192.0.2.1/24\t", "\"192.0.2.1/24\t\" has leading or trailing blanks: write 192.0.2.1/24"},
      {"192.0.2.1 255.255.255.0",
       "\"192.0.2.1 255.255.255.0\" has a netmask in place of a prefix length: write 192.0.2.1/24"},
      {"192.0.2.1/24, 192.0.2.2/24",
       "\"192.0.2.1/24, 192.0.2.2/24\" contains several addresses: quote each separately"},
      {"192.0.2.1/24;192.0.2.2/24;",
       "\"192.0.2.1/24;192.0.2.2/24;\" contains several addresses: quote each separately"},
      {"192.0.2.1/24 brd 192.0.2.255",
       "\"192.0.2.1/24 brd 192.0.2.255\" is more than an address: write 192.0.2.1/24 alone"},
      {"192.0.2.1 /24", "\"192.0.2.1 /24\" has blanks in it: write 192.0.2.1/24"},
      {"192.0.2.1 / 24", "\"192.0.2.1 / 24\" has blanks in it: write 192.0.2.1/24"},
      {"192.0.2.1/ 24", "\"192.0.2.1/ 24\" has blanks in it: write 192.0.2.1/24"},
      {"2001:db8::1\t/64", "\"2001:db8::1\t/64\" has blanks in it: write 2001:db8::1/64"},
      {"fe80::1%ib0/64", "\"fe80::1%ib0\" has a zone: write fe80::1/64 alone"},
      {"192.000.002.001/24",
       "\"192.000.002.001\" has a leading 0, which some programs read as octal: write 192.0.2.1/24"},
      {"192.0.2.01/255.255.255.0",
       "\"192.0.2.01\" has a leading 0, which some programs read as octal: write 192.0.2.1/24"},
      {"192.0.2.01/x", "\"192.0.2.01\" has a leading 0, which some programs read as octal: write 192.0.2.1"},
      {"x, y", "\"x, y\" is not an IP address such as 192.0.2.1 or 2001:db8::1"},
      {",", "\",\" is not an IP address such as 192.0.2.1 or 2001:db8::1"},
      {"", "\"\" is not an IP address such as 192.0.2.1 or 2001:db8::1"},
  };
  for (const auto& [text, message] : cases) {
    const auto parsed = IpPrefix::parse(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().message, message);
  }
}

TEST(RouteTarget, IsANetwork) {
  EXPECT_EQ(RouteTarget::parse("198.51.100.7")->text(), "198.51.100.7/32");
  EXPECT_EQ(RouteTarget::parse("default")->text(), "default");
  EXPECT_NE(RouteTarget::parse("198.51.100.7/24").error().message.find("write 198.51.100.0/24"),
            std::string::npos);
  EXPECT_NE(RouteTarget::parse("0.0.0.0/0").error().message.find("default"), std::string::npos);
}

TEST(InetLists, NameTheWrongElement) {
  using List = std::vector<std::string>;
  EXPECT_EQ(Codec<IpPrefixes>::value(*Codec<IpPrefixes>::parse(List{"2001:DB8::1/64"})),
            Value(List{"2001:db8::1/64"}));
  EXPECT_NE(why<IpPrefixes>(List{"192.0.2.1/24", "192.0.2.1/24"}).find("twice"), std::string::npos);
  EXPECT_NE(why<IpPrefixes>(std::string("192.0.2.1/24")).find("a list such as"), std::string::npos);
  EXPECT_NE(why<SearchDomains>(List{"-bad"}).find("\"-bad\""), std::string::npos);
  EXPECT_EQ(why<SearchDomains>(List{"example.net", "~lab.example"}), "");
}

TEST(InetWords, SuggestTheNearest) {
  EXPECT_NE(why<Backend>(std::string("networkmanger")).find("did you mean \"networkmanager\""),
            std::string::npos);
  EXPECT_NE(why<InetMethod>(std::string("dhcp")).find("auto"), std::string::npos);
  EXPECT_NE(why<RouteTable>(std::int64_t{0}), "");
  EXPECT_EQ(why<RouteMetric>(std::int64_t{0}), "");
}

}  // namespace
}  // namespace rdmacfg::model
