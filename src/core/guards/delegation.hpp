// SPDX-License-Identifier: Apache-2.0
// The changes that an administrator other than root may request (docs/SECURITY.md, ADR 0026). Root is not
// restricted.
#pragma once

#include "config/document.hpp"
#include "system/host.hpp"

namespace rdmacfg::core {

/// Errors for the entries of `wanted` that only root may change: whatever is not on the reviewed lists of
/// delegation.cpp, in particular anything that would amount to running commands as root. Entries that stand
/// in `active`, the document that the host is held to, word for word may stay, and may not go.
/// @param active  null: nothing is active
model::Diagnostics beyond_delegation(const config::Document& wanted, const config::Document* active,
                                     system::Host& host);

}  // namespace rdmacfg::core
