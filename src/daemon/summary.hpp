// SPDX-License-Identifier: Apache-2.0
// The worker's short form of a report, which the main process parses, and the whole as bytes.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "model/report.hpp"

namespace rdmacfg::daemon {

/// Room for the rest of a worker's last line, of which limits::kSummaryBytes are read: the status, with the
/// history.
inline constexpr std::size_t kStatusBytes = std::size_t{128} * 1024;

/// The main process's part of a report of a change: keys, statuses, reasons, changed fields with short
/// values; texts are cut to limits::kSummaryText. Where that is longer than limits::kSummaryBytes without
/// kStatusBytes, attributes and values go first, then changes and resources.
nlohmann::ordered_json summary_of(const model::Report& report);

/// The subject of a report.
enum class ReportOf {
  kLook,
  kChange,  ///< Job::changes()
};

/// The whole report, at most limits::kReportBytes long. Of a longer one: for a look an error that says so;
/// for a change how it ended, without resources and changes, and a note.
std::string bounded_report(const model::Report& report, ReportOf subject);

}  // namespace rdmacfg::daemon
