// SPDX-License-Identifier: Apache-2.0
// Deployments of ostree(1), of which the boot loader starts one.
#pragma once

#include "system/files.hpp"

namespace rdmacfg::system {

/// Whether what ostree has booted is a container image: bootc(8) refuses to upgrade one that rpm-ostree has
/// changed (upgrade(): "Deployment contains local rpm-ostree modifications"). The deployment kept for a
/// rollback may be of the other sort. Where the booted one cannot be told, as in a tree without /proc, any of
/// them counts.
bool deploys_container(Files& files);

}  // namespace rdmacfg::system
