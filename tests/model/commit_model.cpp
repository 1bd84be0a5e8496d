// SPDX-License-Identifier: Apache-2.0
// A model of the commit protocol (docs/adr/0024): every run of two operations is explored, with every fault
// at every step, and then the daemon goes on. A step is one call that changes a file or the host. Applies
// exclude one another by a lock, so that interleavings of processes are sequences of runs that end, or are
// killed, at any step.
//
//   commit_model                 explores; prints executions, states and invariants
//   commit_model --break=NAME    the same with a broken step of the protocol, up to the first violation
//   commit_model --breaks        the names
//
// Faults: per execution one failing call (ENOSPC or EROFS, which last until the process ends; EIO once,
// without or with its effect) and then a kill or power cut in the next run; or a kill or power cut, then one
// damaged, lost or newer file, then another kill or power cut. (The text of the active generation is damaged
// only once it was copied, which is just after the commit; before, a start takes it from /etc.) A power cut
// takes the kernel's state along, and what is in /run; each other file is then old or new. A boot on a /var
// that is full or read-only has that fault from the beginning, the run after it any of these, and both kills
// (docs/adr/0056).
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace {

// --- choices: an execution is a list of them; all lists are gone through in order ---

std::vector<int> g_script;  // what is chosen, in order
std::vector<int> g_of;      // out of how many
std::size_t g_at = 0;

int choose(int count) {
  if (g_at == g_script.size()) {
    g_script.push_back(0);
    g_of.push_back(count);
  }
  g_of[g_at] = count;
  return g_script[g_at++];
}

bool next_script() {
  g_script.resize(g_at);
  g_of.resize(g_at);
  while (!g_script.empty() && g_script.back() + 1 == g_of.back()) {
    g_script.pop_back();
    g_of.pop_back();
  }
  if (g_script.empty()) return false;
  ++g_script.back();
  return true;
}

// --- the world ---

enum class Is : std::uint8_t { kAbsent, kGood, kBad };  // damaged, truncated, empty or of a newer version

struct Book {  // the ledger
  Is is = Is::kAbsent;
  std::int8_t transaction = 0, active = 0, waiting = 0, previous = 0;
  std::int8_t known = 0;     // the last generation
  std::uint8_t refused = 0;  // bit per document
};
struct Log {  // the journal
  Is is = Is::kAbsent;
  std::int8_t transaction = 0, from = 0, to = 0;
  std::int8_t boot = 0;
};
struct Back {  // the take-back record
  Is is = Is::kAbsent;
  std::int8_t from = 0;  // what the host was
  std::int8_t boot = 0;
  Book book{};  // the ledger once it is committed
};
struct Memory {  // what is remembered as made by us: of which generation, in which boot
  Is is = Is::kAbsent;
  std::int8_t records = 0, boot = 0;
};
struct Held {  // the record in /run of holds that cannot write to /var
  Is is = Is::kAbsent;
  std::int8_t boot = 0, from = 0, to = 0;
  bool over = false;
  std::int8_t ours = 0;  // what is remembered
  Memory on_disk{};      // what state.json said
};
constexpr int kTexts = 4;
constexpr std::int8_t kMixed = 9;    // the host is half one, half another; remembered: both halves
constexpr std::int8_t kLacking = 8;  // remembered: not all that was made by halves

struct World {
  std::int8_t host = 0, boot = 1;
  bool late = false;  // the deadline is over
  Book ledger{}, copy{};
  std::array<Is, kTexts> texts{};
  Is copied_text = Is::kAbsent;
  Log journal{};
  Memory state{};
  Held held{};
  Back back{};
};

std::string bytes_of(const World& world) { return {reinterpret_cast<const char*>(&world), sizeof world}; }

// --- faults ---

enum class Sticky { kNone, kFull, kReadOnly };
struct Budget {
  bool io = false, stop = false;  // may still happen
} g_budget;
Sticky g_sticky = Sticky::kNone;
World g;
std::string g_break;
std::unordered_set<std::string> g_states;
bool g_stopped_power = false;

// The observations of an execution.
bool g_lost = false;            // the ledger and its copy
bool g_record_damaged = false;  // the take-back record
bool g_inexact = false;         // something was taken back without its record
bool g_touched = false;         // the host was changed

struct Stopped {};
bool broken(const char* name) { return g_break == name; }

void stop(bool power) {
  g_budget.stop = false;
  g_stopped_power = power;
  throw Stopped{};
}

/// One call that changes something. @return whether it says that it was done.
template <class Effect>
bool step(Effect effect, bool takes_space, bool file = true) {
  g_states.insert(bytes_of(g));
  if (file && (g_sticky == Sticky::kReadOnly || (g_sticky == Sticky::kFull && takes_space))) return false;
  enum { kDone, kKill, kCutBefore, kCutAfter, kOnce, kLate, kFull, kReadOnly };
  std::array<int, 8> may{kDone};
  int n = 1;
  if (g_budget.stop) {
    may[n++] = kKill;
    may[n++] = kCutBefore;
    may[n++] = kCutAfter;
  }
  if (g_budget.io) {
    may[n++] = kOnce;
    may[n++] = kLate;
    if (file && takes_space) may[n++] = kFull;
    if (file) may[n++] = kReadOnly;
  }
  switch (may[static_cast<std::size_t>(choose(n))]) {
    case kKill:
      stop(false);
      break;
    case kCutBefore:
      stop(true);
      break;
    case kCutAfter:
      effect();
      stop(true);
      break;
    case kOnce:
      g_budget.io = false;
      return false;
    case kLate:
      g_budget.io = false;
      effect();
      return false;
    case kFull:
      g_budget.io = false;
      g_sticky = Sticky::kFull;
      return false;
    case kReadOnly:
      g_budget.io = false;
      g_sticky = Sticky::kReadOnly;
      return false;
    default:
      effect();
      return true;
  }
  return false;
}
template <class File>
bool put(File& file, File to) {
  if (std::memcmp(&file, &to, sizeof file) == 0) return true;  // the same already: nothing is written
  return step([&] { file = to; }, true);
}
template <class File>
bool drop(File& file) {
  const File none{};
  if (std::memcmp(&file, &none, sizeof file) == 0) return true;
  return step([&] { file = none; }, false);
}

/// The same of a file in /run, where there is space.
template <class File>
bool put_in_run(File& file, File to) {
  if (std::memcmp(&file, &to, sizeof file) == 0) return true;
  return step([&] { file = to; }, false, false);
}

/// The host goes to a generation, by way of a mixture. @return false: a call was refused.
bool change_host(std::int8_t to) {
  if (g.host == to) return true;
  g_touched = true;
  if (!step([&] { g.host = kMixed; }, true, false)) return false;
  return step([&] { g.host = to; }, true, false);
}
/// Undoing tries again what fails once.
bool undo_host(std::int8_t to) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (g.host == to) return true;
    if (step([&] { g.host = to; }, true, false)) return true;
  }
  return g.host == to;
}

