// SPDX-License-Identifier: Apache-2.0
// inotify and rtnetlink of this machine's kernel.
#include "system/events.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_addr.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <thread>

#include "base/unique_fd.hpp"
#include "system/linux/linux_host.hpp"
#include "system/linux/netlink/netlink_socket.hpp"
#include "system/linux/uevent.hpp"
#include "unit/system/temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using detail::Message;
using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;

/// The events within a moment.
std::vector<std::string> read(EventSource& source) {
  constexpr int kMoment = 100;  // ms
  std::vector<std::string> out;
  pollfd wait{source.fd(), POLLIN, 0};
  while (::poll(&wait, 1, kMoment) > 0) {
    for (const auto& event : source.read()) out.push_back(event.what);
  }
  return out;
}

class FileEventsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    tree.put("/there/other", "");
    auto made = watch_files({tree.at("/there"), tree.at("/later")},
                            [](const std::string& path) { return path.ends_with("/ours"); });
    ASSERT_TRUE(made);
    files = std::move(*made);
  }

  TempTree tree;
  std::unique_ptr<FileSource> files;
};

TEST_F(FileEventsTest, OnlyFilesAskedFor) {
  tree.put("/there/other", "changed");
  EXPECT_THAT(read(*files), IsEmpty());
  tree.put("/there/ours", "made");
  EXPECT_THAT(read(*files), Contains(tree.at("/there/ours")));
  std::filesystem::permissions(tree.at("/there/ours"), std::filesystem::perms::owner_read);
  EXPECT_THAT(read(*files), Contains(tree.at("/there/ours")));
  std::filesystem::rename(tree.at("/there/ours"), tree.at("/elsewhere"));
  EXPECT_THAT(read(*files), Contains(tree.at("/there/ours")));
  std::filesystem::rename(tree.at("/elsewhere"), tree.at("/there/ours"));
  EXPECT_THAT(read(*files), Contains(tree.at("/there/ours")));
  std::filesystem::remove(tree.at("/there/ours"));
  EXPECT_THAT(read(*files), Contains(tree.at("/there/ours")));
}

TEST_F(FileEventsTest, AFolderThatCameLaterIsWatchedWhenAskedAgain) {
  tree.put("/later/ours", "");
  EXPECT_THAT(read(*files), IsEmpty());
  files->watch({tree.at("/there"), tree.at("/later")});
  tree.put("/later/ours", "changed");
  EXPECT_THAT(read(*files), Each(tree.at("/later/ours")));
  tree.put("/there/ours", "");
  EXPECT_THAT(read(*files), Contains(tree.at("/there/ours")));
}

TEST_F(FileEventsTest, AFolderThatWentAndCameBackToo) {
  tree.put("/there/ours", "");
  EXPECT_THAT(read(*files), Not(IsEmpty()));
  std::filesystem::remove_all(tree.at("/there"));
  EXPECT_THAT(read(*files), Contains(tree.at("/there/ours")));
  tree.put("/there/other", "");
  files->watch({tree.at("/there")});
  tree.put("/there/ours", "");
  EXPECT_THAT(read(*files), Contains(tree.at("/there/ours")));
}

TEST_F(FileEventsTest, AFolderThatWasMovedAwayIsTold) {
  std::filesystem::rename(tree.at("/there"), tree.at("/away"));
  EXPECT_THAT(read(*files), Contains(tree.at("/there")));
  tree.put("/away/ours", "");
  EXPECT_THAT(read(*files), IsEmpty()) << "it is not a folder of ours there";
}

/// A network namespace with a tunnel that claims to be InfiniBand: the type decides about events.
class LinkEventsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "no network namespace can be made here";
    tun = tunnel("fake0");
    if (!tun) GTEST_SKIP() << "no tunnel can be made here";
    auto opened = detail::NetlinkSocket::open();
    ASSERT_TRUE(opened);
    netlink.emplace(std::move(*opened));
    auto made = watch_links(WatchedLinks::kIpoib);
    ASSERT_TRUE(made) << made.error().message;
    links = std::move(*made);
    index = static_cast<int>(::if_nametoindex("fake0"));
  }

  static base::UniqueFd tunnel(const char* name) {
    base::UniqueFd fd(::open("/dev/net/tun", O_RDWR | O_CLOEXEC));
    ifreq request{};
    std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    const bool made = fd && ::ioctl(fd.get(), TUNSETIFF, &request) == 0 &&
                      ::ioctl(fd.get(), TUNSETLINK, ARPHRD_INFINIBAND) == 0;
    return made ? std::move(fd) : base::UniqueFd{};
  }

  void address(std::uint16_t type, int on, std::uint8_t last) {
    ifaddrmsg header{};
    header.ifa_family = AF_INET;
    header.ifa_prefixlen = 24;
    header.ifa_index = static_cast<std::uint32_t>(on);
    Message message(type, NLM_F_REQUEST | NLM_F_ACK | (type == RTM_NEWADDR ? NLM_F_CREATE : 0), header,
                    "address");
    const std::array<std::uint8_t, 4> bytes{192, 0, 2, last};
    message.put(IFA_LOCAL, std::as_bytes(std::span(bytes)));
    message.put(IFA_ADDRESS, std::as_bytes(std::span(bytes)));
    const auto done = netlink->execute({&message, 1});
    ASSERT_TRUE(done) << done.error().message;
  }

  base::UniqueFd tun;
  std::optional<detail::NetlinkSocket> netlink;
  std::unique_ptr<EventSource> links;
  int index = 0;
};

