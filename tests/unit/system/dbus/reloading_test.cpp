// SPDX-License-Identifier: Apache-2.0
// A systemd that reads its unit files because others asked for it is not silent: detail::Systemd::noted().
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>

#include "bus_fixture.hpp"
#include "fakes/bus/private_systemd.hpp"
#include "system/linux/dbus/systemd.hpp"

namespace rdmacfg::system {
namespace {

class ReloadOfOthers : public BusFixture {
 protected:
  void SetUp() override {
    BusFixture::SetUp();
    if (IsSkipped()) return;
    if (::geteuid() != 0) GTEST_SKIP() << "systemd's own socket is for root";
    manager.emplace(folder.at("/run/systemd/private"), "x.service", "active");
    ours.emplace(some);
    const auto opened = ours->bus();
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_NE(*opened, nullptr);
  }

  /// Whether the limit becomes this one by what systemd says.
  bool comes_to(std::chrono::milliseconds patience) {
    return unit::wait_until([&] {
      (void)ours->bus();  // hears it
      return ours->patience() == patience;
    });
  }
  BusLimits some = limits();
  std::optional<fakes::bus::PrivateSystemd> manager;
  std::optional<detail::Systemd> ours;
};

TEST_F(ReloadOfOthers, GivesQuestionsItsLimit) {
  EXPECT_EQ(ours->patience(), some.call);
  manager->announce_reload(true);
  EXPECT_TRUE(comes_to(some.reload));
  manager->announce_reload(false);
  EXPECT_TRUE(comes_to(some.call));
}

TEST_F(ReloadOfOthers, ThatBeginsMeanwhileHasAQuestionAskedOnceMore) {
  const auto opened = ours->bus();
  ASSERT_TRUE(opened);
  manager->announce_reload(true);
  for (int i = 0; i < 2; ++i) {  // as below
    ASSERT_GE(sd_bus_call_method(*opened, detail::kSystemd, "/", "org.freedesktop.DBus.Peer", "Ping", nullptr,
                                 nullptr, nullptr),
              0);
  }
  int asked = 0;
  detail::BusError error;
  const auto silent_at_first = [&](sd_bus_error* told) {
    if (++asked == 1) return sd_bus_error_set_errno(told, ETIMEDOUT);
    return sd_bus_error_is_set(told) != 0 ? -EINVAL : 0;
  };
  EXPECT_EQ(ours->ask(*opened, error, silent_at_first), 0);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(ours->patience(), some.reload);
  asked = 0;
  EXPECT_EQ(ours->ask(*opened, error, silent_at_first), -ETIMEDOUT) << "it had the time of a reload";
  EXPECT_EQ(asked, 1);
}

TEST_F(ReloadOfOthers, IsNoSilence) {
  EXPECT_EQ(ours->noted(-ETIMEDOUT), -ETIMEDOUT);
  EXPECT_TRUE(some.silences->systemd.presumed()) << "it has said nothing";
  some.silences->systemd.end();
  const auto opened = ours->bus();
  ASSERT_TRUE(opened);
  manager->announce_reload(true);
  for (int i = 0; i < 2; ++i) {  // with the second answer the announcement has come, and nobody has heard it
    ASSERT_GE(sd_bus_call_method(*opened, detail::kSystemd, "/", "org.freedesktop.DBus.Peer", "Ping", nullptr,
                                 nullptr, nullptr),
              0);
  }
  EXPECT_EQ(ours->noted(-ETIMEDOUT), -ETIMEDOUT);
  EXPECT_FALSE(some.silences->systemd.presumed());
  EXPECT_EQ(ours->patience(), some.reload);
  EXPECT_EQ(ours->noted(-ETIMEDOUT), -ETIMEDOUT);
  EXPECT_TRUE(some.silences->systemd.presumed()) << "a reload has its limit, too";
  EXPECT_EQ(ours->patience(), some.call);
}

}  // namespace
}  // namespace rdmacfg::system
