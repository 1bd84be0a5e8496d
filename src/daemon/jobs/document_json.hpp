// SPDX-License-Identifier: Apache-2.0
// Documents that come over the bus, parsed in a sandbox (ADR 0025).
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"
#include "store/confined.hpp"

namespace rdmacfg::daemon {

using core::document_from;
using core::text_of;

/// config::parse_texts in a process that can do nothing else (system/linux/sandbox.hpp), within
/// limits::kParseCpu, kParseMemory and kParsedBytes.
base::Result<config::Document> parse_confined(std::vector<config::Text> texts, const std::string& host_name);

}  // namespace rdmacfg::daemon
