// SPDX-License-Identifier: Apache-2.0
// The common parts of commit(), hold(), confirm() and rollback(): the ledger, its records, the end of a run.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/commit/commit.hpp"
#include "core/observation.hpp"

namespace rdmacfg::core::detail {

/// The message of an apply, and of confirm after it, that was to be confirmed and had nothing to change.
inline constexpr const char* kNothingToConfirm = "nothing was changed: there is nothing to confirm";

inline constexpr std::string_view kNoCopy = "the copy of the ledger could not be written";

bool succeeded(const model::Report& report);
model::Report error_report(base::Error error);
config::Document parsed(AppliedDocument remembered, const Request& request);

/// One run of commit(), hold() and the others.
class Run {
 public:
  Run(const Request& request, Context& context) : request_(request), context_(context) {}

  /// The known generations. Damaged records are set aside, and their substitutes are used.
  base::Result<void> load();

  /// Ends a run that nobody has asked for just now: load()'s notes come first.
  [[nodiscard]] model::Report ended(model::Report report);

  /// Ends a run that was asked for: as ended(), and an administrator's success ends DEGRADED.
  model::Report finished(model::Report report);

  Ledger& ledger() { return ledger_; }
  [[nodiscard]] bool waits() const { return ledger_.unconfirmed.has_value(); }
  [[nodiscard]] bool is_overdue() const { return overdue(ledger_, context_.host.boot_id, context_.clock); }

  /// Why nothing may be changed here: another host uses the same records.
  [[nodiscard]] std::optional<base::Error> shared() const;

  /// Why what waits for confirmation is to be taken back now; empty when there is no reason. We hold the
  /// lock: an apply that did not come to its end is not under way any more.
  [[nodiscard]] std::string rollback_reason() const;

  /// Whether an apply that was killed has left its journal. Of a ledger that is lost nothing is known, and
  /// nothing is to go.
  [[nodiscard]] bool interrupted();

  model::Report held(std::uint64_t number);

  /// Instead of a document that cannot be had: the host is held to what it was made to be before.
  model::Report held_instead_of(const std::vector<model::Diagnostic>& faults, const std::string& why);

  model::Report fresh(const config::Document& document, const std::string& digest);

  model::Report confirmed();

  /// The apply that waits for confirmation goes, and nothing of it stays.
  model::Report roll_back_unconfirmed(const std::string& why);

  model::Report back_to(std::uint64_t number);

  /// A host without a document: objects that we made go, settings that we changed are given back.
  model::Report nothing();

 private:
  [[nodiscard]] system::Files& files() const { return context_.host.files; }

  /// An apply of a document as a generation, while it is under way.
  struct Application {
    const config::Document& document;
    const std::string& digest;
    std::uint64_t number = 0;  ///< of the generation
    bool same = false;         ///< the document is the active one
    Ledger before{};
    bool needs_text = true;  ///< the generation's text is not on disk as it is to be
    bool begun = false;      ///< it waits for confirmation
  };

  [[nodiscard]] Application application_of(const config::Document& document, const std::string& digest);

  /// Whether it is the active document, applied again by itself: a hold, which commits nothing.
  [[nodiscard]] bool holds(const Application& work) const { return work.same && request_.by_itself; }

  base::Result<void> keep_text(Application& work);

  /// Commits it, where its report is one to go by.
  base::Result<void> record(Application& work, const model::Report& report);

  /// It was not committed: the ledger is as before, and its records go.
  void drop(const Application& work, model::Report& report);

  /// It was committed, and waits for confirmation.
  model::Report awaiting(model::Report report);

  [[nodiscard]] std::uint64_t next_number() const;

  /// Notes about damaged records.
  void note_damage(std::vector<std::string> reasons);

  /// A write that a later run does again, or nothing depends on: where it failed, a note says so.
  void tell_undone(std::string_view failure, const base::Result<void>& done);

  static void note(model::Report& report, const base::Error& error);

  static void merge(model::Report& report, model::Report other);

  /// The commit point: the ledger is replaced. After an error it is the one before, or `ambiguous_`.
  base::Result<void> commit();

  /// Options of a run that commits by `commit`.
  [[nodiscard]] Options options_for(std::function<base::Result<void>(const model::Report&)> commit);

  /// Leftovers of a failed commit() are named.
  void tell_ambiguous(model::Report& report) const;

  /// Undoes an apply of this boot, setting by setting, and records the result.
  /// @return false when something is left to do: settings that could not be restored, or objects made for the
  /// generation after that apply, such as for a device that came meanwhile. An error when the result
  /// could not be recorded: the rollback is not over then, and its records stay.
  base::Result<bool> undone(const RollbackRecord& rollback_record, model::Report& report);

  /// The records of undone().
  /// @param open  the journal of a later run that was interrupted; null: there is none
  /// @return whether there are records of later runs
  base::Result<bool> record_undone(RollbackRecord rollback_record, const Observation& observation,
                                   const Journal* open, model::Report& report);

  /// The current state; nothing where it is lost. Sets damaged records aside.
  base::Result<std::optional<State>> remembered();

  /// Writes the state to state.json, or to the runtime directory where that fails.
  base::Result<void> keep_undone(const State& state, const Journal* open, model::Report& report);

  /// The active document was applied once more, and that was taken back: the state that the host keeps in
  /// this boot, although the document wants it otherwise. They are added to `options` as left alone.
  std::set<model::Key> suspended(const config::Document& document, Options& options);

  /// They do not count as failures.
  static void note_suspended(model::Report& report, const std::set<model::Key>& keys);

  void forget_suspended(model::Report& report);

  /// A rollback without its commit: all is still there that the next try needs, the deadline, and how to go
  /// back.
  [[nodiscard]] model::Report not_recorded(const Unconfirmed& waiting, const base::Error& error,
                                           model::Report report) const;

  /// The generation before what waits is held, or none.
  model::Report held_again(const Unconfirmed& waiting, model::Report report);

  /// As held_again(), without the commit that failed: every run does so until the ledger can be written.
  model::Report held_unrecorded(const Unconfirmed& waiting, const base::Error& error, model::Report report);

  /// Ends that reason of DEGRADED once /var has all records.
  void end_unwritten();

  void add(std::uint64_t number, const std::string& digest);

  /// Before the first change: all that it takes to go back, with the deadline, on disk, and a timer that
  /// outlives us.
  base::Result<void> begin_unconfirmed(std::uint64_t number, const std::string& digest,
                                       const model::Plan& plan, const State& before, RunPart part);

  /// @return whether the record is gone
  bool end_unconfirmed(model::Report& report);

  /// The time to confirm was over before the apply was: it is taken back, as nobody could have confirmed it.
  model::Report too_late(model::Report applied);

  /// Gone back from: not to be returned to by itself, neither by rollback nor by its document.
  void mark(std::uint64_t number, std::string fate, std::string why = {});

  /// Its document is not applied by itself until it changes.
  void refuse(std::uint64_t number);

  /// Somebody wants it: whatever was held against it is over.
  void welcome(std::uint64_t number);

  const Request& request_;
  Context& context_;
  Ledger ledger_;     ///< as it is gone by
  Ledger committed_;  ///< as it is on disk
  std::optional<RollbackRecord> rollback_record_;
  bool rollback_record_damaged_ = false;
  bool lost_ = false;       ///< the ledger is damaged, and so is its copy
  bool shared_ = false;     ///< another host commits to it
  bool ambiguous_ = false;  ///< it is not certain which ledger is on disk
  std::vector<model::Note> notes_;
};

}  // namespace rdmacfg::core::detail
