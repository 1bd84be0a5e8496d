// SPDX-License-Identifier: Apache-2.0
#include "core/run_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/retry.hpp"
#include "base/text.hpp"
#include "catalog/owned_files.hpp"
#include "core/observation.hpp"
#include "core/remember.hpp"
#include "core/transaction.hpp"
#include "model/change.hpp"
#include "store/damage.hpp"
#include "store/held_record.hpp"

namespace rdmacfg::core::detail {

using base::Result;

namespace {

/// The state, and the journal of an interrupted run; damaged records are set aside.
struct StoredRecords {
  State state;
  State on_disk;  ///< what state.json says
  std::optional<Journal> journal;
  bool interrupted = false;  ///< also by a run whose journal is damaged
  bool state_lost = false;   ///< state.json is damaged
  bool held = false;         ///< they are of holds that could not write to /var
  std::vector<std::string> damage{};
};

/// The record of holds that could not write to /var is newer than the journal there, and than state.json as
/// long as that is what it was.
Result<void> take_held_record(system::Host& host, const Options& options, StoredRecords& out,
                              std::vector<std::string>& reasons) {
  if (host.offline) return {};
  auto held = load_held_record(host.files, options.paths, host.boot_id);
  if (!held && !is_damage(held.error())) return base::fail(held.error().in("finishing an interrupted apply"));
  if (!held) {
    reasons.push_back(put_aside(host.files, options.paths.held, held.error()));
    out.interrupted = true;
    return {};
  }
  if (!*held) return {};
  auto& record = **held;
  out.held = true;
  if (out.state_lost || record.on_disk == out.on_disk) out.state = std::move(record.journal.before);
  out.interrupted = !record.over;
  out.journal.reset();
  if (!record.over) out.journal = std::move(record.journal);
  return {};
}

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
  auto state = base::load_twice([&] { return load_state(files, options.paths.state, &dropped); });
  if (!state && !is_damage(state.error())) return base::fail(state.error());
  if (!state) {
    // Anything that is not remembered is somebody else's, and stays.
    lose(options.paths.state, state.error());
    out.state_lost = true;
    if (out.journal) out.state = out.journal->before;
  } else {
    out.state = std::move(*state);
    if (dropped.empty()) out.on_disk = out.state;
    if (!dropped.empty()) lose(options.paths.state, unknown(options.paths.state, dropped));
  }
  if (auto done = take_held_record(host, options, out, reasons); !done) return base::fail(done.error());
  out.damage = degrade(files, std::move(reasons));
  return out;
}

/// Whether anything is left of the run to finish.
bool is_open(const system::Host& host, const Journal& journal, const Options& options) {
  // Killed after its commit: all but the journal is as it is to be.
  if (journal.transaction != 0 && journal.transaction <= options.bracket.committed) return false;
  // After a reboot the kernel's state is derived again; only files outlive it, and those are whole or not
  // there.
  return journal.boot_id == host.boot_id && !host.offline;
}

/// Whether a kind with changes in the plan could not be observed.
bool is_any_unseen(const model::Plan& plan, const Observation& now) {
  return std::any_of(plan.changes.begin(), plan.changes.end(),
                     [&](const auto& change) { return now.unseen.contains(change.key.kind); });
}

/// The host as an interrupted run left it. A kind that cannot be observed (a link is in the place of a file
/// of ours) fails it only if the run changed something of that kind: that could not be recorded.
Result<Observation> observe_interrupted(system::Host& host, const State& state, const model::Plan& plan) {
  const auto known = keys_of(state, plan);
  auto whole = observe_host(host, known);
  if (whole) return whole;
  auto rest = observe_what_can_be(host, known);
  if (!rest || is_any_unseen(plan, *rest)) return base::fail(whole.error());
  return rest;
}

/// Finishes what an interrupted run began: interfaces that it had made are known as ours, and what it had
/// taken down is put back. The new plan then goes on from there (recovery rolls forward).
Result<void> recover(system::Host& host, const Journal& journal, const Options& options, RunStart& out) {
  auto& notes = out.notes;
  kinds::clear_temporaries(host.files);
  if (!is_open(host, journal, options)) return {};
  kinds::sync_managed_folders(host.files);
  notes.emplace_back("found an interrupted apply; converging to the current document");
  // The journal must not keep every later apply from running: settings that cannot be put back are reported.
  for (const auto& what : put_back(journal.plan, host)) {
    notes.push_back("some settings that an interrupted apply took down could not be restored: " + what);
    out.incomplete = true;
  }
  auto observation = observe_interrupted(host, out.state, journal.plan);
  if (!observation) return base::fail(observation.error());
  remember(journal.plan, *observation, out.state);
  claim_put_back(journal.plan, *observation, out.state);
  return {};
}

/// Records the changes of an interrupted run, before another journal takes the place of its plan. A hold that
/// cannot write to /var puts them into the runtime directory, with that plan.
Result<void> keep_recovered(system::Host& host, const Options& options, const Journal& journal,
                            RunStart& out) {
  auto done = save_state(host.files, options.paths.state, out.state);
  if (done) out.on_disk = out.state;
  if (done || !options.bracket.holds || host.offline) return done;
  const bool open = is_open(host, journal, options);
  HeldRecord held{.journal = {.boot_id = host.boot_id, .plan = {}, .before = out.state}, .over = !open};
  if (open) held.journal.plan = journal.plan;
  return save_held_record(host.files, options.paths, std::move(held)) ? Result<void>() : done;
}

/// The records of holds go to /var, where that can be written again. Until then they stay the ones to go by.
void bring_back(system::Host& host, const Options& options, const StoredRecords& records, RunStart& out) {
  auto& files = host.files;
  Result<void> done;
  if (!(out.state == out.on_disk)) done = save_state(files, options.paths.state, out.state);
  if (done) {
    out.on_disk = out.state;
    // A journal in /var is of an earlier run. The hold that was interrupted still is.
    done = records.journal ? write_journal(files, options.paths.journal,
                                           {.boot_id = host.boot_id,
                                            .plan = records.journal->plan,
                                            .transaction = 0,
                                            .before = out.state})
                           : files.remove(options.paths.journal);
  }
  if (done) done = files.remove(options.paths.held);
  if (!done && !options.bracket.holds)
    out.notes.emplace_back(
        fmt::format("{} could not be taken over: {}", options.paths.held, done.error().message));
}

/// Whether holds have a record in the runtime directory that /var could not take.
bool has_held_record(system::Host& host, const Options& options) {
  if (host.offline) return false;
  const auto there = load_held_record(host.files, options.paths, host.boot_id);
  return !there || there->has_value();
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
    if (!records->held && !(out.state == out.on_disk)) {
      done = keep_recovered(host, options, *records->journal, out);
      if (!done) return base::fail(done.error().in("finishing an interrupted apply"));
    }
  }
  if (records->held) bring_back(host, options, *records, out);
  return out;
}

