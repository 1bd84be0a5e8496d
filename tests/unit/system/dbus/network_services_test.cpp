// SPDX-License-Identifier: Apache-2.0
// Each promise of system/managers/networkd.hpp and system/managers/resolver.hpp, at services that are the
// test's.
#include "fakes/bus/network_services.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

#include "bus_fixture.hpp"
#include "fakes/bus/private_systemd.hpp"
#include "system/linux/linux_host.hpp"
#include "unit/wait_until.hpp"

namespace rdmacfg::system {
namespace {

using base::Code;
using fakes::bus::error;
using fakes::bus::reply;
using fakes::bus::silence;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OnNetworkd : public BusFixture {
 protected:
  void SetUp() override {
    BusFixture::SetUp();
    if (IsSkipped()) return;
    networkd.emplace();
    networkd->peer().locked([&] {
      networkd->links[3] = R"({"Index":3,"Name":"ib0","NetworkFile":"/etc/systemd/network/a.network",)"
                           R"("AdministrativeState":"configured","Addresses":[{"ConfigState":"x"}]})";
      networkd->links[4] = R"({"Index":4,"Name":"lo","AdministrativeState":"unmanaged"})";
      networkd->links[5] = "not JSON";
    });
    ours = make_linux_networkd(limits());
  }

  std::optional<fakes::bus::Networkd> networkd;
  std::unique_ptr<Networkd> ours;
};

TEST_F(OnNetworkd, LinksThatItKnows) {
  const auto links = ours->observe(std::array{3, 9, 4, 5});
  ASSERT_TRUE(links && *links);
  ASSERT_EQ((*links)->size(), 3U) << "it does not know the one with index 9";
  EXPECT_EQ((**links)[0].index, 3);
  EXPECT_EQ((**links)[0].state, "configured");
  EXPECT_EQ((**links)[0].file, "/etc/systemd/network/a.network");
  EXPECT_EQ((**links)[1].state, "unmanaged");
  EXPECT_EQ((**links)[1].file, "");
  EXPECT_EQ((**links)[2].index, 5);
  EXPECT_EQ((**links)[2].state, "") << "a description of another form";
}

// At boot a bus may hang until there is a network, and the manager waits for ours.
TEST_F(OnNetworkd, SystemdIsAskedWhereTheBusDoesNotAnswer) {
  if (::getenv("RDMACFG_TEST_BUS") != nullptr) GTEST_SKIP() << "of several processes";
  struct Row {
    const char* unit;
    const char* state;
    bool known;  ///< that networkd does not run
  };
  for (const auto& [unit, state, known] :
       {Row{"systemd-networkd.service", "inactive", true},
        Row{"systemd-networkd.service", "activating", false}, Row{"other.service", "active", true}}) {
    std::filesystem::remove(folder.at("/run/systemd/private"));
    const fakes::bus::PrivateSystemd systemd(folder.at("/run/systemd/private"), unit, state);
    for (const bool connected : {false, true}) {
      ours = make_linux_networkd(short_limits(milliseconds(500)));
      if (connected) {  // a loaded machine may need longer than the first limit while the bus answers
        ASSERT_TRUE(unit::with_growing_limit(milliseconds(500), [this](milliseconds time) {
          ours = make_linux_networkd(short_limits(time));
          return static_cast<bool>(ours->observe({}));
        }));
      }
      bus->freeze(true);
      const auto links = ours->observe({});
      const auto again = ours->observe({});
      bus->freeze(false);
      for (const auto* seen : {&links, &again}) {
        EXPECT_EQ(seen->has_value(), known) << unit << " is " << state;
        if (*seen) {
          EXPECT_FALSE((*seen)->has_value());
        } else {
          EXPECT_EQ(seen->error().code, Code::kTimeout);
        }
      }
    }
  }
}

// A manager that cannot be asked is not taken for one that does not run.
TEST_F(OnNetworkd, SystemdIsAskedWhereTheBusLetsNobodyIn) {
  ::setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:", 1);  // EINVAL: no mode of a file keeps root out
  ours = make_linux_networkd(limits());
  const auto unknown = ours->observe({});
  ASSERT_TRUE(unknown) << "as for users other than root, who cannot ask systemd, either";
  EXPECT_FALSE(unknown->has_value());
  for (const bool runs : {false, true}) {
    std::filesystem::remove(folder.at("/run/systemd/private"));
    const fakes::bus::PrivateSystemd systemd(folder.at("/run/systemd/private"), "systemd-networkd.service",
                                             runs ? "active" : "inactive");
    const auto links = ours->observe({});
    ASSERT_EQ(links.has_value(), !runs);
    if (runs) {
      EXPECT_EQ(links.error().code, Code::kDenied);
      EXPECT_THAT(links.error().message,
                  HasSubstr("systemd-networkd.service, which is running according to systemd"));
    } else {
      EXPECT_FALSE(links->has_value());
    }
  }
}

TEST_F(OnNetworkd, AHungBusAndAHungSystemdAreWaitedForOnce) {
  if (::getenv("RDMACFG_TEST_BUS") != nullptr) GTEST_SKIP() << "of several processes";
  const auto hung = fakes::bus::listen_at(folder.at("/run/systemd/private"));  // nobody answers there
  auto some = short_limits();
  some.direct = kShort;
  const auto start = Silence::Clock::now();
  some.silences = std::make_shared<Silences>([start] { return start; });
  bus->freeze(true);
  const auto first = make_linux_networkd(some)->observe({});
  EXPECT_TRUE(some.silences->bus.presumed());
  EXPECT_TRUE(some.silences->systemd.presumed());
  // No test lives to see the end of one of these.
  some.call = some.bus = some.direct = std::chrono::hours(24);
  const auto again = make_linux_networkd(some)->observe({});
  const auto other = make_linux_resolver(some)->observe_dns(33);
  const auto request = make_linux_networkd(some)->reload();
  const std::vector<std::string> names{"rdmacfg-test.service"};
  const auto units = make_linux_units(some)->observe_units(names);
  bus->freeze(false);
  for (const auto& failure :
       {error_of(first), error_of(again), error_of(other), error_of(request), error_of(units)}) {
    ASSERT_TRUE(failure) << "nobody may take silence for an answer";
    EXPECT_EQ(failure->code, Code::kTimeout) << failure->message;
  }
}

// The time is that of all questions together.
TEST_F(OnNetworkd, TheRestOfTheTimeForSystemdTellsOfNoSilence) {
  if (::getenv("RDMACFG_TEST_BUS") != nullptr) GTEST_SKIP() << "of several processes";
  std::atomic<int> passed{0};  // milliseconds
  auto some = short_limits();
  some.direct = std::chrono::hours(1);
  const auto start = Silence::Clock::now();
  some.silences =
      std::make_shared<Silences>([&passed, start] { return start + milliseconds(passed.load()); });
  // The first answer leaves little for the next one.
  const fakes::bus::PrivateSystemd systemd(folder.at("/run/systemd/private"), "systemd-networkd.service",
                                           "active", [&passed] { passed = 60 * 60 * 1000 - 50; });
  bus->freeze(true);
  const auto links = make_linux_networkd(some)->observe({});
  bus->freeze(false);
  ASSERT_FALSE(links);
  EXPECT_EQ(links.error().code, Code::kTimeout);
  EXPECT_NE(passed.load(), 0) << "systemd was not asked";
  EXPECT_FALSE(some.silences->systemd.presumed());
}

TEST_F(OnNetworkd, Requests) {
  EXPECT_TRUE(ours->reload());
  EXPECT_TRUE(ours->reconfigure(3));
  EXPECT_THAT(networkd->peer().locked([&] { return networkd->log; }),
              ElementsAre("Reload", "ReconfigureLink 3"));
  EXPECT_TRUE(ours->pause(milliseconds(1)));
}

TEST_F(OnNetworkd, Failures) {
  const auto links = [&] { return ours->observe(std::array{3}); };
  networkd->peer().play("DescribeLink", error("org.freedesktop.DBus.Error.AccessDenied", "not for you"));
  EXPECT_EQ(links().error().code, Code::kDenied);
  networkd->peer().play("DescribeLink", reply("t", std::uint64_t{7}));
  EXPECT_FALSE(links());
  for (const auto* member : {"Reload", "ReconfigureLink"})
    networkd->peer().play(member, error("org.freedesktop.DBus.Error.AccessDenied", "not for you"));
  EXPECT_EQ(ours->reload().error().code, Code::kDenied);
  EXPECT_THAT(ours->reconfigure(3).error().message, HasSubstr("interface 3"));
  for (const auto* member : {"DescribeLink", "Reload", "ReconfigureLink"})
    networkd->peer().play(member, silence());
  auto& peer = networkd->peer();
  expect_timeout(peer, "DescribeLink", [](const BusLimits& some) {
    return error_of(make_linux_networkd(some)->observe(std::array{3}));
  });
  expect_timeout(peer, "Reload",
                 [](const BusLimits& some) { return error_of(make_linux_networkd(some)->reload()); });
  expect_timeout(peer, "ReconfigureLink",
                 [](const BusLimits& some) { return error_of(make_linux_networkd(some)->reconfigure(3)); });
}

TEST_F(OnNetworkd, OneThatGoesAndComesBack) {
  const auto links = [&] { return ours->observe(std::array{3}); };
  networkd->peer().leave_at("DescribeLink");
  EXPECT_FALSE(links());
  const auto gone = links();
  ASSERT_TRUE(gone);
  EXPECT_FALSE(gone->has_value());
  EXPECT_FALSE(ours->reload());
  networkd.emplace();
  EXPECT_TRUE(ours->reload());
  restart_bus();
  networkd.emplace();
  EXPECT_TRUE(ours->reconfigure(3));
  const auto back = links();
  ASSERT_TRUE(back && *back);
  EXPECT_THAT(**back, IsEmpty()) << "it knows no links any more";
}

class OnResolved : public BusFixture {
 protected:
  void SetUp() override {
    BusFixture::SetUp();
    if (IsSkipped()) return;
    resolved.emplace();
    resolved->peer().locked([&] { resolved->links[33] = {}; });
    ours = make_linux_resolver(limits());
  }
  static model::IpAddress ipv4(std::uint8_t last) {
    model::IpAddress out{model::Family::kIpv4, {}};
    out.bytes[0] = 192;
    out.bytes[2] = 2;
    out.bytes[3] = last;
    return out;
  }
  static model::IpAddress ipv6(std::uint8_t last) {
    model::IpAddress out{model::Family::kIpv6, {}};
    out.bytes[0] = 0x20;
    out.bytes[15] = last;
    return out;
  }

