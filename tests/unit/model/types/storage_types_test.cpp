// SPDX-License-Identifier: Apache-2.0
#include "model/types/storage_types.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model/types.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Why a key of this type does not take a value; empty: it does.
template <class T>
std::string complaint_about(const Value& written) {
  const auto parsed = Codec<T>::parse(written);
  return parsed ? "" : parsed.error().message;
}

using Words = std::vector<std::string>;

TEST(ServicePorts, AreOneOrSeveralDifferentOnes) {
  EXPECT_THAT(Codec<ServicePorts>::parse(Value{std::int64_t{20049}})->numbers, ElementsAre(20049));
  EXPECT_THAT(Codec<ServicePorts>::parse(Words{"20050", "20049"})->numbers, ElementsAre(20050, 20049));
  EXPECT_THAT(complaint_about<ServicePorts>(Words{}), HasSubstr("has 0 elements; must have 1 to 16 ports"));
  EXPECT_THAT(complaint_about<ServicePorts>(Words(17, "20049")),
              HasSubstr("has 17 elements; must have 1 to 16 ports"));
  EXPECT_THAT(complaint_about<ServicePorts>(Words{"nfs"}), HasSubstr("\"nfs\" is not a port"));
  EXPECT_THAT(complaint_about<ServicePorts>(Words{"65536"}), HasSubstr("\"65536\" is not a port"));
  EXPECT_THAT(complaint_about<ServicePorts>(Words{"20049", "20049"}),
              HasSubstr("port 20049 is listed twice"));
  EXPECT_NE(complaint_about<ServicePorts>(Words{"80"}), "") << "below 1024";
}

TEST(SrpId, HasTheSpellingsOfGuidsAndNumbers) {
  for (const auto* text :
       {"0x0002c903003178f2", "0X2C903003178F2", "0002c903003178f2", "00:02:c9:03:00:31:78:f2"}) {
    const auto id = SrpId::parse(text);
    ASSERT_TRUE(id) << text;
    EXPECT_EQ(id->number, 0x0002c903003178f2U) << text;
  }
  EXPECT_FALSE(SrpId::parse("00:02:c9")) << "too short for a GUID";
  for (const auto* text : {"", "0x", "0x0123456789abcdef0", "target"}) {
    const auto id = SrpId::parse(text);
    ASSERT_FALSE(id) << text;
    EXPECT_THAT(id.error().message, HasSubstr("does not consist of 1 to 16 hexadecimal digits")) << text;
  }
}

TEST(SearchDomains, AreNamesOfTheDns) {
  EXPECT_THAT(complaint_about<SearchDomains>(Words{".", "~.", "a_b.Example-1.net"}), IsEmpty());
  for (const auto& name : {std::string(), std::string("~"), std::string(".net"), std::string("-a"),
                           std::string("a..b"), std::string("a b"), std::string("é"), std::string(254, 'a')})
    EXPECT_NE(complaint_about<SearchDomains>(Words{name}), "") << name;
  EXPECT_THAT(complaint_about<SearchDomains>(Words{std::string(253, 'a')}), IsEmpty());
}

TEST(RdmaName, IsNoPortAndNoPath) {
  const auto refused = [](const std::string& name) {
    const auto parsed = RdmaName::parse(name);
    return parsed ? std::string() : parsed.error().message;
  };
  EXPECT_THAT(refused("mlx5_0"), IsEmpty());
  EXPECT_THAT(refused(std::string(63, 'a')), IsEmpty());
  EXPECT_THAT(refused(""), HasSubstr("it is empty"));
  EXPECT_THAT(refused(std::string(64, 'a')), HasSubstr("it is longer than 63 characters"));
  for (const auto* name : {".mlx5_0", "-mlx5_0"})
    EXPECT_THAT(refused(name), HasSubstr("it starts with a dot or a dash"));
  EXPECT_THAT(refused("mlx5_0/1"), HasSubstr("that is port 1 of mlx5_0: write mlx5_0, and port = 1"));
  for (const auto* name : {"mlx5_0/x", "mlx5_0/0", "/1", "mlx5 0"})
    EXPECT_THAT(refused(name), HasSubstr("letters, digits, '_', '-' and '.' are allowed")) << name;
}

TEST(DscpNumber, HasSixBits) {
  EXPECT_TRUE(Dscp::make(0));
  EXPECT_TRUE(Dscp::make(63));
  for (const int number : {-1, 64, 106}) {
    const auto dscp = Dscp::make(number);
    ASSERT_FALSE(dscp) << number;
    EXPECT_THAT(dscp.error().message, HasSubstr("is out of range; must be from 0 to 63"));
  }
}

}  // namespace
}  // namespace rdmacfg::model
