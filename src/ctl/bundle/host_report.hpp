// SPDX-License-Identifier: Apache-2.0
// The file of `doctor --report`: one JSON object of schema org.rdmaconfigd.host/1, docs/JSON.md.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"

namespace rdmacfg::ctl {

inline constexpr const char* kHostSchema = "org.rdmaconfigd.host/1";

struct HostReport {
  std::string version;  ///< of the rdma-configctl that wrote it
  std::string kernel;   ///< "6.1.0-18-amd64"
  std::string host_name;
  std::string boot_id;
  bool privileged = false;             ///< root looked; others do not see everything
  std::vector<config::Text> document;  ///< empty: the host has none
  nlohmann::json observed;             ///< Tape::answers()
  std::vector<std::string> listing;    ///< paths in sysfs
  nlohmann::json results;              ///< by subcommand, as its --json says it
  /// Whether the same came out on the real host, by subcommand.
  nlohmann::json agrees;
  std::vector<std::string> left_out;  ///< what had no place: "file /etc/x"
};

/// At most limits::kHostReportBytes: the largest answers go first, and are named in left_out.
std::string render_host_report(HostReport report);

/// Fails on text that is not a report, and on a report of another schema.
base::Result<HostReport> parse_host_report(std::string_view text);

/// The same of a file; `name` is "--host FILE" in errors.
base::Result<HostReport> read_host_report(const std::string& path);

}  // namespace rdmacfg::ctl
