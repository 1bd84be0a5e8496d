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
    kLink,          ///< an interface, an address, a route, DCB
    kDevice,        ///< an RDMA device or a kernel module came
    kDeviceChange,  ///< one went; or one that stays has another name, or was only announced again
    kFile,          ///< a file that we manage
    kLost,          ///< events were lost: anything may have changed
  };
  Sort sort = Sort::kLink;
  std::string what;  ///< for the log: "mlx4_ib0", "mlx4_0 add"
};

/// One source of events.
class EventSource {
 public:
  virtual ~EventSource() = default;
  [[nodiscard]] virtual int fd() const = 0;
  /// What is there to read, without waiting. In a storm not all of it: the descriptor stays readable.
  virtual std::vector<Event> read() = 0;
};

/// One that tells of files.
class FileSource : public EventSource {
 public:
  /// Watches these folders too; those that are not there are passed over, those already watched stay so.
  virtual void watch(const std::vector<std::string>& folders) = 0;
};

}  // namespace rdmacfg::system
