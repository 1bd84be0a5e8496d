// SPDX-License-Identifier: Apache-2.0
// The ledger as JSON, alone in its file and within other records.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "store/ledger.hpp"

namespace rdmacfg::core {

inline constexpr int kLedgerSchema = 1;

nlohmann::ordered_json ledger_json(const Ledger& ledger);

/// Throws nlohmann::json::exception on another shape, and where parts of the ledger contradict each other.
Ledger ledger_from(const nlohmann::ordered_json& json);

/// Throws the exception of a record whose parts contradict each other, which the JSON library does not check.
[[noreturn]] void reject_record(const std::string& why);

}  // namespace rdmacfg::core
