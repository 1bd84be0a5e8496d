// SPDX-License-Identifier: Apache-2.0
// Sentences for people on what a change of GUIDS in /etc/sysconfig/opensm interrupts. Source: RHEL's
// /usr/libexec/opensm-launch.
#pragma once

#include <span>
#include <string>

#include "kinds/opensm/opensm_launch.hpp"
#include "kinds/world.hpp"
#include "model/change.hpp"

namespace rdmacfg::kinds::detail {

/// Of changes that name the first ports in GUIDS: that OpenSM leaves the one which it took without.
void name_first_port(std::span<model::Change*> changes, const World& world);

/// Of changes of GUIDS: the subnet prefixes that they bring, since every GID of a subnet changes with its
/// prefix. `text`: the file before them; `theirs`: files of others, whose ports are not in GUIDS.
void name_prefixes(std::span<model::Change*> changes, const std::string& text, const LaunchFiles& theirs,
                   const World& world);

}  // namespace rdmacfg::kinds::detail
