// SPDX-License-Identifier: Apache-2.0
// Two hosts that share /var/lib/rdma-configd would take back and recover each other's applies. The second of
// them to write the ledger is noticed by the other, which has noted in its runtime directory what it saw
// last.
#pragma once

#include <string>

#include "base/error.hpp"
#include "store/ledger.hpp"
#include "system/files.hpp"

namespace rdmacfg::core {

/// "BOOT_ID TRANSACTION\n", of the last run of this host.
inline constexpr const char* kLedgerSeen = "/run/rdma-configd/ledger-seen";

/// Whether a host of another boot has committed since the last run of this one in this boot. False where it
/// is not known: of the first run of a boot, and of a ledger of an earlier version.
bool is_written_by_another(system::Files& files, const Ledger& ledger, const std::string& boot_id);

/// Why nothing may be changed then.
base::Error written_by_another(const std::string& ledger);

/// Nothing is written when that is noted already, or there is no ledger yet.
base::Result<void> note_ledger_seen(system::Files& files, const Ledger& ledger, const std::string& boot_id);

}  // namespace rdmacfg::core
