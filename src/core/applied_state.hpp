// SPDX-License-Identifier: Apache-2.0
// How the system's document compares with the applied one: show, diff, doctor and status must agree on it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"
#include "core/commit/commit.hpp"
#include "metrics/metrics.hpp"
#include "store/generations.hpp"

namespace rdmacfg::core {

struct AppliedState {
  std::optional<Generation> active;  ///< nothing: no document is applied
  std::optional<metrics::LastApply> last;
  std::optional<Unconfirmed> unconfirmed;  ///< an apply that waits for confirmation
  std::chrono::milliseconds left{0};       ///< for that; 0: its time is over
  bool rebooted = false;                   ///< it was applied in another boot, so it is over
  bool compared = false;                   ///< a document was laid beside it: the two below say something
  bool is_active = false;                  ///< the document is what was applied
  bool refused = false;                    ///< it was rolled back: nobody applies it but on request
  bool gone = false;                       ///< the document was removed; its last generation is still held
  std::string why;                         ///< of that, "it was not confirmed in time"; may be empty
  std::string damage;                      ///< of the ledger, which the next apply sets aside; empty: none
  bool lost = false;                       ///< and of its copy: the active generation is not known
};

/// Applied last, also where it was rolled back; nothing without a generation.
std::optional<metrics::LastApply> last_apply(const Ledger& ledger);

/// `document`: the system's own, if there is one; of one with errors nothing is compared.
AppliedState applied_state_of(const Ledger& ledger, const config::Document* document,
                              const std::string& boot_id, const Clock& clock);

/// The same of the ledger as it is on disk.
AppliedState applied_state_of(const LedgerNow& now, const config::Document* document,
                              const std::string& boot_id, const Clock& clock);

/// Its messages for an administrator, a sentence each; empty when the document is the one that is held.
std::vector<model::Note> notes_of(const AppliedState& applied_state);

/// "42 s", "4 min 59 s", "1 h 3 min".
std::string spoken(std::chrono::milliseconds time);

/// A time of UTC as the ledger has it, in the local time zone: "23:14:05" of today, else with the date. Text
/// that it cannot read stays.
std::string local_time(const std::string& utc, std::chrono::system_clock::time_point now);

}  // namespace rdmacfg::core