// --- the protocol, as core/commit*.cpp and core/run_plan.cpp have it ---

enum Exit : std::int8_t { kOk = 0, kError = 1, kUndone = 3, kIncomplete = 4 };

/// The reader: the ledger, or its substitute.
struct Known {
  Book ledger{}, committed{};
  bool interrupted = false, lost = false;
};

Known look_up() {
  Known known;
  const bool damaged = g.ledger.is == Is::kBad;
  const bool gone = g.ledger.is == Is::kAbsent && (g.copy.is != Is::kAbsent);
  if (g.ledger.is == Is::kGood) known.committed = g.ledger;
  if ((damaged || gone) && g.copy.is == Is::kGood && !broken("no-copy")) known.committed = g.copy;
  known.lost = (damaged || gone) && g.copy.is != Is::kGood;
  known.ledger = known.committed;
  if (g.back.is == Is::kGood && g.back.book.transaction > known.committed.transaction &&
      !broken("ignore-interrupted")) {
    known.ledger = g.back.book;
    known.interrupted = true;
  }
  return known;
}

class Run {
 public:
  bool load() {
    if (broken("damage-stops") && (g.ledger.is == Is::kBad || g.state.is == Is::kBad ||
                                   g.journal.is == Is::kBad || g.back.is == Is::kBad))
      return false;
    known = look_up();
    g_lost = g_lost || known.lost;
    if (g.ledger.is != Is::kGood && known.committed.is == Is::kGood) (void)put(g.ledger, known.committed);
    if (g.ledger.is == Is::kBad) (void)drop(g.ledger);
    back = g.back;
    if (back.is == Is::kBad) (void)drop(g.back);
    if (back.is == Is::kGood && !known.ledger.waiting) (void)drop(g.back);
    if (known.committed.is == Is::kGood) (void)copy_ledger(known.committed);
    return true;
  }
  [[nodiscard]] bool waits() const { return known.ledger.waiting != 0; }
  [[nodiscard]] bool was_not_confirmed() const { return waits() && (known.interrupted || g.late); }

