// SPDX-License-Identifier: Apache-2.0
// Words of choices: one sentence for all of them.
#include "model/types/choices.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/field.hpp"
#include "model/types/dcb_types.hpp"
#include "model/types/host_types.hpp"
#include "model/types/inet_types.hpp"
#include "model/types/module_types.hpp"
#include "model/types/policy_types.hpp"
#include "model/types/port_types.hpp"

namespace rdmacfg::model {
namespace {

template <class T>
void expect_one_sentence(const std::string& words) {
  const auto* const another = "something";
  const auto text = Codec<T>::parse(Value{std::string(another)}), choice = Codec<T>::parse(Value{true});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "\"something\" is not one of " + words);
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().message, "must be one of " + words);
}

TEST(Choices, AreSaidInOneSentence) {
  expect_one_sentence<IpoibMode>("datagram, connected");
  expect_one_sentence<State>("up, down, absent, ignore");
  expect_one_sentence<OnUnsupported>("fail, datagram");
  expect_one_sentence<SoftType>("rxe, siw");
  expect_one_sentence<RoceMode>("v1, v2");
  expect_one_sentence<InetMethod>("manual, auto, disabled, link-local");
  expect_one_sentence<Backend>("auto, networkmanager, networkd, direct");
  expect_one_sentence<Drift>("repair, report");
  expect_one_sentence<NetnsMode>("shared, exclusive");
  expect_one_sentence<InitramfsPolicy>("rebuild, report");
  expect_one_sentence<Dcbx>("host, firmware");
  expect_one_sentence<LinkLayer>("InfiniBand, Ethernet");
}

TEST(Choices, SuggestAWordThatIsNear) {
  constexpr std::array<std::string_view, 2> kVersions{"v1", "v2"};
  EXPECT_EQ(wrong_choice(Value{std::string("V2")}, kVersions),
            "\"V2\" is not one of v1, v2; did you mean \"v2\"?");
  EXPECT_EQ(wrong_choice(Value{std::string("v3")}, kVersions), "\"v3\" is not one of v1, v2")
      << "either may be meant";
}

TEST(Choices, ANumberOutOfRangeIsNamed) {
  EXPECT_EQ(out_of_range(-1, 0, 100), "-1 is out of range; must be from 0 to 100");
  EXPECT_EQ(Codec<RemovalShare>::parse(Value{std::int64_t{101}}).error().message, out_of_range(101, 0, 100));
  EXPECT_EQ(Codec<Priority>::parse(Value{std::int64_t{8}}).error().message, out_of_range(8, 0, 7));
}

}  // namespace
}  // namespace rdmacfg::model
