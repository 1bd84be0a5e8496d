// SPDX-License-Identifier: Apache-2.0
// The record of a hold that cannot write to /var (ADR 0056): in the runtime directory, which lasts as long as
// the kernel's state that it speaks of.
#pragma once

#include <optional>
#include <string>

#include "base/error.hpp"
#include "store/state.hpp"
#include "system/files.hpp"

namespace rdmacfg::core {

/// While it is there, it takes the place of the journal in /var.
struct HeldRecord {
  Journal journal;    ///< of the hold; once that is over, without changes, and with all that is remembered
  bool over = false;  ///< the hold has ended
  State on_disk{};    ///< what state.json said: once that says anything else, `journal.before` is stale
};

/// Nothing when there is none, or one of another boot; a damaged one is an error (is_damage()).
base::Result<std::optional<HeldRecord>> load_held_record(system::Files& files, const Paths& paths,
                                                         const std::string& boot_id);
/// Reads `on_disk` itself: a run may be mistaken about it after a write that failed.
base::Result<void> save_held_record(system::Files& files, const Paths& paths, HeldRecord record);

/// The state that counts: the held record's unless that is stale, else state.json. As load_state(), for those
/// who only look.
base::Result<State> load_known_state(system::Files& files, const Paths& paths, const std::string& boot_id);

/// Of damaged records, the state that a run starts from once it has set them aside: with state.json damaged,
/// the held record's, else that of the journal of an interrupted run. Nothing when all of it is lost.
std::optional<State> load_undamaged_state(system::Files& files, const Paths& paths,
                                          const std::string& boot_id);

/// The state from before an interrupted run, as its journal in /var has it; nothing without a journal.
std::optional<State> load_state_before_run(system::Files& files, const Paths& paths);

/// The journal of a run that has not come to its end, in the runtime directory or in /var.
base::Result<std::optional<Journal>> load_open_journal(system::Files& files, const Paths& paths,
                                                       const std::string& boot_id);

}  // namespace rdmacfg::core
