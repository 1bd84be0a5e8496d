// SPDX-License-Identifier: Apache-2.0
// --host NAME: the document as another host sees it; told apart from --host FILE, the report of a host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "console.hpp"

namespace rdmacfg::ctl {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDocument =
    "version = 1\n[host.values.gpu1]\nmtu = 2044\n[[ipoib]]\ndevice = \"mlx4_0\"\nport = 1\nmtu = "
    "\"{host.mtu}\"\n";

TEST(HostOption, ANameShowsTheDocumentAsThatHostSeesIt) {
  Console console;
  console.document(kDocument);
  EXPECT_EQ(console.run({"validate", "--host", "gpu1"}), 0);
  EXPECT_EQ(console.run({"show", "--document", "--host", "gpu1.example.net"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("mtu = 2044"));
  EXPECT_EQ(console.run({"validate", "--host", "gpu2"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("{host.mtu}: host gpu2 has no such value"));
}

TEST(HostOption, ANameIsForWhatChangesAndReadsNoOtherHost) {
  const auto said = [](std::vector<std::string> words) {
    Console console;
    console.document(kDocument);
    EXPECT_EQ(console.run(std::move(words)), 1);
    return console.err.str();
  };
  EXPECT_THAT(said({"diff", "--host", "gpu1"}), HasSubstr("add --root DIR"));
  EXPECT_THAT(said({"apply", "--yes", "--host", "gpu1"}), HasSubstr("is valid only with validate"));
  EXPECT_THAT(said({"validate", "--host", "gpu 1"}), HasSubstr("is not a valid host name"));
  EXPECT_THAT(said({"validate", "--host", "./gpu1"}), HasSubstr("./gpu1"));
  EXPECT_THAT(said({"validate", "--host", "gpu1.json"}), HasSubstr("gpu1.json"));
}

}  // namespace
}  // namespace rdmacfg::ctl
