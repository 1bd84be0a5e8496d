// SPDX-License-Identifier: Apache-2.0
// verify: which test is run, and what its answers mean.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "unit/ctl/console.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The answers of a fabric, and the questions that came.
struct AnswersOfAFabric {
  base::Result<system::PingTimes> times = system::PingTimes{};
  base::Result<int> lid = 18;
  base::Result<void> served{};
  std::vector<std::string> calls{};
};

class ScriptedFunctionTest : public system::FunctionTest {
 public:
  explicit ScriptedFunctionTest(AnswersOfAFabric& answers) : answers_(answers) {}
  base::Result<system::PingTimes> ping_lid(const std::string& device, int port, int lid, int count,
                                           std::chrono::milliseconds /*timeout*/) override {
    answers_.calls.push_back(fmt::format("LID {} from {}/{}, {} times", lid, device, port, count));
    return answers_.times;
  }
  base::Result<int> resolve_guid(const std::string& device, int port, model::Guid guid,
                                 std::chrono::milliseconds /*timeout*/) override {
    answers_.calls.push_back(fmt::format("resolve {} at {}/{}", guid.text(), device, port));
    return answers_.lid;
  }
  base::Result<system::PingTimes> ping_ip(const std::string& interface, const std::string& address, int count,
                                          std::chrono::milliseconds /*timeout*/) override {
    answers_.calls.push_back(fmt::format("{} by {}, {} times", address, interface, count));
    return answers_.times;
  }
  base::Result<void> rc_server(const std::string& address, int port, int clients,
                               const std::function<void()>& ready) override {
    answers_.calls.push_back(fmt::format("serve {} at '{}' port {}", clients, address, port));
    if (answers_.served) ready();
    return answers_.served;
  }
  base::Result<system::PingTimes> rc_client(const std::string& address, int port, int count,
                                            std::chrono::milliseconds /*timeout*/) override {
    answers_.calls.push_back(fmt::format("{} port {}, {} times", address, port, count));
    return answers_.times;
  }

 private:
  AnswersOfAFabric& answers_;
};

class VerifyCommand : public testing::Test {
 protected:
  VerifyCommand() {
    console.environment.function_test = [this] { return std::make_unique<ScriptedFunctionTest>(fabric); };
  }

  int verify(std::vector<std::string> words) {
    words.insert(words.begin(), "verify");
    fabric.calls.clear();
    return console.run(words);
  }

  void fails(const std::vector<std::string>& words, const std::string& message) {
    EXPECT_EQ(verify(words), 1) << message;
    EXPECT_EQ(console.err.str(), "rdma-configctl: error: " + message + "\n");
    EXPECT_THAT(console.out.str(), IsEmpty());
  }

  static system::PingTimes answered(std::vector<std::chrono::nanoseconds> times, int sent,
                                    std::string who = {}) {
    return {std::move(times), sent, std::move(who)};
  }

  Console console;
  AnswersOfAFabric fabric;
};

TEST_F(VerifyCommand, PingsALidFromTheFirstActivePort) {
  fabric.times = answered({std::chrono::microseconds(5), std::chrono::microseconds(15)}, 2, "LID 7");
  EXPECT_EQ(verify({"--mad", "7", "--count", "2"}), 0) << console.err.str();
  EXPECT_THAT(fabric.calls, ElementsAre("LID 7 from mlx4_0/1, 2 times"));
  EXPECT_EQ(console.out.str(),
            "LID 7 from mlx4_0/1: 2 of 2 answered by LID 7, 10.0 us (least 5.0, most 15.0)\n");
  console.kernel.machine.devices.front().ports.front().state = "DOWN";
  EXPECT_EQ(verify({"--mad", "7"}), 0) << console.err.str();
  EXPECT_THAT(fabric.calls, ElementsAre("LID 7 from mlx4_0/2, 5 times"));
  EXPECT_EQ(verify({"--mad", "7", "--from", "mlx4_0/1"}), 0) << "the port that is asked for, active or not";
  EXPECT_THAT(fabric.calls, ElementsAre("LID 7 from mlx4_0/1, 5 times"));
}

