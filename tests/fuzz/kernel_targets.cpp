// SPDX-License-Identifier: Apache-2.0
// Messages of the kernel and the fabric: rtnetlink and RDMA netlink, DCB attributes, uevents,
// management datagrams.
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>

#include "system/linux/carried/carried.hpp"
#include "system/linux/netlink/dcb_message.hpp"
#include "system/linux/netlink/inet_messages.hpp"
#include "system/linux/netlink/link_dump.hpp"
#include "system/linux/netlink/link_filter.hpp"
#include "system/linux/netlink/rdma_monitor.hpp"
#include "system/linux/netlink/rdma_netlink.hpp"
#include "system/linux/uevent.hpp"
#include "system/linux/verbs/mad_message.hpp"
#include "target.hpp"

namespace rdmacfg::fuzz {
namespace {

using namespace system::detail;

/// The bytes as one message, which is as long as they are, as the socket's reader makes sure.
class Received {
 public:
  explicit Received(std::string_view bytes) : words_((std::max(bytes.size(), sizeof(nlmsghdr)) + 7) / 8) {
    std::memcpy(words_.data(), bytes.data(), bytes.size());
    message().nlmsg_len = static_cast<std::uint32_t>(std::max(bytes.size(), sizeof(nlmsghdr)));
  }
  [[nodiscard]] nlmsghdr& message() { return *reinterpret_cast<nlmsghdr*>(words_.data()); }

