// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ctl/command.hpp"

namespace rdmacfg::ctl {

/// show --document: what applies to this host, as one document, each value with its place.
int show_document(const Context& context);

}  // namespace rdmacfg::ctl
