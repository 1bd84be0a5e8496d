// SPDX-License-Identifier: Apache-2.0
// Which of dscp and tos counts where several places of the document give a port's ToS.
#include <gtest/gtest.h>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "kinds/ethernet/roce_ports.hpp"

namespace rdmacfg::kinds {
namespace {

constexpr const char* kMain = "/etc/rdma-configd/config.toml";
constexpr const char* kVendor = "/usr/lib/rdma-configd/conf.d/20-site.toml";
constexpr const char* kDropIn = "/etc/rdma-configd/conf.d/10-rack.toml";
const std::string kRoceMarkingPort = "[[roce]]\ndevice = \"mlx5_0\"\nport = 1\n";

/// "dscp 26", "tos 106"; with " and tos" where it is not clear.
std::string counts(std::vector<config::Text> texts) {
  for (auto& text : texts) text.text = "version = 1\n" + text.text;
  const auto document = config::parse_texts(std::move(texts), "node1", grammar());
  EXPECT_TRUE(document.diagnostics.empty());
  const auto found = roce_marking(document.sections.at(0));
  if (found.entry == nullptr) return "nothing";
  return (found.is_dscp ? "dscp " : "tos ") + model::text_of(found.entry->value) +
         (found.also != nullptr ? " and tos" : "");
}

TEST(RoceMarking, TheOneThatIsWritten) {
  EXPECT_EQ(counts({{kMain, kRoceMarkingPort}}), "nothing");
  EXPECT_EQ(counts({{kMain, kRoceMarkingPort + "dscp = 26\n"}}), "dscp 26");
  EXPECT_EQ(counts({{kMain, kRoceMarkingPort + "tos = 104\n"}}), "tos 104");
  EXPECT_EQ(counts({{kMain, kRoceMarkingPort + "tos = 104\ndscp = 26\n"}}), "dscp 26 and tos");
}

TEST(RoceMarking, TheLaterFile) {
  EXPECT_EQ(counts({{kMain, kRoceMarkingPort + "dscp = 26\n"}, {kDropIn, kRoceMarkingPort + "tos = 104\n"}}),
            "tos 104");
  EXPECT_EQ(counts({{kMain, kRoceMarkingPort + "tos = 104\n"}, {kDropIn, kRoceMarkingPort + "dscp = 26\n"}}),
            "dscp 26");
  EXPECT_EQ(
      counts({{kDropIn, kRoceMarkingPort + "dscp = 26\n"}, {kVendor, kRoceMarkingPort + "tos = 104\n"}}),
      "tos 104")
      << "by their names, wherever they are";
}

TEST(RoceMarking, TheEntryBeforeDefaultsOfALaterFile) {
  const std::string defaults = "[defaults.roce]\n";
  EXPECT_EQ(counts({{kMain, kRoceMarkingPort + "tos = 104\n"}, {kDropIn, defaults + "dscp = 26\n"}}),
            "tos 104");
  EXPECT_EQ(counts({{kMain, kRoceMarkingPort + "dscp = 26\n" + defaults + "tos = 104\n"}}), "dscp 26");
  EXPECT_EQ(
      counts({{kMain, kRoceMarkingPort + defaults + "tos = 104\n"}, {kDropIn, defaults + "dscp = 26\n"}}),
      "dscp 26");
  EXPECT_EQ(counts({{kMain, kRoceMarkingPort + defaults + "tos = 104\ndscp = 26\n"}}), "dscp 26 and tos");
}

}  // namespace
}  // namespace rdmacfg::kinds
