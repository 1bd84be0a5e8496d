// SPDX-License-Identifier: Apache-2.0
#include "system/linux/fabric/frames.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace rdmacfg::system::detail {
namespace {

TEST(Frames, AreTakenOffInTheirOrderAndNothingIsCopied) {
  constexpr std::size_t kFrames = 1000;
  std::string sent;
  for (std::size_t i = 0; i < kFrames; ++i) sent += pack(MissingFrame{std::to_string(i)});
  const auto begun = pack(MissingFrame{"begun"});
  sent += begun.substr(0, begun.size() - 1);
  std::string_view rest(sent);
  for (std::size_t i = 0; i < kFrames; ++i) {
    const auto frame = unpack(rest);
    ASSERT_TRUE(frame && *frame) << i;
    const auto* missing = std::get_if<MissingFrame>(&**frame);
    ASSERT_NE(missing, nullptr);
    EXPECT_EQ(missing->text, std::to_string(i));
    EXPECT_EQ(rest.data() + rest.size(), sent.data() + sent.size()) << "what follows stays where it is";
  }
  const auto more = unpack(rest);
  ASSERT_TRUE(more);
  EXPECT_FALSE(*more) << "it has not all come";
  EXPECT_EQ(rest.size(), begun.size() - 1);
}

}  // namespace
}  // namespace rdmacfg::system::detail
