// SPDX-License-Identifier: Apache-2.0
// What tells that something of the host has changed. Events only wake: what changed is found by observing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

struct Event {
  enum class Sort {
    kLink,    ///< an interface, an address, DCB
    kDevice,  ///< an RDMA device or a kernel module came or went
    kFile,    ///< a file that we manage
    kLost,    ///< events were lost: anything may have changed
  };
  Sort sort = Sort::kLink;
  std::string what;  ///< for the log: "mlx4_ib0", "mlx4_0 add"
};

/// One source of events.
class EventSource {
 public:
  virtual ~EventSource() = default;
  [[nodiscard]] virtual int fd() const = 0;
  /// Everything that is there to read, without waiting.
  virtual std::vector<Event> read() = 0;
};

}  // namespace rdmacfg::system
