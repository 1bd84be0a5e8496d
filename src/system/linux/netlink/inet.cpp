// SPDX-License-Identifier: Apache-2.0
#include "system/inet.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>

#include "system/linux/linux_host.hpp"
#include "system/linux/netlink/inet_messages.hpp"
#include "system/linux/netlink/netlink_socket.hpp"

namespace rdmacfg::system {

namespace {

using base::fail;
using base::Result;
using detail::Ack;
using detail::NetlinkSocket;

/// Of all addresses, while the kernel's notifications are lost.
constexpr std::chrono::milliseconds kBetweenDumps{250};

class LinuxInet final : public Inet {
 public:
  Result<std::vector<InetAddress>> observe_addresses() override {
    return sweep<InetAddress>(detail::address_request, detail::parse_address);
  }

  Result<std::vector<InetRoute>> observe_routes() override {
    return sweep<InetRoute>(detail::route_request, detail::parse_route);
  }

  Result<void> execute(std::span<const InetRequest> requests) override {
    const auto netlink = socket();
    if (!netlink) return fail(netlink.error());
    for (const auto& request : requests) {
      const auto messages = detail::encode(request);
      const auto acks = (*netlink)->exchange(messages);
      if (!acks) return fail(acks.error());
      for (std::size_t i = 0; i < messages.size(); ++i) {
        if ((*acks)[i].error == 0) continue;
        auto harmless = is_harmless(request, messages[i].header()->nlmsg_type, (*acks)[i]);
        if (!harmless) return fail(harmless.error());
        if (!*harmless) return fail(detail::refusal(messages[i], (*acks)[i]));
      }
    }
    return {};
  }

  Result<void> wait_for_addresses(const std::set<int>& indexes, std::chrono::milliseconds deadline) override {
    const auto end = std::chrono::steady_clock::now() + deadline;
    auto events = NetlinkSocket::open();
    if (!events) return fail(events.error());
    if (auto joined = events->join(RTNLGRP_IPV6_IFADDR); !joined) return joined;
    // Joined first, read second. A dump at each event would be quadratic in the number of interfaces; where
    // events are lost, a dump is due, but not before the others have had time to come.
    detail::AddressChecks checks(indexes);
    auto dump_at = std::chrono::steady_clock::now();
    bool known = false;
    for (;;) {
      auto now = std::chrono::steady_clock::now();
      if (!known && now >= dump_at) {
        const auto addresses = observe_addresses();
        if (!addresses) return fail(addresses.error());
        checks.begin(*addresses);
        known = true;
        now = std::chrono::steady_clock::now();
        dump_at = now + kBetweenDumps;
      }
      if ((known && !checks.any()) || now >= end) return {};
      const auto until = known ? end : std::min(end, dump_at);
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
      const auto whole = events->wait(left, [&](const nlmsghdr& header) { checks.note(header); });
      if (!whole) return fail(whole.error());
      if (!*whole) known = false;
    }
  }

  std::optional<std::vector<TcpConnection>> observe_connections() override {
    auto diag = NetlinkSocket::open(NETLINK_SOCK_DIAG);
    if (!diag) return std::nullopt;
    std::vector<TcpConnection> out;
    for (const auto family : {model::Family::kIpv4, model::Family::kIpv6}) {
      const auto before = static_cast<std::ptrdiff_t>(out.size());
      const auto read = diag->dump(
          detail::connection_request(family), [&] { out.erase(out.begin() + before, out.end()); },
          [&](const nlmsghdr& header) {
            if (auto connection = detail::parse_connection(header)) out.push_back(*connection);
          });
      if (!read) return std::nullopt;
    }
    return out;
  }

 private:
  Result<NetlinkSocket*> socket() {
    if (!socket_) {
      auto opened = NetlinkSocket::open();
      if (!opened) return fail(opened.error());
      socket_.emplace(std::move(*opened));
    }
    return &*socket_;
  }

  template <class T, class Request, class Parse>
  Result<std::vector<T>> sweep(Request request, Parse parse) {
    const auto netlink = socket();
    if (!netlink) return fail(netlink.error());
    std::vector<T> out;
    const auto read = (*netlink)->dump(
        request(), [&] { out.clear(); },
        [&](const nlmsghdr& header) {
          if (auto parsed = parse(header)) out.push_back(std::move(*parsed));
        });
    if (!read) return fail(read.error());
    return out;
  }

  /// Whether a refusal only says that it is so already. `type`: of the message of the request.
  Result<bool> is_harmless(const InetRequest& request, std::uint16_t type, const Ack& ack) {
    if (type == RTM_NEWADDR) return ack.error == EEXIST;
    if (type == RTM_DELADDR) return ack.error == EADDRNOTAVAIL || ack.error == ENODEV;
    if (std::holds_alternative<DeleteRoute>(request)) return ack.error == ESRCH || ack.error == ENODEV;
    if (ack.error != EEXIST) return false;
    const auto& wanted = std::get<AddRoute>(request).route;
    const auto now = observe_routes();
    if (!now) return fail(now.error());
    return std::any_of(now->begin(), now->end(), [&](InetRoute route) {
      route.made_by_kernel = wanted.made_by_kernel;
      return route == wanted;
    });
  }

  std::optional<NetlinkSocket> socket_;
};

}  // namespace

std::unique_ptr<Inet> make_linux_inet() { return std::make_unique<LinuxInet>(); }

}  // namespace rdmacfg::system