 private:
  std::vector<std::uint64_t> words_;
};

std::string text_of(const Message& message) {
  const auto bytes = message.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void run_links(std::string_view bytes) {
  Received received(bytes);
  LinkFilter filter(system::WatchedLinks::kIpoib), all(system::WatchedLinks::kAll);
  for (const std::uint16_t type : {RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR, RTM_NEWROUTE, RTM_DELROUTE}) {
    received.message().nlmsg_type = type;
    (void)parse_link(received.message());
    (void)filter.take(received.message());
    (void)all.take(received.message());
  }
}

/// The state carried over a rename or a new interface, taken from messages and put back.
void run_carried(std::string_view bytes) {
  Received received(bytes);
  const system::detail::Target target{7, "ib0", 8, "fab0"};
  for (const auto family : {std::uint8_t{AF_INET}, std::uint8_t{AF_INET6}}) {
    BarePrefixes bare;
    (void)address_owner(received.message(), family, bare);
    (void)route_owners(received.message(), family, bare);
    (void)rule_owners(received.message(), family);
    (void)neighbour_owner(received.message(), family);
  }
  (void)label_of(received.message(), 7);
  for (const auto sort : {ItemSort::kAddress, ItemSort::kRoute, ItemSort::kRule, ItemSort::kNeighbour}) {
    const auto item = parse_item(item_text(sort, received.message()));
    if (!item) continue;
    (void)replay_address(*item, target);
    (void)replay_route(*item, target);
    (void)replay_rule(*item, target);
    (void)replay_neighbour(*item, target);
  }
  // The same from a journal, where anything may stand.
  if (const auto item = parse_item(bytes)) {
    (void)replay_address(*item, target);
    (void)replay_route(*item, target);
    (void)replay_rule(*item, target);
    (void)replay_neighbour(*item, target);
  }
}

void run_addresses(std::string_view bytes) {
  Received received(bytes);
  received.message().nlmsg_type = RTM_NEWADDR;
  (void)parse_address(received.message());
}

void run_routes(std::string_view bytes) {
  Received received(bytes);
  received.message().nlmsg_type = RTM_NEWROUTE;
  (void)parse_route(received.message());
  received.message().nlmsg_type = SOCK_DIAG_BY_FAMILY;
  (void)parse_connection(received.message());
}

void run_rdma(std::string_view bytes) {
  Received received(bytes);
  (void)netdev_in(received.message(), 1);
}

/// Datagrams of the monitor, one by one and as the source reads them.
void run_monitor(std::string_view bytes) {
  const auto datagrams = parts_of(bytes);
  for (const auto& datagram : datagrams) {
    const auto raw = std::as_bytes(std::span(datagram.data(), datagram.size()));
    (void)has_monitor(raw);
    const auto found = rdma_notifications_in(raw);
    require(found.all.size() <= raw.size() / sizeof(nlmsghdr), "each notification has a header");
    for (const auto& notification : found.all) {
      const auto event = event_of(notification);
      require(!event || event->what.find('\0') == std::string::npos, "a name ends at its NUL");
    }
  }
  std::size_t next = 0;
  const auto receive = [&](int, std::span<std::byte> buffer) -> ssize_t {
    if (next == datagrams.size()) return -EAGAIN;
    const auto& datagram = datagrams[next++];
    std::memcpy(buffer.data(), datagram.data(), std::min(datagram.size(), buffer.size()));
    return static_cast<ssize_t>(datagram.size());
  };
  const auto source =
      make_rdma_monitor({base::UniqueFd(), receive, [] { return std::set<std::string>{"mlx5_0"}; }});
  while (next < datagrams.size()) (void)source->read();
}

void run_dcb(std::string_view bytes) {
  Received received(bytes);
  (void)parse_dcb(received.message());
}

void run_mad(std::string_view bytes) {
  const std::span answer(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  (void)port_guid_in(answer);
  if (const auto lid = lid_in(answer)) require(*lid > 0 && *lid <= 0xbfff, "the LID of a port is unicast");
}

void run_uevents(std::string_view bytes) {
  const auto parts = parts_of(bytes);
  require(!device_came(parts.front(), Uevent::kSynthetic), "what is announced once more has not come");
  (void)device_came(parts.front(), Uevent::kOfKernel);
}

/// A message with attributes nested in each other, as most are.
std::string sample(std::uint16_t type) {
  Message message(type, 0, ifinfomsg{}, "");
  message.put(IFLA_IFNAME, std::string_view("ib0"));
  message.put(IFLA_MTU, std::uint32_t{2044});
  message.nest(IFLA_LINKINFO, [&] { message.put(IFLA_INFO_KIND, std::string_view("ipoib")); });
  return text_of(message);
}

/// A notification of the monitor: RDMA_NL_NLDEV, RDMA_NLDEV_CMD_MONITOR.
std::string notice(std::uint8_t type) {
  Message message(0x141c, 0, std::span<const std::byte>{}, "", 256);
  message.put(1, std::uint32_t{6});
  message.put(2, std::string_view("mlx5_0"));
  message.put(3, std::uint32_t{1});
  message.put(50, std::uint32_t{4});
  message.put(51, std::string_view("eth2"));
  message.put(102, type);
  return text_of(message);
}

/// The answer of a kernel that has the monitor: RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET.
std::string system_answer() {
  Message message(0x1406, 0, std::span<const std::byte>{}, "", 256);
  message.put(103, std::uint8_t{1});
  return text_of(message);
}

}  // namespace

std::vector<Target> kernel_targets() {
  const auto family = [](const Message& message) { return text_of(message); };
  constexpr std::array<std::uint8_t, 2> kTrustSample{5, 255};  // an answer has the same attributes
  return {
      {"netlink-links", run_links, {sample(RTM_NEWLINK)}},
      {"netlink-carried", run_carried, {sample(RTM_NEWADDR), "addr 00", "route 00", "rule 00", "neigh 00"}},
      {"netlink-addresses", run_addresses, {family(address_request())}},
      {"netlink-routes", run_routes, {family(route_request())}},
      {"netlink-rdma", run_rdma, {sample(0)}},
      {"netlink-monitor",
       run_monitor,
       {notice(0), notice(1), notice(2), notice(3), notice(4), notice(5), notice(2) + notice(3),
        notice(1) + std::string(kSeparator) + notice(0), system_answer()}},
      {"netlink-dcb", run_dcb, {sample(RTM_GETDCB), family(trust_request("eth0", kTrustSample))}},
      {"mad", run_mad, {std::string(256, '\1')}},
      {"uevents", run_uevents, {"add", "change"}}};
}

}  // namespace rdmacfg::fuzz