  /// The commit point.
  bool commit(Book next) {
    next.is = Is::kGood;
    const Book old = known.committed;
    if (next.transaction <= old.transaction) next.transaction = static_cast<std::int8_t>(old.transaction + 1);
    if (!put(g.ledger, next) && !broken("failure-is-a-note")) {
      if (!broken("late-failure-stays")) {
        const bool restored = old.is == Is::kGood ? put(g.ledger, old) : drop(g.ledger);
        ambiguous = !restored && std::memcmp(&g.ledger, &old, sizeof old) != 0;
      }
      return false;
    }
    known.committed = known.ledger = next;
    if (!copy_ledger(next)) (void)drop(g.copy);
    return true;
  }
  bool copy_ledger(const Book& book) {
    // One file: the ledger with the text of its active generation, or of a damaged one the text as it was
    // copied.
    const auto text = book.active == 0 ? Is::kAbsent : g.texts[static_cast<std::size_t>(book.active)];
    const auto copied = text == Is::kGood              ? Is::kGood
                        : g.copy.active == book.active ? g.copied_text
                                                       : Is::kAbsent;
    if (std::memcmp(&g.copy, &book, sizeof book) == 0 && g.copied_text == copied) return true;
    return step([&] { g.copy = book, g.copied_text = copied; }, true);
  }

