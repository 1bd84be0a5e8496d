// SPDX-License-Identifier: Apache-2.0
// docs/COMMANDS.md: every command of ours that it names runs, and does what it says.
#include <gmock/gmock.h>

#include <sstream>

#include "fakes/fabrics.hpp"
#include "unit/ctl/console.hpp"
#include "unit/ctl/sources.hpp"

namespace rdmacfg::ctl {
namespace {

/// Everything answers.
class AnsweringTest : public system::FunctionTest {
 public:
  static base::Result<system::PingTimes> times() {
    return system::PingTimes{{std::chrono::microseconds(5)}, 1, "x"};
  }
  base::Result<system::PingTimes> ping_lid(const std::string&, int, int, int,
                                           std::chrono::milliseconds) override {
    return times();
  }
  base::Result<int> resolve_guid(const std::string&, int, model::Guid, std::chrono::milliseconds) override {
    return 1;
  }
  base::Result<system::PingTimes> ping_ip(const std::string&, const std::string&, int,
                                          std::chrono::milliseconds) override {
    return times();
  }
  base::Result<void> rc_server(const std::string&, int, int, const std::function<void()>& ready) override {
    ready();
    return {};
  }
  base::Result<system::PingTimes> rc_client(const std::string&, int, int,
                                            std::chrono::milliseconds) override {
    return times();
  }
};

TEST(CommandsPage, NamesCommandsThatWork) {
  Console console;
  console.environment.document.emplace();  // not that of the host that the test runs on
  auto fabric = fakes::fat_tree(32);
  for (auto& node : fabric.nodes) {
    for (auto& port : node.ports) {
      if (port.peer) port.counters.emplace();
    }
  }
  fabric.targets.emplace();  // "no port offers an SRP target"
  console.environment.fabric_reader = [&] { return std::make_unique<fakes::FakeFabricReader>(fabric); };
  console.environment.function_test = [] { return std::make_unique<AnsweringTest>(); };
  ASSERT_EQ(console.run({"fabric", "--json"}), 0);
  std::ofstream(console.folder() / "good.json") << console.out.str();
  std::ofstream(console.folder() / "plan.toml")
      << "version = 1\n[[cable]]\nfrom = \"leaf1/1\"\nto = \"node001/1\"\n";
  // Routes that do not arrive are told by the exit status.
  // There are no targets to export without a document (StorageTargets).
  const std::map<std::string, int> others{
      {"fabric --route 00:02:c9:03:00:31:78:f2", 2}, {"export targetcli", 1}, {"export nvmetcli", 1}};
  const auto commands = matches(content(kSource / "docs/COMMANDS.md"), "`rdma-configctl ([^`]*)`");
  EXPECT_GE(commands.size(), 31U);
  for (const auto& command : commands) {
    std::vector<std::string> words;
    std::istringstream stream(command);
    for (std::string word; stream >> word;) {
      if (word.ends_with(".json") || word.ends_with(".toml")) word = (console.folder() / word).string();
      words.push_back(word);
    }
    const auto other = others.find(command);
    EXPECT_EQ(console.run(words), other == others.end() ? 0 : other->second) << command << '\n'
                                                                             << console.err.str();
    // A good fabric has none.
    EXPECT_EQ((console.out.str() + console.err.str()).empty(), command == "fabric findings") << command;
  }
}

}  // namespace
}  // namespace rdmacfg::ctl