TEST_F(VerifyCommand, AsksForTheLidOfAGuid) {
  fabric.times = answered({std::chrono::microseconds(5)}, 1);
  EXPECT_EQ(verify({"--mad", kGuid2}), 0) << console.err.str();
  EXPECT_THAT(fabric.calls,
              ElementsAre(fmt::format("resolve {} at mlx4_0/1", kGuid2), "LID 18 from mlx4_0/1, 5 times"));
  EXPECT_THAT(console.out.str(), HasSubstr("LID 18 from mlx4_0/1: 1 of 1 answered, "));
  fabric.lid = base::fail(base::Code::kNotFound, "the subnet manager knows no port with this GUID");
  fails({"--mad", kGuid2}, "the subnet manager knows no port with this GUID");
  EXPECT_THAT(fabric.calls, ElementsAre(fmt::format("resolve {} at mlx4_0/1", kGuid2)));
  fails({"--mad", "leaf1"}, "--mad leaf1: is neither a LID nor a port GUID");
}

TEST_F(VerifyCommand, NamesThePortsThatCanBeUsed) {
  fails({"--mad", "7", "--from", "mlx4_0/9"},
        "no InfiniBand port is named mlx4_0/9; the ports are mlx4_0/1, mlx4_0/2");
  for (auto& port : console.kernel.machine.devices.front().ports) port.state = "DOWN";
  fails({"--mad", "7"}, "no InfiniBand port is active; `rdma-configctl doctor` looks for the cause");
  for (auto& port : console.kernel.machine.devices.front().ports) port.link_layer = "Ethernet";
  fails({"--mad", "7"}, "there is no InfiniBand port on this host");
  EXPECT_THAT(fabric.calls, IsEmpty());
}

TEST_F(VerifyCommand, LostAnswersDecideTheExitStatus) {
  fabric.times = answered({std::chrono::microseconds(5)}, 3);
  EXPECT_EQ(verify({"--client", "192.0.2.1", "--service", "4711"}), 5);
  EXPECT_THAT(console.out.str(), HasSubstr("192.0.2.1 port 4711: 1 of 3 answered, "));
  fabric.times = answered({}, 3);
  EXPECT_EQ(verify({"--ipoib", "ib0", "--to", "192.0.2.2"}), 1);
  EXPECT_EQ(console.out.str(), "192.0.2.2 by ib0: 0 of 3 answered\n");
  EXPECT_EQ(verify({"--ipoib", "ib0", "--to", "192.0.2.2", "--json"}), 1);
  const auto json = nlohmann::json::parse(console.out.str());
  EXPECT_EQ(json["summary"]["lost"], 3);
  EXPECT_EQ(json["test"], "ipoib");
  EXPECT_EQ(json["exit"]["status"], 1);
  fabric.times = base::fail(base::Code::kTimeout, "192.0.2.1: no answer to the connection request");
  fails({"--client", "192.0.2.1"}, "192.0.2.1: no answer to the connection request");
  fails({"--ipoib", "ib0", "--to", "192.0.2.1"}, "192.0.2.1: no answer to the connection request");
  fails({"--mad", "7"}, "192.0.2.1: no answer to the connection request");
}

TEST_F(VerifyCommand, ServesClientsWhereItIsTold) {
  EXPECT_EQ(verify({"--server", "--once"}), 0);
  EXPECT_THAT(fabric.calls, ElementsAre("serve 1 at '' port 20049"));
  EXPECT_THAT(console.err.str(), HasSubstr("listening on all addresses port 20049; try `rdma-configctl"));
  EXPECT_EQ(verify({"--server", "--to", "192.0.2.1"}), 0);
  EXPECT_THAT(fabric.calls, ElementsAre("serve 0 at '192.0.2.1' port 20049"));
  EXPECT_THAT(console.err.str(), HasSubstr("listening on 192.0.2.1 port 20049"));
  fabric.served = base::fail(base::Code::kBusy, "192.0.2.1 port 20049: Address already in use");
  fails({"--server"}, "192.0.2.1 port 20049: Address already in use");
}

TEST_F(VerifyCommand, TakesOneTestOfTheRunningSystem) {
  const std::string usage =
      "verify does one test at a time: --server, --client HOST, --mad LID or GUID, or --ipoib INTERFACE --to "
      "ADDRESS";
  fails({}, usage);
  fails({"--server", "--client", "192.0.2.1"}, usage);
  fails({"--mad", "7", "--ipoib", "ib0"}, usage);
  fails({"--ipoib", "ib0"}, "--ipoib needs an address to ping: --to ADDRESS");
  fails({"--mad", "7", "--root", console.folder().string()},
        "verify cannot be combined with --root: it tests the running system");
  EXPECT_THAT(fabric.calls, IsEmpty());
}

}  // namespace
}  // namespace rdmacfg::ctl
