// SPDX-License-Identifier: Apache-2.0
// diff of generations: N, how the host differs from it; N and M, which lines of the document changed.
#pragma once

#include <string>

#include "ctl/command.hpp"

namespace rdmacfg::ctl {

/// The request in Arguments::words.
int diff_generations(const Context& context);

/// A report of `document` as diff prints it. @return the exit status
int show_diff(const Context& context, const config::Document& document, const model::Report& report);

/// A unified diff (POSIX diff -u, three lines of context) of two texts; empty when they are equal.
std::string unified_diff(const std::string& from_name, const std::string& from, const std::string& to_name,
                         const std::string& to);

}  // namespace rdmacfg::ctl
