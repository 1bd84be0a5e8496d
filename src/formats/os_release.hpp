// SPDX-License-Identifier: Apache-2.0
// The distribution of a host. Source: os-release(5).
#pragma once

#include <string>

#include "system/files.hpp"

namespace rdmacfg::kinds {

/// ID and ID_LIKE with a blank between: "rocky rhel centos fedora". They are those of /etc/os-release, or of
/// /usr/lib/os-release where /etc has none. Empty where neither can be read.
std::string observe_distribution_ids(system::Files& files);

}  // namespace rdmacfg::kinds
