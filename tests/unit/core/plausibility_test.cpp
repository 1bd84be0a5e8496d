// SPDX-License-Identifier: Apache-2.0
#include "core/guards/plausibility.hpp"

#include <gmock/gmock.h>

#include "catalog/all.hpp"

namespace rdmacfg::core {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

config::Document parsed(const std::string& text, const std::string& name = "/etc/rdma-configd/config.toml") {
  return config::parse_texts({{name, text}}, "node1", kinds::grammar());
}

std::vector<std::string> doubts(const std::string& text) {
  auto document = parsed("version = 1\n" + text);
  EXPECT_FALSE(model::has_errors(document.diagnostics))
      << config::render_diagnostics(document, document.diagnostics);
  warn_of_implausible(document);
  std::vector<std::string> out;
  for (const auto& diagnostic : document.diagnostics) {
    EXPECT_EQ(diagnostic.severity, model::Severity::kWarning);
    EXPECT_GT(diagnostic.where.line, 0);
    out.push_back(diagnostic.message + " | " + diagnostic.hint);
  }
  return out;
}

const std::string kPort = "[[ipoib]]\nguid = '00:02:c9:03:00:31:78:f2'\n";

TEST(Doubts, DecimalPkeys) {
  EXPECT_THAT(doubts(kPort + "[[ipoib.pkey]]\npkey = 8002\n"),
              ElementsAre(AllOf(HasSubstr("0x1f42"), HasSubstr("did you mean 0x8002?"))));
  EXPECT_THAT(doubts("[[partition]]\npkey = 8003\n"), ElementsAre(HasSubstr("did you mean 0x8003?")));
  for (const auto* written : {"0x8002", "'0x8002'", "32770", "10", "2", "0x1f42"})
    EXPECT_THAT(doubts(kPort + "[[ipoib.pkey]]\npkey = " + written + "\n"), IsEmpty()) << written;
}

TEST(Doubts, DatagramMtus) {
  for (const auto* mtu : {"4096", "9000", "4093"})
    EXPECT_THAT(doubts(kPort + "mode = 'datagram'\nmtu = " + mtu + "\n"),
                ElementsAre(HasSubstr("did you mean 4092")))
        << mtu;
  for (const auto* mtu : {"2044", "4092", "1500"})
    EXPECT_THAT(doubts(kPort + "mode = 'datagram'\nmtu = " + mtu + "\n"), IsEmpty()) << mtu;
  EXPECT_THAT(doubts(kPort + "mode = 'connected'\nmtu = 9000\n"), IsEmpty());
  EXPECT_THAT(doubts("[defaults.ipoib]\nmode = 'datagram'\nmtu = 9000\n" + kPort),
              ElementsAre(HasSubstr("9000")));
}

TEST(Doubts, NamesThatTheKernelHandsOut) {
  EXPECT_THAT(doubts(kPort + "name = 'eth0'\n"), ElementsAre(HasSubstr("eth0")));
  EXPECT_THAT(doubts("[[rdma_device]]\npci = '0000:10:00.0'\nname = 'mlx4_0'\n"),
              ElementsAre(HasSubstr("mlx4_0")));
  EXPECT_THAT(doubts(kPort + "name = 'ethernet'\n"), IsEmpty());
  EXPECT_THAT(doubts(kPort + "name = 'mlx4_ib0'\n"), IsEmpty());
}

TEST(Doubts, KeysThatFellUnderAPkey) {
  EXPECT_THAT(doubts(kPort + "[[ipoib.pkey]]\npkey = 0x8002\n\nmtu = 2044\n"),
              ElementsAre(HasSubstr("not to [[ipoib]]")));
  EXPECT_THAT(
      doubts("[[ipoib]]\nguid = '00:02:c9:03:00:31:78:f2'\n  [[ipoib.pkey]]\n  pkey = 0x8002\nmtu = 2044\n"),
      ElementsAre(HasSubstr("not to [[ipoib]]")));
  EXPECT_THAT(doubts(kPort + "[[ipoib.pkey]]\npkey = 0x8002\nmtu = 2044\n"), IsEmpty());
  EXPECT_THAT(doubts(kPort + "mtu = 2044\n[[ipoib.pkey]]\npkey = 0x8002\n\nmtu = 2044\n"), IsEmpty());
}

TEST(Doubts, InWords) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {kPort + "[[ipoib.pkey]]\npkey = 8002\n",
       "[[ipoib.pkey]] pkey: 8002 is decimal and means 0x1f42 | did you mean 0x8002?"},
      {kPort + "mode = 'datagram'\nmtu = 4096\n",
       "[[ipoib]] mtu: no InfiniBand link can carry 4096 in datagram mode, only Omni-Path can; IPoIB gets at "
       "most 4092 of 4096 bytes | did you mean 4092?"},
      {kPort + "mode = 'datagram'\nmtu = 9000\n",
       "[[ipoib]] mtu: no InfiniBand link can carry 9000 in datagram mode, only Omni-Path can; IPoIB gets at "
       "most 4092 of 4096 bytes | did you mean 4092, or mode = \"connected\"?"},
      {kPort + "name = 'eth0'\n",
       "[[ipoib]] name: the kernel assigns eth0 itself, to the first interface that appears | choose a name "
       "that the kernel never assigns, such as \"ibrail0\""},
      {"[[rdma_device]]\npci = '0000:10:00.0'\nname = 'mlx4_0'\n",
       "[[rdma_device]] name: the kernel assigns mlx4_0 itself, to the first device that appears | choose a "
       "name that the kernel never assigns, such as \"rail0\""},
      {kPort + "[[ipoib.pkey]]\npkey = 0x8002\n\nmtu = 2044\n",
       "[[ipoib.pkey]] mtu: belongs to this P_Key interface, not to [[ipoib]] | keys of [[ipoib]] must "
       "precede its first [[ipoib.pkey]]; if the key belongs here, remove the empty line"},
  };
  for (const auto& [text, words] : cases) EXPECT_THAT(doubts(text), ElementsAre(words)) << text;
}

bool accepted(const std::string& text, const std::string& name = "/etc/rdma-configd/config.toml") {
  auto document = parsed(text, name);
  require_version(document);
  return !model::has_errors(document.diagnostics);
}

TEST(Version, AnEmptyOrCutFileIsAnError) {
  EXPECT_FALSE(accepted(""));
  EXPECT_FALSE(accepted("\n# nothing yet\n"));
  EXPECT_FALSE(accepted(kPort));
  EXPECT_FALSE(accepted("# version = 1\n"));
  EXPECT_FALSE(accepted(kPort + "name = 'version = 1'\n"));
  EXPECT_TRUE(accepted("version = 1\n"));
  EXPECT_TRUE(accepted("# site\n\"version\" = 1\n" + kPort));
  EXPECT_TRUE(accepted(kPort, "/etc/rdma-configd/conf.d/10-port.toml"));
}

}  // namespace
}  // namespace rdmacfg::core
