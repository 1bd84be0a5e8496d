// SPDX-License-Identifier: Apache-2.0
// Changing the host: by the daemon when it runs, else in this process under the lock.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/commit/commit.hpp"
#include "ctl/command.hpp"
#include "ctl/render/progress.hpp"
#include "ctl/service.hpp"

namespace rdmacfg::ctl {

/// The daemon, when the change is to go through it.
std::unique_ptr<Service> service_for(const Context& context);

/// Whether a run asks before it changes the host.
enum class Question { kNone, kAsked };

/// Why this run may not begin.
std::optional<base::Error> obstacle(const Context& context, const Service* service, Question question);

/// The answer to a question that was just asked. Only a clear yes is one; the end of input is none.
bool reads_yes(const Context& context);

/// The question whether to go on with what was just shown.
bool agrees(const Context& context, const model::Report& plan);

/// Applies a document that is good. `agreed`: the plan that was said yes to, if somebody was asked. With
/// --confirm on a terminal, asks afterwards whether the changes are to stay. @return the exit status
int apply_agreed(const Context& context, const config::Document& document, system::Host& host,
                 Service* service, const model::Report* agreed);

/// Counts down to the end of an apply that waits for confirmation, and confirms or takes it back as it is
/// told. When the time is over, waits until the ledger says that it was taken back, for a minute at most.
/// @return `status` where it was kept or still waits; else that of what was asked for, or became of it
int ask_to_keep(const Context& context, system::Host& host, int status);

/// Adds what core::removal_warning() says of a plan that is only looked at.
void add_removal_warning(const Context& context, const config::Document& document, system::Host& host,
                         model::Report& plan);

/// Says so when a plan interrupts or renames the interface through which this ssh session comes in.
void warn_of_session(const Context& context, system::Host& host, const model::Report& plan);

/// For the history: "apply --confirm 60" by "alice (sudo)".
core::Request request_of(const Context& context, std::string action);

/// Both run one change with a line of progress on a terminal. `begins` is told before the first change;
/// without an answer of true nothing is done.
using Begins = std::function<bool(const model::Report& plan)>;

/// In this process: under the lock, and with the signals held back that an interface going down may bring
/// (the ssh session goes with it).
base::Result<model::Report> change_here(const Context& context, system::Host& host, const Begins& begins,
                                        const std::function<model::Report(core::Context&)>& change);

/// Runs a change that goes past the daemon. The ledger says nothing of a document that is active already: a
/// daemon that has left something alone, or that has an apply to try again, is told by a file of its own, and
/// while the lock is still held, since it may wait for that.
model::Report past_daemon(const Context& context, core::Context& core,
                          const std::function<model::Report()>& change);

base::Result<model::Report> change_there(
    const Context& context, const std::function<base::Result<model::Report>(const Service::Call&)>& change);

}  // namespace rdmacfg::ctl
