// SPDX-License-Identifier: Apache-2.0
// Files of assignments that systemd and shells read. Sources: systemd.exec(5), EnvironmentFile=;
// os-release(5).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rdmacfg::kinds {

/// The value of a variable after all of `text`; nothing when it is never set. A value in quotes may have
/// several lines, any other goes to the end of its line or to a comment; a backslash there goes on with the
/// next line.
std::optional<std::string> shell_value(std::string_view text, std::string_view variable);

}  // namespace rdmacfg::kinds
