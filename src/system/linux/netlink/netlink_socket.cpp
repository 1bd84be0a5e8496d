// SPDX-License-Identifier: Apache-2.0
#include "system/linux/netlink/netlink_socket.hpp"

#include <fmt/format.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

namespace rdmacfg::system::detail {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;

namespace {

constexpr std::size_t kBatchBytes = std::size_t{32} * 1024;
constexpr std::size_t kBatchMessages = 128;  // their acks have to fit the receive buffer all at once
constexpr std::size_t kReceiveBytes =
    std::size_t{128} * 1024;  // the kernel fills at most 32 KiB of a dump into one datagram
constexpr int kSocketBytes = 1024 * 1024;
constexpr int kDumpTries = 16;
constexpr int kAnswerSeconds =
    60;  // answers are there when send returns; this only keeps a lost one from hanging us

void set_option(int fd, int level, int option, int value) {
  // Every option is a convenience that an old kernel may lack.
  (void)setsockopt(fd, level, option, &value, sizeof value);
}

Ack ack_of(const nlmsghdr& header) {
  const auto parsed = Parsed<nlmsgerr>::of(header);
  if (!parsed) return {EBADMSG, "a torn answer"};
  Ack ack{-parsed->family.error, {}};
  if ((header.nlmsg_flags & NLM_F_ACK_TLVS) == 0) return ack;
  // With NETLINK_CAP_ACK only the header of our message is quoted, else all of it.
  std::size_t quoted = sizeof(nlmsgerr);
  if ((header.nlmsg_flags & NLM_F_CAPPED) == 0 && ack.error != 0)
    quoted += parsed->family.msg.nlmsg_len - kNlHeader;
  const std::size_t start = kNlHeader + ((quoted + 3U) & ~std::size_t{3});
  if (header.nlmsg_len <= start) return ack;
  const Attributes attributes(
      {reinterpret_cast<const std::byte*>(&header) + start, header.nlmsg_len - start});
  ack.text = attributes.text(NLMSGERR_ATTR_MSG);
  return ack;
}

}  // namespace

base::Error refusal(const Message& message, const Ack& ack) {
  auto error = base::errno_error(ack.error, message.what());
  if (!ack.text.empty()) error.message += fmt::format(" ({})", ack.text);
  return error;
}

std::size_t batch_size(std::span<const Message> messages) {
  std::size_t count = 0, bytes = 0;
  while (count < messages.size() && count < kBatchMessages) {
    bytes += (messages[count].bytes().size() + 3U) & ~std::size_t{3};
    if (count > 0 && bytes > kBatchBytes) break;
    ++count;
  }
  return count;
}

NetlinkSocket::NetlinkSocket(nl_sock* socket) : socket_(socket, nl_socket_free), buffer_(kReceiveBytes) {}

int NetlinkSocket::fd() const { return nl_socket_get_fd(socket_.get()); }

Result<NetlinkSocket> NetlinkSocket::open(int protocol) {
  NetlinkSocket socket(nl_socket_alloc());
  if (!socket.socket_) return fail_errno(ENOMEM, "opening a netlink socket");
  errno = 0;
  if (const int failed = nl_connect(socket.socket_.get(), protocol); failed < 0) {
    if (errno != 0) return fail_errno(errno, "opening a netlink socket");
    return fail(Code::kRefused, fmt::format("opening a netlink socket: {}", nl_geterror(failed)));
  }
  const int fd = socket.fd();
  set_option(fd, SOL_SOCKET, SO_RCVBUF, kSocketBytes);
  set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, kSocketBytes);
  set_option(fd, SOL_SOCKET, SO_SNDBUF, kSocketBytes);
  set_option(fd, SOL_NETLINK, NETLINK_EXT_ACK, 1);
  set_option(fd, SOL_NETLINK, NETLINK_CAP_ACK, 1);
  set_option(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, 1);
  const timeval limit{kAnswerSeconds, 0};
  (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return socket;
}

Result<void> NetlinkSocket::join(int group) {
  if (setsockopt(fd(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0) {
    return fail_errno(errno, "listening to netlink notifications");
  }
  return {};
}

Result<void> NetlinkSocket::send(std::span<const Message> messages) {
  std::vector<iovec> parts;
  for (const auto& message : messages) {
    if (!message.complete())
      return fail(Code::kInvalid, fmt::format("{}: too long for a message", message.what()));
    nlmsghdr* header = message.header();
    header->nlmsg_seq = ++sequence_;
    parts.push_back({header, (header->nlmsg_len + 3U) & ~3U});
  }
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  msghdr datagram{};
  datagram.msg_name = &kernel;
  datagram.msg_namelen = sizeof kernel;
  datagram.msg_iov = parts.data();
  datagram.msg_iovlen = parts.size();
  while (sendmsg(fd(), &datagram, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR)
      return fail_errno(errno, fmt::format("{}: sending it to the kernel", messages.front().what()));
  }
  return {};
}

Result<NetlinkSocket::Got> NetlinkSocket::receive(const Visit& visit) {
  for (;;) {
    sockaddr_nl from{};
    iovec part{buffer_.data(), buffer_.size()};
    msghdr datagram{};
    datagram.msg_name = &from;
    datagram.msg_namelen = sizeof from;
    datagram.msg_iov = &part;
    datagram.msg_iovlen = 1;
    const ssize_t length = recvmsg(fd(), &datagram, 0);
    if (length < 0) {
      if (errno == EINTR) continue;
      if (errno == ENOBUFS) return Got::kOverrun;
      if (errno == EAGAIN) return fail(Code::kTimeout, "the kernel did not answer on netlink");
      return fail_errno(errno, "reading from netlink");
    }
    if (from.nl_pid != 0) continue;  // not from the kernel
    if ((datagram.msg_flags & MSG_TRUNC) != 0)
      return fail(Code::kIo, "a netlink message is too long to be read");
    auto left = static_cast<std::size_t>(length);
    for (std::size_t at = 0; left - at >= kNlHeader;) {
      const auto* header = reinterpret_cast<const nlmsghdr*>(buffer_.data() + at);
      if (header->nlmsg_len < kNlHeader || header->nlmsg_len > left - at) break;
      visit(*header);
      at = std::min(left, at + ((header->nlmsg_len + 3U) & ~3U));
    }
    return Got::kMessages;
  }
}

Result<bool> NetlinkSocket::dump_once(const Message& request, const Visit& visit) {
  if (auto sent = send({&request, 1}); !sent) return fail(sent.error());
  bool consistent = true, done = false;
  Ack ack;
  while (!done) {
    const auto got = receive([&](const nlmsghdr& header) {
      if (header.nlmsg_seq != sequence_ || done) return;
      if ((header.nlmsg_flags & NLM_F_DUMP_INTR) != 0) consistent = false;
      if (header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR) {
        done = true;
        if (header.nlmsg_type == NLMSG_ERROR) {
          ack = ack_of(header);
        } else if (const auto end = Parsed<int>::of(header); end && end->family < 0) {
          ack.error = -end->family;
        }
      } else if (header.nlmsg_type >= NLMSG_MIN_TYPE) {
        visit(header);
      }
    });
    if (!got) return fail(got.error().in(request.what()));
    if (*got == Got::kOverrun) consistent = false;
  }
  if (ack.error == EINTR || ack.error == EAGAIN) return false;
  if (ack.error != 0) return fail(refusal(request, ack));
  return consistent;
}

Result<void> NetlinkSocket::dump(const Message& request, const std::function<void()>& begin,
                                 const Visit& visit) {
  for (int attempt = 0; attempt < kDumpTries; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(attempt));
    begin();
    const auto consistent = dump_once(request, visit);
    if (!consistent) return fail(consistent.error());
    if (*consistent) return {};
  }
  return fail(Code::kBusy, fmt::format("{}: it changes faster than it can be read ({} tries)", request.what(),
                                       kDumpTries));
}

Result<void> NetlinkSocket::exchange_batch(std::span<const Message> batch, std::span<Ack> acks) {
  const std::uint32_t first = sequence_ + 1;
  // The kernel answers in order, and a refusal in any case: asking for the last answer is enough.
  for (const auto& message : batch.first(batch.size() - 1))
    message.header()->nlmsg_flags &= static_cast<std::uint16_t>(~NLM_F_ACK);
  if (auto sent = send(batch); !sent) return sent;
  for (bool answered = false; !answered;) {
    const auto got = receive([&](const nlmsghdr& header) {
      const std::uint32_t index = header.nlmsg_seq - first;
      if (header.nlmsg_type != NLMSG_ERROR || index >= batch.size()) return;
      acks[index] = ack_of(header);
      answered = index + 1 == batch.size();
    });
    if (!got) return fail(got.error().in(batch.front().what()));
    if (*got == Got::kOverrun) {
      return fail(Code::kBusy, fmt::format("{}: answers of the kernel were lost", batch.front().what()));
    }
  }
  return {};
}

Result<std::vector<Ack>> NetlinkSocket::exchange(std::span<const Message> messages) {
  std::vector<Ack> acks(messages.size());
  for (std::size_t at = 0; at < messages.size();) {
    const std::size_t count = batch_size(messages.subspan(at));
    const auto done = exchange_batch(messages.subspan(at, count), std::span(acks).subspan(at, count));
    if (!done) return fail(done.error());
    at += count;
  }
  return acks;
}

Result<void> NetlinkSocket::execute(std::span<const Message> messages) {
  while (!messages.empty()) {
    const auto batch = messages.first(batch_size(messages));
    const auto acks = exchange(batch);
    if (!acks) return fail(acks.error());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if ((*acks)[i].error != 0) return fail(refusal(batch[i], (*acks)[i]));
    }
    messages = messages.subspan(batch.size());
  }
  return {};
}

Result<bool> NetlinkSocket::wait(std::chrono::milliseconds timeout, const Visit& visit) {
  pollfd ready{fd(), POLLIN, 0};
  const int count = poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(0, timeout.count())));
  if (count < 0 && errno != EINTR) return fail_errno(errno, "waiting for netlink notifications");
  if (count <= 0) return true;
  const auto got = receive(visit);
  if (!got) return fail(got.error());
  return *got == Got::kMessages;
}

}  // namespace rdmacfg::system::detail
