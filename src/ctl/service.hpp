// SPDX-License-Identifier: Apache-2.0
// rdma-configd as rdma-configctl sees it (docs/DBUS.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"
#include "model/report.hpp"
#include "store/generations.hpp"

namespace rdmacfg::ctl {

/// The state of the daemon that anybody may read.
struct DaemonStatus {
  std::string version, state;
  std::uint64_t generation = 0;
  std::string unconfirmed;  ///< until when, UTC; empty: nothing waits
  std::vector<std::string> pending, limited;
  std::vector<std::tuple<std::string, std::string, std::string>> contended;  ///< kind, id, reason
  std::string refused, failing;  ///< why the document is not held; resources that cannot be configured
  std::uint64_t repairs = 0;
  std::map<std::string, std::uint64_t> repairs_by_kind;
  std::string last_repair;
};

/// One thing that the daemon did.
struct DaemonEvent {
  int priority = 6;  ///< syslog(3)
  std::string event;
  std::string text;
};

class Service {
 public:
  struct Apply {
    std::vector<config::Text> texts;
    std::uint64_t confirm_s = 0;  ///< 0: needs no confirmation
    bool retry = false;
    bool allow_removal = false;  ///< also of the default route's interface, or a login session's
    std::string expect;          ///< core::digest_of the plan that was agreed to; empty: any
  };
  struct Call {
    std::string who;  ///< for the history; believed when root says so
    std::function<void(std::size_t done, std::size_t total, const std::string& next)> progress;
  };

  virtual ~Service() = default;
  /// The applied document, for callers who may not read the ledger.
  virtual base::Result<core::Ledger> history() {
    return base::fail(base::Code::kUnsupported, "rdma-configd does not offer the history");
  }
  virtual base::Result<model::Report> apply(const Apply& wanted, const Call& call) = 0;
  virtual base::Result<model::Report> confirm(const Call& call) = 0;
  /// `generation` 0: the one before the active one; `from`: core::Request::from.
  virtual base::Result<model::Report> roll_back(std::uint64_t generation, std::uint64_t from,
                                                const Call& call) = 0;
  /// The system's configuration, part by part.
  virtual base::Result<model::Report> reload(const Call& /*call*/) {
    return base::fail(base::Code::kUnsupported, "rdma-configd cannot reload");
  }
  virtual base::Result<DaemonStatus> status() {
    return base::fail(base::Code::kUnsupported, "rdma-configd does not offer this");
  }
  /// Tells of events until `told` says false (it is asked once a second, too, without an event), or the
  /// daemon ends: then kNotFound.
  virtual base::Result<void> follow(const std::function<bool(const DaemonEvent* event)>& /*told*/) {
    return base::fail(base::Code::kUnsupported, "rdma-configd does not offer this");
  }
};

/// Nothing when the daemon does not run. One that does not answer within `patience` is asked nothing.
std::unique_ptr<Service> connect_to_service(std::chrono::milliseconds patience = std::chrono::seconds(20));

}  // namespace rdmacfg::ctl
