// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ctl/command.hpp"

namespace rdmacfg::ctl {

/// show --document: the document that applies to this host, as one text, each value with its place.
int show_document(const Context& context);

}  // namespace rdmacfg::ctl