  [[nodiscard]] static bool is_held() {
    return g.held.is == Is::kGood && g.held.boot == g.boot && !broken("held-not-read");
  }
  [[nodiscard]] static bool equal(const Memory& a, const Memory& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  /// That nothing is remembered needs no file.
  static bool write_state(std::int8_t ours) {
    return put(g.state, ours == 0 ? Memory{} : Memory{Is::kGood, ours, g.boot});
  }
  static bool put_held(std::int8_t from, std::int8_t to, bool over, std::int8_t ours) {
    return put_in_run(g.held, Held{Is::kGood, g.boot, from, to, over, ours, g.state});
  }
  /// The state after a plan, or a part of it, from the state before: both have records of what was made.
  static std::int8_t with_plan(std::int8_t from, std::int8_t to, std::int8_t before) {
    const bool lacks = before == kLacking || (from == kMixed && before != kMixed && before != to);
    if (g.host == to) return lacks ? kLacking : to;
    return g.host == kMixed && !lacks ? kMixed : before;
  }

  /// The steps before a plan: damaged records go, a journal is finished.
  /// @return false: the changes of an interrupted run cannot be recorded, and nothing is begun.
  bool recall() {
    // One in its place says that there was a run that did not come to its end.
    if (g.journal.is == Is::kBad) (void)put(g.journal, Log{Is::kGood, 0, 0, 0, g.boot});
    if (g.state.is == Is::kBad) (void)drop(g.state);
    ours = g.state.is == Is::kGood && g.state.boot == g.boot ? g.state.records : std::int8_t{0};
    bool open = g.journal.is == Is::kGood && g.journal.boot == g.boot;
    std::int8_t from = g.journal.from, to = g.journal.to;
    const bool held = is_held();
    if (held) {
      if (equal(g.held.on_disk, g.state)) ours = g.held.ours;
      open = !g.held.over;
      from = g.held.from, to = g.held.to;
    }
    // The records of what it made are completed from its plan.
    if (open) ours = with_plan(from, to, ours);
    if (!held) {
      // Before another journal takes the place of that plan, or that one goes. A hold has a second record.
      if (!open || ours == 0 || write_state(ours) || broken("recovered-not-recorded")) return true;
      return holds && !broken("recovered-not-held") ? put_held(from, to, false, ours) : holds;
    }
    // The record of holds goes to /var, once that can be written.
    bool done = write_state(ours);
    if (done) done = open ? put(g.journal, Log{Is::kGood, 0, from, to, g.boot}) : drop(g.journal);
    if (done) (void)put_in_run(g.held, Held{});
    return true;
  }

  /// The journal, before the first change.
  bool write_journal(std::int8_t transaction, std::int8_t to) {
    if (is_held()) return holds && put_held(g.host, to, false, ours);
    if (put(g.journal, Log{Is::kGood, transaction, g.host, to, g.boot})) return true;
    if (holds && !broken("no-second-journal")) {
      if (put_held(g.host, to, false, ours)) return true;
      (void)put_in_run(g.held, Held{});
    }
    (void)drop(g.journal);
    return false;
  }
  static void drop_journals() {
    (void)drop(g.journal);
    (void)put_in_run(g.held, Held{});
  }

  template <class Begin, class Commit>
  Exit apply(std::int8_t to, std::int8_t transaction, Begin begin, Commit commit_it) {
    if (!recall()) return kError;
    const std::int8_t from = g.host;
    const auto old_state = g.state;
    const bool changes = from != to;
    if (changes) {
      if (is_held() && !holds) return kError;
      if (!begin()) return kError;
      if (!write_journal(transaction, to)) return kError;
      if (!change_host(to)) return undo(from, old_state);
    }
    if (broken("journal-goes-first")) (void)drop(g.journal);
    const auto before = ours;
    const auto now = changes ? with_plan(from, to, ours) : ours;
    bool done = write_state(now);
    if (!done && holds && (broken("hold-forgets") || put_held(0, 0, true, now))) {
      if (broken("hold-forgets")) drop_journals();
      (void)drop(g.journal);
      return kOk;
    }
    done = done && commit_it();
    if (!done) {
      const bool restored = put(g.state, old_state);
      if (!restored && changes && !is_held() && !broken("undo-forgets"))
        (void)put_held(from, to, false, before);
      if (broken("not-undone")) return kUndone;
      return changes ? undo(from, old_state) : kError;
    }
    drop_journals();
    return kOk;
  }
  Exit undo(std::int8_t from, const Memory& old_state) {
    if (!undo_host(from)) return kIncomplete;
    // It was written before the commit that failed, and may not have been restored.
    const bool recorded = equal(g.state, old_state) && !is_held();
    if (!recorded && !write_state(ours) && !broken("undo-forgets")) {
      if (put_held(0, 0, true, ours)) (void)drop(g.journal);
      return kUndone;
    }
    drop_journals();
    return kUndone;
  }

  Exit hold(std::int8_t number) {
    if (number != 0 && g.texts[static_cast<std::size_t>(number)] != Is::kGood) {
      const bool copied = known.committed.active == number && g.copied_text == Is::kGood;
      const bool recorded = back.is == Is::kGood && back.book.previous == number;
      if (!copied && !recorded) return kError;
      (void)put(g.texts[static_cast<std::size_t>(number)], Is::kGood);
    }
    holds = true;
    const auto exit = apply(
        number, 0, [] { return true; }, [] { return true; });
    holds = false;
    return exit;
  }

  Exit take_back() {
    const Book waiting = known.ledger;
    g_inexact = g_inexact || (back.is != Is::kGood && !g_record_damaged);
    const bool here = back.is == Is::kGood && back.boot == g.boot;
    bool exact = here;
    if (here) {
      exact = undo_host(back.from);
      if (exact && (write_state(back.from) || broken("rollback-forgets"))) {
        drop_journals();
      } else if (exact) {
        // The ledger does not say that it is over before its state is recorded somewhere.
        if (!put_held(0, 0, true, back.from)) return kIncomplete;
        (void)drop(g.journal);
      }
    }
    Book next = waiting;
    next.transaction = static_cast<std::int8_t>(next.transaction + 1);
    next.active = waiting.previous;
    next.refused |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(waiting.waiting));
    next.waiting = 0;
    if (!commit(next)) {
      if (!exact && !broken("unrecorded-not-held")) (void)hold(waiting.previous);
      return kIncomplete;
    }
    const auto record = back;
    (void)drop(g.back);
    if (exact) return kOk;
    back = record;
    const auto again = hold(waiting.previous);
    return again == kOk ? kOk : kIncomplete;
  }

  Known known{};
  Back back{};
  bool ambiguous = false;
  bool holds = false;    // nothing is committed
  std::int8_t ours = 0;  // what is remembered
};

