// SPDX-License-Identifier: Apache-2.0
#include "system/linux/verbs/mad_ping.hpp"

#include <fmt/format.h>
#include <infiniband/umad.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "system/linux/verbs/late_library.hpp"
#include "system/linux/verbs/mad_message.hpp"

namespace rdmacfg::system::detail {

namespace {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;
using Clock = std::chrono::steady_clock;

constexpr int kSubnetManagement = 0x01;  // management classes, InfiniBand architecture 13.4.4
constexpr int kSubnetAdministration = 0x03;
constexpr std::uint8_t kGet = 0x01;
constexpr std::uint16_t kNodeInfo = 0x0011;
constexpr std::uint16_t kPathRecord = 0x0035;
constexpr std::size_t kStatusAt = 4, kTransactionAt = 8, kAttributeAt = 16;
constexpr std::size_t kSmpDataAt = 64, kSaMaskAt = 48, kSaDataAt = 56;
constexpr std::size_t kPortGuidAt = kSmpDataAt + 20;
constexpr std::size_t kPathDgidAt = kSaDataAt + 8, kPathSgidAt = kSaDataAt + 24, kPathDlidAt = kSaDataAt + 40;
constexpr std::uint64_t kPathDgid = 1U << 2U, kPathSgid = 1U << 3U;
constexpr unsigned kWellKnownQkey = 0x80010000;
constexpr int kLastUnicastLid = 0xbfff;  // multicast groups and the permissive LID follow, 4.1.3

using Mad = std::array<std::uint8_t, kMadBytes>;

template <class Number>
void put(Mad& mad, std::size_t at, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i)
    mad[at + i] = static_cast<std::uint8_t>(number >> (8 * (sizeof number - 1 - i)));
}

std::uint64_t get(std::span<const std::uint8_t> mad, std::size_t at, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i) number = number << 8U | mad[at + i];
  return number;
}

Mad request(int management_class, std::uint8_t class_version, std::uint16_t attribute) {
  Mad mad{};
  mad[0] = 1;  // base version
  mad[1] = static_cast<std::uint8_t>(management_class);
  mad[2] = class_version;
  mad[3] = kGet;
  put(mad, kAttributeAt, attribute);
  return mad;
}

/// The functions that are needed of libibumad.
struct Library {
  decltype(&::umad_init) init = nullptr;
  decltype(&::umad_open_port) open_port = nullptr;
  decltype(&::umad_close_port) close_port = nullptr;
  decltype(&::umad_get_port) get_port = nullptr;
  decltype(&::umad_release_port) release_port = nullptr;
  decltype(&::umad_register) register_agent = nullptr;
  decltype(&::umad_set_addr) set_addr = nullptr;
  decltype(&::umad_get_mad) get_mad = nullptr;
  decltype(&::umad_status) status = nullptr;
  decltype(&::umad_size) size = nullptr;
  decltype(&::umad_send) send = nullptr;
  decltype(&::umad_recv) recv = nullptr;
  bool usable = false;

  Library() {
    const LateLibrary library("libibumad.so.3");
    const auto load = [&](auto& function, const char* name) { return library.load(function, name); };
    usable = load(init, "umad_init") && load(open_port, "umad_open_port") &&
             load(close_port, "umad_close_port") && load(get_port, "umad_get_port") &&
             load(release_port, "umad_release_port") && load(register_agent, "umad_register") &&
             load(set_addr, "umad_set_addr") && load(get_mad, "umad_get_mad") &&
             load(status, "umad_status") && load(size, "umad_size") && load(send, "umad_send") &&
             load(recv, "umad_recv") && init() == 0;
  }

  static const Library& instance() {
    static const Library library;
    return library;
  }
};

/// A local port that datagrams are sent from.
class Sender {
 public:
  static Result<Sender> open(const std::string& device, int port, int management_class, int class_version) {
    const auto what = fmt::format("{} port {}: open it for management datagrams", device, port);
    const auto& library = Library::instance();
    if (!library.usable) return fail(Code::kUnsupported, what + ": libibumad is not installed");
    Sender sender(library);
    sender.port_ = library.open_port(device.c_str(), port);
    if (sender.port_ < 0) {
      auto error = base::errno_error(-sender.port_, what);
      // libibumad has EIO for everything that keeps it from opening one.
      error.message = what + ": this requires root and the module ib_umad (modprobe ib_umad)";
      return fail(std::move(error));
    }
    sender.agent_ = library.register_agent(sender.port_, management_class, class_version, 0, nullptr);
    if (sender.agent_ < 0) return fail_errno(-sender.agent_, what);
    return sender;
  }

  Sender(Sender&& other) noexcept
      : library_(other.library_),
        port_(std::exchange(other.port_, -1)),
        agent_(other.agent_),
        next_(other.next_) {}
  Sender& operator=(Sender&&) = delete;
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  ~Sender() {
    if (port_ >= 0) library_.close_port(port_);
  }

