// SPDX-License-Identifier: Apache-2.0
#include "core/run_end.hpp"

namespace rdmacfg::core::detail {

std::optional<base::Error> settle(system::Host& host, const Options& options, const State& on_disk,
                                  const State& state, JournalFile journal, model::Report& report) {
  base::Result<void> done;
  if (!(state == on_disk)) {
    done = save_state(host.files, options.paths.state, state);
    if (!done) done = base::fail(done.error().in("the changes could not be recorded"));
  }
  if (done && options.bracket.commit) done = options.bracket.commit(report);
  if (!done) {
    // Also what was written, and said to have failed.
    if (!(state == on_disk)) {
      const auto back = on_disk.records.empty() ? host.files.remove(options.paths.state)
                                                : save_state(host.files, options.paths.state, on_disk);
      if (!back)
        report.notes.push_back("the earlier state file could not be restored: " + back.error().message);
    }
    return done.error();
  }
  if (journal == JournalFile::kWritten) {
    // It is committed; the next run removes the journal.
    if (auto gone = host.files.remove(options.paths.journal); !gone)
      report.notes.push_back("the journal of this run could not be removed: " + gone.error().message);
  }
  return std::nullopt;
}

void abandon(system::Host& host, const Options& options, const State& on_disk, const State& state,
             model::Report& report) {
  base::Result<void> done;
  if (!(state == on_disk)) done = save_state(host.files, options.paths.state, state);
  // While it is there the next run finishes what is left.
  if (done) done = host.files.remove(options.paths.journal);
  if (!done) report.notes.push_back("the record of this run could not be removed: " + done.error().message);
}

}  // namespace rdmacfg::core::detail
