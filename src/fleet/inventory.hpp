// SPDX-License-Identifier: Apache-2.0
// Lists of hosts that other tools keep, by which people mean their hosts.
#pragma once

#include <optional>

#include "config/document.hpp"
#include "model/diagnostic.hpp"

namespace rdmacfg::fleet {

/// The complaint about a text that is an inventory of Ansible, a slurm.conf or groups of ClusterShell, with
/// the command that prints its hosts; nothing for other texts.
std::optional<model::Diagnostic> recognize_inventory(const config::Text& text);

}  // namespace rdmacfg::fleet
