// SPDX-License-Identifier: Apache-2.0
#include "model/types/dcb_types.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace rdmacfg::model {
namespace {

using Words = std::vector<std::string>;

TEST(TrustOrder, KeepsItsOrderAndReadsBack) {
  for (const auto& words : {Words{}, Words{"dscp", "pcp"}, Words{"pcp", "dscp"},
                            Words{"ethtype", "stream-port", "dgram-port", "port", "dscp", "pcp"}}) {
    const auto order = Codec<TrustOrder>::parse(words);
    ASSERT_TRUE(order) << text_of(Value(words));
    EXPECT_EQ(Codec<TrustOrder>::value(*order), Value(words));
  }
}

TEST(TrustOrder, HasTheNumbersOfTheKernel) {
  const std::vector<std::pair<std::string, unsigned>> cases{
      {"ethtype", 1U}, {"stream-port", 2U}, {"dgram-port", 3U}, {"port", 4U}, {"dscp", 5U}, {"pcp", 255U}};
  for (const auto& [word, number] : cases) {
    const auto order = Codec<TrustOrder>::parse(Words{word});
    ASSERT_TRUE(order) << word;
    EXPECT_EQ(trust_selector(number), order->list.front()) << word;
    EXPECT_TRUE(order->trusts(order->list.front())) << word;
  }
  for (const unsigned number : {0U, 6U, 7U, 254U, 261U}) EXPECT_FALSE(trust_selector(number)) << number;
}

TEST(TrustOrder, RefusesWithAReason) {
  const auto why = [](const Value& written) {
    const auto order = Codec<TrustOrder>::parse(written);
    return order ? std::string("taken") : order.error().message;
  };
  EXPECT_EQ(why(Words{"dscp", "vlan"}),
            "\"vlan\" is not a selector: ethtype, stream-port, dgram-port, port, dscp or pcp");
  EXPECT_EQ(why(Words{"dscp", "pcp", "dscp"}), "\"dscp\" is listed twice");  // EINVAL of dcbnl_ieee_set()
  EXPECT_EQ(why(std::string("dscp")), "must be a list of selectors such as [\"dscp\", \"pcp\"]");
}

TEST(NumbersIn, AreTheSetBitsOfEightInOrder) {
  EXPECT_EQ(numbers_in(0), Words{});
  EXPECT_EQ(numbers_in(0b10001001), (Words{"0", "3", "7"}));
  EXPECT_EQ(numbers_in(1U << 8U), Words{}) << "there are eight";
  EXPECT_EQ(Codec<ClassSet>::value({3}), Codec<Priorities>::value({3}));
}

}  // namespace
}  // namespace rdmacfg::model