  std::optional<fakes::bus::Resolved> resolved;
  std::unique_ptr<Resolver> ours;
};

TEST_F(OnResolved, WhatIsSetIsThere) {
  const LinkDns wanted{{ipv4(1), ipv6(2)}, {"example.net", "~example.org"}};
  ASSERT_TRUE(ours->set_dns(33, wanted));
  resolved->peer().locked([&] {
    const auto& link = resolved->links[33];
    EXPECT_THAT(link.domains, ElementsAre(std::pair(std::string("example.net"), false),
                                          std::pair(std::string("example.org"), true)));
    ASSERT_EQ(link.servers.size(), 2U);
    EXPECT_EQ(link.servers[0].first, AF_INET);
    EXPECT_EQ(link.servers[0].second, std::string("\xc0\x00\x02\x01", 4));
    EXPECT_EQ(link.servers[1].first, AF_INET6);
    EXPECT_EQ(link.servers[1].second.size(), 16U);
  });
  const auto observed = ours->observe_dns(33);
  ASSERT_TRUE(observed && *observed);
  EXPECT_EQ(**observed, wanted);
  ASSERT_TRUE(ours->set_dns(33, {}));
  EXPECT_EQ(resolved->peer().calls("RevertLink"), 1U);
  EXPECT_EQ(**ours->observe_dns(33), LinkDns{});
}

TEST_F(OnResolved, ALinkThatItHasNotHeardOf) {
  const auto observed = ours->observe_dns(7);
  ASSERT_TRUE(observed && *observed);
  EXPECT_EQ(**observed, LinkDns{});
}

TEST_F(OnResolved, AddressesOfAWrongSizeAreLeftOut) {
  resolved->peer().locked([&] {
    resolved->links[33].servers = {
        {AF_INET, "abc"}, {AF_INET6, "abcd"}, {AF_INET, "\xc0\x01\x02\x07"}, {AF_INET, ""}};
  });
  const auto observed = ours->observe_dns(33);
  ASSERT_TRUE(observed && *observed);
  EXPECT_EQ((*observed)->servers.size(), 1U);
}

TEST_F(OnResolved, Failures) {
  struct Case {
    const char* member;
    std::function<base::Result<void>(Resolver&)> make;
  };
  const auto look = [](Resolver& resolver) -> base::Result<void> {
    const auto observed = resolver.observe_dns(33);
    if (!observed) return base::fail(observed.error());
    return {};
  };
  const LinkDns wanted{{ipv4(1)}, {"example.net"}};
  const auto set = [wanted](Resolver& resolver) { return resolver.set_dns(33, wanted); };
  const std::vector<Case> cases{
      {"GetLink", look},
      {"Get", look},
      {"SetLinkDNS", set},
      {"SetLinkDomains", set},
      {"RevertLink", [](Resolver& resolver) { return resolver.set_dns(33, {}); }},
  };
  const auto patient = make_linux_resolver(limits());
  for (const auto& row : cases) {
    SCOPED_TRACE(row.member);
    resolved->peer().play(row.member, error("org.freedesktop.DBus.Error.AccessDenied", "not for you"));
    const auto denied = row.make(*patient);
    ASSERT_FALSE(denied);
    EXPECT_EQ(denied.error().code, Code::kDenied);
    resolved->peer().play(row.member, silence());
    expect_timeout(resolved->peer(), row.member,
                   [&](const BusLimits& some) { return error_of(row.make(*make_linux_resolver(some))); });
    if (std::string_view(row.member).starts_with("Get")) {
      resolved->peer().play(row.member, reply("v", "a(su)", 1, "x", 1U));
      EXPECT_FALSE(row.make(*patient)) << "of another type";
    }
    resolved->peer().play(row.member, nullptr);
  }
}

TEST_F(OnResolved, OneThatGoesAndComesBack) {
  resolved->peer().leave_at("GetLink");
  EXPECT_FALSE(ours->observe_dns(33));
  const auto gone = ours->observe_dns(33);
  ASSERT_TRUE(gone);
  EXPECT_FALSE(gone->has_value());
  EXPECT_FALSE(ours->set_dns(33, {{ipv4(1)}, {}}));
  restart_bus();
  resolved.emplace();
  EXPECT_TRUE(ours->set_dns(33, {{ipv4(1)}, {}}));
  const auto back = ours->observe_dns(33);
  ASSERT_TRUE(back && *back);
  EXPECT_THAT((*back)->servers, ElementsAre(ipv4(1)));
}

}  // namespace
}  // namespace rdmacfg::system
