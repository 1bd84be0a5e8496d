// SPDX-License-Identifier: Apache-2.0
// Source of ping_ip(): raw(7), icmp(7), RFC 792.
#include "system/function_test.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.hpp"
#include "system/linux/linux_host.hpp"
#include "system/linux/verbs/mad_ping.hpp"
#include "system/linux/verbs/rc_pingpong.hpp"

namespace rdmacfg::system {

namespace {

using base::fail;
using base::fail_errno;
using base::Result;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPayload = 56;

struct Echo {
  icmphdr header{};
  std::array<std::uint8_t, kPayload> payload{};
};

std::uint16_t checksum(const Echo& echo) {
  std::array<std::uint16_t, sizeof(Echo) / 2> words{};
  std::memcpy(words.data(), &echo, sizeof echo);
  std::uint32_t sum = 0;
  for (const auto word : words) sum += word;
  while (sum >> 16U != 0) sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

/// Waits for the answer to `number`; false when the time is over.
Result<bool> await(int socket, std::uint16_t id, std::uint16_t number, Clock::time_point end,
                   const std::string& what) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{socket, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    std::array<std::uint8_t, 2048> packet{};
    const auto length = ::recv(socket, packet.data(), packet.size(), 0);
    if (length < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return fail_errno(errno, what);
    }
    iphdr ip{};
    std::memcpy(&ip, packet.data(), sizeof ip);
    const std::size_t start = std::size_t{ip.ihl} * 4;
    icmphdr header{};
    if (static_cast<std::size_t>(length) < start + sizeof header) continue;
    std::memcpy(&header, &packet[start], sizeof header);
    if (header.type == ICMP_ECHOREPLY && header.un.echo.id == id && header.un.echo.sequence == htons(number))
      return true;
  }
}

class LinuxFunctionTest final : public FunctionTest {
 public:
  Result<PingTimes> ping_lid(const std::string& device, int port, int lid, int count,
                             std::chrono::milliseconds timeout) override {
    return detail::ping_by_mad(device, port, lid, count, timeout);
  }

  Result<int> resolve_guid(const std::string& device, int port, model::Guid guid,
                           std::chrono::milliseconds timeout) override {
    return detail::lid_of_guid(device, port, guid, timeout);
  }

  Result<PingTimes> ping_ip(const std::string& interface, const std::string& address, int count,
                            std::chrono::milliseconds timeout) override {
    const auto what = fmt::format("{}: ping {}", interface, address);
    sockaddr_in target{};
    target.sin_family = AF_INET;
    if (::inet_pton(AF_INET, address.c_str(), &target.sin_addr) != 1)
      return fail(base::Code::kInvalid, what + ": not an IPv4 address");
    const base::UniqueFd socket(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP));
    if (!socket) return fail_errno(errno, what);
    if (::setsockopt(socket.get(), SOL_SOCKET, SO_BINDTODEVICE, interface.c_str(),
                     static_cast<socklen_t>(interface.size())) != 0)
      return fail_errno(errno, what);
    PingTimes times;
    times.who = address;
    const auto id = static_cast<std::uint16_t>(::getpid());
    while (times.sent < count) {
      Echo echo;
      echo.header.type = ICMP_ECHO;
      echo.header.un.echo.id = id;
      echo.header.un.echo.sequence = htons(static_cast<std::uint16_t>(times.sent));
      echo.header.checksum = checksum(echo);
      const auto start = Clock::now();
      if (::sendto(socket.get(), &echo, sizeof echo, 0, reinterpret_cast<const sockaddr*>(&target),
                   sizeof target) < 0)
        return fail_errno(errno, what);
      const auto answered =
          await(socket.get(), id, static_cast<std::uint16_t>(times.sent), start + timeout, what);
      if (!answered) return fail(answered.error());
      if (*answered) times.answers.push_back(Clock::now() - start);
      ++times.sent;
    }
    return times;
  }

  Result<void> rc_server(const std::string& address, int port, int clients,
                         const std::function<void()>& ready) override {
    return detail::serve_pingpong(address, port, clients, ready);
  }

  Result<PingTimes> rc_client(const std::string& address, int port, int count,
                              std::chrono::milliseconds timeout) override {
    return detail::pingpong(address, port, count, timeout);
  }
};

}  // namespace

std::unique_ptr<FunctionTest> make_linux_function_test() { return std::make_unique<LinuxFunctionTest>(); }

}  // namespace rdmacfg::system
