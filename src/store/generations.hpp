// SPDX-License-Identifier: Apache-2.0
// The applied documents, by whom and when: every applied document is a generation, kept with its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"
#include "model/change.hpp"
#include "store/state.hpp"
#include "system/files.hpp"

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
  bool operator==(const Ledger&) const = default;

  [[nodiscard]] const Generation* find(std::uint64_t number) const;
  [[nodiscard]] Generation* find(std::uint64_t number);
  /// Whether the active generation is of these files.
  [[nodiscard]] bool is_active(const std::string& digest) const;
  /// The last one before `number` that was not rolled back; 0 without one.
  [[nodiscard]] std::uint64_t before(std::uint64_t number) const;
  [[nodiscard]] bool refuses(const std::string& digest) const;
};

/// A document as it was applied.
struct AppliedDocument {
  std::vector<config::Text> files;
  std::string host;  ///< config::Document::host: a name that changes later takes nothing away
  /// Somebody other than root has sent it: each time it is read again that is done away from power.
  bool of_others = false;
};

/// The record that undoes an unconfirmed apply exactly, in the boot in which it was made. It needs no
/// other file of ours.
struct RollbackRecord {
  std::string boot_id;
  model::Plan plan;
  State before;  ///< what was remembered before it
  /// The apply took a device away and back: undoing it leaves that as new, and the generation before has to
  /// be applied to it.
  bool in_two_runs = false;
  /// The ledger as it is once the apply is committed and waits for its confirmation: its transaction number
  /// says which apply this is of. Nothing in a record of an older version, and in `suspended`.
  std::optional<Ledger> ledger{};
  std::optional<AppliedDocument>
      previous{};        ///< the text of the generation before; nothing when it is too long
  bool partial = false;  ///< changes of kinds that are not known were left out
};

struct GenerationPaths {
  std::string ledger = "/var/lib/rdma-configd/generations.json";
  /// The last ledger that was committed, with the text of its active generation: for when one is damaged.
  std::string backup = "/var/lib/rdma-configd/generations.json.bak";
  std::string texts = "/var/lib/rdma-configd/generations";  ///< folder; one file each
  std::string rollback_record = "/var/lib/rdma-configd/unconfirmed.json";
  /// The part of the active document that was taken back; of this boot.
  std::string suspended = "/var/lib/rdma-configd/taken-back.json";
};

/// Written by an apply that goes past the daemon, which hears of it by this.
inline constexpr const char* kAppliedMark = "/run/rdma-configd/applied";

/// Of the texts of all files that were read, also of those that only mask or are for other hosts;
/// and of the host's name where a file asks for it.
std::string digest_of(const config::Document& document);

/// The ledger as far as the daemon tells it over the bus (docs/DBUS.md, History).
base::Result<Ledger> ledger_told(const std::string& json);

/// As it is on disk; a damaged one is an error (is_damage()).
base::Result<Ledger> load_ledger(system::Files& files, const std::string& path);

/// The ledger as it is to be gone by.
struct LedgerNow {
  Ledger ledger;     ///< with an apply --confirm that is under way, or was interrupted, as one that waits
  Ledger committed;  ///< the file, or where it is damaged its copy
  std::optional<base::Error> damage;  ///< why `committed` is not the file
  bool lost = false;                  ///< it is damaged, and so is the copy
};
/// Fails only where reading does for now: a damaged ledger is replaced by what else is known.
base::Result<LedgerNow> look_up_ledger(system::Files& files, const GenerationPaths& paths);

/// LedgerNow::ledger, for those who only look.
base::Result<Ledger> read_ledger(system::Files& files, const GenerationPaths& paths);

/// Written only when it differs from what is there.
base::Result<void> save_ledger(system::Files& files, const std::string& path, const Ledger& ledger);

base::Result<AppliedDocument> load_texts(system::Files& files, const std::string& folder,
                                         std::uint64_t number);
/// load_texts(), or of the active generation the copy.
base::Result<AppliedDocument> read_texts(system::Files& files, const GenerationPaths& paths,
                                         std::uint64_t number);
/// `of_others`: AppliedDocument::of_others.
base::Result<void> save_texts(system::Files& files, const std::string& folder, std::uint64_t number,
                              const config::Document& document, bool of_others);

/// Gives copies of documents, the ledger and rollback records mode 0600, which earlier versions wrote for
/// everybody to read.
/// @return of each that everybody still reads a sentence for the administrator
[[nodiscard]] std::vector<std::string> narrow(system::Files& files, const GenerationPaths& paths);

/// The document of a generation, read again; `host` where it does not say for which it was applied. One of
/// others is parsed within confine_of_others(); where that fails, an error in Document::diagnostics says so.
config::Document parse_again(AppliedDocument remembered, std::string_view host);

/// Drops the oldest generations beyond limits::kGenerations; the active one and those that it may fall back
/// to stay.
/// @return their numbers: their texts go once the ledger is written
std::vector<std::uint64_t> prune(Ledger& ledger);
/// @return of each that stays a sentence for the administrator
[[nodiscard]] std::vector<std::string> remove_texts(system::Files& files, const GenerationPaths& paths,
                                                    const std::vector<std::uint64_t>& numbers);

/// Brings the copy of the ledger up to date; nothing is written when it is.
base::Result<void> save_backup(system::Files& files, const GenerationPaths& paths, const Ledger& ledger);

/// Whether a rollback record is of an apply that did not come to its commit.
bool is_interrupted(const RollbackRecord& record, const Ledger& ledger);

base::Result<std::optional<RollbackRecord>> load_rollback_record(system::Files& files,
                                                                 const std::string& path);
base::Result<void> save_rollback_record(system::Files& files, const std::string& path,
                                        const RollbackRecord& rollback_record);

}  // namespace rdmacfg::core