/// apply: a new document, or with `confirm` until somebody confirms it.
Exit do_apply(std::int8_t number, bool confirm, bool by_itself) {
  Run run;
  if (!run.load()) return kError;
  if (run.was_not_confirmed()) {
    const auto back = run.take_back();
    if (back != kOk) return back;
  }
  if (run.waits()) return by_itself ? run.hold(run.known.ledger.active) : kError;
  if (by_itself && ((run.known.ledger.refused >> static_cast<unsigned>(number)) & 1U) != 0)
    return run.known.ledger.active == 0 ? kOk : run.hold(run.known.ledger.active);
  const Book before = run.known.ledger;
  const bool same = before.active == number;
  Book next = before;
  next.is = Is::kGood;
  next.transaction = static_cast<std::int8_t>(before.transaction + 1);
  next.active = number;
  next.known = std::max(before.known, number);
  next.refused = static_cast<std::uint8_t>(next.refused & ~(1U << static_cast<unsigned>(number)));
  bool begun = false;
  const auto text = [&] {
    if (broken("text-goes-last")) return true;
    return put(g.texts[static_cast<std::size_t>(number)], Is::kGood) || run.holds;
  };
  const auto begin = [&] {
    if (!text()) return false;
    if (!confirm) return true;
    begun = true;
    next.waiting = number;
    next.previous = before.active;
    if (broken("no-take-back")) return true;
    Back record{Is::kGood, g.host, g.boot, next};
    run.back = record;
    return put(g.back, record);
  };
  const auto commit = [&] {
    if (!text()) return false;
    if (same && !begun) return true;
    return run.commit(next);
  };
  // The active document once more, by itself, is a hold.
  run.holds = by_itself && same;
  auto exit = run.apply(number, run.holds ? std::int8_t{0} : next.transaction, begin, commit);
  if (exit == kOk && broken("text-goes-last"))
    (void)put(g.texts[static_cast<std::size_t>(number)], Is::kGood);
  if (exit != kOk) {
    if (!same && !run.ambiguous) (void)drop(g.texts[static_cast<std::size_t>(number)]);
    if (begun && !run.ambiguous && !drop(g.back)) exit = kIncomplete;
  }
  return run.ambiguous ? kIncomplete : exit;
}

Exit do_hold() {
  Run run;
  if (!run.load()) return kError;
  if (run.was_not_confirmed()) return run.take_back();
  if (run.known.ledger.active != 0) return run.hold(run.known.ledger.active);
  if (g.journal.is != Is::kAbsent && !run.known.lost) return run.hold(0);
  return kOk;
}

Exit do_expire() {
  Run run;
  if (!run.load()) return kError;
  return run.was_not_confirmed() ? run.take_back() : kOk;
}

Exit do_confirm() {
  Run run;
  if (!run.load()) return kError;
  if (!run.waits()) return kError;
  if (run.was_not_confirmed()) {
    const auto back = run.take_back();
    return back == kOk ? kError : back;
  }
  Book next = run.known.ledger;
  next.waiting = 0;
  next.transaction = static_cast<std::int8_t>(next.transaction + 1);
  if (broken("record-goes-first")) (void)drop(g.back);
  if (!run.commit(next)) return run.ambiguous ? kIncomplete : kError;
  (void)drop(g.back);
  return kOk;  // what its hold cannot do is pending
}

Exit do_rollback(std::int8_t to) {
  Run run;
  if (!run.load()) return kError;
  if (run.waits()) return run.take_back();
  Book next = run.known.ledger;
  const auto from = next.active;
  if (to == 0 || from == to) return kError;
  next.active = to;
  next.refused = static_cast<std::uint8_t>((next.refused | (1U << static_cast<unsigned>(from))) &
                                           ~(1U << static_cast<unsigned>(to)));
  const auto exit = run.apply(
      to, static_cast<std::int8_t>(next.transaction + 1), [] { return true; },
      [&] { return run.commit(next); });
  return run.ambiguous ? kIncomplete : exit;
}

/// Our files go, the ledger's copy first; the host stays.
Exit do_withdraw() {
  const auto known = look_up();
  if (known.ledger.waiting || g.journal.is != Is::kAbsent) return kError;
  if (!drop(g.back) || !drop(g.copy) || !drop(g.ledger)) return kError;
  if (!drop(g.state) || !put_in_run(g.held, Held{})) return kError;
  return kOk;
}

// --- invariants ---

constexpr std::array kInvariants{
    "exit 0: the ledger's active generation is what the host is",
    "exit 1 or 3: the ledger and the host are as before",
    "in the end the host is what the ledger says, and a kill leads to old or new",
    "what is not confirmed is rolled back in the end",
    "nothing needs to be removed by hand: the next run ends with 0",
    "a hold configures the host on a full or read-only /var",
    "what a hold or a rollback makes is remembered in the end",
};
std::array<std::uint64_t, kInvariants.size()> g_checked{};
std::uint64_t g_violations = 0;
std::string g_trace;

