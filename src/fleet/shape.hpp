// SPDX-License-Identifier: Apache-2.0
// The common part of texts about different hosts.
#pragma once

#include <string>
#include <string_view>

namespace rdmacfg::fleet {

/// A sentence without what differs from host to host: its name, and every word with a digit in it.
std::string shape_of(std::string_view text, std::string_view host);

/// A text without the identities of a host: IP addresses and GUIDs become "<address>" and "<GUID>", its name
/// "<host>", with any domain too; numbers, names and P_Keys stay.
std::string anonymous(std::string_view text, std::string_view host);

/// A text in which every word that begins with a digit is "#".
std::string without_numbers(std::string_view text);

}  // namespace rdmacfg::fleet
