// SPDX-License-Identifier: Apache-2.0
// The applied documents on disk: the ledger, the text of each generation, the record of an unconfirmed apply.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"
#include "model/change.hpp"
#include "store/ledger.hpp"
#include "store/state.hpp"
#include "system/files.hpp"

namespace rdmacfg::core {

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