void require(std::size_t which, bool holds) {
  ++g_checked[which];
  if (holds) return;
  if (++g_violations > 3) return;
  std::printf(
      "violated: %s\n  %s\n  host %d, ledger %d (transaction %d, waiting %d), copy %d, journal %d, record "
      "%d\n",
      kInvariants[which], g_trace.c_str(), g.host, g.ledger.active, g.ledger.transaction, g.ledger.waiting,
      static_cast<int>(g.copy.is), static_cast<int>(g.journal.is), static_cast<int>(g.back.is));
}

enum Operation {
  kApply,
  kApplyFirst,
  kReapply,
  kUnconfirmed,
  kUnconfirmedFirst,
  kConfirm,
  kRollback,
  kRollbackWaiting,
  kExpiry,
  kHold,
  kStart,
  kWithdraw,
  kBoot,
  kBootStart,
  kBootUnconfirmed,
  kBootUnconfirmedStart,
  kOperations
};
constexpr std::array<const char*, kOperations> kNames{"apply",
                                                      "the first apply",
                                                      "apply once more",
                                                      "apply --confirm",
                                                      "the first apply --confirm",
                                                      "confirm",
                                                      "rollback",
                                                      "rollback of what waits",
                                                      "expiry",
                                                      "hold",
                                                      "start",
                                                      "withdraw",
                                                      "hold after a boot",
                                                      "start after a boot",
                                                      "hold after a boot, of what waits",
                                                      "start after a boot, of what waits"};

struct Promise {  // what may be active in the end
  std::set<int> active;
  bool handed_over = false;  // by withdraw: the host stays as it is
};

int active_now() { return look_up().ledger.active; }

void faultless() {
  g_budget = {};
  g_sticky = Sticky::kNone;
}

/// Such a boot ends an apply --confirm.
bool is_boot_of_waiting(Operation operation) {
  return operation == kBootUnconfirmed || operation == kBootUnconfirmedStart;
}
bool is_boot(Operation operation) {
  return operation == kBoot || operation == kBootStart || is_boot_of_waiting(operation);
}

/// The generation that holds go by. An apply that nobody confirmed in time counts as rolled back before the
/// ledger says so.
int held_now() {
  const auto ledger = look_up().ledger;
  return ledger.waiting != 0 && g.late ? ledger.previous : ledger.active;
}

/// The state that an operation begins in.
void prepare(Operation operation) {
  g = {};
  if (operation == kApplyFirst || operation == kUnconfirmedFirst) return;
  do_apply(1, false, false);
  if (operation == kRollback) do_apply(2, false, false);
  if (operation == kConfirm || operation == kRollbackWaiting || operation == kExpiry ||
      is_boot_of_waiting(operation))
    do_apply(2, true, false);
  if (operation == kExpiry || is_boot_of_waiting(operation)) g.late = true;
  if (is_boot(operation)) {
    g.host = 0;
    ++g.boot;
  }
}

Exit carry_out(Operation operation) {
  switch (operation) {
    case kApply:
      return do_apply(2, false, false);
    case kApplyFirst:
      return do_apply(1, false, false);
    case kReapply:
      return do_apply(1, false, false);
    case kUnconfirmed:
      return do_apply(2, true, false);
    case kUnconfirmedFirst:
      return do_apply(1, true, false);
    case kConfirm:
      return do_confirm();
    case kRollback:
      return do_rollback(1);
    case kRollbackWaiting:
      return do_rollback(1);
    case kExpiry:
      return do_expire();
    case kStart:
    case kBootUnconfirmedStart:
      return do_apply(2, false, true);
    case kBootStart:
      return do_apply(1, false, true);
    case kWithdraw:
      return do_withdraw();
    default:
      return do_hold();
  }
}

/// With faults as the budget has them. @return false: it was stopped, and the kernel's state may be gone.
bool attempt(Operation operation, Exit& exit) {
  try {
    exit = carry_out(operation);
    g_sticky = Sticky::kNone;
    return true;
  } catch (const Stopped&) {
    g_sticky = Sticky::kNone;
    g_trace += g_stopped_power ? " (power cut)" : " (killed)";
    if (g_stopped_power) {
      g.host = 0;
      g.held = {};
      ++g.boot;
      g.late = true;  // another boot counts as expiry
    }
    return false;
  }
}

