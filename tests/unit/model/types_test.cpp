// SPDX-License-Identifier: Apache-2.0
#include "model/types.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "model/field.hpp"
#include "model/types/fabric_types.hpp"
#include "model/types/inet_types.hpp"
#include "model/types/port_types.hpp"

namespace rdmacfg::model {
namespace {

TEST(Guid, ReadsEverySpelling) {
  for (const auto* text : {"00:02:c9:03:00:31:78:f2", "00:02:C9:03:00:31:78:F2", "0002:c903:0031:78f2",
                           "0x0002c903003178f2", "0002c903003178f2"}) {
    const auto guid = Guid::parse(text);
    ASSERT_TRUE(guid) << text;
    EXPECT_EQ(guid->text(), "00:02:c9:03:00:31:78:f2");
  }
}

TEST(Guid, RefusesWithAReason) {
  const auto why = [](std::string_view text) { return Guid::parse(text).error().message; };
  EXPECT_NE(why("00:02:c9:03:00:31:78").find("7 groups"), std::string::npos);
  EXPECT_NE(why("00:02:c9:03:00:31:78:g2").find("only hexadecimal digits"), std::string::npos);
  EXPECT_NE(why("00:00:00:00:00:00:00:00").find("all zero"), std::string::npos);
  EXPECT_NE(why("80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2").find("last 8 bytes"),
            std::string::npos);
  EXPECT_THAT(why("80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2"),
              testing::EndsWith("write its last 8 bytes, 00:02:c9:03:00:31:78:f2"));
  EXPECT_THAT(why("80000208fe800000000000000002c903003178f2"),
              testing::EndsWith("write its last 8 bytes, 00:02:c9:03:00:31:78:f2"));
  EXPECT_THAT(why(std::string(19, ':')), testing::HasSubstr("20-byte hardware address"));
  EXPECT_THAT(why("80:00:02:08:fe:80:00:00:00:00:00:00:" + std::string(23, ':').replace(0, 16, 16, '0')),
              testing::HasSubstr("20-byte hardware address"));
  EXPECT_NE(why("2").find(": 1 hexadecimal digit instead of 16"), std::string::npos);
  EXPECT_NE(why("0x12").find(": 2 hexadecimal digits instead of 16"), std::string::npos);
  EXPECT_FALSE(Guid::parse(""));
  EXPECT_FALSE(Guid::parse("00:02:c9:03:00:31:78:f2 "));
  EXPECT_FALSE(Guid::parse("+002:c903:0031:78f2"));
}

TEST(Pkey, ComparesOnFifteenBits) {
  EXPECT_EQ(*Pkey::make(0x000a), *Pkey::make(0x800a));
  EXPECT_EQ(Pkey::make(10)->text(), "0x800a");
  for (const auto* text : {"10", "0x000a", "0x800a", "32778", "0XA"})
    EXPECT_EQ(Pkey::parse(text)->text(), "0x800a") << text;
  EXPECT_NE(*Pkey::make(0x8002), *Pkey::make(0x8003));
}

TEST(Pkey, RefusesWhatNamesNoPartition) {
  for (const std::int64_t number : {0L, 0x8000L, -1L, 0x10000L}) EXPECT_FALSE(Pkey::make(number)) << number;
  for (const auto* text : {"", "0x", "x8002", "8002h", "-1", "0x18002", "99999999999999999999"}) {
    EXPECT_FALSE(Pkey::parse(text)) << text;
  }
  EXPECT_EQ(Pkey::parse("8aff").error().message, "\"8aff\" is not a valid P_Key; write 0x8aff");
}

/// As in the names of interfaces, or as it is written: a reader does not know.
TEST(Pkey, ATextThatCouldBeEitherIsRefused) {
  EXPECT_NE(Codec<Pkey>::parse(Value{std::string("8002")}).error().message.find("0x8002 or the decimal 8002"),
            std::string::npos);
  for (const auto* text : {"0x8002", "32770", "2", "7fff", "1234"}) {
    const bool hexadecimal = std::string_view(text) == "7fff";
    EXPECT_EQ(Codec<Pkey>::parse(Value{std::string(text)}).has_value(), !hexadecimal) << text;
  }
  EXPECT_EQ(Codec<Pkey>::parse(Value{std::int64_t{8002}})->text(), "0x9f42");
}

TEST(PortNumber, CountsFromOne) {
  for (const std::int64_t number : {-3, 0, 256})
    EXPECT_NE(Codec<PortNumber>::parse(Value{number}).error().message.find("counted from 1"),
              std::string::npos);
  EXPECT_EQ(Codec<PortNumber>::parse(Value{std::int64_t{255}})->number, 255);
  EXPECT_FALSE(Codec<PortNumber>::parse(Value{std::string("1")}));
}

TEST(PciPattern, IsReadAsAddressesAre) {
  const std::vector<std::pair<const char*, const char*>> spellings{{"0000:AF:00.0", "0000:af:00.0"},
                                                                   {"10:00.0", "0000:10:00.0"},
                                                                   {"1?:00.0", "0000:1?:00.0"},
                                                                   {"0000:[A-F]?:00.0", "0000:[a-f]?:00.0"},
                                                                   {"*:00.0", "*:00.0"},
                                                                   {"*", "*"},
                                                                   {"0000:*", "0000:*"},
                                                                   {"0001:*", "0001:*"},
                                                                   {"0000:1*", "0000:1*"},
                                                                   {"000?:*", "000?:*"},
                                                                   {"10:*", "0000:10:*"},
                                                                   {"[1-3]?:*", "0000:[1-3]?:*"},
                                                                   {"1*:00.0", "0000:1*:00.0"},
                                                                   {"0000*:00.0", "0000*:00.0"},
                                                                   {"1*:*", "1*:*"},
                                                                   {"af:00.[0-3]", "0000:af:00.[0-3]"}};
  for (const auto& [text, canonical] : spellings) {
    const auto pattern = Codec<PciPattern>::parse(Value{std::string(text)});
    ASSERT_TRUE(pattern) << text;
    EXPECT_EQ(pattern->text, canonical);
    EXPECT_EQ(Codec<PciPattern>::parse(Value{pattern->text})->text, canonical) << "it parses to itself";
  }
  for (const auto* text : {"", "10", "0000:1g:00.0", "mlx*", "0000:[1:00.0"})
    EXPECT_FALSE(Codec<PciPattern>::parse(Value{std::string(text)})) << text;
}

TEST(LinkLayer, IsThatOfTheKernelInAnyCase) {
  EXPECT_EQ(Codec<LinkLayer>::parse(Value{std::string("infiniband")})->text, "InfiniBand");
  EXPECT_EQ(Codec<LinkLayer>::parse(Value{std::string("Ethernet")})->text, "Ethernet");
  EXPECT_EQ(Codec<LinkLayer>::value(LinkLayer{"Ethernet"}), Value{std::string("Ethernet")});
  EXPECT_FALSE(Codec<LinkLayer>::parse(Value{std::string("RoCE")}));
  EXPECT_FALSE(Codec<LinkLayer>::parse(Value{true}));
}

TEST(IpoibLinkLayer, IsInfiniBand) {
  EXPECT_TRUE(Codec<IpoibLinkLayer>::parse(Value{std::string("infiniband")}));
  EXPECT_FALSE(Codec<IpoibLinkLayer>::parse(Value{std::string("Ethernet")}));
}

TEST(InterfaceName, FollowsTheKernel) {
  EXPECT_TRUE(parse_interface_name("mlx4_ib0"));
  EXPECT_TRUE(parse_interface_name("a23456789012345"));
  for (const auto* name : {"", ".", "..", "all", "default", "a234567890123456", "a/b", "a b", "a:b", "a%d",
                           "12", "a\tb", "a\xc3\xa4", "-f", "--help"}) {
    EXPECT_FALSE(parse_interface_name(name)) << name;
  }
}

TEST(Words, SuggestTheNearest) {
  EXPECT_NE(parse_ipoib_mode("conected").error().message.find("did you mean \"connected\""),
            std::string::npos);
  EXPECT_NE(parse_state("Up").error().message.find("did you mean \"up\""), std::string::npos);
  EXPECT_EQ(*parse_state("absent"), State::kAbsent);
  EXPECT_EQ(*parse_on_unsupported("datagram"), OnUnsupported::kDatagram);
}

TEST(Words, ContinueTheNameOfAKeyUnlessTheyNameTheMode) {
  EXPECT_EQ(parse_ipoib_mode("fast").error().message, "\"fast\" is not one of datagram, connected");
  EXPECT_EQ(parse_named_mode("fast").error().message, "mode \"fast\" is not one of datagram, connected");
  EXPECT_EQ(*parse_named_mode("connected"), IpoibMode::kConnected);
}

// A state that a kind cannot have is not offered, but read, so that a rule of the kind explains it.
TEST(Words, OfferTheStatesOfTheirKind) {
  const auto port = parse_port_state("gone"), device = parse_device_state("gone");
  ASSERT_FALSE(port);
  EXPECT_NE(port.error().message.find("\"gone\" is not one of up, down, ignore"), std::string::npos)
      << port.error().message;
  ASSERT_FALSE(device);
  EXPECT_NE(device.error().message.find("\"gone\" is not one of up, absent, ignore"), std::string::npos)
      << device.error().message;
  EXPECT_EQ(*parse_port_state("absent"), State::kAbsent);
  EXPECT_EQ(*parse_device_state("down"), State::kDown);
  EXPECT_EQ(*parse_device_state("absent"), State::kAbsent);
}

/// RFC 2474 (CS), 2597 (AF), 3246 (EF), 5865 (VA), 8622 (LE).
TEST(Dscp, KnowsTheNamesOfClasses) {
  const std::pair<const char*, int> classes[] = {{"cs0", 0},   {"CS3", 24},  {"cs7", 56}, {"af11", 10},
                                                 {"AF31", 26}, {"af43", 38}, {"ef", 46},  {"va", 44},
                                                 {"le", 1},    {"be", 0}};
  for (const auto& [name, number] : classes) {
    const auto found = dscp_of_class(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(int{*found}, number) << name;
  }
  for (const auto* name : {"", "cs", "cs8", "cs/", "af10", "af14", "af51", "af3", "af311", "26", "e f"})
    EXPECT_FALSE(dscp_of_class(name)) << name;
}

TEST(FieldSpecs, KnowTheSortsOfValuesThatTheyTake) {
  struct Row {
    FieldSpec field;
    std::string sorts;
  };
  const auto of = [](std::string_view schema) {
    FieldSpec field;
    field.schema = schema;
    return field;
  };
  const std::vector<std::pair<std::string, Value>> values{{"b", true},
                                                          {"i", std::int64_t{1}},
                                                          {"s", std::string("1")},
                                                          {"l", std::vector<std::string>()},
                                                          {"-", std::monostate()}};
  const std::vector<Row> rows{{of(Codec<bool>::kSchema), "b"},
                              {of(Codec<Mtu>::kSchema), "i"},
                              {of(Codec<Pkey>::kSchema), "is"},
                              {of(Codec<IpoibMode>::kSchema), "s"},
                              {of(Codec<std::vector<std::string>>::kSchema), "l"},
                              {of(Codec<IpPrefixes>::kSchema), "l"},
                              {of(Codec<Scopes>::kSchema), "il"},
                              {of(Codec<PortTypes>::kSchema), "l"},
                              {of(R"({"enum":[1,2,256]})"), "i"},
                              {of(""), "bisl"}};
  for (const auto& row : rows) {
    std::string taken;
    for (const auto& [name, value] : values) taken += takes(row.field, value) ? name : "";
    EXPECT_EQ(taken, row.sorts) << row.field.schema;
  }
}

TEST(Codec, SaysWhatSortOfValueIsWanted) {
  EXPECT_EQ(Codec<Mtu>::parse(Value{std::string("2044")}).error().message, "must be an integer such as 2044");
  EXPECT_FALSE(Codec<Mtu>::parse(Value{std::int64_t{67}}));
  EXPECT_FALSE(Codec<Mtu>::parse(Value{std::int64_t{65521}}));
  EXPECT_TRUE(Codec<Mtu>::parse(Value{std::int64_t{65520}}));
  EXPECT_FALSE(Codec<bool>::parse(Value{std::int64_t{1}}));
  EXPECT_TRUE(Codec<NameTemplate>::parse(Value{std::string("ib_s{pci_slot}p{port}")}));
  EXPECT_FALSE(Codec<NameTemplate>::parse(Value{std::string("much_too_long_name")}));
}

struct Sample {
  std::optional<Pkey> pkey;
  std::optional<Mtu> mtu;
  std::optional<bool> umcast;
  static constexpr auto kFields = std::tuple{field("pkey", &Sample::pkey, Role::kIdentity, "doc"),
                                             field("mtu", &Sample::mtu, Role::kSetting, "doc"),
                                             field("umcast", &Sample::umcast, Role::kSetting, "doc")};
};

TEST(FieldTable, GoesBothWays) {
  Sample sample;
  sample.pkey = *Pkey::make(2);
  sample.mtu = Mtu{2044};
  const auto attributes = to_attributes(sample);
  EXPECT_EQ(attributes.size(), 2U);
  EXPECT_EQ(value_of(attributes, "pkey"), Value{std::string("0x8002")});
  const auto back = from_attributes<Sample>(attributes);
  EXPECT_EQ(back.pkey, sample.pkey);
  EXPECT_EQ(back.mtu, sample.mtu);
  EXPECT_FALSE(back.umcast);
  ASSERT_EQ(specs<Sample>().size(), 3U);
  EXPECT_EQ(*specs<Sample>()[0].parse(Value{std::int64_t{10}}), Value{std::string("0x800a")});
}

}  // namespace
}  // namespace rdmacfg::model
