// SPDX-License-Identifier: Apache-2.0
#include "store/ledger_seen.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/text.hpp"

namespace rdmacfg::core {

using base::Result;

bool is_written_by_another(system::Files& files, const Ledger& ledger, const std::string& boot_id) {
  if (ledger.boot_id.empty() || ledger.boot_id == boot_id) return false;
  const auto text = files.read(kLedgerSeen);
  if (!text || !*text) return false;
  const auto line = base::trim(**text);
  const auto space = line.find(' ');
  if (space == std::string_view::npos || line.substr(0, space) != boot_id) return false;
  const auto seen = base::parse_number(line.substr(space + 1));
  return seen && ledger.transaction > *seen;
}

base::Error written_by_another(const std::string& ledger) {
  return {base::Code::kRefused,
          fmt::format("{}: was written by another host, or restored from a backup, since this host was "
                      "booted; hosts must not share that folder: give each host its own, then reboot",
                      ledger),
          0};
}

Result<void> note_ledger_seen(system::Files& files, const Ledger& ledger, const std::string& boot_id) {
  if (ledger.transaction == 0) return {};
  return files.write(kLedgerSeen, fmt::format("{} {}\n", boot_id, ledger.transaction));
}

}  // namespace rdmacfg::core