/// The daemon goes on, without a fault, until nothing waits any more.
void end(const Promise& promise) {
  faultless();
  const auto first = do_hold();
  g.late = true;
  const auto second = do_expire();
  const auto third = do_hold();
  require(4, first == kOk && second == kOk && third == kOk);
  const auto known = look_up();
  require(3, known.ledger.waiting == 0 && !g_inexact);
  const bool nobodys = known.ledger.active == 0 && (g_lost || promise.handed_over);
  require(2, promise.active.contains(known.ledger.active) && (known.ledger.active == g.host || nobodys));
}

void damage(int which) {
  switch (which) {
    case 1:
      if (g.ledger.is != Is::kAbsent) g.ledger = {.is = Is::kBad};
      break;
    case 2:
      if (g.copy.is != Is::kAbsent) g.copy = {.is = Is::kBad};
      break;
    case 3:
      if (g.state.is != Is::kAbsent) g.state = {.is = Is::kBad};
      break;
    case 4:
      if (g.journal.is != Is::kAbsent) g.journal = {.is = Is::kBad};
      break;
    case 5:
      if (g.back.is != Is::kAbsent) g.back = {.is = Is::kBad};
      break;
    case 6:
      if (g.ledger.is != Is::kAbsent) g.ledger = {};
      break;  // lost
    case 7:
      if (const auto active = static_cast<std::size_t>(look_up().committed.active);
          active != 0 && g.copy.active == static_cast<int>(active))
        g.texts[active] = Is::kBad;
      break;
    default:
      break;
  }
}
constexpr int kDamages = 8;
constexpr std::array<const char*, kDamages> kDamageNames{"",
                                                         "; generations.json damaged",
                                                         "; its copy damaged",
                                                         "; state.json damaged",
                                                         "; journal.json damaged",
                                                         "; unconfirmed.json damaged",
                                                         "; generations.json lost",
                                                         "; the active text damaged"};

/// The host and the active generation after an operation that runs to its end.
struct Aim {
  int host = 2;
  int active = 2;
  bool unconfirmed = false;
};

Aim aim_of(Operation operation, int old_active) {
  Aim out;
  switch (operation) {
    case kRollback:
    case kRollbackWaiting:
    case kExpiry:
    case kReapply:
    case kApplyFirst:
    case kUnconfirmedFirst:
    case kHold:
    case kWithdraw:
    case kBoot:
    case kBootStart:
    case kBootUnconfirmed:
    case kBootUnconfirmedStart:
      out.host = 1;
      break;
    default:
      break;
  }
  out.unconfirmed = operation == kUnconfirmed || operation == kUnconfirmedFirst;
  out.active = out.unconfirmed ? old_active : operation == kWithdraw ? 0 : out.host;
  return out;
}

void choose_damage() {
  const int which = choose(kDamages);
  g_record_damaged = which == 5;
  damage(which);
  g_trace += kDamageNames[static_cast<std::size_t>(which)];
}

/// The state is of what the host is, and in /var.
bool is_remembered() {
  return g.state.is == Is::kGood && g.state.records == g.host && g.state.boot == g.boot &&
         g.held.is == Is::kAbsent;
}

Sticky choose_disk() {
  static constexpr std::array kDisks{Sticky::kNone, Sticky::kFull, Sticky::kReadOnly};
  return kDisks[static_cast<std::size_t>(choose(static_cast<int>(kDisks.size())))];
}

/// After exit 4, that something was rolled back is still to be recorded.
bool held_well(Exit exit) {
  return g.host == held_now() && (exit == kOk || (exit == kIncomplete && look_up().ledger.waiting != 0));
}