TEST_F(LinkEventsTest, AnAddressOfAnInterfaceThatWasThereBefore) {
  EXPECT_THAT(read(*links), IsEmpty()) << "an existing link is not an event";
  address(RTM_NEWADDR, index, 1);
  EXPECT_THAT(read(*links), Contains("address"));
  address(RTM_DELADDR, index, 1);
  EXPECT_THAT(read(*links), Contains("address"));
  address(RTM_NEWADDR, static_cast<int>(::if_nametoindex("lo")), 1);
  EXPECT_THAT(read(*links), IsEmpty());
}

TEST_F(LinkEventsTest, AMessageOfAnotherProcessIsIgnored) {
  EXPECT_THAT(read(*links), IsEmpty());
  sockaddr_nl to{};
  socklen_t size = sizeof to;
  ASSERT_EQ(::getsockname(links->fd(), reinterpret_cast<sockaddr*>(&to), &size), 0);
  const base::UniqueFd other(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  ASSERT_TRUE(other);
  ifaddrmsg header{};
  header.ifa_family = AF_INET;
  header.ifa_prefixlen = 24;
  header.ifa_flags = IFA_F_PERMANENT;
  header.ifa_index = static_cast<std::uint32_t>(index);
  const Message forged(RTM_NEWADDR, 0, header, "address");
  ASSERT_EQ(::sendto(other.get(), forged.header(), forged.header()->nlmsg_len, 0,
                     reinterpret_cast<const sockaddr*>(&to), sizeof to),
            static_cast<ssize_t>(forged.header()->nlmsg_len));
  EXPECT_THAT(read(*links), IsEmpty());
  address(RTM_NEWADDR, index, 1);
  EXPECT_THAT(read(*links), Contains("address")) << "the kernel's own messages are read as before";
}

/// An interface that came while events were lost is known all the same, whether the first list was read by
/// then or not.
TEST_F(LinkEventsTest, AnInterfaceThatNothingToldOf) {
  constexpr int kSmall = 4096, kLarge = 1 << 20;
  for (const bool listed : {true, false}) {
    links = std::move(*watch_links(WatchedLinks::kIpoib));
    if (listed) {
      EXPECT_THAT(read(*links), IsEmpty());
    }
    ASSERT_EQ(::setsockopt(links->fd(), SOL_SOCKET, SO_RCVBUF, &kSmall, sizeof kSmall), 0);
    for (std::uint8_t i = 1; i < 100; ++i) {
      address(RTM_NEWADDR, index, i);
      address(RTM_DELADDR, index, i);
    }
    const auto late = tunnel("fake1");
    ASSERT_TRUE(late);
    ASSERT_EQ(::setsockopt(links->fd(), SOL_SOCKET, SO_RCVBUF, &kLarge, sizeof kLarge), 0);
    const auto told = read(*links);
    EXPECT_THAT(told, Contains("rtnetlink")) << listed;
    EXPECT_THAT(told, Not(Contains("fake1"))) << "the overrun has to swallow it";
    EXPECT_EQ(told.empty() ? "" : told.back(), "interfaces") << "what came before the list was passed over";
    address(RTM_NEWADDR, static_cast<int>(::if_nametoindex("fake1")), 1);
    EXPECT_THAT(read(*links), Contains("address")) << listed;
  }
}

TEST(DeviceEvents, OnlyOneThatComesIsNew) {
  EXPECT_TRUE(detail::device_came("add", detail::Uevent::kOfKernel));
  EXPECT_FALSE(detail::device_came("add", detail::Uevent::kSynthetic)) << "udevadm trigger";
  EXPECT_FALSE(detail::device_came("remove", detail::Uevent::kOfKernel));
  EXPECT_FALSE(detail::device_came("move", detail::Uevent::kOfKernel));
  EXPECT_FALSE(detail::device_came("", detail::Uevent::kOfKernel));
}

}  // namespace
}  // namespace rdmacfg::system
