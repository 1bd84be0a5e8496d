// SPDX-License-Identifier: Apache-2.0
// How a worker does what nobody asked for just now: at boot, on reload, on events.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "catalog/daemon_policy.hpp"
#include "core/commit/commit.hpp"

namespace rdmacfg::daemon {

/// Steps that take minutes: the initramfs.
enum class SlowSteps {
  kAfterwards,  ///< when the rest is done
  kByLaterJob,  ///< others wait for this job
};

/// Does `run` without slow steps, and those afterwards, by themselves: when systemd has no time for them, as
/// at boot, or when they fail, no name is taken back for them.
model::Report run_then_deferred(const std::function<model::Report()>& run, SlowSteps slow,
                                const core::Request& request, core::Context& context);

/// Whether a later job has something to do that this one has left.
bool leaves_something(const model::Report& report);

/// After a crash of the daemon: the active generation is held, and the configuration is not read. Nothing
/// without one: then the configuration is all there is.
std::optional<model::Report> resume(SlowSteps slow, const core::Request& request, core::Context& context);

/// The daemon's settings in the document of the active generation.
kinds::DaemonPolicy policy_of(const core::Ledger& ledger, const std::string& host_name,
                              core::Context& context);

/// Before a hold: with drift = "report", what has drifted of `settled` (core::Options::settled) is left
/// alone. It is the policy of what is active now, not of what was when the hold fell due.
void apply_drift_policy(const std::map<model::Key, std::string>& settled, const core::Request& request,
                        core::Context& context);

/// At a start in a boot in which a daemon had held generation `settled_at` with drift = "report", and nobody
/// has applied another one since: it is held on like that. False otherwise.
bool continues_hold(std::uint64_t settled_at, const std::map<model::Key, std::string>& settled,
                    core::Context& context);

/// The text of core::kAppliedMark; empty without one.
std::string applied_mark(system::Files& files, const std::string& path = core::kAppliedMark);

/// Instead of an apply that is tried again, when somebody has applied since it fell due: the generation that
/// this made active is held. `then`: the mark when it fell due.
std::optional<model::Report> yield_to_newer_apply(const std::optional<std::string>& then, SlowSteps slow,
                                                  const core::Request& request, core::Context& context);

}  // namespace rdmacfg::daemon