void execute(Operation operation) {
  g_trace = kNames[operation];
  faultless();
  g_lost = g_record_damaged = g_inexact = false;
  prepare(operation);
  g_touched = false;
  const auto old_host = g.host;
  const int old_active = active_now();
  const bool boot = is_boot(operation);
  const auto disk = boot ? choose_disk() : Sticky::kNone;
  g_sticky = disk;
  const bool io = disk == Sticky::kNone && choose(2) == 1;
  g_budget = {.io = io, .stop = !io};
  Exit exit = kOk;
  Promise promise;
  promise.handed_over = operation == kWithdraw;
  const auto aim = aim_of(operation, old_active);
  const bool waited = operation == kConfirm || operation == kRollbackWaiting || operation == kExpiry ||
                      is_boot_of_waiting(operation);
  const int old_end = waited ? 1 : old_active;
  const bool ended = attempt(operation, exit);
  if (ended) g_trace += " exit " + std::to_string(exit);
  if (ended && disk != Sticky::kNone) require(5, held_well(exit) && g.host == 1);
  const bool touched = g_touched;
  const auto known = look_up();
  if (ended && exit == kOk && operation != kWithdraw) {
    require(0, known.ledger.active == g.host && g.host == aim.host &&
                   (!aim.unconfirmed || known.ledger.waiting != 0 || !g.back.boot));
    promise.active = {aim.active};
  } else if (ended && (exit == kError || exit == kUndone) && operation != kWithdraw) {
    require(1, known.ledger.active == old_active && g.host == old_host);
    promise.active = {old_end};
  } else {
    promise.active = {old_end, aim.active};
  }
  // Nobody may have heard of its end: one of the two.
  g_budget = {};
  if (!io && !boot) choose_damage();
  static constexpr std::array kNext{kHold, kExpiry, kStart, kApply};
  const auto next = kNext[static_cast<std::size_t>(choose(static_cast<int>(kNext.size())))];
  g_trace += std::string("; then ") + kNames[next];
  g_budget = {.io = boot, .stop = true};
  const auto then = look_up();
  const bool holds = then.ledger.waiting != 0 && !then.interrupted && !g.late;
  // An apply --confirm that was stopped after it had changed the host is nothing that a start may apply.
  const bool stopped = aim.unconfirmed && aim.host == 2 && !ended && touched && !g_record_damaged;
  const bool refused = stopped || ((then.ledger.refused >> 2U) & 1U) != 0 || then.ledger.waiting == 2;
  g_sticky = boot ? choose_disk() : Sticky::kNone;
  const bool second_ended = attempt(next, exit);
  if (boot && second_ended && next == kHold && g_budget.io) require(5, held_well(exit));
  // Another document was asked for; a start applies what is in /etc unless that was rolled back, or one
  // waits.
  if (next == kApply || (next == kStart && !holds && !refused)) {
    if (second_ended && exit == kOk) promise.active = {2};
    if (!second_ended) promise.active.insert(2);
  }
  end(promise);
  const bool rolls_back = operation == kExpiry || operation == kRollbackWaiting;
  if (boot || (io && rolls_back)) require(6, is_remembered());
}

}  // namespace

int main(int argc, char** argv) {
  static constexpr std::array kBreaks{"journal-goes-first", "failure-is-a-note",   "late-failure-stays",
                                      "not-undone",         "text-goes-last",      "no-take-back",
                                      "ignore-interrupted", "record-goes-first",   "no-copy",
                                      "damage-stops",       "no-second-journal",   "hold-forgets",
                                      "held-not-read",      "unrecorded-not-held", "recovered-not-recorded",
                                      "recovered-not-held", "undo-forgets",        "rollback-forgets"};
  if (argc > 1 && std::string(argv[1]) == "--breaks") {
    for (const auto* name : kBreaks) std::puts(name);
    return 0;
  }
  if (argc > 1 && std::string(argv[1]).rfind("--break=", 0) == 0) {
    g_break = std::string(argv[1]).substr(8);
    bool known = false;
    for (const auto* name : kBreaks) known = known || g_break == name;
    if (!known) return std::fprintf(stderr, "unknown: %s\n", g_break.c_str()), 2;
  } else if (argc > 1) {
    return std::fprintf(stderr, "usage: %s [--break=NAME | --breaks]\n", argv[0]), 2;
  }
  std::uint64_t executions = 0;
  for (int operation = 0; operation < kOperations; ++operation) {
    g_script.clear();
    g_of.clear();
    do {
      g_at = 0;
      execute(static_cast<Operation>(operation));
      ++executions;
      if (!g_break.empty() && g_violations > 0) {
        std::printf("execution %llu\n", static_cast<unsigned long long>(executions));
        return 1;
      }
    } while (next_script());
  }
  std::printf("%llu executions, %zu states\n", static_cast<unsigned long long>(executions), g_states.size());
  for (std::size_t i = 0; i < kInvariants.size(); ++i)
    std::printf("checked %llu times: %s\n", static_cast<unsigned long long>(g_checked[i]), kInvariants[i]);
  std::printf("%llu violations\n", static_cast<unsigned long long>(g_violations));
  return g_violations == 0 ? 0 : 1;
}
