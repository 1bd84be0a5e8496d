// SPDX-License-Identifier: Apache-2.0
// Applying as generations: an applied document is remembered, can be made to expire unless somebody confirms
// it, and can be rolled back to. Everything here is called under the lock that keeps applies apart.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "model/report.hpp"
#include "store/damage.hpp"
#include "store/generations.hpp"
#include "system/host.hpp"

namespace rdmacfg::core {

/// Starts rdma-configd-rollback.service, which takes back what nobody confirmed.
inline constexpr const char* kRollbackTimer = "rdma-configd-rollback";
/// Time before the deadline at which its program is started, so that it is loaded by then, and waits.
inline constexpr std::chrono::milliseconds kRollbackAhead{2000};

struct Clock {
  std::function<std::int64_t()> boot_ms;                            ///< CLOCK_BOOTTIME, milliseconds
  std::function<std::string(std::chrono::milliseconds ahead)> utc;  ///< "2026-11-21T14:03:22Z"
};
Clock system_clock();

/// The caller of a run, and its way of asking.
struct Request {
  std::string who;                                ///< for the history: "alice (uid 1000)"
  std::string what;                               ///< for the history: "apply"
  std::string host_name;                          ///< for [match] of remembered documents
  bool by_itself = false;                         ///< nobody asked just now: boot, hotplug, an event
  std::optional<std::chrono::seconds> confirm{};  ///< rolled back unless confirmed in time
  /// Of a rollback: the generation that it goes back from, as who asks has seen it; 0: whichever is active.
  std::uint64_t from = 0;
  /// Of an apply: the document was sent by somebody other than root (AppliedDocument::of_others).
  bool of_others = false;
};

struct Context {
  system::Host& host;
  Options options;
  GenerationPaths paths{};
  Clock clock = system_clock();
};

/// Applies a document and makes it the active generation. By itself, a document that was rolled back is
/// refused until it changes, and the active generation is held instead; an apply that is overdue for
/// confirmation is rolled back first.
model::Report commit(const config::Document& document, const Request& request, Context& context);

/// Makes the host as the active generation says, part by part; nothing to do without one.
model::Report hold(const Request& request, Context& context);

/// How the host compares with the active generation; changes nothing.
model::Report look(const Request& request, Context& context);

/// The text of a note of the sort kDeadline; `when` is the deadline as its readers have it.
std::string deadline_text(const Unconfirmed& waiting, std::string_view when);

/// The active generation stays. Fails when there is nothing to confirm, or when it is too late; but not after
/// an apply that asked for it and changed nothing, nor when it is confirmed already.
model::Report confirm(const Request& request, Context& context);

/// Back to generation `number`, or with 0 to the one before the active one. An apply that waits for
/// confirmation is taken back exactly, setting by setting, in the boot in which it was made.
model::Report roll_back(std::uint64_t number, const Request& request, Context& context);

/// Where roll_back(number) goes; fails when there is no such generation. 0: nowhere, as without a document.
base::Result<std::uint64_t> rollback_target(const Ledger& ledger, std::uint64_t number);

/// As roll_back(0) when an apply is overdue for confirmation; else nothing.
model::Report expire(const Request& request, Context& context);

/// How long the apply that waits for confirmation may still do so; 0: it does in vain. Nothing: none waits.
std::optional<std::chrono::milliseconds> time_left(const Ledger& ledger, const std::string& boot_id,
                                                   const Clock& clock);

/// Whether an apply waits for confirmation in vain.
bool overdue(const Ledger& ledger, const std::string& boot_id, const Clock& clock);

}  // namespace rdmacfg::core
