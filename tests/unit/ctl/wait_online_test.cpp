// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "console.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

const std::string kAddressed = std::string("version = 1\n\n[[ipoib]]\nguid = \"") + kGuid1 +
                               "\"\nbackend = \"direct\"\nipv4 = { addresses = [\"192.0.2.1/24\"] }\n";
const std::string kAbsent =
    "\n[[ipoib]]\nguid = \"00:02:c9:03:00:99:99:99\"\nbackend = \"direct\"\n"
    "ipv4 = { addresses = [\"198.51.100.1/24\"] }\n";

class WaitOnline : public testing::Test {
 protected:
  WaitOnline() {
    console.environment.now = [this] { return now; };
    console.environment.sleep = [this](std::chrono::milliseconds time) {
      now += time;
      ++sleeps;
      if (each_second) each_second();
    };
  }
  void apply(const std::string& text) {
    console.document(text);
    const int status = console.run({"apply", "--yes"});
    ASSERT_TRUE(status == 0 || status == 5) << console.err.str();
  }
  int wait(const std::string& timeout = "120") { return console.run({"wait-online", "--timeout", timeout}); }
  fakes::Interface& port() { return *console.kernel.machine.find("ib0"); }
  void take_addresses() {
    std::erase_if(port().items, [](const auto& item) { return item.starts_with("addr4"); });
  }

  Console console;
  std::chrono::steady_clock::time_point now{};
  int sleeps = 0;
  std::function<void()> each_second;
};

TEST_F(WaitOnline, EndsAtOnceWhereAllIsThere) {
  apply(kAddressed + kAbsent);
  EXPECT_EQ(wait(), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("Online: 1 interface")) << "absent hardware is not waited for";
  EXPECT_EQ(sleeps, 0);
  EXPECT_EQ(console.run({"wait-online", "--quiet"}), 0);
  EXPECT_EQ(console.out.str(), "");
}

TEST_F(WaitOnline, WaitsForCarrierAndForAddresses) {
  apply(kAddressed);
  const auto items = port().items;
  take_addresses();
  port().carrier = false;
  each_second = [&] {
    if (sleeps == 3) port().carrier = true;
    if (sleeps == 5) port().items = items;
  };
  EXPECT_EQ(wait(), 0) << console.err.str();
  EXPECT_EQ(sleeps, 5);
}

TEST_F(WaitOnline, SaysWhatIsMissingWhenTheTimeIsOver) {
  apply(kAddressed);
  take_addresses();
  EXPECT_EQ(wait("30"), 1);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("not online after 30 s"), HasSubstr("ib0"),
                                       HasSubstr("192.0.2.1/24 is missing")));
  EXPECT_EQ(sleeps, 30);
  port().carrier = false;
  EXPECT_EQ(wait("0"), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("ib0: no carrier"));
  EXPECT_EQ(sleeps, 30) << "0 only looks";
}

TEST_F(WaitOnline, AnAddressThatAnotherHostHasIsNone) {
  apply(std::string("version = 1\n\n[[ipoib]]\nguid = \"") + kGuid1 +
        "\"\nbackend = \"direct\"\nipv6 = { addresses = [\"2001:db8::1/64\"] }\n");
  EXPECT_EQ(wait("0"), 0) << console.err.str();
  console.kernel.inet.duplicates.insert("2001:db8::1");
  EXPECT_EQ(wait("0"), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("another host"));
}

TEST_F(WaitOnline, WaitsForPkeyInterfacesThatAreToCome) {
  apply(kAddressed + "\n[[ipoib.pkey]]\npkey = 0x8002\nipv4 = { addresses = [\"203.0.113.1/24\"] }\n");
  EXPECT_EQ(wait("0"), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("2 interfaces"));
  console.kernel.machine.remove(console.kernel.machine.find("ib0.8002")->index);
  EXPECT_EQ(wait("0"), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("does not exist yet"));
}

TEST_F(WaitOnline, WhatHasNoAddressesIsNotWaitedFor) {
  apply(std::string("version = 1\n\n[[ipoib]]\nguid = \"") + kGuid1 + "\"\nmode = \"datagram\"\n");
  port().carrier = false;
  EXPECT_EQ(wait(), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("Nothing to wait for"));
  apply(std::string(kAddressed).replace(kAddressed.find("backend"), 0, "state = \"down\"\n"));
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(sleeps, 0);
}

TEST_F(WaitOnline, WithoutAnActiveGenerationItEndsAtOnce) {
  console.document(kAddressed);
  EXPECT_EQ(wait(), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("no document is applied"));
  console.document("version = 1\n[[ipoib]]\nguid = \"nonsense\"\n");
  EXPECT_EQ(wait(), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("the document has errors"));
  std::filesystem::remove(console.folder() / "config.toml");
  EXPECT_EQ(wait(), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("there is no document"));
  EXPECT_EQ(sleeps, 0);
}

TEST_F(WaitOnline, ProgramsGetAReport) {
  apply(kAddressed);
  EXPECT_EQ(console.run({"wait-online", "--json"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("org.rdmaconfigd.report/1"));
  EXPECT_EQ(console.run({"wait-online", "--root", "/tmp"}), 1);
}

}  // namespace
}  // namespace rdmacfg::ctl
