// SPDX-License-Identifier: Apache-2.0
// Output for programs; docs/JSON.md describes it, and docs/json/ has the JSON Schemas. Within a version keys
// are only ever added.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "ctl/host_view.hpp"
#include "model/report.hpp"

namespace rdmacfg::ctl {

inline constexpr const char* kReportSchema = "org.rdmaconfigd.report/1";
inline constexpr const char* kShowSchema = "org.rdmaconfigd.show/1";
inline constexpr const char* kHistorySchema = "org.rdmaconfigd.history/1";
inline constexpr const char* kImportSchema = "org.rdmaconfigd.import/1";
inline constexpr const char* kExportSchema = "org.rdmaconfigd.export/1";
inline constexpr const char* kWithdrawalSchema = "org.rdmaconfigd.withdrawal/1";
inline constexpr const char* kHelpSchema = "org.rdmaconfigd.help/1";
inline constexpr const char* kVersionSchema = "org.rdmaconfigd.version/1";
inline constexpr const char* kDoctorSchema = "org.rdmaconfigd.doctor/1";
inline constexpr const char* kStatusSchema = "org.rdmaconfigd.status/1";
inline constexpr const char* kVerifySchema = "org.rdmaconfigd.verify/1";
inline constexpr const char* kValueSchema = "org.rdmaconfigd.value/1";
inline constexpr const char* kEventSchema = "org.rdmaconfigd.event/1";
inline constexpr const char* kFleetValidationSchema = "org.rdmaconfigd.fleet-validation/1";
inline constexpr const char* kFleetReportSchema = "org.rdmaconfigd.fleet-report/1";
inline constexpr const char* kDocumentSchema = "org.rdmaconfigd.document/1";
inline constexpr const char* kFabricSchema = "org.rdmaconfigd.fabric/1";

/// The first members of every object: schema, command, exit, error and diagnostics.
nlohmann::ordered_json head(const char* schema, const std::string& command, const model::Report& report,
                            int status);

/// How many resources have which status, and how many changes of which sort there are.
nlohmann::ordered_json summary_json(const model::Report& report);

nlohmann::ordered_json location_json(const model::Location& where);
nlohmann::ordered_json value_json(const model::Value& value);
nlohmann::ordered_json resource_json(const model::ResourceReport& resource);

/// A report of `command`; `status` is the exit status of the program.
nlohmann::ordered_json to_json(const model::Report& report, const std::string& command, int status);

/// The result of `show`: the host, and the report of how it compares with the document.
nlohmann::ordered_json to_json(const HostView& host, const model::Report& report, int status);

}  // namespace rdmacfg::ctl
