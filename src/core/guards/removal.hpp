// SPDX-License-Identifier: Apache-2.0
// Keeps an empty template, a truncated drop-in or a [match] that fits no host any more from taking a host off
// its network while nobody looks.
#pragma once

#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "model/report.hpp"
#include "system/host.hpp"

namespace rdmacfg::core {

/// Why a plan that nobody has looked at is not carried out: it takes away more than `max_removal` of [daemon]
/// allows (never fewer than 6 resources), or the interface of the default route or of a login session (ssh).
/// An empty message: it is harmless.
model::Diagnostic risky_removal(const config::Document& document, const model::Report& planned,
                                system::Host& host, RemovalGuard guard);

/// The same as a warning, for whoever looks at the plan: who would refuse it. An empty message: nobody.
model::Diagnostic removal_warning(const config::Document& document, const model::Report& planned,
                                  system::Host& host);

}  // namespace rdmacfg::core
