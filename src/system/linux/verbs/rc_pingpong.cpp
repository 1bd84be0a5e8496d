// SPDX-License-Identifier: Apache-2.0
#include "system/linux/verbs/rc_pingpong.hpp"

#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include "system/linux/verbs/late_library.hpp"

#undef ibv_reg_mr  // a macro over a static function that would have to be linked

namespace rdmacfg::system::detail {

namespace {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMessageBytes = 64;
constexpr auto kBetweenPolls = std::chrono::microseconds(20);
constexpr int kRetries = 7;  // the most that fits the field

/// The functions that are needed of both libraries.
struct Libraries {
  decltype(&::rdma_getaddrinfo) getaddrinfo = nullptr;
  decltype(&::rdma_freeaddrinfo) freeaddrinfo = nullptr;
  decltype(&::rdma_create_ep) create_ep = nullptr;
  decltype(&::rdma_destroy_ep) destroy_ep = nullptr;
  decltype(&::rdma_listen) listen = nullptr;
  decltype(&::rdma_get_request) get_request = nullptr;
  decltype(&::rdma_accept) accept = nullptr;
  decltype(&::rdma_connect) connect = nullptr;
  decltype(&::rdma_disconnect) disconnect = nullptr;
  ibv_mr* (*reg_mr)(ibv_pd*, void*, std::size_t, int) = nullptr;
  decltype(&::ibv_dereg_mr) dereg_mr = nullptr;
  bool usable = false;

  Libraries() {
    const LateLibrary verbs("libibverbs.so.1"), cm("librdmacm.so.1");
    usable = cm.load(getaddrinfo, "rdma_getaddrinfo") && cm.load(freeaddrinfo, "rdma_freeaddrinfo") &&
             cm.load(create_ep, "rdma_create_ep") && cm.load(destroy_ep, "rdma_destroy_ep") &&
             cm.load(listen, "rdma_listen") && cm.load(get_request, "rdma_get_request") &&
             cm.load(accept, "rdma_accept") && cm.load(connect, "rdma_connect") &&
             cm.load(disconnect, "rdma_disconnect") && verbs.load(reg_mr, "ibv_reg_mr") &&
             verbs.load(dereg_mr, "ibv_dereg_mr");
  }

  static const Libraries& instance() {
    static const Libraries libraries;
    return libraries;
  }
};

using Endpoint = std::unique_ptr<rdma_cm_id, void (*)(rdma_cm_id*)>;
using Region = std::unique_ptr<ibv_mr, int (*)(ibv_mr*)>;
using Addresses = std::unique_ptr<rdma_addrinfo, void (*)(rdma_addrinfo*)>;

enum class Side { kServer, kClient };

Result<Addresses> resolve(const std::string& address, int port, Side side, const std::string& what) {
  const auto& library = Libraries::instance();
  if (!library.usable) return fail(Code::kUnsupported, what + ": librdmacm or libibverbs is not installed");
  rdma_addrinfo hints{};
  hints.ai_port_space = RDMA_PS_TCP;
  if (side == Side::kServer) hints.ai_flags = RAI_PASSIVE;
  rdma_addrinfo* found = nullptr;
  const auto service = std::to_string(port);
  const char* node = address.empty() ? nullptr : address.c_str();
  if (library.getaddrinfo(const_cast<char*>(node), const_cast<char*>(service.c_str()), &hints, &found) != 0)
    return fail_errno(errno, what + ": no RDMA device has a route there");
  return Addresses(found, library.freeaddrinfo);
}

ibv_qp_init_attr queue_pair() {
  ibv_qp_init_attr attributes{};
  attributes.cap.max_send_wr = attributes.cap.max_recv_wr = 4;
  attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
  attributes.qp_type = IBV_QPT_RC;
  attributes.sq_sig_all = 1;
  return attributes;
}

/// A connection's memory and its queue pair, in use.
class Connection {
 public:
  explicit Connection(rdma_cm_id* id) : id_(id) {}

  Result<void> prepare(const std::string& what) {
    const auto& library = Libraries::instance();
    memory_ = Region(library.reg_mr(id_->pd, buffers_.data(), sizeof buffers_, IBV_ACCESS_LOCAL_WRITE),
                     library.dereg_mr);
    if (!memory_) return fail_errno(errno, what + ": register memory (is memlock large enough?)");
    return receive(what);
  }

  Result<void> receive(const std::string& what) {
    ibv_sge piece = piece_of(0);
    ibv_recv_wr request{};
    request.sg_list = &piece;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    if (const int failed = ibv_post_recv(id_->qp, &request, &bad); failed != 0)
      return fail_errno(failed, what);
    return {};
  }

  Result<void> send(const std::string& what) {
    ibv_sge piece = piece_of(kMessageBytes);
    ibv_send_wr request{};
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    ibv_send_wr* bad = nullptr;
    if (const int failed = ibv_post_send(id_->qp, &request, &bad); failed != 0)
      return fail_errno(failed, what);
    return {};
  }

