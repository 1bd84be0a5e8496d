// SPDX-License-Identifier: Apache-2.0
// Services that run although their entries stop or disable them.
#include "kinds/host/service_check.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

/// The messages about a document on a host with these units.
std::string said_of(const std::string& units, const std::string& document) {
  auto kernel = fakes::FakeKernel::parse(fmt::format(R"({{"units": {{ {} }}}})", units));
  auto host = kernel->host();
  const auto report = core::diff(
      config::parse_texts({{"config.toml", "version = 1\n" + document}}, "node1", grammar()), host);
  std::string out;
  for (const auto& diagnostic : report.diagnostics) out += diagnostic.message + "\n";
  return out;
}

TEST(ServiceCheck, ASocketThatStartsAServiceAgainIsNamed) {
  struct Row {
    const char* socket;
    const char* entries;
    const char* said;
  };
  const std::string listens = R"("ibacm.socket": {"enabled": true, "running": true})";
  const std::string enabled = R"("ibacm.socket": {"enabled": true})";
  const std::string rests = R"("ibacm.socket": {})";
  const char* const stopped = "[[service]]\nname = \"ibacm\"\nrunning = false\n";
  const char* const disabled = "[[service]]\nname = \"ibacm\"\nenabled = false\n";
  const char* const runs = "[[service]]\nname = \"ibacm\"\nrunning = true\n";
  const std::string both_stopped =
      std::string(stopped) + "[[service]]\nname = \"ibacm.socket\"\nrunning = false\n";
  constexpr const char* kConnection =
      "[[service]] running: ibacm.socket starts ibacm.service at the next connection\n";
  constexpr const char* kBoot =
      "[[service]] enabled: ibacm.socket is enabled, and starts ibacm.service at a connection after boot\n";
  for (const auto& row : {Row{listens.c_str(), stopped, kConnection}, Row{rests.c_str(), stopped, ""},
                          Row{enabled.c_str(), stopped, ""}, Row{enabled.c_str(), disabled, kBoot},
                          Row{listens.c_str(), disabled, kBoot}, Row{rests.c_str(), disabled, ""},
                          Row{listens.c_str(), runs, ""}, Row{listens.c_str(), both_stopped.c_str(), ""},
                          Row{R"("other.socket": {"running": true})", stopped, ""}}) {
    SCOPED_TRACE(std::string(row.socket) + row.entries);
    EXPECT_EQ(said_of(fmt::format(R"("ibacm.service": {{"running": true}}, {})", row.socket), row.entries),
              row.said);
  }
}

TEST(ServiceCheck, AServiceThatOthersStartIsNotDisabled) {
  const std::string units = R"("rdma-ndd.service": {"installable": false, "running": true})";
  const std::string entry = "[[service]]\nname = \"rdma-ndd\"\nenabled = false\n";
  EXPECT_THAT(said_of(units, entry), testing::HasSubstr("other units or udev start rdma-ndd.service"));
  EXPECT_EQ(said_of(units, entry + "running = false\n"), "") << "the daemon stops it whenever it starts";
  EXPECT_EQ(said_of(R"("rdma-ndd.service": {"enabled": true})", entry), "");
}

}  // namespace
}  // namespace rdmacfg::kinds