  /// The answer; kTimeout when none comes.
  Result<Mad> ask(Mad mad, int lid, int queue_pair, std::chrono::milliseconds timeout,
                  const std::string& what) {
    put(mad, kTransactionAt + 4, ++next_);
    std::vector<std::uint8_t> buffer(library_.size() + kMadBytes);
    std::memcpy(library_.get_mad(buffer.data()), mad.data(), kMadBytes);
    library_.set_addr(buffer.data(), lid, queue_pair, 0,
                      queue_pair == 0 ? 0 : static_cast<int>(kWellKnownQkey));
    const auto wait = static_cast<int>(timeout.count());
    if (const int failed = library_.send(port_, agent_, buffer.data(), kMadBytes, wait, 0); failed < 0)
      return fail_errno(-failed, what);
    const auto end = Clock::now() + timeout + timeout;
    while (Clock::now() < end) {
      int length = kMadBytes;
      const int got = library_.recv(port_, buffer.data(), &length, wait + wait);
      if (got < 0) return fail_errno(got == -EWOULDBLOCK ? ETIMEDOUT : -got, what);
      if (const int status = library_.status(buffer.data()); status != 0) return fail_errno(status, what);
      // The rest of the buffer is still what was asked.
      if (length < static_cast<int>(kMadBytes)) return fail_errno(EBADMSG, what);
      Mad answer{};
      std::memcpy(answer.data(), library_.get_mad(buffer.data()), kMadBytes);
      if (static_cast<std::uint32_t>(get(answer, kTransactionAt + 4, 4)) != next_)
        continue;  // of an earlier one
      return answer;
    }
    return fail_errno(ETIMEDOUT, what);
  }

 private:
  explicit Sender(const Library& library) : library_(library) {}

  const Library& library_;
  int port_ = -1;
  int agent_ = -1;
  std::uint32_t next_ = 0;
};

}  // namespace

std::optional<std::uint64_t> port_guid_in(std::span<const std::uint8_t> answer) {
  if (answer.size() < kMadBytes || get(answer, kStatusAt, 2) != 0) return std::nullopt;
  return get(answer, kPortGuidAt, 8);
}

std::optional<int> lid_in(std::span<const std::uint8_t> answer) {
  if (answer.size() < kMadBytes || get(answer, kStatusAt, 2) != 0) return std::nullopt;
  const auto lid = static_cast<int>(get(answer, kPathDlidAt, 2));
  return lid == 0 || lid > kLastUnicastLid ? std::nullopt : std::optional(lid);
}

Result<PingTimes> ping_by_mad(const std::string& device, int port, int lid, int count,
                              std::chrono::milliseconds timeout) {
  auto sender = Sender::open(device, port, kSubnetManagement, 1);
  if (!sender) return fail(sender.error());
  PingTimes times;
  for (; times.sent < count; ++times.sent) {
    const auto start = Clock::now();
    const auto what = fmt::format("LID {}: ask for its NodeInfo", lid);
    const auto answer = sender->ask(request(kSubnetManagement, 1, kNodeInfo), lid, 0, timeout, what);
    if (!answer) {
      if (answer.error().sys_errno == ETIMEDOUT) continue;
      return fail(answer.error());
    }
    times.answers.push_back(Clock::now() - start);
    if (const auto guid = port_guid_in(*answer))
      times.who = fmt::format("port GUID {}", model::Guid{*guid}.text());
  }
  return times;
}

Result<int> lid_of_guid(const std::string& device, int port, model::Guid guid,
                        std::chrono::milliseconds timeout) {
  const auto& library = Library::instance();
  const auto what = fmt::format("{}: ask the subnet administrator for its LID", guid.text());
  if (!library.usable) return fail(Code::kUnsupported, what + ": libibumad is not installed");
  umad_port_t here{};
  if (const int failed = library.get_port(device.c_str(), port, &here); failed < 0)
    return fail_errno(-failed, what);
  const unsigned sm_lid = here.sm_lid;
  std::uint64_t prefix = 0, own = 0;
  std::memcpy(&prefix, &here.gid_prefix, sizeof prefix);  // both in network order
  std::memcpy(&own, &here.port_guid, sizeof own);
  library.release_port(&here);
  if (sm_lid == 0) return fail(Code::kRefused, what + ": this port has no subnet manager");
  auto sender = Sender::open(device, port, kSubnetAdministration, 2);
  if (!sender) return fail(sender.error());
  auto query = request(kSubnetAdministration, 2, kPathRecord);
  put(query, kSaMaskAt, kPathDgid | kPathSgid);
  std::memcpy(&query[kPathDgidAt], &prefix, sizeof prefix);
  put(query, kPathDgidAt + 8, guid.number);
  std::memcpy(&query[kPathSgidAt], &prefix, sizeof prefix);
  std::memcpy(&query[kPathSgidAt + 8], &own, sizeof own);
  const auto answer = sender->ask(query, static_cast<int>(sm_lid), 1, timeout, what);
  if (!answer) return fail(answer.error());
  const auto lid = lid_in(*answer);
  if (!lid) return fail(Code::kNotFound, what + ": no such port in this subnet");
  return *lid;
}

}  // namespace rdmacfg::system::detail
