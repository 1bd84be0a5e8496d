// SPDX-License-Identifier: Apache-2.0
// The limits of reports of a host (`doctor --report`, `--host`). docs/RELIABILITY.md lists the same table;
// tests/unit/daemon/limits_test.cpp compares the two.
#pragma once

#include <array>
#include <cstddef>

#include "model/limits.hpp"

namespace rdmacfg::ctl::limits {

inline constexpr std::size_t kHostReportBytes = 4 * model::limits::kMiB;
inline constexpr std::size_t kHostReportFileBytes = 64 * model::limits::kKiB;
inline constexpr std::size_t kHostReportPaths = 4000;
inline constexpr std::size_t kHostReportReadBytes = 16 * model::limits::kMiB;

inline constexpr auto kTable = std::to_array<model::limits::Row>({
    {"kHostReportBytes", kHostReportBytes, "bytes",
     "doctor --report: the largest answers are left out and named", "one report; small enough for e-mail"},
    {"kHostReportFileBytes", kHostReportFileBytes, "bytes",
     "doctor --report: the rest of the file is left out",
     "one file of the host in a report, cut after a whole line"},
    {"kHostReportPaths", kHostReportPaths, "paths", "doctor --report: the rest is left out",
     "sysfs paths listed in a report"},
    {"kHostReportReadBytes", kHostReportReadBytes, "bytes", "--host FILE: error, exit 1",
     "a report from somebody else; four times what doctor writes"},
});

}  // namespace rdmacfg::ctl::limits
