// SPDX-License-Identifier: Apache-2.0
#include "core/run_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "catalog/owned_files.hpp"
#include "core/observation.hpp"
#include "core/remember.hpp"
#include "core/transaction.hpp"
#include "store/damage.hpp"

namespace rdmacfg::core::detail {

using base::Result;

namespace {

/// The state, and the journal of an interrupted run; damaged records are set aside.
struct StoredRecords {
  State state;
  State on_disk;  ///< what state.json says
  std::optional<Journal> journal;
  bool interrupted = false;  ///< also by a run whose journal is damaged
  std::vector<std::string> damage{};
};

Result<StoredRecords> load_records(system::Host& host, const Options& options) {
  auto& files = host.files;
  StoredRecords out;
  std::vector<std::string> reasons;
  const auto lose = [&](const std::string& path, const base::Error& why) {
    reasons.push_back(put_aside(files, path, why));
  };
  const auto unknown = [](const std::string& path, const std::vector<std::string>& keys) {
    return base::Error{
        base::Code::kInvalid,
        fmt::format("{}: written by another version of rdma-configd, {} left out: {}", path,
                    keys.size() == 1 ? "one record is" : "records are",
                    base::join(std::span(keys).first(std::min<std::size_t>(keys.size(), 3)), ", ")),
        0};
  };
  std::vector<std::string> dropped;
  auto journal = load_journal(files, options.paths.journal, &dropped);
  if (!journal && journal.error().sys_errno != 0)
    journal = load_journal(files, options.paths.journal, &dropped);
  if (!journal && !is_damage(journal.error()))
    return base::fail(journal.error().in("finishing an interrupted apply"));
  if (!journal) {
    // That a run did not come to its end is still to be known if this one does not either.
    reasons.push_back(put_aside(files, options.paths.journal, journal.error(), [&] {
      return write_journal(files, options.paths.journal, {.boot_id = host.boot_id, .plan = {}});
    }));
    out.interrupted = true;
  } else if (*journal) {
    if (!dropped.empty()) lose(options.paths.journal, unknown(options.paths.journal, dropped));
    out.interrupted = true;
    out.journal = std::move(**journal);
  }
  dropped.clear();
  auto state = load_state(files, options.paths.state, &dropped);
  if (!state && state.error().sys_errno != 0) state = load_state(files, options.paths.state, &dropped);
  if (!state && !is_damage(state.error())) return base::fail(state.error());
  if (!state) {
    // Anything that is not remembered is somebody else's, and stays.
    lose(options.paths.state, state.error());
    if (out.journal) out.state = out.journal->before;
  } else {
    out.state = std::move(*state);
    if (dropped.empty()) out.on_disk = out.state;
    if (!dropped.empty()) lose(options.paths.state, unknown(options.paths.state, dropped));
  }
  out.damage = degrade(files, std::move(reasons));
  return out;
}

/// Finishes what an interrupted run began: interfaces that it had made are known as ours, and what it had
/// taken down is put back. The new plan then goes on from there (recovery rolls forward).
Result<void> recover(system::Host& host, const Journal& journal, const Options& options, RunStart& out) {
  auto& notes = out.notes;
  kinds::clear_temporaries(host.files);
  // Killed after its commit: all but the journal is as it is to be.
  if (journal.transaction != 0 && journal.transaction <= options.bracket.committed) return {};
  // After a reboot the kernel's state is derived again; only files outlive it, and those are whole or not
  // there.
  if (journal.boot_id != host.boot_id || host.offline) return {};
  kinds::sync_managed_folders(host.files);
  notes.emplace_back("found an interrupted apply; converging to the current document");
  // The journal must not keep every later apply from running: settings that cannot be put back are reported.
  for (const auto& what : put_back(journal.plan, host)) {
    notes.push_back("some settings that an interrupted apply took down could not be restored: " + what);
    out.incomplete = true;
  }
  auto observation = observe_host(host, keys_of(out.state, journal.plan));
  if (!observation) return base::fail(observation.error());
  remember(journal.plan, *observation, out.state);
  claim_put_back(journal.plan, *observation, out.state);
  return {};
}

}  // namespace

Result<RunStart> start_run(system::Host& host, const Options& options, const EarlierRun* earlier) {
  if (earlier != nullptr) return RunStart{.state = earlier->now, .on_disk = earlier->on_disk};
  auto records = load_records(host, options);
  if (!records) return base::fail(records.error());
  RunStart out{.state = std::move(records->state),
               .on_disk = std::move(records->on_disk),
               .recovered = records->interrupted,
               .notes = model::notes_about(model::Note::Sort::kDamage, std::move(records->damage))};
  if (records->journal) {
    auto done = recover(host, *records->journal, options, out);
    if (!done) return base::fail(done.error().in("finishing an interrupted apply"));
  }
  return out;
}

}  // namespace rdmacfg::core::detail
