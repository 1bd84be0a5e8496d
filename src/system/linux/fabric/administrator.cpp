// SPDX-License-Identifier: Apache-2.0
#include "system/linux/fabric/administrator.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>

#include "fabric/limits.hpp"
#include "system/linux/fabric/decode.hpp"

namespace rdmacfg::system::detail {

namespace {

using base::fail;
using base::fail_errno;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMadBytes = 256;
constexpr int kTableTimeout = 2000, kTableRetries = 2;  // milliseconds; of one try
constexpr std::chrono::seconds kWait{10};
constexpr std::uint8_t kGetTable = 0x12;
constexpr std::uint8_t kTransaction = 0x5a;

/// Receives into `buffer`, which grows to what the answer takes. @return bytes of the datagram, or -errno
int receive(const FabricLibraries& libraries, int port, std::vector<std::uint8_t>& buffer) {
  constexpr int kMost = static_cast<int>(4 * model::limits::kMiB);
  int length = kMadBytes;
  for (;;) {
    buffer.resize(libraries.size() + static_cast<std::size_t>(length));
    const int got = libraries.recv(port, buffer.data(), &length, kTableTimeout);
    if (got != -ENOSPC) return got < 0 ? got : length;
    if (length <= 0 || length > kMost) return -EMSGSIZE;
  }
}

}  // namespace

base::Result<std::vector<fabric::Group>> read_groups(const FabricLibraries& libraries, ibmad_port& port,
                                                     const LocalPort& local) {
  const std::string what = "the subnet administrator";
  const int id = libraries.portid(&port), agent = libraries.class_agent(&port, IB_SA_CLASS);
  std::vector<std::uint8_t> buffer(libraries.size() + kMadBytes);
  auto* mad = static_cast<std::uint8_t*>(libraries.get_mad(buffer.data()));
  mad[0] = 1;  // base version
  mad[1] = IB_SA_CLASS;
  mad[2] = 2;  // class version
  mad[3] = kGetTable;
  mad[15] = kTransaction;
  mad[17] = IB_SA_ATTR_MCRECORD;
  libraries.set_addr(buffer.data(), local.sm_lid, 1, local.sm_sl, static_cast<int>(IB_DEFAULT_QP1_QKEY));
  if (const int failed = libraries.send(id, agent, buffer.data(), kMadBytes, kTableTimeout, kTableRetries);
      failed < 0)
    return fail_errno(-failed, what);
  for (const auto end = Clock::now() + kWait; Clock::now() < end;) {
    const int length = receive(libraries, id, buffer);
    // The kernel still tries again; its last word is the status of a datagram.
    if (length == -EWOULDBLOCK || length == -ETIMEDOUT) continue;
    if (length < 0) return fail_errno(-length, what);
    if (const int status = libraries.status(buffer.data()); status != 0) return fail_errno(status, what);
    mad = static_cast<std::uint8_t*>(libraries.get_mad(buffer.data()));
    if (length < static_cast<int>(kMadBytes) / 4 || mad[15] != kTransaction || mad[17] != IB_SA_ATTR_MCRECORD)
      continue;  // of something asked before
    auto groups = groups_in(std::span(mad, static_cast<std::size_t>(length)), fabric::limits::kFabricNodes);
    if (!groups) return fail(base::Code::kRefused, what + " refused the question");
    return std::move(*groups);
  }
  return fail_errno(ETIMEDOUT, what);
}

}  // namespace rdmacfg::system::detail
