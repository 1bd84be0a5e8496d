// SPDX-License-Identifier: Apache-2.0
// The ledger of generations: the applied documents, by whom and when, and which is active.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::core {

struct Generation {
  std::uint64_t number = 0;  ///< from 1
  std::string digest;        ///< of its files
  std::string when;          ///< UTC, "2026-11-21T14:03:22Z"
  std::string who;           ///< "root", "alice (uid 1000)", "boot"
  std::string what;          ///< "apply", "apply --confirm 60", "rollback to 3"
  std::string fate;          ///< empty, or for people: "rolled back: it was not confirmed in time"
  std::string why{};         ///< of a fate: "it was not confirmed in time"; empty: somebody went back
  bool operator==(const Generation&) const = default;
};

/// An apply that somebody has to confirm.
struct Unconfirmed {
  std::uint64_t generation = 0;
  std::uint64_t previous = 0;    ///< active before; 0: none
  std::string boot_id;           ///< another boot counts as expiry
  std::int64_t deadline_ms = 0;  ///< CLOCK_BOOTTIME
  std::string deadline;          ///< UTC, for people
  bool complete = false;         ///< the apply came to its end; one that was interrupted is taken back
  /// Whether it was the active document that was applied once more, so that only what it changed goes.
  [[nodiscard]] bool again() const { return generation == previous; }
  bool operator==(const Unconfirmed&) const = default;
};

struct Ledger {
  /// Counts up with each change of the ledger: replacing the file is the commit point of all that changes a
  /// generation (ADR 0024). A journal or a rollback record with a higher number was not committed.
  std::uint64_t transaction = 0;
  std::uint64_t active = 0;  ///< that the host is held to; 0: none
  std::vector<Generation> generations;
  std::vector<std::string>
      refused;  ///< digests of documents that were rolled back: not applied by themselves
  std::optional<Unconfirmed> unconfirmed;
  /// The answer of `confirm` when nothing waits although the last apply asked for it: that nothing was
  /// changed, or that it is confirmed. Empty: it did not ask.
  std::string answered;
  /// Of the boot in which it was committed last; empty: by an earlier version.
  std::string boot_id{};
  bool operator==(const Ledger&) const = default;

  [[nodiscard]] const Generation* find(std::uint64_t number) const;
  [[nodiscard]] Generation* find(std::uint64_t number);
  /// Whether the active generation is of these files.
  [[nodiscard]] bool is_active(const std::string& digest) const;
  /// The last one before `number` that was not rolled back; 0 without one.
  [[nodiscard]] std::uint64_t before(std::uint64_t number) const;
  [[nodiscard]] bool refuses(const std::string& digest) const;
};

/// The ledger as far as the daemon tells it over the bus (docs/DBUS.md, History).
base::Result<Ledger> ledger_told(const std::string& json);

/// Drops the oldest generations beyond limits::kGenerations; the active one and those that it may fall back
/// to stay.
/// @return their numbers: their texts go once the ledger is written
std::vector<std::uint64_t> prune(Ledger& ledger);

}  // namespace rdmacfg::core