  Result<void> sent(Clock::time_point end, const std::string& what) {
    return complete(id_->send_cq, end, what);
  }
  Result<void> received(Clock::time_point end, const std::string& what) {
    return complete(id_->recv_cq, end, what);
  }

 private:
  ibv_sge piece_of(std::size_t at) {
    return {reinterpret_cast<std::uintptr_t>(&buffers_[at]), kMessageBytes, memory_->lkey};
  }

  static Result<void> complete(ibv_cq* queue, Clock::time_point end, const std::string& what) {
    ibv_wc done{};
    for (;;) {
      const int found = ibv_poll_cq(queue, 1, &done);
      if (found < 0) return fail(Code::kRefused, what + ": polling failed");
      if (found > 0) break;
      if (Clock::now() > end) return fail_errno(ETIMEDOUT, what);
      std::this_thread::sleep_for(kBetweenPolls);
    }
    if (done.status != IBV_WC_SUCCESS)
      return fail(Code::kRefused,
                  fmt::format("{}: work completion status {}", what, static_cast<int>(done.status)));
    return {};
  }

  rdma_cm_id* id_;
  std::array<std::uint8_t, 2 * kMessageBytes> buffers_{};
  Region memory_{nullptr, nullptr};
};

rdma_conn_param parameters() {
  rdma_conn_param out{};
  out.responder_resources = out.initiator_depth = 1;
  out.retry_count = out.rnr_retry_count = kRetries;
  return out;
}

/// Echoes until the client goes.
void echo(rdma_cm_id* id) {
  constexpr auto kPatience = std::chrono::seconds(10);
  const std::string what = "echo";
  Connection connection(id);
  auto accepted = parameters();
  const auto& library = Libraries::instance();
  if (!connection.prepare(what) || library.accept(id, &accepted) != 0) return;
  for (;;) {
    // A failure here is a client that has hung up.
    if (!connection.received(Clock::now() + kPatience, what)) return;
    if (!connection.receive(what) || !connection.send(what)) return;
    if (!connection.sent(Clock::now() + kPatience, what)) return;
  }
}

}  // namespace

Result<void> serve_pingpong(const std::string& address, int port, int clients,
                            const std::function<void()>& ready) {
  const auto what = fmt::format("{} port {}: listen", address.empty() ? "all addresses" : address, port);
  const auto addresses = resolve(address, port, Side::kServer, what);
  if (!addresses) return fail(addresses.error());
  const auto& library = Libraries::instance();
  auto attributes = queue_pair();
  rdma_cm_id* raw = nullptr;
  if (library.create_ep(&raw, addresses->get(), nullptr, &attributes) != 0) return fail_errno(errno, what);
  const Endpoint listener(raw, library.destroy_ep);
  if (library.listen(listener.get(), 1) != 0) return fail_errno(errno, what);
  ready();
  for (int served = 0; clients == 0 || served < clients; ++served) {
    rdma_cm_id* client = nullptr;
    if (library.get_request(listener.get(), &client) != 0) return fail_errno(errno, what);
    const Endpoint endpoint(client, library.destroy_ep);
    echo(endpoint.get());
    (void)library.disconnect(endpoint.get());
  }
  return {};
}

Result<PingTimes> pingpong(const std::string& address, int port, int count,
                           std::chrono::milliseconds timeout) {
  const auto what = fmt::format("{} port {}: connect", address, port);
  const auto addresses = resolve(address, port, Side::kClient, what);
  if (!addresses) return fail(addresses.error());
  const auto& library = Libraries::instance();
  auto attributes = queue_pair();
  rdma_cm_id* raw = nullptr;
  if (library.create_ep(&raw, addresses->get(), nullptr, &attributes) != 0) return fail_errno(errno, what);
  const Endpoint endpoint(raw, library.destroy_ep);
  Connection connection(endpoint.get());
  if (auto done = connection.prepare(what); !done) return fail(done.error());
  auto connected = parameters();
  if (library.connect(endpoint.get(), &connected) != 0) {
    auto error = base::errno_error(errno, what);
    if (errno == ECONNREFUSED) error.message += " (is `rdma-configctl verify --server` running there?)";
    return fail(std::move(error));
  }
  PingTimes times;
  times.who = fmt::format("{} over {}", address, endpoint->verbs->device->name);
  Result<void> result;
  for (; times.sent < count && result; ++times.sent) {
    const auto start = Clock::now();
    const auto each = fmt::format("{}: message {}", address, times.sent + 1);
    result = connection.send(each);
    if (result) result = connection.sent(start + timeout, each);
    if (result) result = connection.received(start + timeout, each);
    if (!result) {
      ++times.sent;
      break;  // a reliable connection that loses a message is broken, and so are the rest
    }
    times.answers.push_back(Clock::now() - start);
    result = connection.receive(each);
  }
  (void)library.disconnect(endpoint.get());
  if (!result && times.answers.empty()) return fail(result.error());
  return times;
}

}  // namespace rdmacfg::system::detail
