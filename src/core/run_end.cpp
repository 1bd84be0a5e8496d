// SPDX-License-Identifier: Apache-2.0
#include "core/run_end.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/retry.hpp"
#include "store/damage.hpp"
#include "store/held_record.hpp"

namespace rdmacfg::core::detail {

using base::Result;

namespace {

/// Removes the journal, wherever it is. Every later run would take a hold whose journal stays in /var for an
/// interrupted one, so a record that the hold is over takes its place.
Result<void> remove_journals(system::Host& host, const Options& options, const State& state) {
  auto done = host.files.remove(options.paths.journal);
  if (host.offline) return done;
  if (!done && options.bracket.holds) {
    Journal over{.boot_id = host.boot_id, .plan = {}, .before = state};
    if (save_held_record(host.files, options.paths, {.journal = std::move(over), .over = true})) return {};
  }
  auto held = host.files.remove(options.paths.held);
  return done ? held : done;
}

/// After `why` has kept a run from writing state.json: the state is recorded in the runtime directory.
/// @param outcome  of the run, for the report
Result<void> hold_state(system::Host& host, const Options& options, const State& state,
                        const base::Error& why, std::string_view outcome, model::Report& report) {
  Journal over{.boot_id = host.boot_id, .plan = {}, .before = state};
  auto done = save_held_record(host.files, options.paths, {.journal = std::move(over), .over = true});
  if (!done) return done;
  (void)host.files.remove(options.paths.journal);  // one that stays does not count beside that record
  tell_unwritten(host.files,
                 fmt::format("{}; {}, but the record of its changes is only in {} and lasts until the next "
                             "boot: {}",
                             why.message, outcome, options.paths.held, until_written(why)),
                 report);
  return {};
}

/// Before undoing a run that cannot restore state.json: copies its journal, with the state from before, to
/// the runtime directory, where it takes precedence.
void keep_before(system::Host& host, const Options& options) {
  if (host.offline || options.bracket.holds) return;
  auto journal = base::load_twice([&] { return load_journal(host.files, options.paths.journal); });
  if (!journal || !*journal) return;
  (void)save_held_record(host.files, options.paths, {.journal = std::move(**journal)});
}

}  // namespace

std::optional<base::Error> settle(system::Host& host, const Options& options, const State& on_disk,
                                  const State& state, JournalFile journal, model::Report& report) {
  Result<void> done;
  bool held = false;
  if (!(state == on_disk)) {
    done = save_state(host.files, options.paths.state, state);
    if (!done && options.bracket.holds && !host.offline)
      held = hold_state(host, options, state, done.error(), "the host is configured", report).has_value();
    if (held) done = Result<void>();
    if (!done) done = base::fail(done.error().in("the changes could not be recorded"));
  }
  if (done && options.bracket.commit) done = options.bracket.commit(report);
  if (!done) {
    // Also what was written, and said to have failed.
    if (!(state == on_disk)) {
      const auto back = on_disk.records.empty() ? host.files.remove(options.paths.state)
                                                : save_state(host.files, options.paths.state, on_disk);
      if (!back) {
        report.notes.push_back("the earlier state file could not be restored: " + back.error().message);
        keep_before(host, options);
      }
    }
    return done.error();
  }
  if (journal == JournalFile::kWritten && !held) {
    // It is committed; the next run removes the journal.
    if (auto gone = remove_journals(host, options, state); !gone)
      report.notes.push_back("the journal of this run could not be removed: " + gone.error().message);
  }
  return std::nullopt;
}

void abandon(system::Host& host, const Options& options, const State& on_disk, const State& state,
             model::Report& report) {
  Result<void> done;
  // A run that wrote it, and then failed to commit, may have failed to restore it.
  const auto now = load_state(host.files, options.paths.state);
  if (!(state == on_disk) || !now || !(*now == state))
    done = save_state(host.files, options.paths.state, state);
  if (!done && !host.offline && hold_state(host, options, state, done.error(), "the run was undone", report))
    return;
  // While it is there the next run finishes what is left.
  if (done) done = remove_journals(host, options, state);
  if (!done) report.notes.push_back("the record of this run could not be removed: " + done.error().message);
}

}  // namespace rdmacfg::core::detail
