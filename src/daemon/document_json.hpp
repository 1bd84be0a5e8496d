// SPDX-License-Identifier: Apache-2.0
// A parsed document on its way out of the sandbox: typed values and places, no text to parse again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"

namespace rdmacfg::daemon {

/// Without Document::files, which the receiver has.
std::string text_of(const config::Document& document);

/// The inverse. Trusts nothing: fails on another shape, on places in files other than these, and on sections
/// nested deeper than the language has them.
base::Result<config::Document> document_from(std::string_view text, std::vector<config::Text> files);

/// config::parse_texts in a process that can do nothing else (system/linux/sandbox.hpp), within
/// limits::kParseCpu, kParseMemory and kParsedBytes.
base::Result<config::Document> parse_confined(std::vector<config::Text> texts, const std::string& host_name);

}  // namespace rdmacfg::daemon
