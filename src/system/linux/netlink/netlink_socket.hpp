// SPDX-License-Identifier: Apache-2.0
// A netlink socket (NETLINK_ROUTE, NETLINK_RDMA). Sources: netlink(7), rtnetlink(7),
// Documentation/userspace-api/netlink/intro.rst.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "system/linux/netlink/netlink_message.hpp"

struct nl_sock;

namespace rdmacfg::system::detail {

/// The kernel's answer to one message: errno, 0 for success, and its own words (extended ack), which may be
/// empty.
struct Ack {
  int error = 0;
  std::string text;
};

/// "mlx4_ib0: set MTU 65520: Invalid argument (mtu greater than device maximum)".
base::Error refusal(const Message& message, const Ack& ack);

class NetlinkSocket {
 public:
  using Visit = std::function<void(const nlmsghdr&)>;

  /// `protocol`: NETLINK_ROUTE or NETLINK_RDMA.
  static base::Result<NetlinkSocket> open(int protocol = NETLINK_ROUTE);

  /// Subscribes to a multicast group (RTNLGRP_LINK).
  base::Result<void> join(int group);

  /// Sends a dump request and hands each message of the answer to `visit`. Once more from the start, after
  /// calling `begin` again, when the kernel says that the answer is inconsistent; kBusy when it never is.
  base::Result<void> dump(const Message& request, const std::function<void()>& begin, const Visit& visit);

  /// One try of dump(). @return whether the answer is consistent; of one that is not, objects may be missing
  /// that were next to others which came or went.
  base::Result<bool> dump_once(const Message& request, const Visit& visit);

  /// Sends all messages in order, many to a system call, and returns the acks in the same order. The kernel
  /// goes on after a refusal within one batch; later batches are sent too.
  base::Result<std::vector<Ack>> exchange(std::span<const Message> messages);

  /// exchange() that fails with the first refusal, and sends no further batch after one.
  base::Result<void> execute(std::span<const Message> messages);

  /// Waits for notifications and hands them to `visit`. False when some were lost (read everything again).
  base::Result<bool> wait(std::chrono::milliseconds timeout, const Visit& visit);

 private:
  enum class Got { kMessages, kOverrun };

  explicit NetlinkSocket(nl_sock* socket);
  base::Result<void> send(std::span<const Message> messages);
  base::Result<Got> receive(const Visit& visit);
  base::Result<void> exchange_batch(std::span<const Message> batch, std::span<Ack> acks);
  [[nodiscard]] int fd() const;

  std::unique_ptr<nl_sock, void (*)(nl_sock*)> socket_;
  std::vector<std::byte> buffer_;
  std::uint32_t sequence_ = 0;
};

/// How many of `messages` go into the next batch (at least one).
std::size_t batch_size(std::span<const Message> messages);

}  // namespace rdmacfg::system::detail
