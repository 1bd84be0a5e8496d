// SPDX-License-Identifier: Apache-2.0
// A whole report as JSON and back: between worker, daemon and rdma-configctl. Schema "rdma-configd.report/1".
#pragma once

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "model/report.hpp"

namespace rdmacfg::core {

nlohmann::ordered_json report_json(const model::Report& report);

/// Fails on anything that report_json() does not write.
base::Result<model::Report> report_from(const std::string& text);

}  // namespace rdmacfg::core
