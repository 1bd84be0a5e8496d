// SPDX-License-Identifier: Apache-2.0
// The ledger of a Run: numbers and fates of generations, the apply that waits for confirmation, and the
// commit point.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "core/commit/commit_run.hpp"
#include "store/generations.hpp"
#include "store/ledger.hpp"
#include "store/ledger_seen.hpp"
#include "system/files.hpp"

namespace rdmacfg::core::detail {

using base::Result;
using model::Exit;
using model::Report;

std::uint64_t Run::next_number() const {
  std::uint64_t number = ledger_.generations.empty() ? 1 : ledger_.generations.back().number + 1;
  // Nothing is written over that may be needed to find out what there was.
  const auto names = lost_ ? files().list(context_.paths.texts) : base::Result<std::vector<std::string>>();
  for (const auto& name : names ? *names : std::vector<std::string>()) {
    const auto there = base::parse_number(name.substr(0, name.find('.')));
    if (there && *there >= number) number = *there + 1;
  }
  // Where something else than a file has the name, the next one is taken.
  constexpr int kTries = 64;
  for (int tries = 0; tries < kTries; ++tries, ++number) {
    const auto there = files().read(fmt::format("{}/{}.json", context_.paths.texts, number));
    if (there || !system::is_unusable(there.error())) break;
  }
  return number;
}

Result<void> Run::commit() {
  const auto dropped = prune(ledger_);
  ledger_.transaction = std::max(ledger_.transaction, committed_.transaction + 1);
  ledger_.boot_id = context_.host.boot_id;
  if (auto done = save_ledger(files(), context_.paths.ledger, ledger_); !done) {
    // It may have been replaced all the same, as when only the folder could not be synced.
    const bool none = committed_.generations.empty() && committed_.transaction == 0;
    const auto back = none ? files().remove(context_.paths.ledger)
                           : save_ledger(files(), context_.paths.ledger, committed_);
    const auto now = load_ledger(files(), context_.paths.ledger);
    ambiguous_ = !back && (!now || !(*now == committed_));
    return base::fail(done.error().in("the generation could not be recorded"));
  }
  committed_ = ledger_;
  (void)note_ledger_seen(files(), committed_, context_.host.boot_id);
  // From here on it is committed; a later failure costs no more than the copy.
  if (auto done = save_backup(files(), context_.paths, ledger_); !done) {
    tell_undone(kNoCopy, done);
    tell_undone("the previous copy of the ledger stays, and is used if the ledger is damaged",
                files().remove(context_.paths.backup));  // better none than an old one
  }
  for (auto& left : remove_texts(files(), context_.paths, dropped)) notes_.push_back(std::move(left));
  return {};
}

void Run::tell_ambiguous(Report& report) const {
  if (!ambiguous_) return;
  report.exit = Exit::kUndoIncomplete;
  report.left_over.push_back(
      fmt::format("{}: could not be restored, and may name the wrong active generation; the next run that "
                  "can write there repairs it",
                  context_.paths.ledger));
}

void Run::add(std::uint64_t number, const std::string& digest) {
  ledger_.generations.push_back(
      {number, digest, context_.clock.utc(std::chrono::milliseconds(0)), request_.who, request_.what, {}});
  ledger_.active = number;
}

Result<void> Run::begin_unconfirmed(std::uint64_t number, const std::string& digest, const model::Plan& plan,
                                    const State& before, RunPart part) {
  const auto previous = ledger_.active;
  const bool first = part == RunPart::kFirst;
  if (first) {
    std::erase(ledger_.refused, digest);
    if (!ledger_.is_active(digest)) add(number, digest);
    ledger_.answered.clear();
    const std::chrono::milliseconds within = *request_.confirm;
    ledger_.unconfirmed = Unconfirmed{.generation = ledger_.active,
                                      .previous = previous,
                                      .boot_id = context_.host.boot_id,
                                      .deadline_ms = context_.clock.boot_ms() + within.count(),
                                      .deadline = context_.clock.utc(within),
                                      .complete = true};
    ledger_.transaction = std::max(ledger_.transaction, committed_.transaction) + 1;
  }
  RollbackRecord record{
      .boot_id = context_.host.boot_id, .plan = plan, .before = before, .in_two_runs = !first};
  record.ledger = ledger_;
  const auto from = ledger_.unconfirmed->previous;
  if (auto text = read_texts(files(), context_.paths, from); from != 0 && text)
    record.previous = std::move(*text);
  if (auto done = save_rollback_record(files(), context_.paths.rollback_record, record); !done)
    return base::fail(done.error().in("writing the rollback record"));
  rollback_record_ = std::move(record);
  if (!first) return {};
  const std::chrono::milliseconds within = *request_.confirm;
  auto armed = context_.host.timers.arm(kRollbackTimer, within - std::min(within, kRollbackAhead));
  if (!armed) return base::fail(armed.error().in("arming the rollback timer"));
  return {};
}

bool Run::end_unconfirmed(Report& report) {
  const auto done = files().remove(context_.paths.rollback_record);
  if (!done) note(report, done.error());
  (void)context_.host.timers.disarm(kRollbackTimer);  // one that fires finds nothing to do
  return done.has_value();
}

void Run::mark(std::uint64_t number, std::string fate, std::string why) {
  auto* generation = ledger_.find(number);
  if (generation == nullptr) return;
  generation->fate = std::move(fate);
  generation->why = std::move(why);
  refuse(number);
}

void Run::refuse(std::uint64_t number) {
  const auto* generation = ledger_.find(number);
  if (generation == nullptr || ledger_.refuses(generation->digest)) return;
  ledger_.refused.push_back(generation->digest);
}

void Run::welcome(std::uint64_t number) {
  auto* generation = ledger_.find(number);
  if (generation == nullptr) return;
  generation->fate.clear();
  generation->why.clear();
  std::erase(ledger_.refused, generation->digest);
}

}  // namespace rdmacfg::core::detail
