// SPDX-License-Identifier: Apache-2.0
// How a worker does what nobody asked for just now: at boot, on reload, on events.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/commit.hpp"

namespace rdmacfg::daemon {

/// Does `run` without what takes minutes (the initramfs), and that afterwards, by itself: when systemd has no
/// time for it, as at boot, or when it fails, no name is taken back for it. `awaited`: others wait, so it is
/// left to a later job.
model::Report in_turn(const std::function<model::Report()>& run, bool awaited, const core::Request& request,
                      core::Context& context);

/// Whether a later job has something to do that this one has left.
bool leaves_something(const model::Report& report);

/// After a crash of the daemon: the active generation is held, and the configuration is not read. Nothing
/// without one: then the configuration is all there is.
std::optional<model::Report> resume(bool awaited, const core::Request& request, core::Context& context);

/// What resume() has to say, also when it only looks.
std::string resumed(std::uint64_t generation);

/// At a start in a boot in which a daemon had held generation `settled` with drift = "report": a look, as
/// nobody has applied anything since. Nothing when another one is active, or an apply has left something.
std::optional<model::Report> look_on(std::uint64_t settled, const core::Request& request,
                                     core::Context& context);

/// What core::kAppliedMark says; empty without one.
std::string applied_mark(system::Files& files, const std::string& path = core::kAppliedMark);

/// Instead of an apply that is tried again, when somebody has applied since it fell due: what that made
/// active is held. `then`: what the mark said when it fell due.
std::optional<model::Report> give_way(const std::optional<std::string>& then, bool awaited,
                                      const core::Request& request, core::Context& context);

struct Watched {
  model::Report report;
  bool looked = true;  ///< false: it was held
};

/// For drift = "report": looks, and changes nothing; but what an apply has left that was killed, or not
/// confirmed in time, is no drift.
Watched watch(const core::Request& request, core::Context& context);

}  // namespace rdmacfg::daemon
