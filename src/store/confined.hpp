// SPDX-License-Identifier: Apache-2.0
// Documents of others are parsed in a process that can do nothing else; this is how they come out of it:
// typed values and places, no text to parse again.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"

namespace rdmacfg::core {

/// Runs a computation away from power, within limits::kParseCpu, kParseMemory and kParsedBytes, and returns
/// its answer: system::run_parser_confined().
using Confine = std::function<base::Result<std::string>(const std::function<std::string()>& compute)>;

/// Without Document::files, which the receiver has.
std::string text_of(const config::Document& document);

/// The inverse. Trusts nothing: fails on another shape, on places in files other than these, and on sections
/// nested deeper than the language has them.
base::Result<config::Document> document_from(std::string_view text, std::vector<config::Text> files);

/// config::parse_texts within `confine`; an error where there is none.
base::Result<config::Document> parse_confined(std::vector<config::Text> texts, const std::string& host_name,
                                              const Confine& confine);

/// The function with which parse_again() parses texts of others, from now on, in this process. Until it is
/// set such texts are refused. For main(), before anything is read.
void confine_others_by(Confine confine);
const Confine& confine_of_others();

}  // namespace rdmacfg::core
