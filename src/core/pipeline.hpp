// SPDX-License-Identifier: Apache-2.0
// The whole way of one run, kind-blind: sections → desired → changes → plan → applied → verified report.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "kinds/world.hpp"
#include "model/report.hpp"
#include "store/state.hpp"
#include "system/host.hpp"

namespace rdmacfg::core {

/// The reason of what is in Report::drifted.
inline constexpr const char* kDrifted =
    "another program has changed it, and drift = \"report\" leaves it until the next apply";

enum class RemovalGuard {
  kNone,
  kLifelines,  ///< the interface of the default route or of a login session
  kMost,       ///< these, and most of what is managed
};

/// A run that is done in two, as devices came back meanwhile: which of them.
enum class RunPart { kFirst, kSecond };

/// The records around a run (ADR 0024). Without functions there is only the host, as with --root.
struct Bracket {
  std::uint64_t transaction = 0;  ///< in the journal; 0: the run commits nothing, as a hold
  std::uint64_t committed = 0;    ///< the last transaction in the ledger
  /// The run makes again what is committed already: a /var that cannot be written does not keep it from that
  /// (store/held_record.hpp).
  bool holds = false;
  /// Puts on disk what must be there before the journal and the first change. After an error nothing is
  /// changed. Called once more, with all changes, when the run is done in two.
  std::function<base::Result<void>(const model::Plan& plan, const State& before, RunPart part)> begin{};
  /// The commit point: called once, when the host is as it is to be and the state is on disk. After an error
  /// the host and the state go back to what they were.
  std::function<base::Result<void>(const model::Report&)> commit{};
};

struct Options {
  bool retry_limited = false;  ///< try again what the fabric limited before
  /// Parts that do not depend on each other succeed or fail by themselves (boot, events); else all or
  /// nothing.
  bool independent = false;
  /// Somebody has to confirm it yet: steps that cannot be undone at once (the initramfs) wait for that.
  bool unconfirmed = false;
  /// Others wait for this run (networks at boot): slow steps (the initramfs) are left to a later one.
  bool awaited = false;
  /// Resources that are left alone this time, with the reason (somebody else fights for them).
  std::map<model::Key, std::string> left_alone;
  std::map<model::Key, model::LeftFields> fields_left_alone;  ///< the same of single settings
  /// Only these, and their dependencies, are changed (apply --only); the exit speaks of them alone.
  std::optional<std::set<model::Key>> only{};
  /// For drift = "report": resources as wanted when they were last looked at, with the kernel object they
  /// were on. A difference on the same one was made by somebody else: it is left alone
  /// (Report::drifted). Leftovers of an interrupted apply are not drift.
  std::optional<std::map<model::Key, std::string>> settled{};
  /// Resources that a plan may not take away, as nobody has looked at it (core/guards/removal.hpp).
  RemovalGuard guard_removal = RemovalGuard::kNone;
  std::function<bool()> cancelled;  ///< asked between batches and before the end; true undoes it all
  Bracket bracket{};
  Paths paths;
  /// Asked before the first write, when there are changes; false leaves everything as it is (Exit::kError).
  std::function<bool(const model::Report& plan)> confirm;
  /// How long all waits for carrier take together; those for checks of addresses take kinds::kAddressChecks,
  /// if that is longer. 0: nothing is waited for.
  std::chrono::milliseconds carrier_deadline{4000};
  /// Told before each batch: changes done so far, of how many, and what comes.
  std::function<void(std::size_t done, std::size_t total, const std::string& next)> progress;
};

/// Checks the document by itself; touches no system. Report: diagnostics, errors as many as `limits` says,
/// and exit.
model::Report validate(const config::Document& document, const config::Limits& limits = {});

/// Everything that is there, and how it compares with the document (Report::resources); plan holds what apply
/// would do. `document` may be empty: then everything is foreign. Exit is kOk, kPartly, kDiffers or kError.
model::Report diff(const config::Document& document, system::Host& host, const Options& options = {});

/// Makes the host as the document says; all or nothing, unless Options::independent.
model::Report apply(const config::Document& document, system::Host& host, const Options& options = {});

}  // namespace rdmacfg::core
