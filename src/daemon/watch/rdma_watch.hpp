// SPDX-License-Identifier: Apache-2.0
// Listens to notifications of RDMA netlink where the kernel sends them (system/rdma_events.hpp).
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "daemon/loop.hpp"
#include "daemon/watch/event_sink.hpp"
#include "system/rdma_events.hpp"

namespace rdmacfg::daemon {

class RdmaWatch {
 public:
  /// `any`: whether there is an RDMA device; `open`: opens the source.
  RdmaWatch(
      Loop& loop, EventSink sink,
      std::function<bool()> any = [] { return !system::rdma_device_names().empty(); },
      std::function<base::Result<std::unique_ptr<system::EndingSource>>()> open = system::watch_rdma)
      : loop_(loop), sink_(std::move(sink)), any_(std::move(any)), open_(std::move(open)) {}
  RdmaWatch(const RdmaWatch&) = delete;
  RdmaWatch& operator=(const RdmaWatch&) = delete;
  ~RdmaWatch() { close(); }

  /// Listens while events of ports are wanted and there is a device, and not otherwise. A kernel without
  /// notifications is asked again when all devices have gone and come back, one that refuses the next time.
  /// The journal is told once, at debug level. @return whether it did not listen before: earlier
  /// notifications were not heard
  bool want(bool wanted);

  [[nodiscard]] bool listens() const { return source_ != nullptr; }

 private:
  void on_readable();
  void close();

  Loop& loop_;
  EventSink sink_;
  std::function<bool()> any_;
  std::function<base::Result<std::unique_ptr<system::EndingSource>>()> open_;
  std::unique_ptr<system::EndingSource> source_;
  Loop::Handle handle_;
  bool refused_ = false;  ///< the kernel that made these devices has no notifications
  bool said_ = false;     ///< to the journal
};

}  // namespace rdmacfg::daemon