Result<void> begin_run(const RunInput& input, const model::Plan& plan, const State& state) {
  auto& files = input.host.files;
  const auto& options = input.options;
  const auto* earlier = input.earlier;
  kinds::clear_temporaries(files);
  Journal journal{input.host.boot_id, plan, options.bracket.transaction, state};
  if (earlier != nullptr) {
    auto& changes = journal.plan.changes;
    changes.insert(changes.begin(), earlier->plan.changes.begin(), earlier->plan.changes.end());
    journal.before = earlier->before;
  }
  const bool held = has_held_record(input.host, options);
  if (held && !options.bracket.holds)
    return base::fail(base::Code::kIo,
                      fmt::format("{} must be written first, with the records in {}: free space on /var, or "
                                  "remount it writable and restart rdma-configd",
                                  options.paths.state, options.paths.held));
  if (options.bracket.begin) {
    const auto part = earlier != nullptr ? RunPart::kSecond : RunPart::kFirst;
    if (auto done = options.bracket.begin(journal.plan, journal.before, part); !done) return done;
  }
  const auto hold_in_run = [&] { return save_held_record(files, options.paths, {.journal = journal}); };
  // While that record is there, it is the one to go by.
  auto done = held ? hold_in_run() : write_journal(files, options.paths.journal, journal);
  if (done) return {};
  auto error = done.error().in("writing the journal");
  if (held) return base::fail(std::move(error));
  if (options.bracket.holds && !input.host.offline) {
    if (hold_in_run()) return {};
    (void)files.remove(options.paths.held);
  }
  // Where there is an earlier run, its journal is still needed; of this one nothing is left.
  const auto gone = earlier == nullptr ? files.remove(options.paths.journal) : Result<void>();
  if (!gone) error.message += "; its first part could not be removed: " + gone.error().message;
  return base::fail(std::move(error));
}

}  // namespace rdmacfg::core::detail
